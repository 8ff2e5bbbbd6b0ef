"""The setter switches capture on, but the forward loses the captured states.

## What it does

Looks at registered targets whose effective capture setter (of EAGLE-3, DFlash or DSpark) switches capture on, and
follows what their effective forward does with the pair `(hidden_states, aux_hidden_states)` that the body then
returns:

- it is handed to the logits processor whole, because nothing takes it apart;
- it is taken apart, but the second value goes nowhere;
- it is taken apart while capture is off, although the body then returns a single value;
- the class delegates the setter to an inner model, but its forward goes around that model's own forward to the body
  inside (`self.llm.model(…)`) and does not handle the pair.

The forward is followed through `super().forward`, methods of the object and helpers. Where the source doesn't
decide, the rule is silent.

## Why is this bad?

The server stops at the first batch, or the draft gets no states of its target and its proposals are never accepted.

## Example

```python
class ForCausalLM(nn.Module):
    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.model(input_ids, positions, forward_batch)
        aux_hidden_states = None
        if self.capture_aux_hidden_states:
            hidden_states, aux_hidden_states = hidden_states
        return self.logits_processor(input_ids, hidden_states, self.lm_head, forward_batch)
```

## Use instead

```python
class ForCausalLM(nn.Module):
    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.model(input_ids, positions, forward_batch)
        aux_hidden_states = None
        if self.capture_aux_hidden_states:
            hidden_states, aux_hidden_states = hidden_states
        return self.logits_processor(input_ids, hidden_states, self.lm_head, forward_batch, aux_hidden_states)
```

## Sources

- sgl-project/sglang#13904: Qwen2.5-VL takes the pair apart and does not hand the second value on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle3_lint.facts.nodes import dotted_name, walk
from eagle3_lint.findings.model import Evidence, Finding, Span
from eagle3_lint.project.capture_flow import Holder, SetterEffects
from eagle3_lint.project.classes import ClassInfo, Found, topmost
from eagle3_lint.project.contract import CAPTURE_SETTERS
from eagle3_lint.project.pair_flow import PairUse, Unpacking, returned_pairs
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext
from eagle3_lint.sources.identifiers import mentions


@dataclass(frozen=True)
class _Capture:
    """How one setter of one class works: where its bodies are, and what tells that capture is on."""

    setter: Found
    bodies: frozenset[str]
    holders: tuple[Holder, ...]
    flags: frozenset[str]
    bypassed: str = ""


@dataclass(frozen=True)
class _Loss:
    """How a forward loses the states: a sentence, the method and the line."""

    method: Found
    line: int
    problem: str
    advice: str

    @property
    def place(self) -> tuple[str, int, str]:
        """What makes two classes suffer from the same fault."""
        return (self.method.definer.path, self.line, self.problem)


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class whose forward loses the states."""
    hit: dict[tuple[ClassInfo, tuple[str, int, str]], tuple[_Loss, dict[str, Found], dict[ClassInfo, None]]] = {}
    for info in context.targets():
        for setter, found, loss in _losses(context, info):
            owner = _owner(context, info, loss)
            _, setters, registered = hit.setdefault((owner, loss.place), (loss, {}, {}))
            setters.setdefault(setter, found)
            registered.setdefault(info)
    for (owner, _), (loss, setters, registered) in hit.items():
        context.current = owner
        yield _finding(context, owner, loss, setters, tuple(registered))


def _losses(context: ProjectContext, info: ClassInfo) -> Iterator[tuple[str, Found, _Loss]]:
    forward = info.find("forward")
    if forward is None or forward.member.kind != "function" or info.order.problem:
        return
    for setter in sorted(CAPTURE_SETTERS):
        if not info.mentions(setter):
            continue
        capture = _capture(context, info, setter)
        loss = _loss(context, info, capture) if capture is not None else None
        if capture is not None and loss is not None:
            yield setter, capture.setter, loss


def _capture(context: ProjectContext, info: ClassInfo, setter: str) -> _Capture | None:
    flow = context.project.capture_flow
    found = info.find(setter)
    effects = flow.setter(info, setter)
    if found is None or effects is None or not effects.known:
        return None
    if "forward" in context.project.construct(info).attributes:
        return None
    if not effects.switches:
        around = _bypassing(context, info, setter, found)
        if around is not None or _delegates(context, info, effects, setter):
            return around
    flags = effects.switches | {one.name for one in effects.writes}
    return _Capture(found, frozenset(_paths(context, info, effects)), _bodies(info, effects), flags)


def _bodies(info: ClassInfo, effects: SetterEffects) -> tuple[Holder, ...]:
    """The objects that the setter tells what to capture, beside the class's own."""
    return tuple(
        dict.fromkeys(one.holder for one in effects.writes if not one.per_item and one.holder.info is not info)
    )


def _delegates(context: ProjectContext, info: ClassInfo, effects: SetterEffects, setter: str) -> bool:
    """Whether an inner model that switches capture on by itself is told, so that its own forward handles the pair."""
    flow = context.project.capture_flow
    told = {one for write in effects.writes for one in (*write.chain, write.holder) if one.info is not info}
    inner = (flow.setter(one.info, setter) for one in told)
    return any(effects is not None and effects.switches for effects in inner)


def _paths(context: ProjectContext, info: ClassInfo, effects: SetterEffects) -> Iterator[str]:
    """The attributes of the object on which its setter writes, or of which it calls a setter."""
    for method in effects.functions:
        own = context.project.capture_flow.effects(method) if method.definer in info.project_classes else None
        for event in own.events if own is not None else ():
            telling = event.kind == "write" or (event.kind == "call" and "captur" in event.path[-1])
            if telling and event.path[0] == "self" and len(event.path) > 2:
                yield ".".join(event.path[:2])
                yield ".".join(part for part in event.path[:-1] if part != "[]")


def _bypassing(context: ProjectContext, info: ClassInfo, setter: str, found: Found) -> _Capture | None:
    """The bodies inside the inner model to which ``info`` delegates, where its forward goes around that model's own."""
    flow = context.project.capture_flow
    own = flow.effects(found)
    for event in own.of("call") if own is not None else ():
        if event.path[0] != "self" or event.path[-1] != setter or len(event.path) != 3:
            continue
        held = flow.resolve(Holder(info), event.path[1:-1])
        inner = [(one, flow.setter(one.info, setter)) for one in held.holders]
        if not held.known or not all(
            effects is not None and effects.known and effects.switches for _, effects in inner
        ):
            return None
        prefix = ".".join(event.path[:2])
        bodies = {
            path.replace("self", prefix, 1)
            for one, effects in inner
            if effects is not None
            for path in _paths(context, one.info, effects)
        }
        if not bodies or _uses_inner_forward(context, info, prefix):
            return None
        flags = {name for _, effects in inner if effects is not None for name in effects.switches}
        holders = tuple(body for one, effects in inner if effects is not None for body in _bodies(one.info, effects))
        return _Capture(found, frozenset(bodies), holders, frozenset(flags), prefix)
    return None


def _uses_inner_forward(context: ProjectContext, info: ClassInfo, prefix: str) -> bool:
    """Whether the forward runs the inner model itself, or hands it on whole."""
    import ast

    for method in context.project.capture_flow.reach(info).methods:
        function = method.function()
        for call in walk(function) if function is not None else ():
            if not isinstance(call, ast.Call):
                continue
            if dotted_name(call.func).removesuffix(".forward") == prefix:
                return True
            if any(dotted_name(one) == prefix for one in (*call.args, *(word.value for word in call.keywords))):
                return True
    return False


def _loss(context: ProjectContext, info: ClassInfo, capture: _Capture) -> _Loss | None:
    flow = context.project.capture_flow
    reach = flow.reach(info)
    uses: list[tuple[Found, PairUse]] = []
    names = {body.rpartition(".")[2] for body in capture.bodies}
    for method in reach.methods:
        if not names & flow.attributes(method):
            continue
        use = flow.pair_use(method, capture.bodies, capture.flags)
        if use is not None:
            uses.append((method, use))
    for method, use in uses:
        loss = _unpacked(context, method, use, capture)
        if loss is not None:
            return loss
    if any(use.unpackings for _, use in uses) or not reach.known or _handles(context, reach.methods, capture):
        return None
    return _untouched(context, uses, capture)


def _unpacked(context: ProjectContext, method: Found, use: PairUse, capture: _Capture) -> _Loss | None:
    for one in use.unpackings:
        telling = one.when == "on" or "aux" in one.second
        if telling and one.when != "off" and not context.project.capture_flow.leaves(method, one.second):
            problem = f"takes the pair apart, but {one.second} is not handed on"
            return _Loss(method, one.node.lineno, problem, f"Hand {one.second} to the logits processor.")
    for one in use.unpackings:
        if one.when == "off" or (one.when == "always" and _only_always(context, use, one, capture)):
            problem = "takes a pair apart when capture is off, while the body then returns a single value"
            flag = min(capture.flags)
            return _Loss(method, one.node.lineno, problem, f"Take it apart only where {flag} is set.")
    return None


def _only_always(context: ProjectContext, use: PairUse, one: Unpacking, capture: _Capture) -> bool:
    """Whether ``one`` is the only place that takes a pair apart, and each body returns one value without capture."""
    if len(use.unpackings) != 1 or len(_names(one)) != 2 or use.rebound:
        return False
    kinds = [_returns(context, holder) for holder in capture.holders]
    return bool(kinds) and all(pair and single for pair, single in kinds)


def _names(one: Unpacking) -> list[object]:
    return list(getattr(one.node.targets[0], "elts", ()))


def _returns(context: ProjectContext, holder: Holder) -> tuple[bool, bool]:
    forward = holder.info.find("forward")
    effects = context.project.capture_flow.effects(forward) if forward is not None else None
    return returned_pairs(effects) if effects is not None else (False, False)


def _handles(context: ProjectContext, methods: tuple[Found, ...], capture: _Capture) -> bool:
    """Whether any code of the forward mentions what tells that capture is on."""
    texts = (context.project.capture_flow.text(method) for method in methods)
    return any(mentions(text, *capture.flags) for text in texts)


def _untouched(context: ProjectContext, uses: list[tuple[Found, PairUse]], capture: _Capture) -> _Loss | None:
    """The body's result goes to the logits processor as it is, although the body returns a pair when it captures."""
    if not any(_returns(context, holder)[0] for holder in capture.holders):
        return None
    for method, use in uses:
        if use.logits_calls and not use.rebound and not use.opened:
            call = use.logits_calls[0]
            around = f" around the forward of {capture.bypassed}" if capture.bypassed else ""
            problem = f"hands what the body returns{around} to the logits processor and never takes the pair apart"
            return _Loss(method, call.lineno, problem, "Take it apart where capture is on, and hand both values on.")
    return None


def _owner(context: ProjectContext, info: ClassInfo, loss: _Loss) -> ClassInfo:
    """The topmost class with the same fault."""
    return topmost(info, lambda base: any(other.place == loss.place for _, _, other in _losses(context, base)))


def _finding(
    context: ProjectContext,
    owner: ClassInfo,
    loss: _Loss,
    setters: dict[str, Found],
    registered: tuple[ClassInfo, ...],
) -> Finding:
    first = next(iter(setters.values()))
    where = context.shown(loss.method.definer.path, loss.line)
    return context.finding(
        "EGL202",
        owner,
        _span(owner, loss),
        f"{next(iter(setters))} of {owner.name} switches capture on, but its {loss.method.member.name} ({where}) "
        f"{loss.problem}. The draft gets no hidden states of its target. {loss.advice}",
        registered=registered,
        methods=tuple(setters),
        evidence=(
            Evidence(first.definer.path, first.line, f"{first.member.name} switches capture on"),
            Evidence(loss.method.definer.path, loss.line, f"{loss.method.member.name} {loss.problem}"),
        ),
        caused_by=tuple(one.path for one in owner.project_classes),
    )


def _span(owner: ClassInfo, loss: _Loss) -> Span:
    return loss.method.span() if loss.method.definer is owner else owner.span()


RULE = Rule(
    code="EGL202",
    symbol="dropped-aux-hidden-states",
    severity="error",
    summary="The setter switches capture on, but the forward loses the captured states.",
    scope="project",
    check_project=check,
)
