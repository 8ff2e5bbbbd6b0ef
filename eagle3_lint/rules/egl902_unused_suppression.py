"""A suppression comment suppresses nothing.

## What it does

Reports a code or symbol of this linter in a suppression comment where the rule that it names ran and found nothing to
suppress. A plain `# noqa` and the codes of other tools are nobody's business here.

Pedantic: only reported with `--pedantic`, or enabled by name in pylint.

## Why is this bad?

A comment that once silenced a true finding goes on to silence the next one, in code that has changed since.

## Example

```python
class TextModel:  # eagle3-lint: ignore[EGL101] wrapped elsewhere
    pass
```

## Use instead

```python
class TextModel:
    pass
```

## Fix

None: take the comment out, or the code out of its list.

## Sources

- pylint's `useless-suppression`: https://pylint.readthedocs.io/en/stable/user_guide/messages/information/useless-suppression.html
- ruff's `unused-noqa`: https://docs.astral.sh/ruff/rules/unused-noqa/
"""

from __future__ import annotations

from eagle3_lint.rules.base import Rule

# The engine itself reports it, after every other rule has had its say on the file.
RULE = Rule(
    code="EGL902",
    symbol="unused-suppression",
    severity="warning",
    summary="A suppression comment suppresses nothing.",
    scope="module",
    pedantic=True,
)
