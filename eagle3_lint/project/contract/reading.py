"""From a tree of sources to its contract."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from eagle3_lint.project.contract.calls import Calls, Found
from eagle3_lint.project.contract.conditions import Guards
from eagle3_lint.project.contract.files import RuntimeFiles
from eagle3_lint.project.contract.flow import Flow
from eagle3_lint.project.contract.model import (
    CAPTURE_SETTER,
    CAPTURE_SETTERS,
    EMBED_GETTER,
    CallSite,
    Contract,
    ContractMethod,
    Protocol,
    builtin_contract,
    builtin_method,
)
from eagle3_lint.project.contract.roles import Roles
from eagle3_lint.sources.files import RUNTIME_FOLDERS
from eagle3_lint.sources.text import SourceText


def contract_below(root: str, read: Callable[[str], SourceText], parse: Callable[[SourceText], ast.Module]) -> Contract:
    """See :func:`eagle3_lint.project.contract.read_contract`."""
    files = RuntimeFiles(root, read, parse)
    present = [folder for folder in RUNTIME_FOLDERS if files.has_folder(folder)]
    for folder in present:
        files.add_folder(folder)
    calls = _calls(files)
    found = calls.collect(present)
    if not _has_setter(found):
        files.add_rest()
        calls = _calls(files)
        found = calls.collect(present, elsewhere=True)
    methods = _methods(each for each in found if not each.on_draft)
    if not methods:
        return builtin_contract()
    names = {method.name for method in methods}
    if not _has_setter(found):
        methods.append(builtin_method(CAPTURE_SETTER))
    if EMBED_GETTER not in names and "speculative" not in present:
        methods.append(builtin_method(EMBED_GETTER))
    return Contract(
        methods=tuple(sorted(methods, key=lambda method: method.name)),
        source="runtime",
        draft_methods=tuple(_methods(each for each in found if each.on_draft)),
    )


def _calls(files: RuntimeFiles) -> Calls:
    flow = Flow(files)
    roles = Roles(flow)
    return Calls(files, flow, roles, Guards(flow, roles))


def _has_setter(found: Iterable[Found]) -> bool:
    return any(each.name in CAPTURE_SETTERS and not each.on_draft for each in found)


def _methods(found: Iterable[Found]) -> list[ContractMethod]:
    sites: dict[str, set[CallSite]] = {}
    for each in found:
        sites.setdefault(each.name, set()).add(each.site)
    return [_method(name, sites[name]) for name in sorted(sites)]


def _method(name: str, sites: Iterable[CallSite]) -> ContractMethod:
    ordered = tuple(sorted(sites, key=lambda site: (site.path, site.line, site.column, site.shape)))
    required: set[Protocol] = set()
    for site in ordered:
        if not site.guarded:
            required.update(site.protocols)
    return ContractMethod(
        name=name,
        call_sites=ordered,
        guarded=all(site.guarded for site in ordered),
        called_with=tuple(sorted({site.shape for site in ordered})),
        required_for=frozenset(required),
    )
