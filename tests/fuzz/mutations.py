"""Small damage done to real files: to their bytes, their tokens, their statements, their classes, their comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable
from random import Random

_BYTES = (
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b"\x0c",
    b"\xff",
    b"\xef\xbb\xbf",
    b"(",
    b")",
    b'"""',
    b"\\",
    b"\xe2\x80\xa8",
)
_WORDS = (
    "class",
    "def",
    "lambda",
    "self",
    "(",
    ")",
    ":",
    "=",
    ",",
    "*",
    "**",
    "None",
    "if",
    "else",
    ".",
    "[",
    "]",
    "EntryClass",
)
_COMMENTS = (
    "# noqa",
    "# noqa: EGL101,EGL2",
    "# noqa:EGL999",
    "# pylint: disable=all",
    "# pylint: disable=missing-eagle3-delegation,unknown",
    "# pylint: skip-file",
    "# pylint: disable-next=eagle3",
    "# pylint: disable",
    "# eagle3-lint: ignore[EGL101] because",
    "# eagle3-lint: ignore[",
    "# eagle3-lint: ignore-file",
    "# flake8: noqa",
    "# type: ignore",
    "# -*- coding: latin-1 -*-",
    "# -*- coding: utf-7 -*-",
)
_NAME = re.compile(rb"\b[A-Z]\w+")

Mutation = Callable[[bytes, Random], bytes]


def mutated(data: bytes, random: Random) -> bytes:
    """``data`` with one to four mutations of any sort."""
    for _ in range(random.randint(1, 4)):
        data = random.choice(MUTATIONS)(data, random)
    return data


def change_bytes(data: bytes, random: Random) -> bytes:
    """A few bytes replaced, put in, or taken out."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 8)):
        at = random.randint(0, len(changed))
        roll = random.random()
        if roll < 0.4:
            changed[at:at] = random.choice(_BYTES)
        elif roll < 0.7:
            del changed[at : at + random.randint(1, 40)]
        else:
            changed[at : at + 1] = bytes([random.randrange(256)])
    return bytes(changed)


def change_tokens(data: bytes, random: Random) -> bytes:
    """A few tokens dropped, doubled, replaced by others of the file, or by words of the language."""
    text = data.decode("utf-8", "replace")
    parts = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(random.randint(1, 6)):
        if not parts:
            break
        at = random.randrange(len(parts))
        roll = random.random()
        if roll < 0.25:
            del parts[at]
        elif roll < 0.5:
            parts.insert(at, parts[random.randrange(len(parts))])
        elif roll < 0.75:
            parts[at] = random.choice(_WORDS)
        else:
            parts[at] = parts[random.randrange(len(parts))]
    return "".join(parts).encode("utf-8", "surrogateescape")


def move_statements(data: bytes, random: Random) -> bytes:
    """Whole statements moved to another block, doubled, or taken out; the result is Python again."""
    tree = _tree(data)
    if tree is None:
        return change_bytes(data, random)
    for _ in range(random.randint(1, 5)):
        blocks = _blocks(tree)
        if not blocks:
            break
        source, target = random.choice(blocks), random.choice(blocks)
        if not source:
            continue
        statement = source.pop(random.randrange(len(source)))
        roll = random.random()
        if roll < 0.7 and not any(one is target for node in ast.walk(statement) for one in _own_blocks(node)):
            target.insert(random.randint(0, len(target)), statement)
        if roll < 0.2:
            source.insert(random.randint(0, len(source)), statement)
        if not source:
            source.append(ast.Pass())
    return _unparsed(tree, data)


def change_classes(data: bytes, random: Random) -> bytes:
    """Classes renamed, given each other's names, or made to inherit from themselves and each other."""
    tree = _tree(data)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)] if tree is not None else []
    if tree is None or not classes:
        return swap_names(data, random)
    for _ in range(random.randint(1, 4)):
        one, other = random.choice(classes), random.choice(classes)
        roll = random.random()
        if roll < 0.5:
            one.bases.insert(random.randint(0, len(one.bases)), ast.Name(other.name, ast.Load()))
        elif roll < 0.7:
            one.name = other.name
        elif roll < 0.85:
            one.bases = []
        else:
            one.body.extend(other.body if one is not other else ())
    return _unparsed(tree, data)


def swap_names(data: bytes, random: Random) -> bytes:
    """Every use of one capitalised name replaced by another of the file."""
    names = sorted(set(_NAME.findall(data)))
    if len(names) < 2:
        return data
    one, other = random.sample(names, 2)
    return re.sub(rb"\b" + one + rb"\b", other, data)


def add_comments(data: bytes, random: Random) -> bytes:
    """Comments that speak to linters, at the end of lines and on lines of their own."""
    lines = data.split(b"\n")
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(lines))
        comment = random.choice(_COMMENTS).encode()
        if random.random() < 0.5:
            lines[at] += b"  " + comment
        else:
            lines.insert(at, comment)
    return b"\n".join(lines)


def change_ends(data: bytes, random: Random) -> bytes:
    """Other line endings, a byte order mark, no end of the last line, a cut."""
    choices: tuple[Callable[[], bytes], ...] = (
        lambda: data.replace(b"\n", b"\r\n"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.rstrip(b"\n"),
        lambda: data[: random.randint(0, len(data))],
        lambda: data.replace(b"    ", b"\t"),
        lambda: data.replace(b"\n", b"\n\x0c\n", 3),
    )
    return random.choice(choices)()


def retokenize(data: bytes, random: Random) -> bytes:
    """The same tokens with other white space between them, as far as the file can be tokenized."""
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, SystemError):
        return change_tokens(data, random)
    made = tokenize.untokenize([token[:2] for token in tokens])
    return made if isinstance(made, bytes) else made.encode()


MUTATIONS: tuple[Mutation, ...] = (
    change_bytes,
    change_tokens,
    change_tokens,
    move_statements,
    move_statements,
    change_classes,
    change_classes,
    swap_names,
    add_comments,
    change_ends,
    retokenize,
)


def _tree(data: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _unparsed(tree: ast.Module, data: bytes) -> bytes:
    try:
        return (ast.unparse(ast.fix_missing_locations(tree)) + "\n").encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError):
        return data


def _blocks(tree: ast.Module) -> list[list[ast.stmt]]:
    return [block for node in ast.walk(tree) for block in _own_blocks(node)]


def _own_blocks(node: ast.AST) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list) and block]
