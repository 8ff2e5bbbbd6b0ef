"""A loop over layers that carries a separate residual keeps bare hidden states.

## What it does

Many bodies carry the output of a layer as two values, `hidden_states, residual = layer(hidden_states, residual)`, and
add them in the next normalisation. This rule finds loops of that kind, in bodies of registered targets with a capture
setter, that keep `hidden_states` alone where a layer is captured.

## Why is this bad?

The draft was trained on the sum. Without the residual it gets states that its target never had, and its proposals are
rarely accepted.

## Example

```python
for index, layer in enumerate(self.layers):
    if index in self.layers_to_capture:
        captured.append(hidden_states)
    hidden_states, residual = layer(positions, hidden_states, residual)
```

## Use instead

```python
for index, layer in enumerate(self.layers):
    if index in self.layers_to_capture:
        captured.append(hidden_states if residual is None else hidden_states + residual)
    hidden_states, residual = layer(positions, hidden_states, residual)
```

## Sources

- No public report: `Gemma3TextModel` of sgl-project/sglang 0.5.18 to 0.5.23 keeps bare hidden states since its
  layers hand the residual on; every other body of these releases adds it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eagle3_lint.findings.model import Evidence, Finding, Span
from eagle3_lint.project.capture_layers import bare_captures
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each place that keeps bare hidden states."""
    hit: dict[tuple[str, int], tuple[Found, dict[ClassInfo, None]]] = {}
    for info in context.targets():
        for method, line in _places(context, info):
            hit.setdefault((method.definer.path, line), (method, {}))[1].setdefault(info)
    for (path, line), (method, registered) in hit.items():
        context.current = method.definer
        yield _finding(context, path, line, method, tuple(registered))


def _places(context: ProjectContext, info: ClassInfo) -> Iterator[tuple[Found, int]]:
    flow = context.project.capture_flow
    files = {one.path for one in info.project_classes}
    for setter in sorted(CAPTURE_SETTERS):
        if not info.mentions(setter):
            continue
        effects = flow.setter(info, setter)
        for write in effects.writes if effects is not None else ():
            for method in flow.reach(write.body.info).methods:
                if write.constant or method.definer.path not in files:
                    continue
                function = method.function()
                for line in bare_captures(function) if function is not None else ():
                    yield method, line


def _finding(
    context: ProjectContext, path: str, line: int, method: Found, registered: tuple[ClassInfo, ...]
) -> Finding:
    text = method.definer.module.source.lines[line - 1]
    span = Span(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)
    return context.finding(
        "EGL205",
        method.definer,
        span,
        f"{method.definer.name}.{method.member.name} carries a separate residual through its layers, but keeps the "
        f"hidden states without it. The draft was trained on their sum. Keep the sum of both.",
        registered=registered,
        evidence=(Evidence(path, line, "the hidden states are kept here"),),
        caused_by=tuple(one.path for info in registered for one in info.project_classes),
    )


RULE = Rule(
    code="EGL205",
    symbol="capture-without-residual",
    severity="warning",
    summary="A loop over layers that carries a separate residual keeps bare hidden states.",
    scope="project",
    check_project=check,
    pedantic=True,
)
