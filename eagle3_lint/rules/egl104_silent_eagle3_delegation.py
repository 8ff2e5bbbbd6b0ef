"""The capture setter does nothing, without a word, when the inner model cannot capture.

## What it does

Finds capture setters (EAGLE-3; DFlash and DSpark where the runtime of the tree calls theirs) of which every effect,
each write and each call on the object, stands under a question whether the inner model has something: `hasattr`,
`getattr` with a default, or a caught `AttributeError`; and no other branch raises. A warning in the log is no error.

Where each class that the attribute may hold has what is asked for, so that the question can't fail today, only
`--pedantic` reports it.

## Why is this bad?

With an inner model that can't capture, EAGLE-3 starts, captures nothing, and serves with a draft that never agrees with
the target: slower than without it, and nobody is told.

## Example

```python
class VisionWrapper(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if hasattr(self.language_model, "set_eagle3_layers_to_capture"):
            self.language_model.set_eagle3_layers_to_capture(layer_ids)
```

## Use instead

```python
class VisionWrapper(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.language_model.set_eagle3_layers_to_capture(layer_ids)
```

## Fix

Adds the branch that raises, where the question is asked in a usual way: an `if` around everything, an early return, a
caught `AttributeError`. Safe where every inner model that the class may hold has the method, so that nothing changes for
any of them; unsafe where a model that started so far is refused from now on.

## Sources

- sgl-project/sglang#7185: the delegation of `Llama4ForConditionalGeneration`, all of it under `hasattr`, in the
  releases 0.4.9.post6 to 0.5.23; `Gemma3ForConditionalGeneration` took it over in 0.5.12.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from eagle3_lint.facts.nodes import walk
from eagle3_lint.findings.model import Evidence, Finding, Fix
from eagle3_lint.project.capture_flow import Holder
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.effects import Effects, Event, Path, effects_of
from eagle3_lint.project.existence import Existence, existence
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.subjects import capture_setters, delegating_subjects, effective_methods, registered_among
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed
from eagle3_lint.sources.identifiers import mentions

_QUESTIONS = ("hasattr", "getattr", "except")


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each setter that may do nothing."""
    project = context.project
    subjects = tuple(context.subjects(delegating_subjects(project, context.paths)))
    for name, found, users in effective_methods(subjects, capture_setters(project)):
        context.current = found.definer
        function = found.function() if mentions(found.text, *_QUESTIONS) else None
        if function is None or _asserts(function):
            continue
        effects = effects_of(function)
        asked = _asked(effects)
        if asked:
            yield _finding(context, name, found, users, effects, asked)


def _asked(effects: Effects) -> tuple[Path, ...]:
    """The paths on whose existence all effects hang; empty where some effect doesn't, or where their absence raises."""
    questions = existence(effects)
    asked: dict[Path, None] = {}
    for event in effects.events:
        if not _has_effect(event):
            continue
        inner = [path for path in questions.made_sure(event) if path[0] == "self" and len(path) > 2]
        if not inner:
            return ()
        asked.update(dict.fromkeys(sorted(inner)))
    if any(_answers(event, questions, effects) for event in effects.of("raise")):
        return ()
    return tuple(asked)


def _asserts(function: FunctionNode) -> bool:
    """Whether an ``assert`` asks the question, and so answers it."""
    return any(
        isinstance(node, ast.Assert) and any(word in ast.dump(node.test) for word in _QUESTIONS)
        for node in walk(function)
    )


def _has_effect(event: Event) -> bool:
    return event.kind in ("write", "call") and event.path[0] == "self" and len(event.path) > 1


def _answers(event: Event, questions: Existence, effects: Effects) -> bool:
    """Whether this raise may be the answer to what doesn't exist; not where it only refuses an argument."""
    if questions.missing_at(event):
        return True
    arguments = set(effects.parameters[1:])
    return not any(guard.path and guard.path[0] in arguments for guard in event.guards)


def _finding(
    context: ProjectContext,
    name: str,
    found: Found,
    users: tuple[ClassInfo, ...],
    effects: Effects,
    asked: tuple[Path, ...],
) -> Finding:
    info = found.definer
    paths = tuple(".".join(path) for path in asked)
    candidates = tuple(
        one for path in asked if path[-1] == name for one in context.project.roles.candidates(users[0], path[1])
    )
    sure = all(_always_there(context, user, path) for user in users for path in asked)
    return context.finding(
        "EGL104",
        info,
        found.span(),
        f"{name} of {info.name} {_problem(listed(paths, 'or'), sure)}",
        registered=registered_among(context.project, users),
        inner=context.inner(candidates, name),
        methods=(name,),
        evidence=tuple(_evidence(info, effects)),
        fix=lambda: _fix(found, effects, asked, sure),
        scope=f"{info.dotted}.{name}",
        caused_by=tuple(one.path for user in users for one in user.project_classes),
        pedantic=sure,
    )


def _problem(paths: str, sure: bool) -> str:
    if sure:
        return (
            f"asks for {paths}, which each class that it may hold has, and would do nothing without it: a class that "
            f"lacks it would go unnoticed. Call it without asking."
        )
    return (
        f"does nothing, and says nothing, where {paths} is missing: speculative decoding starts and captures no layer. "
        f"Call it without asking, or raise where it is missing."
    )


def _fix(found: Found, effects: Effects, asked: tuple[Path, ...], sure: bool) -> Fix | None:
    """The raising branch; safe where every inner model has what is asked for, so that the branch is never taken."""
    if len(asked) != 1:
        return None
    from eagle3_lint.fixes.raising import raising_fix  # most runs show no fixes

    return raising_fix(found, effects.node, asked[0], "safe" if sure else "unsafe")


def _always_there(context: ProjectContext, user: ClassInfo, path: Path) -> bool:
    """Whether each object that ``path`` may lead to from an object of ``user`` has its last name."""
    flow, name = context.project.capture_flow, path[-1]
    held = flow.resolve(Holder(user), path[1:-1])
    return held.known and all(
        flow.has(one, name) or context.project.roles.exposure(one.info, name) is not None for one in held.holders
    )


def _evidence(info: ClassInfo, effects: Effects) -> Iterator[Evidence]:
    questions = existence(effects)
    seen: set[int] = set()
    for event in effects.events:
        for guard in event.guards:
            if guard.line not in seen and questions.asks(guard, positive=True):
                seen.add(guard.line)
                yield Evidence(info.path, guard.line, f"everything depends on whether {'.'.join(guard.path)} exists")


RULE = Rule(
    code="EGL104",
    symbol="silent-eagle3-delegation",
    severity="warning",
    summary="The EAGLE-3 setter does nothing, without a word, when the inner model cannot capture.",
    scope="project",
    check_project=check,
)
