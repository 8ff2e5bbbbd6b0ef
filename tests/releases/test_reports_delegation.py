"""Each public report about delegation: found in the release that has the fault, not in one that doesn't.

``tests/data/reports_delegation.tsv`` has a row for each report.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from eagle3_lint.engine import Request, check
from eagle3_lint.sources.tree import SourceTree

REPORTS = Path(__file__).parents[1] / "data" / "reports_delegation.tsv"


def rows(column: str) -> Iterator[tuple[str, str, str]]:
    """The version, code and class of each release that ``column`` names."""
    with REPORTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for version in row[column].split(","):
                if version != "-":
                    yield version, row["code"], row["class"]


CODES = tuple(sorted({code for _, code, _ in rows("fault_in")}))


@cache
def reported(tree: SourceTree) -> frozenset[tuple[str, str]]:
    """The code and class of every finding in ``tree``."""
    report = check(Request(paths=(tree.models,), select=CODES, pedantic=True, cache=False))
    assert report.internal_errors == ()
    return frozenset((one.code, one.class_name or "") for one in report.findings)


@pytest.mark.release
@pytest.mark.parametrize(("version", "code", "name"), sorted(rows("fault_in")))
def test_the_fault_is_found_where_it_was_reported(
    version: str, code: str, name: str, release: Callable[[str], SourceTree]
) -> None:
    assert (code, name) in reported(release(version))


@pytest.mark.release
@pytest.mark.parametrize(("version", "code", "name"), sorted(rows("clean_in")))
def test_the_fault_is_not_found_where_it_is_mended(
    version: str, code: str, name: str, release: Callable[[str], SourceTree]
) -> None:
    assert (code, name) not in reported(release(version))
