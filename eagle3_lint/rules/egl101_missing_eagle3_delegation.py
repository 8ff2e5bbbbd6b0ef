"""A multimodal wrapper does not expose the EAGLE-3 setter that its inner language model has.

## What it does

Finds multimodal wrappers that hold an inner language model in an attribute where that model's class (or one of the
classes that it may be) exposes `set_eagle3_layers_to_capture`, while the wrapper itself does not: neither by a method
of its own, nor by inheritance, by assignment in `__init__`, or through `__getattr__`. The same is asked for the sibling
protocols DFlash and DSpark where the runtime of the tree calls their setters.

The finding is on the class to change: the one that builds the inner model, or that supplies its class. `registered`
names every registered class that it hits. A class is reported once: `methods` holds every setter that it lacks and its
inner model has, EAGLE-3 first, and whatever else the runtime calls on a target of these protocols. A wrapper that
delegates one protocol and not another is reported for the missing one alone.

## Why is this bad?

The runtime calls the setter on the registered class after it has loaded all weights. A wrapper without it stops the
server there, minutes into the start, although the model inside could do what is asked.

## Example

```python
class VisionWrapper(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = LlamaForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids
```

## Use instead

```python
class VisionWrapper(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = LlamaForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)
```

## Fix

Adds the delegating methods. Safe where the wrapper's forward hands the inner model itself on, so that delegation is
all that is missing; unsafe where the forward goes around the inner model's own forward, which then has to handle the
captured states too. Where the attribute holds a bare body, whose setter isn't the interface, nothing is written: the
methods of a class with a body of its own are to be written by hand.

## Sources

- sgl-project/sglang#18374 and #19689: Kimi-K2.5 crashes under EAGLE-3; the delegation that followed.
- sgl-project/sglang#20954 and #21146: the same for Pixtral.
- sgl-project/sglang#34771 and #35784: wrappers without DFlash's setter, whose inner models can capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle3_lint.findings.model import Evidence, Finding, Fix
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract import PROTOCOLS, Protocol, capture_setter
from eagle3_lint.project.delegation import MissingDelegation, example_like, lineage, missing_delegations
from eagle3_lint.project.roles import Candidate
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed

_TITLES: dict[Protocol, str] = {"eagle3": "EAGLE-3", "dflash": "DFlash", "dspark": "DSpark"}


@dataclass(frozen=True)
class _Gap:
    """What one class lacks: ``first`` is the missing delegation that the finding describes."""

    first: MissingDelegation
    protocols: tuple[Protocol, ...]

    @property
    def titles(self) -> str:
        """The protocols as a message names them."""
        return listed(tuple(_TITLES[protocol] for protocol in self.protocols))


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class to change."""
    for gap in _gaps(context):
        context.current = gap.first.owner
        yield _finding(context, gap)


def _protocols(context: ProjectContext) -> tuple[Protocol, ...]:
    """EAGLE-3, and those of its siblings that this release's runtime has."""
    known = context.project.contract.protocols
    return tuple(one for one in PROTOCOLS if one == "eagle3" or capture_setter(one) in known)


def _gaps(context: ProjectContext) -> Iterable[_Gap]:
    found: dict[tuple[ClassInfo, str], _Gap] = {}
    for protocol in _protocols(context):
        setter = capture_setter(protocol)
        for missing in missing_delegations(context.project, setter, context.classes(), context.registered()):
            if protocol != "eagle3" and not _answers_calls(context, missing.owner, protocol):
                continue
            key = (missing.owner, missing.attribute)
            known = found.get(key)
            found[key] = _Gap(known.first, (*known.protocols, protocol)) if known else _Gap(missing, (protocol,))
    return found.values()


def _answers_calls(context: ProjectContext, owner: ClassInfo, protocol: Protocol) -> bool:
    """Whether what ``owner`` has of ``protocol`` takes the runtime's calls; where not, delegation isn't all that is missing.

    ``get_input_embeddings(input_ids)`` of some wrappers is another method than the one that DFlash calls.
    """
    for method in context.project.contract.called(protocol):
        exposure = context.project.roles.exposure(owner, method.name)
        function = exposure.function.function() if exposure is not None and exposure.function is not None else None
        if function is None or "()" not in method.called_with:
            continue
        if len(function.args.posonlyargs) + len(function.args.args) - len(function.args.defaults) > 1:
            return False
    return True


def _finding(context: ProjectContext, gap: _Gap) -> Finding:
    missing = gap.first
    owner = missing.owner
    supporting = tuple(one for one in missing.candidates if context.project.roles.supports(one, missing.setter))
    methods = _missing_methods(context, gap, supporting)
    return context.finding(
        "EGL101",
        owner,
        owner.span(),
        _message(context, gap, supporting[0], methods, len(supporting)),
        registered=missing.registered,
        inner=context.inner(missing.candidates, missing.setter),
        methods=methods,
        evidence=tuple(_evidence(context, missing, supporting, methods)),
        certain=len(supporting) == len(missing.candidates),
        fix=lambda: _fix(context, missing, methods),
        caused_by=tuple(_causes(context, missing, supporting)),
    )


def _fix(context: ProjectContext, missing: MissingDelegation, methods: tuple[str, ...]) -> Fix | None:
    from eagle3_lint.fixes.delegation import delegating_fix  # most runs show no fixes

    return delegating_fix(context.project, missing.owner, missing.attribute, methods, missing.wrappers)


def _missing_methods(context: ProjectContext, gap: _Gap, supporting: tuple[Candidate, ...]) -> tuple[str, ...]:
    """The setters, then what else EAGLE-3 requires, and whatever is called that the inner model can answer."""
    roles = context.project.roles
    setters = [capture_setter(protocol) for protocol in gap.protocols]
    names = dict.fromkeys(setters[:1])
    for protocol in gap.protocols:
        required = context.project.required_of(gap.first.owner, protocol) if protocol == "eagle3" else ()
        for method in (one.name for one in context.project.contract.called(protocol)):
            wanted = method in required or any(roles.supports(one, method) for one in supporting)
            if wanted and roles.exposure(gap.first.owner, method) is None:
                names.setdefault(method)
        names.setdefault(capture_setter(protocol))
    return tuple(names)


def _message(context: ProjectContext, gap: _Gap, inner: Candidate, methods: tuple[str, ...], count: int) -> str:
    missing = gap.first
    exposure = context.project.roles.exposure_of(inner, missing.setter)
    assert exposure is not None
    where = context.shown(exposure.path, exposure.line)
    by = f" by {exposure.definer.name}" if exposure.definer not in (None, inner.info) and exposure.definer else ""
    others = "another class" if count == 2 else f"{count - 1} other classes"
    more = f" (and {others} that it may hold)" if count > 1 else ""
    return (
        f"{missing.owner.name} does not expose {listed(methods, 'or')}, but {inner.info.name} in "
        f"self.{missing.attribute}{more} has {missing.setter}, defined{by} at {where}. {_consequence(context, gap)} "
        f"{_advice(context, missing, methods)}"
    )


def _advice(context: ProjectContext, missing: MissingDelegation, methods: tuple[str, ...]) -> str:
    """What to write: delegation of what the inner model has, and the rest for the wrapper's own body and head."""
    roles = context.project.roles
    held = tuple(name for name in methods if any(roles.supports(one, name) for one in missing.candidates))
    calls = listed(tuple(f"self.{missing.attribute}.{method}" for method in held))
    several = len(held) > 1
    what = "methods" if several else "a method"
    advice = f"Add {what} to {missing.owner.name} that {'call' if several else 'calls'} {calls}."
    own = tuple(name for name in methods if name not in held)
    if not own:
        return advice
    return f"{advice} The inner model has no {listed(own, 'or')}: write {listed(own)} from the wrapper's own parts."


def _consequence(context: ProjectContext, gap: _Gap) -> str:
    dflash = capture_setter("dflash")
    if gap.protocols == ("dspark",) and context.project.roles.exposure(gap.first.owner, dflash) is not None:
        return f"DSpark would call {dflash} in its place."
    return f"{gap.titles} would stop the server after the weights are loaded."


def _evidence(
    context: ProjectContext, missing: MissingDelegation, supporting: tuple[Candidate, ...], methods: tuple[str, ...]
) -> Iterator[Evidence]:
    roles = context.project.roles
    for one in supporting:
        yield Evidence(one.built_at.path, one.built_at.line, f"self.{one.attribute} is built as {one.info.name}")
    for one in supporting:
        exposure = roles.exposure_of(one, missing.setter)
        if exposure is None:
            continue
        if exposure.definer is not None and exposure.definer is not one.info:
            yield Evidence(one.info.path, one.info.line, f"{one.info.name} inherits from {exposure.definer.name}")
        definer = exposure.definer or one.info
        yield Evidence(exposure.path, exposure.line, f"{definer.name} defines {missing.setter}")
    for method in methods:
        called = context.project.contract.method(method)
        for site in called.call_sites if called else ():
            yield Evidence(site.path, site.line, f"the runtime calls {method}{site.shape} on the target")
    example = context.ask(example_like, missing.setter, lineage(supporting))
    if example is not None:
        name, attribute, is_silent, path, line = example
        but = ", though it does nothing where its inner model lacks the method" if is_silent else ""
        yield Evidence(path, line, f"{name} already delegates to self.{attribute}{but}")


def _causes(context: ProjectContext, missing: MissingDelegation, supporting: tuple[Candidate, ...]) -> Iterator[str]:
    for info in missing.owner.project_classes:
        yield info.path
    for one in supporting:
        for info in one.info.project_classes:
            yield info.path
        exposure = context.project.roles.exposure_of(one, missing.setter)
        if exposure is not None:
            yield exposure.path


RULE = Rule(
    code="EGL101",
    symbol="missing-eagle3-delegation",
    severity="error",
    summary="A multimodal wrapper does not expose the EAGLE-3 setter that its inner language model has.",
    scope="project",
    check_project=check,
)
