"""A contract as plain tuples, the form in which it is kept on disk."""

from __future__ import annotations

from typing import Any

from eagle3_lint.project.contract.model import CallSite, Contract, ContractMethod

Plain = tuple[Any, ...]


def encode(contract: Contract) -> Plain:
    """``contract`` as nested tuples of strings, numbers and None."""
    return (
        tuple(_method(one) for one in contract.methods),
        contract.source,
    )


def decode(plain: Plain) -> Contract:
    """The contract that ``encode`` made ``plain`` of; raises ValueError or TypeError on anything else."""
    methods, source = plain
    return Contract(tuple(_decoded(one) for one in methods), source)


def _method(one: ContractMethod) -> Plain:
    return (
        one.name,
        tuple(
            (
                site.path,
                site.line,
                site.column,
                site.positional,
                site.keywords,
                site.shape,
                site.guarded,
                site.guard_raises,
                site.function,
                site.protocols,
                site.required_for,
                site.unless,
                site.starred,
            )
            for site in one.call_sites
        ),
        one.guarded,
        one.called_with,
        tuple(sorted(one.required_for)),
    )


def _decoded(plain: Plain) -> ContractMethod:
    name, sites, guarded, called_with, required_for = plain
    return ContractMethod(name, tuple(CallSite(*site) for site in sites), guarded, called_with, frozenset(required_for))
