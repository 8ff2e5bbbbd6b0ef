"""The method resolution order is Python's, for whatever hierarchy; names don't depend on the order of files."""

from __future__ import annotations

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract import builtin_contract
from eagle3_lint.project.modules import Modules
from eagle3_lint.project.project import Project

# For each class the number of its module, the numbers of its bases, and its metaclass if it names one.
Hierarchy = list[tuple[int, list[int], str]]
_MODULES = 3
_METACLASSES = "class Upper(type): ...\nclass Lower(Upper): ...\nclass Other(type): ...\n"
_PACKAGE = "sglang.srt.models"


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Classes of which all bases come before them, some of them twice; few name a metaclass."""
    count = draw(st.integers(1, 9))
    made: Hierarchy = []
    for number in range(count):
        bases = draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        metaclass = draw(st.sampled_from(["", "", "", "", "", "Upper", "Lower", "Other"]))
        made.append((draw(st.integers(0, _MODULES - 1)), bases, metaclass))
    return made


def python_orders(hierarchy: Hierarchy) -> list[tuple[str, ...] | None]:
    """The order that Python itself gives each class; None where it refuses to make it."""
    metaclasses: dict[str, type] = {"": type}
    exec(_METACLASSES, metaclasses)  # noqa: S102 - the three lines above
    made: list[type | None] = []
    orders: list[tuple[str, ...] | None] = []
    for number, (_, bases, metaclass) in enumerate(hierarchy):
        parents = [made[base] for base in bases]
        one: type | None = None
        if None not in parents:
            try:
                one = metaclasses[metaclass](
                    f"C{number}", tuple(parent for parent in parents if parent is not None), {}
                )
            except TypeError:
                one = None
        made.append(one)
        orders.append(None if one is None else tuple(base.__name__ for base in one.__mro__[:-1]))
    return orders


def modules_of(hierarchy: Hierarchy, how: int) -> dict[str, str]:
    """The classes written into modules, in one of several ways to name a base of another module."""
    texts = dict.fromkeys((f"m{number}" for number in range(_MODULES)), "")
    texts["m0"] = _METACLASSES
    for number, (module, bases, metaclass) in enumerate(hierarchy):
        written = []
        for base in bases:
            home = hierarchy[base][0]
            if home == module:
                written.append(f"C{base}")
            elif (how + base) % 3 == 0:
                texts[f"m{module}"] += f"from {_PACKAGE}.m{home} import C{base} as Other{base}\n"
                written.append(f"Other{base}")
            elif (how + base) % 3 == 1:
                texts[f"m{module}"] += f"from . import m{home}\n"
                written.append(f"m{home}.C{base}")
            else:
                texts[f"m{module}"] += f"import {_PACKAGE}.m{home} as x{home}\nAlias{base} = x{home}.C{base}\n"
                written.append(f"Alias{base}")
        if metaclass:
            texts[f"m{module}"] += f"import {_PACKAGE}.m0\n" if module else ""
            written.append(f"metaclass={f'{_PACKAGE}.m0.' if module else ''}{metaclass}")
        texts[f"m{module}"] += f"class C{number}({', '.join(written)}):\n    def m{number % 3}(self): ...\n"
    return texts


def project_of(root: Path, texts: dict[str, str], engine: str = "auto") -> Project:
    models = root / "sglang" / "srt" / "models"
    models.mkdir(parents=True)
    for name, text in texts.items():
        (models / f"{name}.py").write_text(text)
    return Project(Modules((str(root),)), str(models), builtin_contract, engine=engine)


def by_name(project: Project) -> dict[str, ClassInfo]:
    return {info.name: info for info in project.classes}


def check_orders(hierarchy: Hierarchy, how: int, engine: str) -> None:
    with TemporaryDirectory() as folder:
        found = by_name(project_of(Path(folder), modules_of(hierarchy, how), engine))
        for number, expected in enumerate(python_orders(hierarchy)):
            order = found[f"C{number}"].order
            names = tuple(one.dotted.rpartition(".")[2] for one in order.classes)
            if expected is None:
                assert order.is_refused
                assert order.problem
                assert names == (f"C{number}",)
            else:
                assert (names, order.problem) == (expected, "")


@settings(max_examples=150, deadline=None)
@given(hierarchies(), st.integers(0, 2))
def test_the_order_is_pythons(hierarchy: Hierarchy, how: int) -> None:
    check_orders(hierarchy, how, "auto")


@settings(max_examples=25, deadline=None)
@given(hierarchies(), st.integers(0, 2))
def test_the_order_is_pythons_with_astroid(hierarchy: Hierarchy, how: int) -> None:
    check_orders(hierarchy, how, "astroid")


@settings(max_examples=60, deadline=None)
@given(hierarchies(), st.integers(0, 2), st.booleans())
def test_who_is_asked_first_makes_no_difference(hierarchy: Hierarchy, how: int, first: bool) -> None:
    """Also where classes inherit from themselves: each base may be any class, whether it comes before or after."""
    count = len(hierarchy)
    circular = [(module, [(base * 7 + how) % count for base in bases], why) for module, bases, why in hierarchy]
    answers = []
    with TemporaryDirectory() as folder:
        texts = modules_of(circular, how)
        for turn, backwards in enumerate((first, not first)):
            found = by_name(project_of(Path(folder) / str(turn), texts))
            names = sorted(found, reverse=backwards)
            orders = {name: (found[name].order.dotted, found[name].order.problem) for name in names}
            members = {name: [found[name].find(f"m{n}") for n in range(3)] for name in names}
            lines = {
                name: [(one.definer.dotted, one.line) if one is not None else None for one in some]
                for name, some in members.items()
            }
            answers.append((dict(sorted(orders.items())), dict(sorted(lines.items()))))
    assert answers[0] == answers[1]


def test_a_circle_of_any_length_is_told_as_one() -> None:
    for length, start in itertools.product((1, 2, 5, 400), (0, 1)):
        text = "".join(f"class C{n}(C{(n + 1) % length}): ...\n" for n in range(length))
        below = "class Below(C0): ...\n"
        with TemporaryDirectory() as folder:
            found = by_name(project_of(Path(folder), {"m0": text + below}))
            asked = [*found.values()][:: -1 if start else 1]
            for info in asked:
                assert "inherits from itself" in info.order.problem
                assert info.order.is_refused
                assert info.order.dotted == (info.dotted,)


def test_a_hierarchy_deeper_than_pythons_stack() -> None:
    depth = 3000
    text = "class C0: ...\n" + "".join(f"class C{n + 1}(C{n}): ...\n" for n in range(depth))
    with TemporaryDirectory() as folder:
        found = by_name(project_of(Path(folder), {"m0": text}))
        assert len(found[f"C{depth}"].order.classes) == depth + 1
