"""The interface delegated to an inner model: methods that call the inner model's own, and say so where it has none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle3_lint.findings.model import Edit, Fix
from eagle3_lint.fixes.imports import import_names
from eagle3_lint.fixes.methods import Line, Lines, added_methods, fits, statement
from eagle3_lint.fixes.spelling import is_imported, typing_imports
from eagle3_lint.fixes.style import ClassStyle, class_style
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract import CAPTURE_SETTERS, Contract
from eagle3_lint.project.contract.model import CAPTURE_SETTER, EMBED_GETTER
from eagle3_lint.project.forward_route import ForwardRoute, forward_route, is_body
from eagle3_lint.project.roles import Candidate
from eagle3_lint.project.values import ConstantValue, InstanceValue, UnknownValue
from eagle3_lint.sources.reading import parse_source

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

_LAYERS = "layer_ids"


@dataclass(frozen=True)
class _Signature:
    """How a method is declared (``parameters``, ``result``) and how its inner namesake is called (``arguments``)."""

    parameters: str
    arguments: str
    result: str = ""
    needs: tuple[str, ...] = ()


def delegating_fix(
    project: Project, owner: ClassInfo, attribute: str, methods: Sequence[str], users: Sequence[ClassInfo]
) -> Fix | None:
    """The fix that gives ``owner`` each of ``methods``, calling the inner model in ``attribute``.

    ``users`` are the classes, ``owner`` or its descendants, on whose objects they will run. Safe where the forward of each
    of them goes through the inner model itself and the inner model has all of ``methods``. Without edits where the inner
    model is only a body, whose setter isn't the interface; None where the attribute holds no single model.
    """
    routes = [forward_route(project, one, attribute) for one in users]
    around = next((route for route in routes if route.kind != "inner_call"), None)
    if not all(_is_one_model(project, one, attribute) for one in users):
        return None
    if around is not None and any(is_body(project, one, attribute) for one in users):
        return Fix("unsafe", (), _to_write(attribute, methods, around))
    candidates = project.roles.candidates(users[0], attribute)
    answered = [name for name in methods if any(project.roles.supports(one, name) for one in candidates)]
    edits = _Writer(project, owner, attribute, candidates).edits(answered)
    if not edits:
        return None
    if around is not None:
        return Fix("unsafe", edits, f"{around.reason}: handle the captured states there, too")
    missing = [name for name in methods if name not in answered]
    if missing:
        return Fix("unsafe", edits, f"write {', '.join(missing)}: no inner model has it")
    return Fix("safe", edits)


def _is_one_model(project: Project, info: ClassInfo, attribute: str) -> bool:
    """Whether ``attribute`` holds one object (or None), no list or dictionary of them."""
    held = project.construct(info).attributes.get(attribute)
    return held is not None and all(
        isinstance(value, (InstanceValue, UnknownValue)) or value == ConstantValue(None) for value in held.values
    )


def _to_write(attribute: str, methods: Sequence[str], route: ForwardRoute) -> str:
    return (
        f"write {', '.join(methods)} for the body in self.{attribute}, with the flag that makes the forward take the "
        f"captured states apart and hand them on: {route.reason}"
    )


class _Writer:
    """Writes the methods of one class in its own style."""

    def __init__(self, project: Project, owner: ClassInfo, attribute: str, candidates: Sequence[Candidate]) -> None:
        self._project = project
        self._owner = owner
        self._inner = f"self.{attribute}"
        self._attribute = attribute
        self._candidates = candidates
        self._style = class_style(owner.module.source, owner.facts)
        self._typing = typing_imports(owner.module, owner.line)

    def edits(self, methods: Sequence[str]) -> tuple[Edit, ...]:
        """The edits that add ``methods``, and the imports that their annotations need."""
        signatures = [self._signature(name) for name in methods]
        if not signatures:
            return ()
        texts = [self._method(name, one) for name, one in zip(methods, signatures, strict=True)]
        added = added_methods(self._owner.module, self._owner.facts, self._style, texts)
        needs = sorted({name for one in signatures for name in one.needs})
        if not needs:
            return added
        source = self._owner.module.source
        imports = import_names(source, parse_source(source), "typing", needs, self._owner.facts.first_line)
        return (*imports, *added) if imports else ()

    def _method(self, name: str, signature: _Signature) -> Lines:
        style, inner, quote = self._style, self._inner, self._style.quote
        return (
            *statement(style, 0, f"def {name}(", signature.parameters, f"){signature.result}:"),
            *statement(style, 1, "if not hasattr(", f"{inner}, {quote}{name}{quote}", "):"),
            *raising(style, 2, inner, name),
            *statement(style, 1, f"return {inner}.{name}(", signature.arguments, ")"),
        )

    def _signature(self, name: str) -> _Signature:
        if name in CAPTURE_SETTERS:
            return self._setter(name)
        if name == EMBED_GETTER:
            result = ""
            if self._style.returns and is_imported(self._owner.module, "torch", self._owner.line):
                result = f" -> {self._typing.pair('torch.Tensor').text}"
            return _Signature("self", "", result)
        return self._like_inner(name)

    def _setter(self, name: str) -> _Signature:
        layers, optional = _layers(self._project.contract, name)
        typed = self._typing.optional_layers() if optional else self._typing.layers()
        result = " -> None" if self._style.returns else ""
        if not self._style.annotates:
            return _Signature(f"self, {layers}{'=None' if optional else ''}", layers, result)
        default = " = None" if optional else ""
        return _Signature(f"self, {layers}: {typed.text}{default}", layers, result, typed.needs)

    def _like_inner(self, name: str) -> _Signature:
        """The parameters of the inner model's own method, without annotations."""
        for one in self._candidates:
            exposure = self._project.roles.exposure(one.info, name)
            function = exposure.function.function() if exposure is not None and exposure.function is not None else None
            if function is not None:
                return _signature_like(function.args)
        return _Signature("self", "")


def raising(style: ClassStyle, level: int, inner: str, name: str) -> Lines:
    """The statement that says that what ``inner`` holds has no ``name``."""
    quote = style.quote
    who = f"{{type({inner}).__name__}} in {inner.partition('.')[2]} "
    text = f"f{quote}{who}has no {name}{quote}"
    lines = statement(style, level, "raise AttributeError(", text, ")")
    if len(lines) == 1 or fits(style, level + 1, text):
        return lines
    parts = (f"f{quote}{who}{quote}", f"{quote}has no {name}{quote}")
    return (lines[0], *(Line(level + 1, part) for part in parts), lines[-1])


def _layers(contract: Contract, setter: str) -> tuple[str, bool]:
    """What the runtime calls the layers of ``setter``, and whether it also calls it without them."""
    method = contract.method(setter)
    if method is None:
        return _LAYERS, setter == CAPTURE_SETTER
    keywords = [keyword for site in method.call_sites for keyword in site.keywords]
    return (keywords or [_LAYERS])[0], setter == CAPTURE_SETTER or "()" in method.called_with


def _signature_like(arguments: ast.arguments) -> _Signature:
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    parameters, passed = ["self"], []
    for index, one in enumerate(plain[1:], 1):
        given = f"={ast.unparse(arguments.defaults[index - required])}" if index >= required else ""
        parameters.append(one.arg + given)
        passed.append(one.arg)
    if arguments.vararg is not None:
        parameters.append(f"*{arguments.vararg.arg}")
        passed.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        parameters.append("*")
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(one.arg if default is None else f"{one.arg}={ast.unparse(default)}")
        passed.append(f"{one.arg}={one.arg}")
    if arguments.kwarg is not None:
        parameters.append(f"**{arguments.kwarg.arg}")
        passed.append(f"**{arguments.kwarg.arg}")
    return _Signature(", ".join(parameters), ", ".join(passed))
