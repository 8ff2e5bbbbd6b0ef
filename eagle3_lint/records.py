"""Dataclasses that cost a hook's start-up a tenth of what those of the standard library do.

The standard library compiles six functions for each frozen dataclass and imports ``inspect`` for it: for the hundred
of this program that is a sixth of a cached run. Here one function is compiled, when it is needed, and the others are
shared. To type checkers, and to ``dataclasses.replace``, ``fields`` and ``asdict``, these are dataclasses.

Of the standard library's options those that this program uses are known: ``frozen``, ``eq``, and of ``field``
``default``, ``default_factory`` and ``compare``; and no record inherits from another.
Source: https://docs.python.org/3/library/dataclasses.html
"""

from __future__ import annotations

# ``import typing`` would cost more than all that is here
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from operator import attrgetter

    _ABSENT = object()

    class _Field:
        __slots__ = ("compare", "default", "default_factory")

        def __init__(self, default, default_factory, compare):
            self.default = default
            self.default_factory = default_factory
            self.compare = compare

        def keywords(self):
            given = {"default": self.default, "default_factory": self.default_factory}
            return {"compare": self.compare, **{name: one for name, one in given.items() if one is not _ABSENT}}

    class _StandardFields:
        """The fields as the standard library describes them, made when its functions ask."""

        def __init__(self, made):
            self._made = made
            self._fields = None

        def __get__(self, instance, owner):
            if self._fields is None:
                from dataclasses import dataclass as standard
                from dataclasses import field as standard_field

                body = {name: standard_field(**one.keywords()) for name, one in self._made.items()}
                body["__annotations__"] = dict.fromkeys(self._made, object)
                self._fields = standard(type(owner.__name__, (), body)).__dataclass_fields__
            return self._fields

    def field(*, default=_ABSENT, default_factory=_ABSENT, compare=True):
        """A field whose default is made anew for each object, or that doesn't count when objects are compared."""
        return _Field(default, default_factory, compare)

    def dataclass(cls=None, /, *, frozen=False, eq=True):
        """Make ``cls`` a record of its annotated names; ``frozen`` ones can't be changed, and can be hashed."""
        if cls is None:
            return lambda one: _made(one, frozen, eq)
        return _made(cls, frozen, eq)

    def replace(record, /, **changes):
        """A record like ``record``, but for ``changes``."""
        kept = record.__dict__
        return record.__class__(**{name: kept[name] for name in record.__match_args__ if name in kept} | changes)

    def _made(cls, frozen, eq):
        fields = {}
        for name in cls.__annotations__:
            given = cls.__dict__.get(name, _ABSENT)
            fields[name] = given if isinstance(given, _Field) else _Field(given, _ABSENT, True)
            if given is fields[name]:
                delattr(cls, name)
                if given.default is not _ABSENT:
                    setattr(cls, name, given.default)
        cls.__match_args__ = tuple(fields)
        cls.__dataclass_fields__ = _StandardFields(fields)
        cls.__init__ = _first(cls, fields, frozen)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _repr
        if eq:
            compared = [name for name, one in fields.items() if one.compare]
            _make_comparable(cls, attrgetter(*compared) if compared else lambda _: (), frozen)
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return cls

    def _first(cls, fields, frozen):
        """Compiles the constructor when the first object is made: most runs make none of many of these records."""

        def __init__(self, *given, **named):
            if cls.__init__ is __init__:
                cls.__init__ = _constructor(fields, frozen)
                cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
            cls.__init__(self, *given, **named)

        return __init__

    def _constructor(fields, frozen):
        known = {"_set": object.__setattr__}
        parameters = ["self"]
        lines = []
        for name, one in fields.items():
            value = name
            if one.default is not _ABSENT:
                known[f"_of_{name}"] = one.default
                parameters.append(f"{name}=_of_{name}")
            elif one.default_factory is not _ABSENT:
                known[f"_of_{name}"] = one.default_factory
                parameters.append(f"{name}=_of_{name}")
                value = f"_of_{name}() if {name} is _of_{name} else {name}"
            else:
                parameters.append(name)
            lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
        exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or " pass"), known)  # noqa: S102 - of our own fields
        return known["__init__"]

    def _make_comparable(cls, key, frozen):
        def __eq__(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        cls.__eq__ = __eq__
        if frozen and "__hash__" not in cls.__dict__:
            cls.__hash__ = lambda self: hash(key(self))
        elif not frozen:
            cls.__hash__ = None

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__qualname__}({shown})"

    def _refuse(self, name, *_):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change field {name!r}")


__all__ = ["dataclass", "field", "replace"]
