"""A name of `typing` is used where Python doesn't evaluate it, and nothing imports it.

## What it does

Finds the same names as `unimported-typing-name` (EGL301) where Python never evaluates them: in annotations that are
strings, that stand under `from __future__ import annotations`, or that belong to local variables of a function; in
strings that stand for types (`cast("Optional[int]", x)`, `TypeVar("T", bound="Sequence")`); in `type` statements and
bounds of type parameters; in all code under `if TYPE_CHECKING:`; with `--target-version 3.14` in every annotation.

A name that is bound anywhere in reach, even under `if TYPE_CHECKING:`, is fine here. Strings in `Literal[...]` and in
the metadata of `Annotated[...]` are no annotations.

## Why is this bad?

Nothing fails when the module is imported, so the mistake stays. Type checkers report it, or treat the type as unknown
and check nothing; `typing.get_type_hints`, and everything built on it (pydantic, FastAPI, dataclass tools), raises
`NameError`; and the annotation becomes an error at import as soon as somebody removes the quotes or the `__future__`
import.

## Example

```python
from __future__ import annotations

from typing import List


def load_weights(weights: Iterable[Tuple[str, List[int]]]) -> None: ...
```

## Use instead

```python
from __future__ import annotations

from typing import Iterable, List, Tuple


def load_weights(weights: Iterable[Tuple[str, List[int]]]) -> None: ...
```

## Fix

The import is added, to an import from the same module if there is one. That is safe, except where another thing than
the typing name may be meant (outside an annotation), where `typing_extensions` would be needed, and where the module
binds the name too late.

## Sources

- No public report: `Set` and `Tuple` in annotations of the release 0.4.6 of sgl-project/sglang, `Set`, `List` and `Any`
  in the release 0.4.10.post2.
- https://docs.python.org/3/library/typing.html#typing.get_type_hints
- https://docs.python.org/3/reference/simple_stmts.html#annotated-assignment-statements
- https://peps.python.org/pep-0563/ and https://peps.python.org/pep-0649/
"""

from __future__ import annotations

from collections.abc import Iterable

from eagle3_lint.findings.model import Finding
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.rules.typing_imports import finding, place


def check(context: ModuleContext) -> Iterable[Finding]:
    """One finding for each use that Python doesn't evaluate."""
    for use in context.typing_uses:
        if not use.evaluated:
            consequence = (
                f"Python doesn't evaluate it here ({place(use)}), but type checkers and typing.get_type_hints do, "
                "and fail."
            )
            yield finding(context, use, RULE.code, RULE.symbol, RULE.severity, consequence)


RULE = Rule(
    code="EGL302",
    symbol="unimported-typing-name-deferred",
    severity="warning",
    summary="A name of `typing` is used where Python doesn't evaluate it, and nothing imports it.",
    scope="module",
    check_module=check,
)
