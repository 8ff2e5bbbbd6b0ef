"""The setter leaves some pipeline ranks alone without raising.

## What it does

Finds capture setters of registered targets that do nothing on some ranks of pipeline parallelism: they return
early, or put everything under a question for the rank, and raise nothing. Setters that refuse more than one rank
are in order.

## Why is this bad?

Each rank holds a part of the layers. Where only the last one captures, layers of the others are never captured: the
draft gets fewer states than it needs, and nobody is told.

## Example

```python
def set_eagle3_layers_to_capture(self, layer_ids=None):
    if not self.pp_group.is_last_rank:
        return
    self.capture_aux_hidden_states = True
    self.model.layers_to_capture = [layer_id + 1 for layer_id in layer_ids]
```

## Use instead

```python
def set_eagle3_layers_to_capture(self, layer_ids=None):
    if self.pp_group.world_size > 1:
        raise NotImplementedError("EAGLE-3 captures on one pipeline rank only")
    self.capture_aux_hidden_states = True
    self.model.layers_to_capture = [layer_id + 1 for layer_id in layer_ids]
```

## Sources

- sgl-project/sglang#39644: MiniMax-M3 captures on the last pipeline rank only.
"""

from __future__ import annotations

from collections.abc import Iterable

from eagle3_lint.findings.model import Evidence, Finding
from eagle3_lint.project.capture_layers import partial_return
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each setter that leaves ranks alone."""
    hit: dict[tuple[str, int], tuple[Found, int, dict[ClassInfo, None]]] = {}
    for info in context.targets():
        for setter in sorted(CAPTURE_SETTERS):
            if not info.mentions(setter):
                continue
            found = info.find(setter)
            function = found.function() if found is not None else None
            line = partial_return(function) if function is not None else None
            if found is not None and line is not None:
                hit.setdefault((found.definer.path, found.line), (found, line, {}))[2].setdefault(info)
    for found, line, registered in hit.values():
        context.current = found.definer
        yield _finding(context, found, line, tuple(registered))


def _finding(context: ProjectContext, found: Found, line: int, registered: tuple[ClassInfo, ...]) -> Finding:
    owner = found.definer
    return context.finding(
        "EGL206",
        owner,
        found.span(),
        f"{found.member.name} of {owner.name} does nothing on some pipeline ranks and raises nothing "
        f"({context.shown(owner.path, line)}): layers on those ranks are never captured. Capture on each rank, or "
        f"raise where there is more than one.",
        registered=registered,
        methods=(found.member.name,),
        evidence=(Evidence(owner.path, line, "other ranks are left alone here"),),
        caused_by=tuple(one.path for info in registered for one in info.project_classes),
    )


RULE = Rule(
    code="EGL206",
    symbol="partial-pipeline-capture",
    severity="warning",
    summary="The setter leaves some pipeline ranks alone without raising.",
    scope="project",
    check_project=check,
    pedantic=True,
)
