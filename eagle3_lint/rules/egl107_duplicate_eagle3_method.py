"""A method of the EAGLE-3 interface is defined twice in one class body.

## What it does

Finds classes whose body binds the same method of the interface family (the capture setters of EAGLE-3, DFlash and
DSpark, `get_embed_and_head` and its companions, and every other method that the runtime of the tree calls on a target)
twice, unconditionally. Arms of a condition, the setter of a property, overloads, registered implementations of a
`singledispatchmethod`, and an assignment that wraps the method above it (`f = wrap(f)`) are no duplicates.

## Why is this bad?

Python keeps the last one. The first is dead, and a change made there does nothing, without a word: layers are captured
that nobody asked for.

## Example

```python
class ForCausalLM(nn.Module):
    def set_dflash_layers_to_capture(self, layer_ids):
        self.model.layers_to_capture = list(layer_ids)

    def set_dflash_layers_to_capture(self, layer_ids):
        self.model.layers_to_capture = [val + 1 for val in layer_ids]
```

## Use instead

```python
class ForCausalLM(nn.Module):
    def set_dflash_layers_to_capture(self, layer_ids):
        self.model.layers_to_capture = [val + 1 for val in layer_ids]
```

## Sources

- sgl-project/sglang#38091 and #38096: `Qwen3_5ForCausalLM` of the release 0.5.20 has `set_dflash_layers_to_capture`
  twice, and the second one forgets to shift the ids; 0.5.23 has it once.
- No public report: `get_embed_and_head` of both Gemma 4 classes of the releases 0.5.12 to 0.5.23.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from eagle3_lint.facts.module import Member
from eagle3_lint.findings.model import Evidence, Finding
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.subjects import interface_methods
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each name that a class body binds more than once."""
    names = frozenset(interface_methods(context.project))
    for info in context.classes():
        for name, members in _repeated(info, names).items():
            yield _finding(context, info, name, members)


def _repeated(info: ClassInfo, names: frozenset[str]) -> dict[str, list[Member]]:
    bound: dict[str, list[Member]] = {}
    for member in info.facts.members:
        if member.name in names:
            bound.setdefault(member.name, []).append(member)
    return {
        name: members
        for name, members in bound.items()
        if len(members) > 1 and all(_replaces(one) for one in members) and not _is_used_between(info, name, members)
    }


def _replaces(member: Member) -> bool:
    """Whether ``member`` plainly binds its name, whatever was bound before."""
    return member.kind in ("function", "assign") and not member.conditional and not member.decorators


def _is_used_between(info: ClassInfo, name: str, members: list[Member]) -> bool:
    """Whether a statement of the class body takes an earlier definition before the last one replaces it."""
    first, last = members[0].place.line, members[-1].place.end_line
    uses = re.compile(rf"(?<![\w.]){name}\b")
    for member in info.facts.members:
        if member.kind == "assign" and first < member.place.line <= last:
            _, _, value = info.module.lines_of(member.place).partition("=")
            if uses.search(value):
                return True
    deleted = re.compile(rf"^\s*del\s+.*\b{name}\b", re.MULTILINE)
    return deleted.search("\n".join(info.module.source.lines[first - 1 : last])) is not None


def _finding(context: ProjectContext, info: ClassInfo, name: str, members: list[Member]) -> Finding:
    last = members[-1]
    earlier = members[:-1]
    where = context.shown(info.path, earlier[0].place.line)
    hit = (
        one
        for one in context.project.registered_in(context.paths)
        if (found := one.find(name)) and found.definer is info
    )
    return context.finding(
        "EGL107",
        info,
        info.module.name_span(last.place, name),
        f"{info.name} defines {name} {'twice' if len(members) == 2 else f'{len(members)} times'}; this definition "
        f"replaces the one at {where}, which never runs. Keep one of them.",
        registered=tuple(hit),
        methods=(name,),
        evidence=tuple(Evidence(info.path, one.place.line, f"{name} is defined here too") for one in earlier),
        scope=f"{info.dotted}.{name}",
    )


RULE = Rule(
    code="EGL107",
    symbol="duplicate-eagle3-method",
    severity="warning",
    summary="A method of the EAGLE-3 interface is defined twice in one class body, so that the first one never runs.",
    scope="project",
    check_project=check,
)
