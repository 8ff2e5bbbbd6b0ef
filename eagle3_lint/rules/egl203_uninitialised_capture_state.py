"""A forward or setter reads capture state that the executed constructors never set.

## What it does

Follows the constructors that really run for each registered class (its effective `__init__`, `super().__init__` and
explicit `Base.__init__(self)`), and compares what they and the class bodies set with the capture state that the
effective forward, or a capture setter, reads of the same object. Bodies that a registered class holds are checked
in the same way. Drafts are checked too, by their forward alone.

Reads that ask first (`getattr` with a default, `hasattr`, a caught `AttributeError`) are in order. With a base
class of another package, a `__getattr__`, or a constructor that sets computed names the rule is silent.

## Why is this bad?

A class that inherits a forward but not the constructor that goes with it stops at its first batch with an
`AttributeError`.

## Example

```python
class ForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.capture_aux_hidden_states = False

    def forward(self, hidden_states):
        if self.capture_aux_hidden_states:
            hidden_states, captured = hidden_states
        return hidden_states


class Draft(ForCausalLM):
    def __init__(self, config):
        nn.Module.__init__(self)
        self.config = config
```

## Use instead

```python
class Draft(ForCausalLM):
    def __init__(self, config):
        nn.Module.__init__(self)
        self.config = config
        self.capture_aux_hidden_states = False
```

## Sources

- sgl-project/sglang#9216: its review found this shape.
- No public report: `Qwen2ForCausalLMEagle` of sgl-project/sglang 0.5.3 to 0.5.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eagle3_lint.findings.model import Evidence, Finding, Span
from eagle3_lint.project.capture_flow import Holder
from eagle3_lint.project.capture_state import UnsetRead, unset_reads
from eagle3_lint.project.classes import ClassInfo, topmost
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class whose constructors leave capture state out."""
    hit: dict[ClassInfo, tuple[dict[ClassInfo, None], dict[str, UnsetRead]]] = {}
    seen: dict[tuple[Holder, bool], tuple[UnsetRead, ...]] = {}
    for info in context.registered():
        for holder, makers in _objects(context, info):
            key = (holder, bool(makers))
            if key not in seen:
                seen[key] = _unset(context, holder, makers)
            for read in seen[key]:
                owner = _owner(context, holder, read)
                registered, reads = hit.setdefault(owner, ({}, {}))
                registered.setdefault(info)
                reads.setdefault(read.name, read)
    for owner, (hits, reads) in hit.items():
        context.current = owner
        yield _finding(context, owner, tuple(hits), tuple(reads.values()))


def _objects(context: ProjectContext, info: ClassInfo) -> Iterator[tuple[Holder, tuple[Holder, ...]]]:
    """The registered class itself, and what it holds, with who may set their attributes from outside.

    A body is looked at where its code lies with that of the registered class: each fault is then found with one family
    of files alone, whoever else uses the body.
    """
    flow = context.project.capture_flow
    if not any(flow.mentions_state(one.module) for one in info.project_classes):
        return
    root = Holder(info)
    yield root, ()
    files = {one.path for one in info.project_classes}
    for attribute in context.project.roles.held(info):
        for holder in flow.held(root, attribute).holders:
            if files.issuperset(one.path for one in holder.info.project_classes):
                yield holder, (root,)


def _unset(context: ProjectContext, holder: Holder, makers: tuple[Holder, ...]) -> tuple[UnsetRead, ...]:
    own = not makers and not context.project.roles.is_draft(holder.info)
    return unset_reads(context.project, holder, makers, tuple(sorted(CAPTURE_SETTERS)) if own else ())


def _owner(context: ProjectContext, holder: Holder, read: UnsetRead) -> ClassInfo:
    """The topmost class that has the same fault: the one whose constructor is to be mended."""
    return topmost(holder.info, lambda base: any(one.name == read.name for one in _unset(context, Holder(base), ())))


def _finding(
    context: ProjectContext, owner: ClassInfo, registered: tuple[ClassInfo, ...], reads: tuple[UnsetRead, ...]
) -> Finding:
    names = listed(tuple(f"self.{one.name}" for one in reads))
    first = reads[0]
    where = context.shown(first.method.definer.path, first.line)
    reader = f"{first.method.definer.name}.{first.method.member.name}"
    return context.finding(
        "EGL203",
        owner,
        _span(owner),
        f"{owner.name} never sets {names}, which {reader} reads ({where}): the first call stops with an "
        f"AttributeError. {_reason(owner, first)} Set it in the __init__ of {owner.name}.",
        registered=registered,
        evidence=tuple(_evidence(owner, reads)),
        caused_by=tuple(one.path for one in owner.project_classes),
    )


def _span(owner: ClassInfo) -> Span:
    found = owner.members.get("__init__")
    if found is not None and found.kind == "function":
        return owner.module.name_span(found.place, "__init__")
    return owner.span()


def _reason(owner: ClassInfo, read: UnsetRead) -> str:
    if read.method.definer is not owner and "__init__" in owner.members:
        return f"Its own __init__ doesn't run that of {read.method.definer.name}."
    return "No constructor that runs for it does."


def _evidence(owner: ClassInfo, reads: tuple[UnsetRead, ...]) -> Iterator[Evidence]:
    for one in reads:
        yield Evidence(one.method.definer.path, one.line, f"{one.method.member.name} reads self.{one.name} here")
    constructor = owner.find("__init__")
    if constructor is not None:
        yield Evidence(constructor.definer.path, constructor.line, "this constructor runs")


RULE = Rule(
    code="EGL203",
    symbol="uninitialised-capture-state",
    severity="error",
    summary="A forward or setter reads capture state that the executed constructors never set.",
    scope="project",
    check_project=check,
)
