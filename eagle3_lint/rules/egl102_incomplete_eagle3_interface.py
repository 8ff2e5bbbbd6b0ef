"""A registered target exposes the EAGLE-3 setter but lacks another method that the runtime calls unguarded.

## What it does

Reads from the runtime which methods it calls on an EAGLE-3 target without asking first whether they exist
(`get_embed_and_head`), and finds the registered targets, wrapper or not, that have the setter but not those.

## Why is this bad?

The setter makes the model look ready. The draft worker then asks for the embedding and the head, unguarded, and the
server stops with an `AttributeError` after it has loaded all weights.

## Example

```python
class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]
```

## Use instead

```python
class ForCausalLM(nn.Module):
    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]
```

## Fix

Adds the method: by delegation where the class holds an inner model that has it (safe), from the class's own body and
head otherwise (unsafe, because tied or sharded heads need a look).

## Sources

- No public report: `Qwen2MoeForCausalLM` of the releases from 0.5.3 to 0.5.23 of sgl-project/sglang.
- sgl-project/sglang#18374: the crash of a target that lacks both methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eagle3_lint.findings.model import Evidence, Finding, Fix
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.roles import EAGLE3_SETTER, Candidate, Exposure
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each class whose setter lacks its companions."""
    hit: dict[tuple[ClassInfo, tuple[str, ...]], list[ClassInfo]] = {}
    for info in context.targets():
        methods = _lacking(context, info)
        if methods:
            hit.setdefault((_owner(context, info), methods), []).append(info)
    for (owner, methods), registered in hit.items():
        context.current = owner
        yield _finding(context, owner, methods, tuple(registered))


def _lacking(context: ProjectContext, info: ClassInfo) -> tuple[str, ...]:
    roles = context.project.roles
    if roles.exposure(info, EAGLE3_SETTER) is None or info.order.problem:
        return ()
    required = context.project.required_of(info, "eagle3")
    return tuple(name for name in required if roles.exposure(info, name) is None)


def _owner(context: ProjectContext, info: ClassInfo) -> ClassInfo:
    """The class that brings the setter, where it is registered itself and lacks the same; else the registered class."""
    exposure = context.project.roles.exposure(info, EAGLE3_SETTER)
    definer = exposure.definer if exposure else None
    if definer is None or not info.inherits_from(definer):
        return info
    return definer if _lacking(context, definer) else info


def _finding(
    context: ProjectContext, owner: ClassInfo, methods: tuple[str, ...], registered: tuple[ClassInfo, ...]
) -> Finding:
    roles = context.project.roles
    exposure = roles.exposure(owner, EAGLE3_SETTER)
    assert exposure is not None
    inner = tuple(one for one in roles.inner_models(owner, methods[0]) if roles.supports(one, methods[0]))
    return context.finding(
        "EGL102",
        owner,
        owner.span(),
        _message(context, owner, methods, exposure, inner),
        registered=registered,
        inner=context.inner(inner, EAGLE3_SETTER),
        methods=methods,
        evidence=tuple(_evidence(context, owner, methods, exposure, inner)),
        fix=lambda: _fix(context, owner, methods, inner, registered),
        caused_by=tuple(one.path for one in owner.project_classes),
    )


def _fix(
    context: ProjectContext,
    owner: ClassInfo,
    methods: tuple[str, ...],
    inner: tuple[Candidate, ...],
    registered: tuple[ClassInfo, ...],
) -> Fix | None:
    # most runs show no fixes
    from eagle3_lint.fixes.delegation import delegating_fix
    from eagle3_lint.fixes.own_interface import own_fix

    if not inner:
        return own_fix(context.project, owner, methods)
    users = tuple(dict.fromkeys((owner, *registered)))
    return delegating_fix(context.project, owner, inner[0].attribute, methods, users)


def _message(
    context: ProjectContext,
    owner: ClassInfo,
    methods: tuple[str, ...],
    exposure: Exposure,
    inner: tuple[Candidate, ...],
) -> str:
    where = context.shown(exposure.path, exposure.line)
    if inner:
        calls = listed(tuple(f"self.{inner[0].attribute}.{method}()" for method in methods))
        advice = f"Add {listed(methods)}, returning {calls}."
    else:
        advice = f"Add {listed(methods)}, returning the weights of the embedding and of the head."
    return (
        f"{owner.name} has {EAGLE3_SETTER} ({where}) but not {listed(methods, 'or')}, which the runtime calls without "
        f"asking when the EAGLE-3 draft worker starts. {advice}"
    )


def _evidence(
    context: ProjectContext,
    owner: ClassInfo,
    methods: tuple[str, ...],
    exposure: Exposure,
    inner: tuple[Candidate, ...],
) -> Iterator[Evidence]:
    definer = exposure.definer or owner
    yield Evidence(exposure.path, exposure.line, f"{definer.name} defines {EAGLE3_SETTER}")
    for method in methods:
        called = context.project.contract.method(method)
        for site in called.required_sites("eagle3") if called else ():
            yield Evidence(site.path, site.line, f"the runtime calls {method}{site.shape} on the target, unguarded")
        for one in inner:
            found = context.project.roles.exposure(one.info, method)
            if found is not None:
                yield Evidence(found.path, found.line, f"{one.info.name} in self.{one.attribute} has {method}")


RULE = Rule(
    code="EGL102",
    symbol="incomplete-eagle3-interface",
    severity="error",
    summary="A registered target exposes the EAGLE-3 setter but lacks another method that the runtime calls unguarded.",
    scope="project",
    check_project=check,
)
