"""The public names of ``typing`` and ``typing_extensions``, on every Python that the program supports.

The table is the program's own, so that a run does not depend on the Python it runs under nor on an installed
``typing_extensions``. Source: the ``__all__`` of ``typing`` in CPython 3.10 to 3.14 and of ``typing_extensions`` up to
4.16 (https://docs.python.org/3/library/typing.html, https://typing-extensions.readthedocs.io/en/latest/).
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TYPING_3_10 = _words(
    """
    AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable
    BinaryIO ByteString Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine Counter
    DefaultDict Deque Dict Final ForwardRef FrozenSet Generator Generic Hashable IO ItemsView Iterable Iterator
    KeysView List Literal Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple NewType
    NoReturn Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol Reversible Sequence Set
    Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound
    TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union ValuesView cast final get_args
    get_origin get_type_hints is_typeddict no_type_check no_type_check_decorator overload runtime_checkable
    """
)
_TYPING_SINCE = {
    11: """
        LiteralString Never NotRequired Required Self TypeVarTuple Unpack assert_never assert_type clear_overloads
        dataclass_transform get_overloads reveal_type
        """,
    12: "TypeAliasType override",
    13: "NoDefault ReadOnly TypeIs get_protocol_members is_protocol",
    14: "evaluate_forward_ref",
}

TYPING_EXTENSIONS_NAMES = _words(
    """
    AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable
    BinaryIO Buffer Callable CapsuleType ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine
    Counter DefaultDict Deque Dict Doc Final Format ForwardRef FrozenSet Generator Generic Hashable IO IntVar
    ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping MappingView Match MutableMapping
    MutableSequence MutableSet NamedTuple Never NewType NoDefault NoExtraItems NoReturn NotRequired Optional
    OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol ReadOnly Reader Required Reversible Self
    Sentinel Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt
    SupportsRound TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeAliasType TypeForm TypeGuard TypeIs TypeVar
    TypeVarTuple TypedDict Union Unpack ValuesView Writer assert_never assert_type cast clear_overloads
    dataclass_transform deprecated disjoint_base evaluate_forward_ref final get_annotations get_args get_origin
    get_original_bases get_overloads get_protocol_members get_type_hints is_protocol is_typeddict no_type_check
    no_type_check_decorator overload override reveal_type runtime runtime_checkable sentinel type_repr
    """
)


def typing_names(target: tuple[int, int]) -> frozenset[str]:
    """The public names of ``typing`` on Python ``target``; older Pythons than 3.10 count as 3.10."""
    newer = (_words(names) for minor, names in _TYPING_SINCE.items() if (3, minor) <= target)
    return _TYPING_3_10.union(*newer)


PUBLIC_NAMES = typing_names((3, 14)) | TYPING_EXTENSIONS_NAMES
"""Every name that the rules EGL301 and EGL302 know."""
