"""Parses the models of a project before the rules ask for them, in two processes where that pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.second_process import WORTH_A_PROCESS, SecondProcess, halves
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.encoding import decode, encode
from eagle3_lint.facts.extract import facts_of
from eagle3_lint.project.contract.encoding import decode as decode_contract
from eagle3_lint.project.contract.encoding import encode as encode_contract
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    from eagle3_lint.engine.opened import OpenedProject
    from eagle3_lint.project.contract import Contract

# Reading a contract takes as long as parsing this much text.
_WEIGHT_OF_CONTRACT = 1_500_000
# What this process has to do beside: receive what the other found.
_OWN_SHARE = 0.1


def load_models(opened: OpenedProject, paths: Sequence[str]) -> None:
    """Parse the modules at ``paths`` and read the contract, as far as neither is known from the last run."""
    sources = [source for path in paths if (source := _unknown(opened, path)) is not None]
    size = sum(len(source.data) for source in sources)
    if not opened.parallel or size < WORTH_A_PROCESS:
        return
    extra = 0 if opened.knows_contract else _WEIGHT_OF_CONTRACT
    mine, others = halves(sources, lambda one: len(one.data), size * _OWN_SHARE, extra)
    with SecondProcess(lambda: _plain(opened, others)) as second:
        for source in mine:
            opened.modules.at(source.path)
        plain, contract = second.result()
    _install(opened, others, plain)
    if contract is not None:
        opened.install_contract(decode_contract(contract))


def _unknown(opened: OpenedProject, path: str) -> SourceText | None:
    try:
        source = opened.modules.source(path)
    except UnreadableSourceError:
        return None
    return None if opened.memory is not None and opened.memory.knows_facts(source) else source


def _plain(opened: OpenedProject, sources: Sequence[SourceText]) -> Any:
    contract: Contract | None = None if opened.knows_contract else opened.read_contract()
    facts: list[Any] = []
    for source in sources:
        try:
            facts.append(encode(facts_of(source)))
        except UnreadableSourceError as error:
            facts.append((error.reason, error.line, error.column))
    return facts, None if contract is None else encode_contract(contract)


def _install(opened: OpenedProject, sources: Sequence[SourceText], plain: Sequence[Any]) -> None:
    for source, one in zip(sources, plain, strict=True):
        if isinstance(one[0], str):
            opened.modules.install(source, UnreadableSourceError(*one))
            continue
        opened.modules.install(source, decode(one))
        if opened.memory is not None:
            opened.memory.keep_facts(source, one)
