"""What the contract is made of: call sites, methods, and the default where no runtime is present."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Protocol = Literal["eagle3", "dflash", "dspark"]
PROTOCOLS: tuple[Protocol, ...] = ("eagle3", "dflash", "dspark")

CAPTURE_SETTER = "set_eagle3_layers_to_capture"
EMBED_GETTER = "get_embed_and_head"


def capture_setter(protocol: Protocol) -> str:
    """The name of the setter that switches capture on for ``protocol``."""
    return f"set_{protocol}_layers_to_capture"


CAPTURE_SETTERS = frozenset(capture_setter(protocol) for protocol in PROTOCOLS)


@dataclass(frozen=True)
class CallSite:
    """One place where the runtime calls a method on a model.

    ``path`` is absolute; ``line`` and ``column`` (both from 1) are those of the call. ``positional`` counts positional
    arguments, ``keywords`` names the keyword arguments; ``starred`` says that ``*`` or ``**`` may add more of both.
    ``shape`` is how the call reads: ``()``, ``(layer_ids)``, ``(layer_ids=…)``.

    ``guarded`` says that the runtime makes sure first that the method exists: it tests for it, or catches the
    ``AttributeError``. ``guard_raises`` says that a model without the method is refused with an error all the same.
    ``protocols`` are the algorithms for which the call is made, as far as the source says so; ``required_for`` are those
    of them for which no way through the caller does without it, save ways that need one of ``unless`` instead.
    """

    path: str
    line: int
    column: int
    positional: int
    keywords: tuple[str, ...]
    shape: str
    guarded: bool
    guard_raises: bool
    function: str
    protocols: tuple[Protocol, ...] = ()
    required_for: tuple[Protocol, ...] = ()
    unless: tuple[str, ...] = ()
    starred: bool = False

    @property
    def protocol(self) -> Protocol | None:
        """The first of ``protocols``, EAGLE-3 before its siblings; None where the source names none."""
        return self.protocols[0] if self.protocols else None


@dataclass(frozen=True)
class ContractMethod:
    """One method of the contract and every place that calls it; no call sites where it is the built-in default."""

    name: str
    call_sites: tuple[CallSite, ...]
    guarded: bool
    called_with: tuple[str, ...]
    required_for: frozenset[Protocol]

    def required_sites(self, protocol: Protocol) -> tuple[CallSite, ...]:
        """The call sites that stop the server, under ``protocol``, on a target without this method."""
        return tuple(site for site in self.call_sites if protocol in site.required_for)

    def is_called(self, protocol: Protocol) -> bool:
        """Whether some way of ``protocol`` calls this method without asking for it."""
        sites = self.call_sites
        return protocol in self.required_for or any(protocol in one.protocols and not one.guarded for one in sites)


@dataclass(frozen=True)
class Contract:
    """What one release's runtime calls on a target.

    ``source`` is ``runtime`` when call sites were read from the runtime's own source, ``built-in`` otherwise.
    """

    methods: tuple[ContractMethod, ...]
    source: Literal["runtime", "built-in"]

    def method(self, name: str) -> ContractMethod | None:
        """The method called ``name``, or None when the runtime doesn't call it on a target."""
        return next((method for method in self.methods if method.name == name), None)

    @property
    def protocols(self) -> frozenset[str]:
        """The capture setters that this runtime calls, by name."""
        return CAPTURE_SETTERS & {method.name for method in self.methods}

    def required(self, protocol: Protocol) -> tuple[ContractMethod, ...]:
        """The methods without which no way of the runtime serves a target of ``protocol``."""
        return tuple(method for method in self.methods if protocol in method.required_for)

    def called(self, protocol: Protocol) -> tuple[ContractMethod, ...]:
        """The methods that some way of the runtime calls unguarded on a target of ``protocol``."""
        return tuple(method for method in self.methods if method.is_called(protocol))


_BUILT_IN = (
    ContractMethod(CAPTURE_SETTER, (), False, ("()", "(layer_ids)"), frozenset({"eagle3"})),
    ContractMethod(EMBED_GETTER, (), False, ("()",), frozenset({"eagle3"})),
)


def builtin_method(name: str) -> ContractMethod:
    """The built-in default for one of its two methods; ``KeyError`` for any other name."""
    return {method.name: method for method in _BUILT_IN}[name]


def builtin_contract() -> Contract:
    """The contract assumed where no runtime is present: what every release from 0.4.6 to 0.5.10 calls."""
    return Contract(methods=tuple(sorted(_BUILT_IN, key=lambda method: method.name)), source="built-in")
