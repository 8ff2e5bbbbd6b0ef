"""What the capture setter writes is never read by the forward that runs.

## What it does

Follows the effective setter of each registered target (of EAGLE-3, DFlash and DSpark) to the object that it writes
on: the body in an attribute, the layers of the body, or the class itself. Then looks at the class that the
effective `__init__` builds there: does its forward read what was written? It follows the methods that the forward
uses, `super()`, the forward of the layers for flags of layers, and functions that are handed the body or its
layers. Reads anywhere else don't count.

An inherited setter is checked against the body that the subclass builds. Where a class of a body can't be told from
the source, or the code that it is handed to, the rule is silent.

## Why is this bad?

The setter succeeds and nothing is captured. The server stops at the first batch because a pair is missing, or serves
with a draft that never agrees with its target.

## Example

```python
class Body(nn.Module):
    def forward(self, hidden_states):
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return hidden_states


class ForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Body(config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [layer_id + 1 for layer_id in layer_ids]
```

## Use instead

```python
class Body(nn.Module):
    def forward(self, hidden_states):
        captured = []
        for index, layer in enumerate(self.layers):
            if index in self.layers_to_capture:
                captured.append(hidden_states)
            hidden_states = layer(hidden_states)
        return (hidden_states, captured) if captured else hidden_states
```

## Sources

- No public report: `Glm4vForConditionalGeneration` and `Glm4vMoeForConditionalGeneration` of sgl-project/sglang
  0.5.3 inherit the setter of `Qwen2_5_VLForConditionalGeneration`, and their own bodies never read the list.
- No public report: the Qwen3.5 wrappers up to sgl-project/sglang 0.5.20 inherit a setter that writes a list, while
  their bodies read a flag of each layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle3_lint.findings.model import Evidence, Finding
from eagle3_lint.project.capture_flow import CaptureWrite
from eagle3_lint.project.classes import ClassInfo, topmost
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed


@dataclass(frozen=True)
class _Inert:
    """One setter without effect: where it is defined, and what it writes in vain."""

    setter: str
    path: str
    line: int
    writes: tuple[CaptureWrite, ...]

    @property
    def combination(self) -> tuple[object, ...]:
        """What makes two classes suffer from the same fault."""
        return (self.setter, self.path, self.line, frozenset((one.holder.info, one.name) for one in self.writes))


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class whose setter and body don't meet."""
    hit: dict[ClassInfo, tuple[list[ClassInfo], dict[str, _Inert]]] = {}
    for info in context.targets():
        for setter in sorted(CAPTURE_SETTERS):
            inert = _inert(context, info, setter)
            if inert is not None:
                registered, setters = hit.setdefault(_owner(context, info, inert), ([], {}))
                registered.append(info)
                setters.setdefault(setter, inert)
    for owner, (registered, setters) in hit.items():
        context.current = owner
        yield _finding(context, owner, tuple(dict.fromkeys(registered)), tuple(setters.values()))


def _inert(context: ProjectContext, info: ClassInfo, setter: str) -> _Inert | None:
    if not info.mentions(setter):
        return None
    flow = context.project.capture_flow
    effects = flow.setter(info, setter)
    found = info.find(setter)
    if effects is None or found is None or not effects.known:
        return None
    writes = tuple(one for one in effects.writes if not one.constant and not _elsewhere(context, info, one))
    if not writes or any(flow.is_read(one) is not False for one in writes):
        return None
    return _Inert(setter, found.definer.path, found.line, writes)


def _elsewhere(context: ProjectContext, info: ClassInfo, write: CaptureWrite) -> bool:
    """Whether another registered class, to which the setter delegates, is checked for itself."""
    roles = context.project.roles
    return write.delegated and any(one.info is not info and roles.is_registered(one.info) for one in write.chain)


def _owner(context: ProjectContext, info: ClassInfo, inert: _Inert) -> ClassInfo:
    """The topmost class of which the same setter writes in vain on the same bodies."""

    def is_inert(base: ClassInfo) -> bool:
        above = _inert(context, base, inert.setter)
        return above is not None and above.combination == inert.combination

    return topmost(info, is_inert)


def _finding(
    context: ProjectContext, owner: ClassInfo, registered: tuple[ClassInfo, ...], setters: tuple[_Inert, ...]
) -> Finding:
    return context.finding(
        "EGL201",
        owner,
        owner.span(),
        _message(context, owner, setters),
        registered=registered,
        methods=tuple(one.setter for one in setters),
        evidence=tuple(_evidence(setters)),
        caused_by=tuple(_causes(owner, setters)),
    )


def _message(context: ProjectContext, owner: ClassInfo, setters: tuple[_Inert, ...]) -> str:
    first = setters[0]
    names = listed(tuple(dict.fromkeys(one.name for one in first.writes)), "or")
    bodies = listed(tuple(dict.fromkeys(one.holder.info.name for one in first.writes)), "or")
    where = context.shown(first.path, first.line)
    return (
        f"{listed(tuple(one.setter for one in setters))} of {owner.name} ({where}) has no effect: it writes {names} on "
        f"{bodies}, and no forward of {bodies} reads it. Nothing is captured, and the draft gets no hidden states. "
        f"Read {names} in the forward of {bodies}, or write what that forward reads."
    )


def _evidence(setters: tuple[_Inert, ...]) -> Iterator[Evidence]:
    for one in setters:
        yield Evidence(one.path, one.line, f"{one.setter} is defined here")
        for write in one.writes:
            yield Evidence(write.path, write.line, f"it writes {write.name} on {write.holder.info.name}")
            instance = write.holder.instance
            if instance is not None:
                yield Evidence(instance.built_at.path, instance.built_at.line, f"{instance.info.name} is built here")
            forward = write.holder.info.find("forward")
            if forward is not None:
                yield Evidence(forward.definer.path, forward.line, f"this forward never reads {write.name}")


def _causes(owner: ClassInfo, setters: tuple[_Inert, ...]) -> Iterator[str]:
    for info in owner.project_classes:
        yield info.path
    for one in setters:
        for write in one.writes:
            for info in write.holder.info.project_classes:
                yield info.path


RULE = Rule(
    code="EGL201",
    symbol="inert-eagle3-capture",
    severity="error",
    summary="What the capture setter writes is never read by the forward that runs.",
    scope="project",
    check_project=check,
)
