"""A delegating method asks the inner model for something that it doesn't have.

## What it does

Follows the methods of the interface family (the capture setters, `get_embed_and_head` and its companions, and whatever
else the runtime of the tree calls on a target) on registered targets and on the objects that they hand on to: each
path of attributes, such as `self.language_model.model.embed_tokens`, from object to object. Reports a name that none of
the classes that the path may lead to has, neither by its class, nor by its constructor, nor put on it from outside,
unless the method asks first whether it is there.

Silent wherever the source can't tell: an inner class chosen at run time, a class from another package in between, a
`__getattr__`, attributes set by computed names.

Where one class of several lacks the name and another has it, only `--pedantic` reports it. What several methods lack
for one cause is one finding: `methods` lists them, and its evidence shows each.

## Why is this bad?

The method looks as if the model were ready for EAGLE-3. It raises `AttributeError` when the runtime calls it, after all
weights are loaded.

## Example

```python
class VisionWrapper(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.language_model = PlainForCausalLM(config.text_config)

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()


class PlainForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = PlainModel(config)
```

## Use instead

Give the inner class what is asked of it, or ask it for what it has:

```python
class PlainForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = PlainModel(config)
        self.lm_head = ParallelLMHead(config.vocab_size, config.hidden_size)

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight
```

## Sources

- sgl-project/sglang#28261: `Qwen3VLForConditionalGeneration` hands DFlash's layer ids to a body without that setter; in
  the releases 0.5.11 to 0.5.23.
- No public report: `OPTForCausalLM` (the embedding lies in the body's decoder) and `DotsOCRForCausalLM` (the embedding
  lies in the inner model's body) of the releases 0.5.3 to 0.5.23.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from eagle3_lint.findings.model import Evidence, Finding, Inner, Span
from eagle3_lint.project.broken_links import BrokenLink, BrokenLinks, Place
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.lookup import Node, skipped_constructor
from eagle3_lint.project.subjects import delegating_subjects, interface_methods, registered_among
from eagle3_lint.project.values import InstanceValue
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed


@dataclass(frozen=True, eq=False)
class _Group:
    """The broken links of one finding, by their places, and the classes that they break."""

    owner: ClassInfo
    links: dict[Place, BrokenLink] = field(default_factory=dict)
    users: dict[ClassInfo, None] = field(default_factory=dict)


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each cause; on the class that builds the objects where the methods themselves are right."""
    subjects = delegating_subjects(context.project, context.paths)
    names = interface_methods(context.project)
    links = BrokenLinks(context.project, frozenset(names))
    groups: dict[tuple[object, ...], _Group] = {}
    # What a method does on its own class comes first, whichever file is read first.
    broken_links = sorted(
        _broken(context, links, names, subjects), key=lambda pair: (pair[0] is not pair[1].found.definer, pair[0].name)
    )
    for info, link in broken_links:
        owner = _owner(link, links)
        # What one method lacks is one finding, and so is what several methods lack for one cause.
        method = (owner, bool(link.holding), link.found.member.name if owner is link.found.definer else "")
        cause = (owner, bool(link.holding), link.name, frozenset(node.info for node in link.lacking))
        group = groups.get(method) or groups.get(cause) or _Group(owner)
        groups[method] = groups[cause] = group
        group.links.setdefault(link.place, link)
        group.users.setdefault(info)
    for group in dict.fromkeys(groups.values()):
        context.current = group.owner
        yield _finding(context, group.owner, tuple(group.links.values()), tuple(group.users))


def _broken(
    context: ProjectContext, links: BrokenLinks, names: tuple[str, ...], subjects: tuple[ClassInfo, ...]
) -> Iterator[tuple[ClassInfo, BrokenLink]]:
    for info in context.subjects(subjects):
        if info.order.problem:
            continue
        for name in names:
            found = info.find(name)
            for link in links.on(info, found) if found is not None else ():
                yield info, link


def _owner(link: BrokenLink, links: BrokenLinks) -> ClassInfo:
    """The class to change: the one that defines the method, or the subclass at fault where the method is right."""
    definer, receiver = link.found.definer, link.receiver.info
    if receiver is None or receiver is definer or any(one.place == link.place for one in links.on(definer, link.found)):
        return definer
    return receiver


def _finding(
    context: ProjectContext, owner: ClassInfo, broken: tuple[BrokenLink, ...], infos: tuple[ClassInfo, ...]
) -> Finding:
    first = broken[0]
    at_method = owner is first.found.definer
    methods = tuple(dict.fromkeys(link.found.member.name for link in broken))
    return context.finding(
        "EGL103",
        owner,
        _span(first) if at_method else owner.span(),
        _message(owner, first, methods),
        registered=registered_among(context.project, infos),
        inner=tuple(_inner(first)),
        methods=methods,
        evidence=tuple(_evidence(broken)),
        certain=not first.holding,
        pedantic=bool(first.holding),
        scope=f"{owner.dotted}.{first.found.member.name}" if at_method else owner.dotted,
        caused_by=tuple(_causes(broken)),
    )


def _span(link: BrokenLink) -> Span:
    node = link.event.node
    source = link.found.definer.module.source
    end_line, end_offset = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(
        node.lineno,
        source.column(node.lineno, node.col_offset),
        end_line,
        source.column(end_line, end_offset),
    )


def _message(owner: ClassInfo, link: BrokenLink, methods: tuple[str, ...]) -> str:
    holders = tuple(dict.fromkeys(node.info.name for node in link.lacking if node.info is not None))
    holder = ".".join(link.path[:-1])
    verb = _verb(link) if len(methods) == 1 else _verb(link).removesuffix("s")
    by = "" if owner is link.found.definer else f", inherited from {link.found.definer.name},"
    there = f"{listed(holders, 'or')} in {holder}" if len(link.path) > 2 else listed(holders, "or")
    some = ", of the classes that it may be, " if link.holding else " "
    return (
        f"{listed(methods)} of {owner.name}{by} {verb} {'.'.join(link.path)}, but{some}{there} has no {link.name}: an "
        f"AttributeError when the runtime gets there, after the weights are loaded.{_reason(owner, link)}"
    )


def _reason(owner: ClassInfo, link: BrokenLink) -> str:
    """Why the object itself lacks what it asks itself for, and what to write."""
    skipped = _skipped(link.lacking[0], link)
    if skipped is None or link.lacking[0].info is not owner:
        return ""
    above = skipped.definer.name
    return (
        f" {above}.__init__ sets it, and the __init__ of {owner.name} doesn't run it: set {link.name} in it, or run it."
    )


def _skipped(node: Node, link: BrokenLink) -> Found | None:
    """The constructor that would give ``node`` what it lacks, and doesn't run."""
    return skipped_constructor(node.info, link.name) if node.info is not None else None


def _verb(link: BrokenLink) -> str:
    return "calls" if link.event.kind == "call" and link.path == link.event.path else "reads"


def _inner(link: BrokenLink) -> Iterator[Inner]:
    attribute = ".".join(link.path[1:-1])
    for nodes, supports in ((link.lacking, False), (link.holding, True)):
        for node in nodes:
            if isinstance(node.value, InstanceValue):
                built = node.value.built_at
                yield Inner(attribute, node.value.info.dotted, supports, built.path, built.line)


def _evidence(broken: tuple[BrokenLink, ...]) -> Iterator[Evidence]:
    for link in broken:
        yield Evidence(
            link.found.definer.path,
            link.event.line,
            f"{link.found.member.name} {_verb(link)} {'.'.join(link.path)} here",
        )
        for node in link.lacking:
            yield from _construction(node, ".".join(link.path[:-1]))
            if node.info is not None:
                yield Evidence(node.info.path, node.info.line, f"{node.info.name} has no {link.name}")
            skipped = _skipped(node, link)
            if skipped is not None:
                path, name = skipped.definer.path, skipped.definer.name
                yield Evidence(path, skipped.line, f"{name}.__init__, which sets {link.name}, doesn't run")
        for node in link.holding:
            if node.info is not None:
                yield Evidence(node.info.path, node.info.line, f"{node.info.name} has {link.name}")


def _construction(node: Node, holder: str) -> Iterator[Evidence]:
    if isinstance(node.value, InstanceValue):
        built = node.value.built_at
        yield Evidence(built.path, built.line, f"{holder} is built as {node.value.info.name}")


def _causes(broken: tuple[BrokenLink, ...]) -> Iterator[str]:
    for link in broken:
        for node in (link.receiver, *link.lacking, *link.holding):
            if node.info is not None:
                for one in node.info.project_classes:
                    yield one.path


RULE = Rule(
    code="EGL103",
    symbol="broken-eagle3-delegation",
    severity="error",
    summary="A delegating method calls or reads on the inner model something that no candidate inner class has.",
    scope="project",
    check_project=check,
)
