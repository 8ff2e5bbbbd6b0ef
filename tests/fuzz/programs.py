"""Trees of model files that nobody would write: a small grammar of what the engine follows, put together at random.

Every module is Python, but hierarchies go round in circles, names shadow each other, interface methods have any shape, and
constructors build whatever is at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_CLASSES = ("Inner", "Outer", "Body", "Layer", "Draft", "EagleDraft", "Wrapper", "Base", "Mixin", "Other")
_MODULES = ("a", "b", "c", "pkg.x", "pkg")
_EXTERNAL = ("nn.Module", "object", "Generic[T]", "Protocol", "NamedTuple", "unknown", "torch.nn.Module", "Enum")
_METHODS = (
    "set_eagle3_layers_to_capture",
    "set_eagle3_layer_to_capture",
    "set_dflash_layers_to_capture",
    "get_embed_and_head",
    "set_embed_and_head",
    "get_embed",
    "set_embed",
    "get_input_embeddings",
    "pad_input_ids",
    "get_image_feature",
    "forward",
    "__init__",
    "__getattr__",
    "init_llm",
    "helper",
)
_ATTRIBUTES = (
    "model",
    "language_model",
    "lm_head",
    "layers",
    "layers_to_capture",
    "capture_aux_hidden_states",
    "_is_layer_to_capture",
    "embed_tokens",
    "weight",
    "config",
    "forward",
    "thinker",
)
_LOCALS = ("x", "y", "hidden_states", "aux_hidden_states", "residual", "layer_ids", "cls", "config", "i", "layer")
_PARAMETERS = (
    "self",
    "self, layer_ids=None",
    "self, layer_ids: Optional[List[int]] = None",
    "self, config, quant_config=None, prefix='', *, kind=Inner",
    "self, *args, **kwargs",
    "self, a, /, b, *, c",
    "cls",
    "",
    "self, name",
    "self, input_ids, positions, forward_batch, x=Body",
)
_DECORATORS = ("@property", "@classmethod", "@staticmethod", "@torch.no_grad()", "@x.setter", "@cached(lambda: 1)")
_DEPTH = 3


def model_tree(random: Random) -> dict[str, bytes]:
    """The files of one tree by their path below its root."""
    files = {f"sglang/srt/models/{_file(name)}": module(random).encode() for name in _MODULES if random.random() < 0.7}
    if random.random() < 0.3:
        files["sglang/srt/speculative/worker.py"] = _runtime(random).encode()
    if random.random() < 0.2:
        files["sglang/srt/layers/far.py"] = module(random).encode()
    return files or {"sglang/srt/models/a.py": module(random).encode()}


def module(random: Random) -> str:
    """The text of one model file."""
    lines: list[str] = []
    for _ in range(random.randint(1, 9)):
        lines.extend(random.choice(_TOP)(random))
    if random.random() < 0.8:
        lines.append(_entry(random))
    return "\n".join(lines) + "\n"


def _file(name: str) -> str:
    return "pkg/__init__.py" if name == "pkg" else name.replace(".", "/") + ".py"


def _runtime(random: Random) -> str:
    calls = [
        "model_runner.model.set_eagle3_layers_to_capture()",
        "self.target_worker.model_runner.model.get_embed_and_head()",
        "if hasattr(target_model, 'set_eagle3_layers_to_capture'):\n        target_model.set_eagle3_layers_to_capture([1])",
        "getattr(model, 'set_dflash_layers_to_capture')(layer_ids=x)",
        "model.set_embed(*a, **k)",
    ]
    body = "\n    ".join(random.choice(calls) for _ in range(random.randint(1, 4)))
    return f"def start(self, model, model_runner, target_model, x):\n    {body}\n"


def _class(random: Random, indent: str = "") -> list[str]:
    bases = [_base(random) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    lines = [f"{indent}class {random.choice(_CLASSES)}({', '.join(bases)}):"]
    inside = indent + "    "
    for _ in range(random.randint(0, 6)):
        roll = random.random()
        if roll < 0.75:
            lines.extend(_method(random, inside))
        elif roll < 0.85:
            lines.append(f"{inside}{random.choice((*_ATTRIBUTES, *_METHODS))} = {_expression(random, _DEPTH)}")
        elif roll < 0.9 and len(indent) < 8:
            lines.extend(_class(random, inside))
        else:
            lines.append(f"{inside}if {_expression(random, 1)}:")
            lines.extend(_method(random, inside + "    "))
    lines.append(f"{inside}pass")
    return lines


def _base(random: Random) -> str:
    roll = random.random()
    if roll < 0.6:
        return random.choice(_CLASSES)
    if roll < 0.75:
        return random.choice(_EXTERNAL)
    if roll < 0.85:
        return f"{random.choice(('a', 'b', 'c', 'x', 'pkg', 'pkg.x'))}.{random.choice(_CLASSES)}"
    return random.choice(
        (f"make({random.choice(_CLASSES)})", "(Inner if x else Outer)", "Registry['Inner']", "Base[int]")
    )


def _method(random: Random, indent: str) -> list[str]:
    lines = [indent + random.choice(_DECORATORS)] if random.random() < 0.1 else []
    keyword = "async def" if random.random() < 0.03 else "def"
    lines.append(f"{indent}{keyword} {random.choice(_METHODS)}({random.choice(_PARAMETERS)}):")
    return lines + _block(random, indent + "    ", _DEPTH)


def _block(random: Random, indent: str, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(random.randint(1, 4)):
        lines.extend(_statement(random, indent, depth))
    return lines


def _statement(random: Random, indent: str, depth: int) -> list[str]:
    inner = indent + "    "
    value = _expression(random, depth)
    simple = (
        f"{indent}{_target(random)} = {value}",
        f"{indent}{_target(random)}, {_target(random)} = {value}",
        f"{indent}{_target(random)} += {value}",
        f"{indent}{value}",
        f"{indent}return {value}",
        f"{indent}return {random.choice(_LOCALS)}, {random.choice(_LOCALS)}",
        f"{indent}super().__init__({value})",
        f"{indent}super().{random.choice(_METHODS)}({random.choice(_LOCALS)})",
        f"{indent}{random.choice(_CLASSES)}.__init__(self, {value})",
        f"{indent}setattr(self.{random.choice(_ATTRIBUTES)}, '{random.choice(_ATTRIBUTES)}', {value})",
        f"{indent}raise ValueError({value})",
        f"{indent}from .{random.choice(_MODULES[:3])} import {random.choice(_CLASSES)}",
        f"{indent}del {random.choice(_LOCALS)}",
        f"{indent}{random.choice(_LOCALS)}: List[int] = {value}",
        f"{indent}aux_hidden_states.append(hidden_states + residual)",
    )
    if depth <= 0 or random.random() < 0.7:
        return [random.choice(simple)]
    heads: tuple[Callable[[], list[str]], ...] = (
        lambda: [f"{indent}if {value}:", *_block(random, inner, depth - 1)],
        lambda: [
            f"{indent}if hasattr(self.{random.choice(_ATTRIBUTES)}, '{random.choice(_METHODS)}'):",
            *_block(random, inner, depth - 1),
            f"{indent}else:",
            *_block(random, inner, depth - 1),
        ],
        lambda: [f"{indent}for {_target(random)} in {value}:", *_block(random, inner, depth - 1)],
        lambda: [f"{indent}for i, layer in enumerate(self.layers):", *_block(random, inner, depth - 1)],
        lambda: [f"{indent}while {value}:", *_block(random, inner, depth - 1)],
        lambda: [f"{indent}with {value} as x:", *_block(random, inner, depth - 1)],
        lambda: [
            f"{indent}try:",
            *_block(random, inner, depth - 1),
            f"{indent}except AttributeError:",
            *_block(random, inner, depth - 1),
        ],
        lambda: [f"{indent}match {value}:", f"{inner}case _:", *_block(random, inner + "    ", depth - 1)],
        lambda: [f"{indent}def helper({random.choice(_PARAMETERS)}):", *_block(random, inner, depth - 1)],
        lambda: _class(random, indent) if len(indent) < 12 else [f"{indent}pass"],
    )
    return random.choice(heads)()


def _target(random: Random) -> str:
    roll = random.random()
    if roll < 0.4:
        return random.choice(_LOCALS)
    if roll < 0.8:
        return f"self.{random.choice((*_ATTRIBUTES, *_METHODS[:8]))}"
    return f"self.{random.choice(_ATTRIBUTES)}.{random.choice((*_ATTRIBUTES, *_METHODS))}"


def _expression(random: Random, depth: int) -> str:
    leaves = (
        random.choice(_LOCALS),
        random.choice(_CLASSES),
        f"self.{random.choice((*_ATTRIBUTES, *_METHODS))}",
        f"self.{random.choice(_ATTRIBUTES)}.{random.choice((*_ATTRIBUTES, *_METHODS))}",
        "None",
        "True",
        "1",
        "[]",
        "'Inner'",
        "layer_ids",
        "[v + 1 for v in layer_ids]",
        "self.pp_group.is_last_rank",
        "nn.ModuleList([Layer(config) for _ in range(9)])",
        "general_mm_embed_routine(input_ids, forward_batch, self.language_model)",
    )
    if depth <= 0 or random.random() < 0.5:
        return random.choice(leaves)
    one, other = _expression(random, depth - 1), _expression(random, depth - 1)
    return random.choice(
        (
            f"{random.choice(_CLASSES)}({one}, kind={other})",
            f"{one}({other})",
            f"({one} if {other} else None)",
            f"({one} or {other})",
            f"({one} and {other})",
            f"(not {one})",
            f"({one} is {other})",
            f"{{1: {one}, 'k': {other}}}[{random.choice(_LOCALS)}]",
            f"[{one}, {other}]",
            f"({one}, *{other})",
            f"getattr({one}, '{random.choice(_METHODS)}', None)",
            f"getattr({one}, {other})",
            f"hasattr({one}, '{random.choice(_METHODS)}')",
            f"(lambda x={one}: {other})",
            f"{random.choice(_METHODS)}({one}, **{other})",
            f"super().{random.choice(_METHODS)}({one})",
            f"{{k: {one} for k in {other}}}",
            f"(x := {one})",
            f"cast(Optional[{random.choice(_CLASSES)}], {one})",
            f"type({one})({other})",
            f"self.{random.choice(_METHODS)}({one})",
            f"{one}.{random.choice((*_ATTRIBUTES, *_METHODS))}",
            f"f'{{{random.choice(_LOCALS)}}}'",
        )
    )


def _import(random: Random) -> list[str]:
    name, other = random.choice(_CLASSES), random.choice(_CLASSES)
    module = random.choice(_MODULES)
    return [
        random.choice(
            (
                f"from sglang.srt.models.{module} import {name}",
                f"from sglang.srt.models.{module} import {name} as {other}",
                f"from .{module} import {name}, {other}",
                f"from .{module} import *",
                f"from . import {random.choice(('a', 'b', 'c', 'pkg'))}",
                f"import sglang.srt.models.{module}",
                f"import sglang.srt.models.{module} as {random.choice(('a', 'b', 'x'))}",
                "from torch import nn",
                "import torch",
                "from typing import *",
                "from typing import List, Optional",
                "from sglang.srt.layers.far import *",
                "from .. import models",
                "from ...... import nothing",
            )
        )
    ]


def _assignment(random: Random) -> list[str]:
    name = random.choice(_CLASSES)
    return [
        random.choice(
            (
                f"{name} = {random.choice(_CLASSES)}",
                f"{name} = make({random.choice(_CLASSES)})",
                f"{name}.{random.choice(_METHODS)} = {random.choice(_CLASSES)}.{random.choice(_METHODS)}",
                f"x = {{'a': {name}, 'b': {random.choice(_CLASSES)}}}",
                f"x: Dict[str, Type[{name}]] = {_expression(random, 2)}",
                f"__all__ = ['{name}', 'EntryClass']",
                f"{name} = type('{name}', ({random.choice(_CLASSES)},), {{}})",
                f"del {name}",
                f"for {name} in [{random.choice(_CLASSES)}]: pass",
            )
        )
    ]


def _condition(random: Random) -> list[str]:
    first = ["    " + line for line in random.choice((_import, _assignment, _class))(random)]
    second = ["    " + line for line in random.choice((_import, _assignment, _class))(random)]
    head, other = random.choice(
        (("if TYPE_CHECKING:", "else:"), ("try:", "except ImportError:"), ("if x:", "else:"), ("try:", "finally:"))
    )
    return [head, *first, other, *second]


def _function(random: Random) -> list[str]:
    return _method(random, "")


def _entry(random: Random) -> str:
    name, other = random.choice(_CLASSES), random.choice(_CLASSES)
    return random.choice(
        (
            f"EntryClass = {name}",
            f"EntryClass = [{name}, {other}]",
            f"EntryClass = [{name}] + [{other}]",
            f"EntryClass = [{name}]\nEntryClass += [{other}]\nEntryClass.append({name})",
            "EntryClass = [c for c in globals()]",
            "from .b import EntryClass",
            "EntryClass = EntryClass",
            f"EntryClass = (*x, {name})",
        )
    )


_TOP: tuple[Callable[[Random], list[str]], ...] = (
    _class,
    _class,
    _class,
    _import,
    _import,
    _assignment,
    _condition,
    _function,
)
