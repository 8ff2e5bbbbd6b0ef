"""A file cannot be read or parsed.

## What it does

Reports a file that is not linted, and why: a syntax error, a NUL byte, bytes that its declared encoding doesn't allow,
an encoding that doesn't exist, nesting beyond any real module, missing rights, a dangling link, a directory or a
device by the name of a source file. Every other file is linted all the same.

## Why is this bad?

Nothing is known of a file that can't be read; a silent linter would look like a clean one. In SGLang's models
directory the registry only logs the failing import, and the architecture counts as not supported.

## Example

```python
def broken(:
    pass
```

## Use instead

```python
def mended():
    pass
```

## Fix

None: what was meant is not in the file.

## Sources

- Python's own reading of source files: https://docs.python.org/3/reference/lexical_analysis.html#encoding-declarations
- sgl-project/sglang, `srt/models/registry.py`: import errors of model files are logged and passed over.
"""

from __future__ import annotations

from eagle3_lint.rules.base import Rule

# The engine itself reports it, in the place of everything else about the file.
RULE = Rule(
    code="EGL901",
    symbol="unreadable-source",
    severity="error",
    summary="A file cannot be read or parsed.",
    scope="module",
)
