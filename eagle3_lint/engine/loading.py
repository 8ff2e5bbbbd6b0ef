"""Parses the models of a project before the rules ask for them, in two processes where that pays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.second_process import WORTH_A_PROCESS, Shared
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.encoding import decode, encode
from eagle3_lint.facts.extract import facts_of
from eagle3_lint.project.contract.encoding import decode as decode_contract
from eagle3_lint.project.contract.encoding import encode as encode_contract
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.engine.opened import OpenedProject
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
                opened.modules.at(source.path)
            else:
                opened.install_contract(opened.read_contract())
        plain, contract = shared.result()
    _install(opened, plain)
    if contract is not None:
        opened.install_contract(decode_contract(contract))


def _unknown(opened: OpenedProject, path: str) -> SourceText | None:
    try:
        source = opened.modules.source(path)
    except UnreadableSourceError:
        return None
    return None if opened.memory is not None and opened.memory.knows_facts(source) else source


def _plain(opened: OpenedProject, taken: Iterable[SourceText | None]) -> Any:
    """The facts of the sources that are ``taken``, and the contract where the item that stands for it is among them."""
    contract: Contract | None = None
    facts: dict[str, Any] = {}
    for source in taken:
        if source is None:
            contract = opened.read_contract()
            continue
        try:
            facts[source.path] = encode(facts_of(source))
        except UnreadableSourceError as error:
            facts[source.path] = (error.reason, error.line, error.column)
    return facts, None if contract is None else encode_contract(contract)


def _install(opened: OpenedProject, plain: Mapping[str, Any]) -> None:
    for path, one in plain.items():
        source = opened.modules.source(path)
        if isinstance(one[0], str):
            opened.modules.install(source, UnreadableSourceError(*one))
            continue
        opened.modules.install(source, decode(one))
        if opened.memory is not None:
            opened.memory.keep_facts(source, one)
