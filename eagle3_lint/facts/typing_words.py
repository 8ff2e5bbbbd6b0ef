"""Which typing names a text might use without a binding, told from the text alone.

A sieve before parsing: a name that it drops is not reported by the full analysis either, whatever the text means; a
name that it keeps is only a suspicion. So each test here asks "can this occurrence, in a text that Python parses, be
the use of a name that nothing above binds?" and gives up (keeps the name) wherever that isn't plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from keyword import kwlist
from typing import NamedTuple

from eagle3_lint.facts.typing_names import PUBLIC_NAMES
from eagle3_lint.findings.sieve import MARK_WORDS

MODULE_ALIASES = frozenset({"typing", "typing_extensions", "t"})
"""The names under which an unbound ``typing`` is recognised in ``typing.Optional``."""

_WORD_BYTES = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") else 32 for byte in range(256))
_TABLE = frozenset(name.encode("ascii") for name in PUBLIC_NAMES | MODULE_ALIASES | MARK_WORDS | {"del"})
_KEYWORDS = frozenset(kwlist) | {"match", "case", "type"}

_ASCII = bytes(range(128))
_TYPING_IMPORTS = ("from typing", "from collections", "import typing")
_IMPORTS = ("from ", "import ")
_BLOCKS = ("\nclass ", "\ndef ", "\n@")
_IMPORT = re.compile(
    r"from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\(([^()]*)\)|([\w, \t]+))[ \t]*(?=[#\n]|\Z)"
    r"|import[ \t]+([\w., \t]+?)[ \t]*(?=[#\n]|\Z)"
)
_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?"""'
    r"|'''(?:[^\\]|\\.)*?'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|#[^\n]*",
    re.DOTALL,
)
_SPANNING = ('"""', "'''", "\\\n")
_FORMAT_STRING = re.compile(r"[\"'](?:(?<=\b[fFtT].)|(?<=\b[fFtT][rR].)|(?<=\b[rR][fFtT].))")
# A literal start lets the matcher leap through the text.
_DELETED = re.compile(r"del\b(?<![\w.]del)([^\n]*)")
_MODULE_USES = {
    "typing": re.compile(r"typing\s*\.\s*(\w+)"),
    "typing_extensions": re.compile(r"typing_extensions\s*\.\s*(\w+)"),
    "t": re.compile(r"t\.(?<![\w.]t\.)\s*(\w+)"),
}
_WORD_AFTER = re.compile(r"[ \t]+(\w+)")
_LONGEST_LINE = 1000
"""How far a line is looked at around a word, so that one line of megabytes costs no more than many short ones."""
_LONGEST_BLOCK = 20
"""How many lines of a block under a test are looked at for what it binds."""
_BINDING_WORDS = frozenset({"def", "class", "import", "global", "nonlocal"})


class Suspicion(NamedTuple):
    """Names of the table, and aliases of the modules, that may be used without a binding."""

    names: frozenset[str]
    modules: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.names or self.modules)


NO_SUSPICION = Suspicion(frozenset(), frozenset())


def suspicion(text: str, words: frozenset[str] | None = None) -> Suspicion:
    """What ``text`` may use without a binding; ``words`` are its ``table_words``, if somebody has them.

    A name outside the answer is used nowhere in ``text``, or only below an import of it at the top of the module.
    """
    text = normalized(text)
    words = _words(text) if words is None else words
    names = words & PUBLIC_NAMES
    if not names:
        return NO_SUSPICION
    modules = words & MODULE_ALIASES
    openings: Iterable[tuple[str, ...]] = (_TYPING_IMPORTS, _IMPORTS) if _bindings_last(text, words) else ((),)
    for starts in openings:
        bound = _bound_in_head(text, names | modules, starts)
        names = frozenset(name for name in names if _maybe_used(text, name, bound.get(name, len(text))))
        modules = frozenset(alias for alias in modules if _maybe_qualifies(text, alias, bound.get(alias, len(text))))
        if not names and not modules:
            return NO_SUSPICION
    return Suspicion(names, modules)


def table_words(text: str) -> frozenset[str]:
    """The words of the table in ``text``, those that mark directives among them: finding all words is what takes time."""
    return _words(normalized(text))


def normalized(text: str) -> str:
    """``text`` as Python's tokenizer reads it: lines end in a line feed, identifiers are in normal form KC.

    Lines stay the same lines. Source: https://docs.python.org/3/reference/lexical_analysis.html#identifiers
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text
    from unicodedata import normalize

    others = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    for character in set(others):
        if f"a{character}".isidentifier() and normalize("NFKC", character) != character:
            return normalize("NFKC", text)
    return text


def _words(text: str) -> frozenset[str]:
    """The words of the table that occur in ``text``."""
    found = _TABLE.intersection(text.encode("utf-8", "replace").translate(_WORD_BYTES).split())
    return frozenset(word.decode("ascii") for word in found)


def _bindings_last(text: str, words: frozenset[str]) -> bool:
    """Whether a module-level import binds its names for the rest of ``text``, in every scope.

    A ``del`` can end it, and a block under ``TYPE_CHECKING`` in a function can hide it.
    """
    if "TYPE_CHECKING" in words and _is_hidden_by_test(text, "TYPE_CHECKING"):
        return False
    if "del" not in words:
        return True
    return not any(_endangers(rest) for rest in _DELETED.findall(text))


def _is_hidden_by_test(text: str, name: str) -> bool:
    """Whether ``name`` stands in an indented line that may be the test of a block which binds a name of the table."""
    start = text.find(name)
    while start >= 0:
        before = _line_before(text, start)
        if before is None or (before[:1].isspace() and "if" in before and _may_bind(text, start, before)):
            return True
        start = text.find(name, start + len(name))
    return False


def _may_bind(text: str, start: int, before: str) -> bool:
    """Whether the block under the test at ``start``, whose line begins with ``before``, may bind a name of the table."""
    indent = len(before) - len(before.lstrip())
    block: list[str] = []
    depth = 0
    for line in text[start:].split("\n", _LONGEST_BLOCK)[:_LONGEST_BLOCK]:
        stripped = line.strip()
        if block and depth == 0 and stripped and len(line) - len(line.lstrip()) <= indent:
            return _has_table_names("\n".join(block))
        if any(character in stripped for character in "\"'\\*"):
            return True
        depth += sum(map(stripped.count, "([{")) - sum(map(stripped.count, ")]}"))
        block.append(line)
    return True


def _has_table_names(text: str) -> bool:
    return not (PUBLIC_NAMES - {"TYPE_CHECKING"} | MODULE_ALIASES).isdisjoint(re.findall(r"\w+", text))


def _line_before(text: str, index: int) -> str | None:
    """The line of ``index`` up to it; None for a very long one."""
    start = text.rfind("\n", max(index - _LONGEST_LINE, 0), index) + 1
    return None if not start and index > _LONGEST_LINE else text[start:index]


def _endangers(rest: str) -> bool:
    """Whether a ``del`` statement with this ``rest`` of its line may delete a name of the table."""
    return (
        rest.count("(") > rest.count(")")
        or rest.endswith("\\")
        or not PUBLIC_NAMES.isdisjoint(re.findall(r"\w+", rest))
    )


def _bound_in_head(text: str, wanted: frozenset[str], openings: tuple[str, ...]) -> dict[str, int]:
    """Those of the ``wanted`` names that unconditional imports at the top of ``text`` bind, with the offset of each.

    Only lines that begin with one of ``openings`` are looked at.
    """
    end = len(text)
    for block in _BLOCKS:
        found = text.find(block, 0, end)
        end = found if found >= 0 else end
    head = text[:end]
    quoted: list[tuple[int, int]] = []
    if any(mark in head for mark in _SPANNING):
        if _FORMAT_STRING.search(head):
            return {}
        quoted = [match.span() for match in _STRING_OR_COMMENT.finditer(head)]
    bound: dict[str, int] = {}
    for start in _line_starts(head, openings):
        match = _IMPORT.match(head, start)
        if match and not head.endswith("\\\n", 0, start) and not any(a < start < b for a, b in quoted):
            for name in wanted.intersection(_imported(match)):
                bound[name] = min(start, bound.get(name, start))
    return bound


def _line_starts(text: str, openings: Iterable[str]) -> Iterator[int]:
    """The offsets of the lines of ``text`` that begin with one of ``openings``."""
    for opening in openings:
        if text.startswith(opening):
            yield 0
        start = text.find("\n" + opening)
        while start >= 0:
            yield start + 1
            start = text.find("\n" + opening, start + 1)


def _imported(match: re.Match[str]) -> Iterator[str]:
    """The names that one import statement binds."""
    grouped, plain, modules = match.groups()
    text = grouped or plain or modules or ""
    if "#" in text:
        text = re.sub(r"#[^\n]*", "", text)
    for clause in text.split(","):
        words = clause.split()
        if len(words) == 1:
            yield words[0].partition(".")[0]
        elif len(words) == 3 and words[1] == "as":
            yield words[2]


def _maybe_qualifies(text: str, alias: str, end: int) -> bool:
    """Whether ``alias`` qualifies a name of the table somewhere in ``text`` before ``end``."""
    return any(match[1] in PUBLIC_NAMES for match in _MODULE_USES[alias].finditer(text, 0, end))


def _maybe_used(text: str, name: str, end: int) -> bool:
    """Whether ``name`` may be loaded somewhere in ``text`` before ``end``."""
    start = text.find(name, 0, end)
    while start >= 0:
        stop = start + len(name)
        if not _joined(text, start - 1) and not _joined(text, stop) and _may_be_load(text, start, stop):
            return True
        start = text.find(name, stop, end)
    return False


def occurrences(text: str, words: Iterable[str]) -> Iterator[int]:
    """The offsets at which one of ``words`` stands in ``text`` as a whole word."""
    for word in words:
        start = text.find(word)
        while start >= 0:
            stop = start + len(word)
            if not _joined(text, start - 1) and not _joined(text, stop):
                yield start
            start = text.find(word, stop)


def _joined(text: str, index: int) -> bool:
    """Whether the character at ``index`` continues a word."""
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] == "_")


def _may_be_load(text: str, start: int, stop: int) -> bool:
    """Whether the word at ``start`` can be a name that is read, in code or in a string that holds an annotation."""
    before = _line_before(text, start)
    if before is None:
        return True
    line_end = text.find("\n", stop, stop + _LONGEST_LINE)
    after = text[stop : line_end if line_end >= 0 else stop + _LONGEST_LINE]
    return not (
        _in_comment(before, text.endswith("\\\n", 0, start - len(before)))
        or before.rstrip().endswith(".")
        or _between_words(before, after)
        or _is_keyword_argument(before, after)
    )


def _in_comment(before: str, continued: bool) -> bool:
    """Whether a line that starts so goes on in a comment, be it code or the text of an annotation.

    A quote before the mark may make the mark part of a string; a quote after it may end a string begun on an earlier
    line (a long one, or one ``continued`` from the line above); a brace may open an expression in a format string.
    """
    code, mark, comment = before.partition("#")
    if not mark or any(character in code for character in "\"'") or "{" in comment:
        return False
    ends = ('"', "'") if continued else ('"""', "'''")
    return not any(end in comment for end in ends)


def _between_words(before: str, after: str) -> bool:
    """Whether a neighbour on the line makes the word prose, or a definition."""
    word = _last_word(before)
    if word in _BINDING_WORDS or (word and word not in _KEYWORDS and not word[0].isdigit()):
        return True
    following = _WORD_AFTER.match(after)
    return following is not None and following[1] not in _KEYWORDS


def _last_word(line: str) -> str:
    """The word that ends ``line``, but for spaces; empty if there is none, or no space after it."""
    stripped = line.rstrip(" \t")
    start = len(stripped)
    while start and _joined(stripped, start - 1):
        start -= 1
    return stripped[start:] if len(stripped) < len(line) else ""


def _is_keyword_argument(before: str, after: str) -> bool:
    """Whether the word names an argument or a parameter: ``f(word=…)``, unlike ``f"{a, word=}"``."""
    following = after.lstrip()
    if not before.rstrip().endswith(("(", ",")) or not following.startswith("="):
        return False
    return not following[1:].lstrip().startswith(("=", "}", "!", ":"))
