"""Stand-ins for every package outside ``sglang``: enough of an object for a module's top level to run.

A stand-in answers any public attribute with another stand-in, can be called, subscripted, compared, iterated
(empty) and used as a context manager, is false, and lets functions and classes through where it is used as a
decorator. As a base class it becomes a real, plain class, made once for each dotted name, whose ``__module__``
and ``__qualname__`` spell the name it was reached by (``torch.nn.Module``).
"""

from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

_CLASSES: dict[str, type] = {}
_OBJECTS: dict[str, StandIn] = {}

# What a decorator may be put on.
_DECORATED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    type,
    classmethod,
    staticmethod,
    property,
    functools.partial,
    functools.cached_property,
)

# Versions and devices are compared with ``is None`` or parsed, which no stand-in survives.
_VALUES: dict[str, Any] = {
    "torch.__version__": "2.9.1",
    "torch.version.hip": None,
    "torch.cuda.get_device_name": lambda *_: "",
    "torch.distributed.is_available": lambda: True,
    "torch.distributed.is_initialized": lambda: False,
    "torch.library.Library().m": None,
    "transformers.PretrainedConfig.__class_validators__": [],
    "transformers.PretrainedConfig.from_dict": classmethod(lambda *_, **__: None),
    "msgspec.structs.fields": lambda _: (),
    "dill.dumps": lambda *_, **__: b"",
}
_DEVICES: dict[str, dict[str, Any]] = {
    "cuda": {
        "torch.version.cuda": "12.8",
        "torch.cuda.is_available": lambda: True,
        "torch.cuda.device_count": lambda: 1,
        "torch.cuda.get_device_capability": lambda *_: (9, 0),
        "triton.runtime.driver.active.get_current_target().backend": "cuda",
    },
    "cpu": {
        "torch.version.cuda": None,
        "torch.cuda.is_available": lambda: False,
        "torch.cuda.device_count": lambda: 0,
        "torch.cuda.get_device_capability": lambda *_: (0, 0),
        "triton.runtime.driver.active.get_current_target().backend": "cpu",
    },
}
DEVICES = tuple(_DEVICES)
_ABSENT = frozenset({"torch.npu", "torch.hpu", "torch.musa", "torch.version.musa"})
# Plug-ins whose mere presence switches a release to another device.
ABSENT_MODULES = frozenset({"torch_npu", "torch_musa", "torchada", "habana_frameworks", "intel_extension_for_pytorch"})


class _Base:
    """The root of what a stand-in becomes as a base class; left out of reported method resolution orders."""

    __struct_fields__: typing.ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()
        cls.__struct_fields__ = (*cls.__struct_fields__, *_annotated(cls))

    def __init__(self, *values: Any, **named: Any) -> None:
        """Keep what was given, by the annotated fields' order, as struct-like base classes do."""
        self.__dict__.update(zip(self.__struct_fields__, values, strict=False), **named)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _called(type(self).__name__, args, kwargs)

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    def __getattr__(self, name: str) -> Any:
        if _is_dunder(name):
            raise AttributeError(name)
        return stand_in(f"{type(self).__name__}().{name}")

    @classmethod
    def apply(cls, *_: Any, **__: Any) -> Any:
        """Class methods that modules take from the class at import (``torch.autograd.Function``, ``pydantic``)."""
        return stand_in(f"{cls.__name__}.apply()")

    model_rebuild = apply


def pretend(device: str) -> None:
    """Answer from now on as PyTorch does on a machine with that device, one of ``DEVICES``."""
    _VALUES.update(_DEVICES[device])


def is_root(cls: type) -> bool:
    """Whether ``cls`` is the private root of all stand-in classes."""
    return cls is _Base


def is_stand_in_class(cls: type) -> bool:
    """Whether ``cls`` stands in for a class outside the release."""
    return _CLASSES.get(dotted(cls)) is cls


def dotted(cls: type) -> str:
    """``module.qualname`` of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def class_of(name: str) -> type:
    """The one real class that stands in for the dotted ``name``."""
    if name not in _CLASSES:
        module, _, qualname = name.rpartition(".")
        _CLASSES[name] = type(qualname, (_Base,), {"__module__": module, "__qualname__": qualname})
    return _CLASSES[name]


def stand_in(name: str) -> StandIn:
    """The one stand-in object of the dotted ``name``."""
    if name not in _OBJECTS:
        _OBJECTS[name] = StandIn(name)
    return _OBJECTS[name]


def attribute(owner: str, name: str) -> Any:
    """What ``owner.name`` is; raises ``AttributeError`` for what a stand-in must not have."""
    full = f"{owner}.{name}"
    if full in _VALUES:
        return _VALUES[full]
    if name == "__version__":
        return "99.0.0"
    if _is_dunder(name) or full in _ABSENT:
        raise AttributeError(f"stand-in {owner!r} has no attribute {name!r}")
    if owner == "typing_extensions" and hasattr(typing, name):
        return getattr(typing, name)
    return stand_in(full)


def _called(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not kwargs and isinstance(args[0], _DECORATED):
        return args[0]
    return stand_in(f"{name}()")


def _annotated(cls: type) -> tuple[str, ...]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return tuple(annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF))
    return tuple(vars(cls).get("__annotations__", ()))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class StandIn:
    """Whatever the release takes from outside; see the module's docstring."""

    def __init__(self, name: str) -> None:
        self.__dict__["_stand_in_name"] = name
        self.__dict__["__name__"] = name.rpartition(".")[2]
        self.__dict__["__qualname__"] = name.rpartition(".")[2]

    def __getattr__(self, name: str) -> Any:
        return attribute(self.__dict__["_stand_in_name"], name)

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[type, ...]:
        return (class_of(self.__dict__["_stand_in_name"]),)

    def __instancecheck__(self, instance: Any) -> bool:
        return class_of(self.__dict__["_stand_in_name"]) in type(instance).__mro__

    def __subclasscheck__(self, cls: Any) -> bool:
        return class_of(self.__dict__["_stand_in_name"]) in getattr(cls, "__mro__", ())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _called(self.__dict__["_stand_in_name"], args, kwargs)

    def __getitem__(self, _: Any) -> Any:
        return self

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def __delitem__(self, _: Any) -> None:
        pass

    def __contains__(self, _: Any) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<stand-in {self.__dict__['_stand_in_name']}>"


def _same(self: StandIn, *_: Any) -> StandIn:
    return self


def _false(_: StandIn, __: Any) -> bool:
    return False


def _define(operators: str, method: Callable[..., Any]) -> None:
    for operator in operators.split():
        setattr(StandIn, f"__{operator}__", method)


_define("add sub mul matmul truediv floordiv mod pow lshift rshift and or xor neg pos invert abs round", _same)
_define("radd rsub rmul rmatmul rtruediv rfloordiv rmod rpow rlshift rrshift rand ror rxor", _same)
_define("lt le gt ge", _false)


class StandInModule(types.ModuleType):
    """A module outside ``sglang``, or one inside it whose own code could not run to its end."""

    def __getattr__(self, name: str) -> Any:
        return attribute(self.__name__, name)
