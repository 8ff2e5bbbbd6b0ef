"""A delegating method asks the inner model for something that it doesn't have.

## What it does

Follows the methods of the interface family (the capture setters, `get_embed_and_head` and its companions, and whatever
else the runtime of the tree calls on a target) on registered targets and on the objects that they hand on to: each
path of attributes, such as `self.language_model.model.embed_tokens`, from object to object. Reports a name that none of
the classes that the path may lead to has, neither by its class, nor by its constructor, nor put on it from outside,
unless the method asks first whether it is there.

Silent wherever the source can't tell: an inner class chosen at run time, a class from another package in between, a
`__getattr__`, attributes set by computed names.

Where one class of several lacks the name and another has it, only `--pedantic` reports it.

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

from eagle3_lint.findings.model import Evidence, Finding, Inner, Span
from eagle3_lint.project.broken_links import BrokenLink, BrokenLinks, Place
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.lookup import Node
from eagle3_lint.project.subjects import delegating_subjects, interface_methods, registered_among
from eagle3_lint.project.values import InstanceValue
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each method to change; on the class that builds the objects where the method itself is right."""
    subjects = delegating_subjects(context.project, context.paths)
    names = interface_methods(context.project)
    links = BrokenLinks(context.project, frozenset(names))
    groups: dict[tuple[ClassInfo, str], dict[Place, tuple[BrokenLink, dict[ClassInfo, None]]]] = {}
    # What a method does on its own class comes first, whichever file is read first.
    broken_links = sorted(
        _broken(context, links, names, subjects), key=lambda pair: (pair[0] is not pair[1].found.definer, pair[0].name)
    )
    for info, link in broken_links:
        owner = _owner(link, links)
        method = link.found.member.name if owner is link.found.definer else ""
        group = groups.setdefault((owner, method), {})
        group.setdefault(link.place, (link, {}))[1].setdefault(info)
    for (owner, _), group in groups.items():
        context.current = owner
        broken = tuple(link for link, _ in group.values())
        infos = tuple(dict.fromkeys(info for _, users in group.values() for info in users))
        yield _finding(context, owner, broken, infos)


def _broken(
    context: ProjectContext, links: BrokenLinks, names: tuple[str, ...], subjects: tuple[ClassInfo, ...]
) -> Iterator[tuple[ClassInfo, BrokenLink]]:
    for info in context.subjects(subjects):
        if info.order.problem:
            continue
        for name in names:
            found = info.find(name)
            for link in links.on(info, found) if found is not None else ():
                if not link.holding or context.pedantic:
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
    return context.finding(
        "EGL103",
        owner,
        _span(first) if at_method else owner.span(),
        _message(owner, first),
        registered=registered_among(context.project, infos),
        inner=tuple(_inner(first)),
        methods=tuple(dict.fromkeys(link.found.member.name for link in broken)),
        evidence=tuple(_evidence(broken)),
        certain=not first.holding,
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


def _message(owner: ClassInfo, link: BrokenLink) -> str:
    method = link.found.member.name
    holders = tuple(dict.fromkeys(node.info.name for node in link.lacking if node.info is not None))
    holder = ".".join(link.path[:-1])
    verb = "calls" if link.event.kind == "call" and link.path == link.event.path else "reads"
    by = "" if owner is link.found.definer else f", inherited from {link.found.definer.name},"
    there = f"{listed(holders, 'or')} in {holder}" if len(link.path) > 2 else listed(holders, "or")
    some = ", of the classes that it may be, " if link.holding else " "
    return (
        f"{method} of {owner.name}{by} {verb} {'.'.join(link.path)}, but{some}{there} has no {link.name}: an "
        f"AttributeError when the runtime gets there, after the weights are loaded."
    )


def _inner(link: BrokenLink) -> Iterator[Inner]:
    attribute = ".".join(link.path[1:-1])
    for nodes, supports in ((link.lacking, False), (link.holding, True)):
        for node in nodes:
            if isinstance(node.value, InstanceValue):
                built = node.value.built_at
                yield Inner(attribute, node.value.info.dotted, supports, built.path, built.line)


def _evidence(broken: tuple[BrokenLink, ...]) -> Iterator[Evidence]:
    for link in broken:
        yield Evidence(link.found.definer.path, link.event.line, f"{'.'.join(link.path)} is used here")
        for node in link.lacking:
            yield from _construction(node, ".".join(link.path[:-1]))
            if node.info is not None:
                yield Evidence(node.info.path, node.info.line, f"{node.info.name} has no {link.name}")
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
