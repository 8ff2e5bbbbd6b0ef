"""How a class is written: what a new method of it has to look like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from eagle3_lint.facts.module import ClassFacts, Member
from eagle3_lint.fixes.text import ending_at, indent_of, is_blank_before
from eagle3_lint.sources.text import SourceText

_STRING = re.compile(r"(?<=[\s(\[{,=:])(['\"])(?!\1)")
_ANNOTATED = re.compile(r"[(,]\s*(?!self\b|cls\b)\w+\s*:")
_PLAIN = re.compile(r"[(,]\s*(?!self\b|cls\b)\w+\s*[,)=]")
_HEAD = re.compile(r"\bdef \w+(\([^)]*\))")
_BLANK = " \t\f"


@dataclass(frozen=True)
class ClassStyle:
    """The habits of one class: ``indent`` of its members, ``unit`` that each further level adds, ``quote`` and line
    ``ending``, ``blank`` lines between methods, whether results (``returns``) and parameters (``annotates``) have
    annotations."""

    indent: str
    unit: str
    quote: str
    ending: str
    blank: int
    returns: bool
    annotates: bool


def class_style(source: SourceText, facts: ClassFacts) -> ClassStyle:
    """The style of the class ``facts``; where it doesn't show one, that of the file, then that of SGLang."""
    methods = [one for one in facts.members if one.kind == "function"]
    heads = [_head(source, one) for one in methods]
    telling = [head for one, head in zip(methods, heads, strict=True) if one.name != "__init__"]
    own = source.lines[facts.place.line - 1 : facts.place.end_line]
    outer = indent_of(source, facts.place.line)
    indent = _body_indent(source, facts, outer) or outer + _unit(source)
    return ClassStyle(
        indent=indent,
        unit=indent[len(outer) :] if indent.startswith(outer) else _unit(source),
        quote=_quote("\n".join(own)) or _quote(source.text) or '"',
        ending=ending_at(source, facts.place.line),
        blank=_blank_between(source, methods),
        returns=2 * sum("->" in head for head in telling) > len(telling),
        annotates=_annotates(telling or _HEAD.findall(source.text)),
    )


def _head(source: SourceText, member: Member) -> str:
    """The text of a ``def`` up to the line that ends with its colon."""
    lines: list[str] = []
    for line in source.lines[member.place.line - 1 : member.place.end_line]:
        lines.append(line)
        if line.partition("#")[0].rstrip().endswith(":"):
            break
    return "\n".join(lines)


def _annotates(heads: list[str]) -> bool:
    """Whether the parameters of ``heads`` have annotations more often than not; True where there are none."""
    annotated = sum(len(_ANNOTATED.findall(head)) for head in heads)
    plain = sum(len(_PLAIN.findall(head)) for head in heads)
    return annotated >= plain


def _body_indent(source: SourceText, facts: ClassFacts, outer: str) -> str:
    """The indentation of the members that start their line."""
    for member in facts.members:
        if not member.conditional and is_blank_before(source, member.place.line, member.place.offset):
            indent = indent_of(source, member.place.line)
            if indent != outer:
                return indent
    for line in source.lines[facts.place.line : facts.place.end_line]:
        indent = line[: len(line) - len(line.lstrip(_BLANK))]
        if line.strip(_BLANK) and not line.lstrip(_BLANK).startswith("#") and len(indent) > len(outer):
            return indent
    return ""


def _unit(source: SourceText) -> str:
    """What the file's first indented line after a colon is indented by."""
    for before, line in pairwise(source.lines):
        if before.endswith(":") and before[:1] not in ("", "#", *_BLANK) and line[:1] in (" ", "\t"):
            return line[: len(line) - len(line.lstrip(_BLANK))]
    return "    "


def _quote(text: str) -> str:
    """The quote that most strings of ``text`` begin with, or the empty string where there are none."""
    found = _STRING.findall(text)
    single = found.count("'")
    return "" if not found else "'" if 2 * single > len(found) else '"'


def _blank_between(source: SourceText, methods: list[Member]) -> int:
    """How many blank lines stand between most methods: none, one or two."""
    seen: list[int] = []
    for before, after in pairwise(methods):
        gap = source.lines[before.place.end_line : (after.first_line or after.place.line) - 1]
        if all(not line.strip(_BLANK) for line in gap):
            seen.append(len(gap))
    return min(max(set(seen), key=seen.count), 2) if seen else 1
