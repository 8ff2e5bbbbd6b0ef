"""A name of `typing` is used where Python evaluates it, and nothing has imported it by then.

## What it does

Finds the public names of `typing` and `typing_extensions` (`Optional`, `List`, `Tuple`, ...) that no binding provides
by the time Python gets there, in everything that Python evaluates: annotations of parameters, results, modules and
classes, type aliases, base classes, decorators, casts, any other expression. Also `typing.Optional` and `t.Optional`
with the module not imported, and names that only an import under `if TYPE_CHECKING:` binds.

What is evaluated is Python's own rule: not an annotation in a string, nor one under
`from __future__ import annotations`, nor one of a function's local variable; with `--target-version 3.14` no annotation
at all. Those are `unimported-typing-name-deferred` (EGL302).

A name that any branch binds counts as bound, and a function's body sees whatever the module binds anywhere. A star
import binds what its module exports; where that can't be read the rule is silent, as it is inside
`try: ... except NameError:`.

## Why is this bad?

The line raises `NameError` when it runs. For most annotations that is when the module is imported. SGLang's registry
imports every file directly in `sglang/srt/models` and only logs a file that fails, so one missing import makes a model
vanish: its users read that the architecture is not supported.

## Example

```python
from typing import Iterable


class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids: Optional[List[int]] = None): ...
```

## Use instead

```python
from typing import Iterable, List, Optional


class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids: Optional[List[int]] = None): ...
```

## Fix

The import is added, to an import from the same module if there is one. That is safe, except where another thing than
the typing name may be meant (`cast`, `Match`, ... outside an annotation), where `typing_extensions` would be needed,
and where the module binds the name too late or for type checkers only. A name that a function binds too late, or that
is deleted, is left to you.

## Sources

- sgl-project/sglang#1513: the registry ignores a model file that fails to import.
- sgl-project/sglang#9561: how that looks to users ("Ignore import error when loading ...").
- https://docs.python.org/3/reference/executionmodel.html#resolution-of-names
- https://docs.python.org/3/reference/simple_stmts.html#annotated-assignment-statements
- https://peps.python.org/pep-0563/ and https://peps.python.org/pep-0649/
"""

from __future__ import annotations

from collections.abc import Iterable

from eagle3_lint.facts.typing_use import TypingUse
from eagle3_lint.findings.model import Finding
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.context import ModuleContext
from eagle3_lint.rules.typing_imports import finding, place


def check(context: ModuleContext) -> Iterable[Finding]:
    """One finding for each use that Python evaluates."""
    for use in context.typing_uses:
        if use.evaluated:
            yield finding(context, use, RULE.code, RULE.symbol, RULE.severity, _consequence(context, use))


def _consequence(context: ModuleContext, use: TypingUse) -> str:
    if not use.at_import:
        return f"Python raises NameError when it runs this line ({place(use)})."
    consequence = f"Python evaluates it while it imports this module ({place(use)}) and raises NameError."
    if context.is_model_module:
        consequence += (
            " SGLang's model registry only logs that the file failed to import, so its classes are missing and the "
            "server reports the architecture as not supported."
        )
    return consequence


RULE = Rule(
    code="EGL301",
    symbol="unimported-typing-name",
    severity="error",
    summary="A name of `typing` is used where Python evaluates it, and nothing has imported it by then.",
    scope="module",
    check_module=check,
)
