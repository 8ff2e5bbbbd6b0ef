"""Layer ids are shifted by one, and the body can't capture after its last layer.

## What it does

Most bodies capture the *input* of a layer, so a setter shifts the ids by one: to capture the output of layer `i` it
asks for the input of layer `i + 1`. This rule finds registered targets whose setter shifts, and whose body asks
about capture only inside its loop over the layers, before a layer runs: the boundary after the last layer is then
never captured. That is shown under `--pedantic`.

Where the setter picks layers by their number (`self.layers[i]`) the number past the last one is an `IndexError`, and
the server stops: that is shown by default.

## Why is this bad?

A draft that was trained with the output of the last layer gets one state less than it needs. The server stops with a
mismatch of shapes, or the draft never agrees with its target.

## Example

```python
for index in range(len(self.layers)):
    if index in self.layers_to_capture:
        captured.append(hidden_states)
    hidden_states = self.layers[index](hidden_states)
```

## Use instead

```python
for index in range(len(self.layers)):
    if index in self.layers_to_capture:
        captured.append(hidden_states)
    hidden_states = self.layers[index](hidden_states)
if len(self.layers) in self.layers_to_capture:
    captured.append(hidden_states)
```

## Sources

- sgl-project/sglang#32226 and #32334: the last boundary of GPT-OSS is never captured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from eagle3_lint.findings.model import Evidence, Finding
from eagle3_lint.project.capture_flow import CaptureFlow, CaptureWrite, Holder, SetterEffects
from eagle3_lint.project.capture_layers import LayerQuestion, refuses_ids
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext


@dataclass(frozen=True)
class _Loss:
    """The line of the shift, the body, and the line where the body asks; ``stops`` is the write that is out of range."""

    shift: int
    body: Holder
    asked: int
    stops: CaptureWrite | None


@dataclass(frozen=True)
class _Hit:
    """What is wrong with one class, found through one or more setters."""

    path: str
    loss: _Loss
    setters: dict[str, None] = field(default_factory=dict)
    registered: dict[ClassInfo, None] = field(default_factory=dict)


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class whose setter shifts what its body can't reach."""
    hit: dict[ClassInfo, _Hit] = {}
    for info in context.targets():
        for setter in sorted(CAPTURE_SETTERS):
            found = info.find(setter)
            loss = _unreachable(context, info, setter) if found is not None else None
            if found is None or loss is None:
                continue
            owner = found.definer if _unreachable(context, found.definer, setter) is not None else info
            group = hit.setdefault(owner, _Hit(found.definer.path, loss))
            group.setters.setdefault(setter)
            group.registered.setdefault(info)
    for owner, group in hit.items():
        context.current = owner
        yield _finding(context, owner, group)


def _unreachable(context: ProjectContext, info: ClassInfo, setter: str) -> _Loss | None:
    """What ``setter`` of ``info`` shifts out of reach; None where all boundaries can be reached, or nobody can know."""
    flow = context.project.capture_flow
    if not info.mentions(setter):
        return None
    effects = flow.setter(info, setter)
    if effects is None or not effects.known:
        return None
    shift = _shift(flow, info, effects)
    writes = [one for one in effects.writes if not one.constant]
    if (
        shift is None
        or not writes
        or _refuses(effects)
        or any(one.delegated and _registered_inside(context, one) for one in writes)
    ):
        return None
    questions: list[LayerQuestion] = []
    for write in writes:
        for method in flow.reach(write.body.info).methods:
            asked = flow.layer_questions(method, write.name)
            if asked is None:
                return None
            questions.extend(asked)
    stops = next((one for one in writes if one.indexed), None)
    if not questions or (stops is None and any(one.boundary for one in questions)):
        return None
    return _Loss(shift, writes[0].body, questions[0].line, stops)


def _refuses(effects: SetterEffects) -> bool:
    """Whether the setter refuses ids, those out of reach among them."""
    functions = (one.function() for one in effects.functions)
    return any(function is not None and refuses_ids(function) for function in functions)


def _shift(flow: CaptureFlow, info: ClassInfo, effects: SetterEffects) -> int | None:
    """The line where ``info`` itself shifts; what an inner model shifts is the inner model's own."""
    lines = (flow.shift(one) for one in effects.functions if one.definer in info.project_classes)
    return next((line for line in lines if line is not None), None)


def _registered_inside(context: ProjectContext, write: CaptureWrite) -> bool:
    return any(context.project.roles.is_registered(one.info) for one in write.chain[1:])


def _finding(context: ProjectContext, owner: ClassInfo, hit: _Hit) -> Finding:
    loss, body = hit.loss, hit.loss.body.info
    forward = body.find("forward")
    reader = forward.definer.path if forward is not None else body.path
    setters, stops = tuple(hit.setters), loss.stops
    return context.finding(
        "EGL204",
        owner,
        owner.span(),
        f"{setters[0]} of {owner.name} shifts layer ids by one ({context.shown(hit.path, loss.shift)}), but "
        f"{_effect(context, loss, body, reader)}",
        registered=tuple(hit.registered),
        methods=setters,
        evidence=(
            Evidence(hit.path, loss.shift, "the ids are shifted by one here"),
            Evidence(reader, loss.asked, f"{body.name} asks here, inside its loop"),
            *((Evidence(stops.path, stops.line, f"{stops.name} is set on the layer of that number"),) if stops else ()),
        ),
        pedantic=stops is None,
        caused_by=tuple(one.path for one in (*owner.project_classes, *body.project_classes)),
    )


def _effect(context: ProjectContext, loss: _Loss, body: ClassInfo, reader: str) -> str:
    """What becomes of the last layer's output, and what to write."""
    if loss.stops is None:
        return (
            f"{body.name} captures only before a layer runs ({context.shown(reader, loss.asked)}): the output of the "
            f"last layer can't be captured. Ask once more after the loop."
        )
    return (
        f"{loss.stops.name} is then set on the layer of that number ({context.shown(loss.stops.path, loss.stops.line)}): "
        f"a draft that was trained with the output of the last layer stops the server with an IndexError. Leave the "
        f"number of layers out there, and ask for it once more after the loop."
    )


RULE = Rule(
    code="EGL204",
    symbol="unreachable-capture-layer",
    severity="warning",
    summary="Layer ids are shifted by one, and the body can't capture after its last layer.",
    scope="project",
    check_project=check,
    pedantic=True,
    in_part=True,
)
