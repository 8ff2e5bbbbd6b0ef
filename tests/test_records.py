"""Records are what the standard library's dataclasses are, as far as this program uses them."""

from __future__ import annotations

import ast
import dataclasses
import pickle
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import eagle3_lint
from eagle3_lint import records

PACKAGE = Path(eagle3_lint.__file__).parent


@records.dataclass(frozen=True)
class Point:
    """A frozen record with every kind of field."""

    x: int
    y: int = 2
    names: dict[str, int] = records.field(default_factory=dict, compare=False)
    note: str = records.field(default="", compare=False)
    aside: int = records.field(default=0, compare=False)

    @cached_property
    def total(self) -> int:
        """Computed once."""
        return self.x + self.y


@records.dataclass
class Counter:
    """A record that changes."""

    count: int = 0
    seen: list[int] = records.field(default_factory=list)


@records.dataclass(frozen=True, eq=False)
class Thing:
    """A record that is itself only."""

    name: str


def test_construction_and_defaults() -> None:
    one, other = Point(1), Point(1, y=2)
    assert (one.x, one.y, one.names, one.note) == (1, 2, {}, "")
    assert one.names is not other.names
    assert Point.y == 2
    assert Counter().seen is not Counter().seen
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=3)  # type: ignore[call-arg]


def test_equality_and_hash() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert hash(Point(1, note="a")) == hash(Point(1, note="b"))
    assert Point(1) != Point(2)
    assert Point(1).__eq__(1) is NotImplemented
    assert Thing("a") != Thing("a")
    assert len({Thing("a"), Thing("a")}) == 2
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError):
        hash(Counter())


def test_frozen() -> None:
    point = Point(1)
    for change in (lambda: setattr(point, "x", 2), lambda: setattr(point, "new", 2), lambda: delattr(point, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert point.total == 3
    assert point.__dict__["total"] == 3
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)


def test_the_standard_functions_take_them_for_dataclasses() -> None:
    point = Point(1, 3, {"a": 1}, "note")
    assert point.total == 4
    assert records.replace(point, x=5) == dataclasses.replace(point, x=5) == Point(5, 3)
    assert records.replace(point, x=5).names == {"a": 1}
    assert records.replace(point, x=5).total == 8
    assert dataclasses.asdict(point) == {"x": 1, "y": 3, "names": {"a": 1}, "note": "note", "aside": 0}
    assert [one.name for one in dataclasses.fields(Point)] == ["x", "y", "names", "note", "aside"]
    assert dataclasses.is_dataclass(Thing)
    assert pickle.loads(pickle.dumps(point)) == point
    assert repr(Point(1)) == "Point(x=1, y=2, names={}, note='', aside=0)"
    match point:
        case Point(x, y):
            assert (x, y) == (1, 3)


def _record_classes() -> list[tuple[str, str]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(("eagle3_lint", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(one) for one in node.decorator_list):
                assert not node.bases, f"{name}.{node.name} inherits, which records can't"
                found.append((name, node.name))
    return found


def test_every_record_of_the_program_is_what_a_dataclass_would_be() -> None:
    """Each is made again by the standard library, from the same source, and compared."""
    classes = _record_classes()
    assert len(classes) > 90
    for module, name in classes:
        standard, ours = _load(module, dataclasses), _load(module, records)
        one, other = getattr(standard, name), getattr(ours, name)
        assert [_described(field) for field in dataclasses.fields(other)] == [
            _described(field) for field in dataclasses.fields(one)
        ]
        assert other.__match_args__ == one.__match_args__
        assert (other.__hash__ is None) == (one.__hash__ is None)
        assert (other.__eq__ is object.__eq__) == (one.__eq__ is object.__eq__)
        assert (other.__setattr__ is object.__setattr__) == (one.__setattr__ is object.__setattr__)


def _described(field: Any) -> tuple[Any, ...]:
    default = repr(field.default) if callable(getattr(field.default, "__dict__", None)) else type(field.default)
    return field.name, default, field.default_factory is dataclasses.MISSING, field.compare, field.init


def _load(name: str, made_by: ModuleType) -> Any:
    """The module ``name``, run anew with its records made by the functions of ``made_by``."""
    found = sys.modules.get(name) or __import__(name, fromlist=["_"])
    path = Path(str(found.__file__))
    text = path.read_text(encoding="utf-8").replace(
        "from eagle3_lint.records import", f"from {made_by.__name__} import"
    )
    fresh = ModuleType(name)
    fresh.__dict__.update(__file__=str(path), __package__=found.__package__, __path__=getattr(found, "__path__", []))
    kept = sys.modules.get(name)
    sys.modules[name] = fresh
    try:
        exec(compile(text, str(path), "exec"), fresh.__dict__)  # noqa: S102 - our own module
    finally:
        if kept is not None:
            sys.modules[name] = kept
    return fresh


def test_a_hook_does_without_the_standard_dataclasses() -> None:
    """Their module and ``inspect``, which it imports, are a twentieth of what a run on unchanged files takes."""
    program = (
        "import sys; from eagle3_lint.engine import Request, check; from eagle3_lint.rules.registry import all_codes, load;"
        "[load(code) for code in all_codes()]; print(*{'dataclasses', 'inspect'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program]
        if sys.version_info >= (3, 11)
        else [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert ran.stdout.strip() == ""
