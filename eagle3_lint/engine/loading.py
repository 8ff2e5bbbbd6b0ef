"""Parses the models of a project before the rules ask for them, in two processes where that pays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.second_process import WORTH_A_PROCESS, Shared
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.encoding import decode, encode
from eagle3_lint.facts.extract import facts_of_tree
from eagle3_lint.project.contract.encoding import decode as decode_contract
from eagle3_lint.project.contract.encoding import encode as encode_contract
from eagle3_lint.sources.reading import parse_source
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.facts.extract import Functions
    from eagle3_lint.facts.module import ModuleFacts
    from eagle3_lint.project.contract import Contract


def load_models(opened: OpenedProject, paths: Sequence[str]) -> None:
    """Parse the modules at ``paths`` and read the contract, as far as neither is known from the last run."""
    sources = [source for path in paths if (source := _unknown(opened, path)) is not None]
    size = sum(len(source.data) for source in sources)
    if not opened.parallel or size < WORTH_A_PROCESS:
        return
    # The largest first: at the end small ones are left, with which both processes end at the same time.
    items: list[SourceText | None] = [*sorted(sources, key=lambda one: len(one.data), reverse=True)]
    if not opened.knows_contract:
        items.insert(0, None)
    with Shared(items, lambda taken: _plain(opened, taken)) as shared:
        for source in shared.taken():
            if source is not None:
                _load(opened, source)
            else:
                opened.install_contract(opened.read_contract())
        plain, contract = shared.result()
    for path, one in plain.items():
        _install(opened, opened.modules.source(path), one)
    if contract is not None:
        opened.install_contract(decode_contract(contract))


def _unknown(opened: OpenedProject, path: str) -> SourceText | None:
    try:
        source = opened.modules.source(path)
    except UnreadableSourceError:
        return None
    return None if opened.memory is not None and opened.memory.knows_facts(source) else source


def _load(opened: OpenedProject, source: SourceText) -> None:
    try:
        facts, functions, looked_at = _read(opened, source)
    except UnreadableSourceError as error:
        opened.modules.install(source, error)
        return
    opened.modules.install(source, facts, functions)
    if opened.memory is not None:
        opened.memory.keep_facts(source, encode(facts))
    opened.looked_at(source.path, looked_at)


def _read(opened: OpenedProject, source: SourceText) -> tuple[ModuleFacts, Functions, Any]:
    """The facts of ``source``, its likely functions, and what was asked of its text in passing."""
    tree = parse_source(source)
    facts, functions = facts_of_tree(tree)
    return facts, functions, opened.look_beside(source.path, tree)


def _plain(opened: OpenedProject, taken: Iterable[SourceText | None]) -> Any:
    """The same of the sources that are ``taken``, and the contract where the item that stands for it is among them."""
    contract: Contract | None = None
    found: dict[str, Any] = {}
    for source in taken:
        if source is None:
            contract = opened.read_contract()
            continue
        try:
            facts, _, looked_at = _read(opened, source)
            found[source.path] = (encode(facts), looked_at)
        except UnreadableSourceError as error:
            found[source.path] = (error.reason, error.line, error.column)
    return found, None if contract is None else encode_contract(contract)


def _install(opened: OpenedProject, source: SourceText, plain: Any) -> None:
    if isinstance(plain[0], str):
        opened.modules.install(source, UnreadableSourceError(*plain))
        return
    facts, looked_at = plain
    opened.modules.install(source, decode(facts))
    if opened.memory is not None:
        opened.memory.keep_facts(source, facts)
    opened.looked_at(source.path, looked_at)
