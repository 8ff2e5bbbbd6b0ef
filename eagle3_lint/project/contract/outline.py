"""The outline of a source file: its functions by their lines, and what is left without their bodies.

Two thirds of the time that the contract takes would be the parsing of functions that nobody looks into. A function ends
where a line starts that is indented no deeper, so lines tell where each one is; the rest, with a stub in the place of
each function, is parsed as usual. What lines alone can't tell (tabs, strings that hold less indented text) makes
the rest unparsable, and then the whole file is parsed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A literal start lets the matcher leap from line to line.
_DEFINITION = re.compile(r"\n( *)(?:async +)?def +(\w+)")
_UNTOLD = re.compile(r"\n *\t")


@dataclass(frozen=True)
class Block:
    """The lines of one function, from its ``def`` to its last one, counted from 1."""

    name: str
    first: int
    last: int
    text: str

    @property
    def alone(self) -> str:
        """A module with this function alone, each of its lines where it is in the file."""
        if self.text.startswith(" "):
            return "\n" * (self.first - 2) + "if 1:\n" + self.text
        return "\n" * (self.first - 1) + self.text


@dataclass(frozen=True)
class Outline:
    """The functions that are in no other function, and the text with a stub for each."""

    blocks: tuple[Block, ...]
    text: str


def outline_of(text: str) -> Outline | None:
    """The outline of a source text; None where its lines can't tell."""
    if "\r" in text or "\f" in text:
        return None
    # Each line has its end before it then, the first one too.
    text = "\n" + text
    if _UNTOLD.search(text):
        return None
    blocks: list[Block] = []
    left: list[str] = []
    position, line = 1, 1
    while (match := _DEFINITION.search(text, position - 1)) is not None:
        indentation, name = match.groups()
        start = match.start() + 1
        # Closing brackets of a signature, and comments, may stand where the function's own line does.
        following = re.compile(rf"\n {{0,{len(indentation)}}}[^\s#)\]}}]").search(text, match.end())
        end = following.start() + 1 if following is not None else len(text)
        block = text[start:end]
        count = block.count("\n")
        line += text.count("\n", position, start)
        blocks.append(Block(name, line, line + count - (1 if block.endswith("\n") else 0), block))
        left += (text[position:start], indentation, f"def {name}(): pass", "\n" * count)
        position = end
        line += count
    left.append(text[position:])
    return Outline(tuple(blocks), "".join(left))
