"""A method of the EAGLE-3 interface can't be called the way the runtime calls it, or drops the layer ids.

## What it does

Compares each method that the runtime of the tree calls on a target with each way in which it calls it: an argument
that the method requires and the call doesn't give, more arguments than it takes, a keyword that it doesn't know. Also
finds capture setters that take layer ids and never use them. A call that only DFlash or DSpark makes counts only for
targets that have their setter. `*args` and `**kwargs` accept anything.

The finding is on the method, once, wherever it is inherited to.

## Why is this bad?

The call ends in a `TypeError` after all weights are loaded. Where the ids are dropped nothing fails: the target hands
out the states of other layers than the draft was trained on, and the draft never agrees with it. Up to the release
0.5.10 the CUDA graph runner calls the setter without argument.

## Example

```python
class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [2, 16, 29]
```

## Use instead

```python
class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        if layer_ids is None:
            layer_ids = [1, 15, 28]
        self.model.layers_to_capture = [val + 1 for val in layer_ids]
```

## Fix

Gives the layers the default `None` where that is all that is missing. Safe where the method deals with `None` or hands
the layers on to another setter; otherwise the fallback remains to be written. What drops the layers is left to you.

## Sources

- No public report. The calls are those of `srt/model_executor` and `srt/speculative` of sgl-project/sglang: without
  argument and with layer ids in 0.5.9, with layer ids alone from 0.5.11.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from eagle3_lint.facts.nodes import walk
from eagle3_lint.findings.model import Evidence, Finding, Fix
from eagle3_lint.fixes.signature import default_fix
from eagle3_lint.project.classes import ClassInfo, Found
from eagle3_lint.project.contract import CAPTURE_SETTERS, CallSite, ContractMethod, capture_setter
from eagle3_lint.project.modules import FunctionNode
from eagle3_lint.project.subjects import effective_methods, registered_among
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext, listed

# With any other decorator the function that is called isn't the one that is written.
_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "final", "no_grad", "inference_mode"}
)


@dataclass(frozen=True)
class _Call:
    """One way to call a method: how many positional arguments, and which keywords."""

    shape: str
    positional: int
    keywords: tuple[str, ...]
    sites: tuple[CallSite, ...] = ()


@dataclass(frozen=True)
class _Signature:
    """What a method takes, without ``self``."""

    positional: tuple[str, ...]
    positional_only: int
    required: frozenset[str]
    keyword_only: frozenset[str]
    any_positional: bool
    any_keyword: bool

    def refusal(self, call: _Call) -> str:
        """Why ``call`` ends in a ``TypeError``; empty where it doesn't."""
        if call.positional > len(self.positional) and not self.any_positional:
            most = f"at most {len(self.positional)}" if self.positional else "no"
            return f"it takes {most} positional argument{'' if len(self.positional) == 1 else 's'}"
        given = set(self.positional[: call.positional])
        by_name = {*self.positional[self.positional_only :], *self.keyword_only}
        for keyword in call.keywords:
            if keyword in given:
                return f"{keyword} is given twice"
            if keyword not in by_name and not self.any_keyword:
                return f"it has no parameter {keyword}"
            given.add(keyword)
        absent = tuple(name for name in (*self.positional, *sorted(self.keyword_only)) if name in self.required - given)
        return f"it requires {listed(absent)}" if absent else ""


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each method that doesn't suit its calls."""
    project = context.project
    targets = tuple(context.targets())
    names = tuple(method.name for method in project.contract.methods)
    for name, found, users in effective_methods(targets, names):
        context.current = found.definer
        method = project.contract.method(name)
        function = found.function()
        if method is None or function is None or not _is_plain(found):
            continue
        signature = _signature(function, bound="staticmethod" not in found.member.decorators)
        refused = [(call, why) for call in _calls(context, method, users) if (why := signature.refusal(call))]
        if refused:
            fix = _fix(name, found, function, signature, [call for call, _ in refused])
            yield _mismatch(context, name, found, users, refused, fix)
        elif name in CAPTURE_SETTERS and _drops_layers(function, signature):
            yield _dropped(context, name, found, users, signature)


def _is_plain(found: Found) -> bool:
    return all(decorator.rpartition(".")[2] in _PLAIN_DECORATORS for decorator in found.member.decorators)


def _signature(function: FunctionNode, *, bound: bool) -> _Signature:
    arguments = function.args
    order = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    optional = set(order[len(order) - len(arguments.defaults) :]) if arguments.defaults else set()
    keyword_only = frozenset(one.arg for one in arguments.kwonlyargs)
    without_default = {
        one.arg for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    }
    skipped = 1 if bound and order else 0
    return _Signature(
        positional=tuple(order[skipped:]),
        positional_only=max(len(arguments.posonlyargs) - skipped, 0),
        required=frozenset({*order[skipped:]} - optional | without_default),
        keyword_only=keyword_only,
        any_positional=arguments.vararg is not None,
        any_keyword=arguments.kwarg is not None,
    )


def _calls(context: ProjectContext, method: ContractMethod, users: tuple[ClassInfo, ...]) -> Iterator[_Call]:
    """The ways in which the runtime calls ``method`` on some of ``users``."""
    if not method.call_sites:
        for shape in method.called_with:
            yield _parsed(shape)
        return
    ways: dict[tuple[str, int, tuple[str, ...]], list[CallSite]] = {}
    for site in method.call_sites:
        if not site.starred and _concerns(context, method, site, users):
            ways.setdefault((site.shape, site.positional, site.keywords), []).append(site)
    for (shape, positional, keywords), sites in ways.items():
        yield _Call(shape, positional, keywords, tuple(sites))


def _parsed(shape: str) -> _Call:
    call = ast.parse(f"f{shape.replace('…', '0')}", mode="eval").body
    assert isinstance(call, ast.Call)
    keywords = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    return _Call(shape, len(call.args), keywords)


def _concerns(context: ProjectContext, method: ContractMethod, site: CallSite, users: tuple[ClassInfo, ...]) -> bool:
    """Whether the runtime gets to ``site`` with some of ``users``; an EAGLE worker does with any target."""
    if method.name in CAPTURE_SETTERS or "eagle3" in site.protocols:
        return True
    roles = context.project.roles
    setters = tuple(capture_setter(protocol) for protocol in site.protocols)
    return any(roles.exposure(info, setter) is not None for info in users for setter in setters)


def _drops_layers(function: FunctionNode, signature: _Signature) -> bool:
    """Whether the first argument is never looked at by a setter that does return."""
    if not signature.positional or _only_raises(function):
        return False
    layers = signature.positional[0]
    return not signature.any_positional and not any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in (layers, "locals", "vars")
        for node in walk(function)
    )


def _only_raises(function: FunctionNode) -> bool:
    return isinstance(function.body[-1], ast.Raise)


def _mismatch(
    context: ProjectContext,
    name: str,
    found: Found,
    users: tuple[ClassInfo, ...],
    refused: list[tuple[_Call, str]],
    fix: Fix | None,
) -> Finding:
    call, why = refused[0]
    where = f" ({context.shown(call.sites[0].path, call.sites[0].line)})" if call.sites else ""
    return _finding(
        context,
        name,
        found,
        users,
        f"The runtime calls {name}{call.shape}{where}, which {found.definer.name} can't answer: {why}. The server "
        f"would stop with a TypeError after the weights are loaded.",
        tuple(
            Evidence(site.path, site.line, f"the runtime calls {name}{one.shape}: {reason}")
            for one, reason in refused
            for site in one.sites
        ),
        fix,
    )


def _fix(name: str, found: Found, function: FunctionNode, signature: _Signature, calls: list[_Call]) -> Fix | None:
    """The default for the layers, where a call without them is all that is refused."""
    relaxed = replace(signature, required=frozenset())
    if name not in CAPTURE_SETTERS or found.member.decorators or any(relaxed.refusal(call) for call in calls):
        return None
    return default_fix(found, function)


def _dropped(
    context: ProjectContext, name: str, found: Found, users: tuple[ClassInfo, ...], signature: _Signature
) -> Finding:
    method = context.project.contract.method(name)
    sites = tuple(site for site in method.call_sites if site.positional or site.keywords) if method else ()
    return _finding(
        context,
        name,
        found,
        users,
        f"{name} of {found.definer.name} never looks at {signature.positional[0]}: the layers that the draft was "
        f"trained on are not the ones that are captured. Capture the layers that are asked for.",
        tuple(Evidence(site.path, site.line, f"the runtime calls {name}{site.shape}") for site in sites),
    )


def _finding(
    context: ProjectContext,
    name: str,
    found: Found,
    users: tuple[ClassInfo, ...],
    message: str,
    evidence: tuple[Evidence, ...],
    fix: Fix | None = None,
) -> Finding:
    return context.finding(
        "EGL105",
        found.definer,
        found.span(),
        message,
        registered=registered_among(context.project, users),
        methods=(name,),
        evidence=evidence,
        fix=lambda: fix,
        scope=f"{found.definer.dotted}.{name}",
        caused_by=tuple(one.path for user in users for one in user.project_classes),
    )


RULE = Rule(
    code="EGL105",
    symbol="eagle3-signature-mismatch",
    severity="error",
    summary="A method of the EAGLE-3 interface cannot be called the way the runtime calls it, or drops the layer ids.",
    scope="project",
    check_project=check,
)
