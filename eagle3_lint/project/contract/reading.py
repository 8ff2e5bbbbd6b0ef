"""From a tree of sources to its contract."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cached_property

from eagle3_lint.project.contract.calls import TargetCall, chain, shape, target_calls
from eagle3_lint.project.contract.guards import algorithms, guard_of, protocols_named
from eagle3_lint.project.contract.model import (
    CAPTURE_SETTER,
    CAPTURE_SETTERS,
    EMBED_GETTER,
    PROTOCOLS,
    CallSite,
    Contract,
    ContractMethod,
    Protocol,
    builtin_contract,
    builtin_method,
)
from eagle3_lint.project.contract.runtime import Runtime, RuntimeFile
from eagle3_lint.project.contract.ways import Ways
from eagle3_lint.sources.files import RUNTIME_FOLDERS
from eagle3_lint.sources.text import SourceText

_FAMILY = rb"\b(?:set_\w+_to_capture|get_embed|get_embed_and_head\w*|get_input_embeddings)\b"
_PROTOCOL_CALL = rb"\bmodel\.(?!is_)\w*(?:eagle3|dflash|dspark|aux_hidden_state)\w*\s*\("
_TARGET_USE = rb"\btarget_model\.|\btarget_\w*(?:worker|runner)\w*(?:\.model_runner)?\.model\b"
_WORTH_PARSING = re.compile(rb"|".join((_FAMILY, _PROTOCOL_CALL, _TARGET_USE)))
_WORTH_PARSING_ELSEWHERE = re.compile(_FAMILY)


def contract_below(root: str, read: Callable[[str], SourceText], parse: Callable[[SourceText], ast.Module]) -> Contract:
    """See :func:`eagle3_lint.project.contract.read_contract`."""
    runtime = Runtime(root, read, parse)
    present = [folder for folder in RUNTIME_FOLDERS if runtime.has_folder(folder)]
    runtime.add(*present)
    methods = _methods(runtime, [file for one in present for file in runtime.matching(_WORTH_PARSING, one)])
    if not CAPTURE_SETTERS & {method.name for method in methods}:
        runtime.add_rest()
        methods = _methods(runtime, runtime.matching(_WORTH_PARSING_ELSEWHERE))
    if not methods:
        return builtin_contract()
    names = {method.name for method in methods}
    if not CAPTURE_SETTERS & names:
        methods.append(builtin_method(CAPTURE_SETTER))
    if EMBED_GETTER not in names and "speculative" not in present:
        methods.append(builtin_method(EMBED_GETTER))
    return Contract(tuple(sorted(methods, key=lambda method: method.name)), "runtime")


def _methods(runtime: Runtime, files: Iterable[RuntimeFile]) -> list[ContractMethod]:
    sites: dict[str, list[CallSite]] = {}
    for file in files:
        for name, site in _Sites(runtime, file).all():
            sites.setdefault(name, []).append(site)
    return [_method(name, tuple(found)) for name, found in sites.items()]


def _method(name: str, sites: tuple[CallSite, ...]) -> ContractMethod:
    return ContractMethod(
        name=name,
        call_sites=tuple(sorted(sites, key=lambda site: (site.path, site.line, site.column, site.shape))),
        guarded=all(site.guarded for site in sites),
        called_with=tuple(sorted({site.shape for site in sites})),
        required_for=frozenset(protocol for site in sites for protocol in site.required_for),
    )


class _Sites:
    """The call sites of one file."""

    def __init__(self, runtime: Runtime, file: RuntimeFile) -> None:
        self._runtime = runtime
        self._file = file
        self._ways: dict[Protocol, Ways] = {}

    @cached_property
    def _calls(self) -> dict[ast.Call, TargetCall]:
        return {one.call: one for one in target_calls(self._file)}

    def all(self) -> Iterable[tuple[str, CallSite]]:
        """Each method that is called, with its site."""
        return [(call.name, self._site(call)) for call in self._calls.values()]

    def _site(self, target: TargetCall) -> CallSite:
        call, file = target.call, self._file
        guard = guard_of(target)
        positional = sum(not isinstance(argument, ast.Starred) for argument in call.args)
        keywords = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
        protocols = self._protocols(target)
        required, unless = ((), ()) if guard is not None else self._required(target, protocols)
        return CallSite(
            path=file.source.path,
            line=call.lineno,
            column=file.source.column(call.lineno, call.col_offset),
            positional=positional,
            keywords=keywords,
            shape=shape(call.args, call.keywords),
            guarded=guard is not None,
            guard_raises=guard is not None and guard.raises,
            function=".".join(reversed(file.scope(call)[:2])) or "<module>",
            protocols=protocols,
            required_for=required,
            unless=unless,
            starred=positional + len(keywords) < len(call.args) + len(call.keywords),
        )

    # -- for which protocols -------------------------------------------------------------------------------------------

    def _protocols(self, target: TargetCall) -> tuple[Protocol, ...]:
        found = set(protocols_named(target.name)) or self._protocols_of_call(target)
        return tuple(protocol for protocol in PROTOCOLS if protocol in found)

    def _protocols_of_call(self, target: TargetCall) -> set[Protocol]:
        """For which protocols a call is made: by the tests around it, by the names around it, else by its callers."""
        found: set[Protocol] = set()
        seen: set[ast.Call] = set()
        pending: list[tuple[RuntimeFile, ast.Call, tuple[ast.expr, ...], frozenset[Protocol]]] = [
            (self._file, target.call, (target.receiver,), frozenset())
        ]
        while pending:
            file, call, handed, excluded = pending.pop()
            seen.add(call)
            named, refused = algorithms(file, call)
            excluded |= refused
            around = named or _protocols_around(file, call)
            found |= around - excluded
            function = file.function_of(call)
            if not around and function is not None and any(_is_parameter(file, call, one) for one in handed):
                for other, caller in self._runtime.callers(function.name):
                    if caller not in seen:
                        given = (*caller.args, *(keyword.value for keyword in caller.keywords))
                        pending.append((other, caller, given, excluded))
        return found

    # -- whether it is required ----------------------------------------------------------------------------------------

    def _required(
        self, target: TargetCall, protocols: tuple[Protocol, ...]
    ) -> tuple[tuple[Protocol, ...], tuple[str, ...]]:
        """The protocols no way of which does without the call, and what other ways need in its place."""
        function = self._file.function_of(target.call)
        if function is None:
            return protocols, ()
        required: list[Protocol] = []
        unless: set[str] = set()
        for protocol in protocols:
            if protocol not in self._ways:
                self._ways[protocol] = Ways(self._file, self._calls, protocol)
            ways = self._ways[protocol]
            for root in ways.roots(function):
                others = ways.instead_of(target.name, root)
                if frozenset() not in others:
                    required.append(protocol)
                    unless.update(*others)
        return tuple(dict.fromkeys(required)), tuple(sorted(unless))


def _is_parameter(file: RuntimeFile, call: ast.Call, expression: ast.expr) -> bool:
    """Whether a value starts at a parameter of the function that ``call`` is made in, its instance aside."""
    function = file.function_of(call)
    root = chain(file, expression)[-1:]
    if function is None or root in {("self",), ("cls",)}:
        return False
    arguments = function.args
    return any(root == (one.arg,) for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _protocols_around(file: RuntimeFile, node: ast.AST) -> set[Protocol]:
    """The protocols that a function's own name speaks of, else its class, else its file, else the folder of that."""
    for text in (*file.scope(node), *reversed(file.parts)):
        found = protocols_named(text)
        if found:
            return set(found)
    return set()
