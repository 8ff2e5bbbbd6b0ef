"""Which model files can matter to the rules about classes, told from their text before anything is parsed.

A file matters when it has a word of the capture interface or of the multimodal runtime in it, or a class that may
inherit from a class of such a file, or an ``EntryClass`` that may name one. Files that these lead to by name (bases,
inner models) are read when a name is followed there, so leaving a file out here only ever leaves out what no rule
would look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SEEDS = (
    "_to_capture",
    "capture_aux",
    "pad_input_ids",
    "get_image_feature",
    "get_video_feature",
    "get_audio_feature",
    "general_mm_embed_routine",
    "get_embed",
    "set_embed",
    "__getattr__",
    "spec_info.hidden_states",
)
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*(?:\(([^)]*)\))?", re.M)
_IMPORTED_AS = re.compile(r"(\w+) as (\w+)")
_ASSIGNED = re.compile(r"^(\w+)(?:: [^=\n]+)? = ([\w.]+)$", re.M)
_WORD = re.compile(r"\w+")
_ENTRY = "EntryClass"


class _File:
    """What the text of one file says of its classes."""

    def __init__(self, text: str) -> None:
        self.classes: set[str] = set()
        self.bases: set[str] = set()
        first = len(text)
        for match in _CLASS.finditer(text):
            first = min(first, match.start())
            self.classes.add(match[1])
            if match[2]:
                self.bases.update(_WORD.findall(match[2]))
        header = text[:first]
        self.aliases = [match.groups() for match in _IMPORTED_AS.finditer(header)] if " as " in header else []
        self.aliases += [(match[2].rpartition(".")[2], match[1]) for match in _ASSIGNED.finditer(text)]
        self.entries: set[str] = set()
        at = text.find(_ENTRY)
        if at >= 0:
            self.entries = set(_WORD.findall(text[at:])) - self.classes - {_ENTRY}

    def concerns(self, names: set[str]) -> bool:
        """Whether a class here may inherit from one of ``names``, or ``EntryClass`` name one of another file."""
        return not self.bases.isdisjoint(names) or not self.entries.isdisjoint(names)


def relevant_files(texts: Mapping[str, str]) -> frozenset[str]:
    """The files, by path, that rules about classes have to look at."""
    files = {path: _File(text) for path, text in texts.items()}
    found = {path for path, text in texts.items() if any(seed in text for seed in _SEEDS)}
    names = {name for path in found for name in files[path].classes}
    aliases = [pair for file in files.values() for pair in file.aliases]
    while True:
        _add_aliases(names, aliases)
        more = {path for path, file in files.items() if path not in found and file.concerns(names)}
        if not more:
            return frozenset(found)
        found |= more
        names |= {name for path in more for name in files[path].classes}


def _add_aliases(names: set[str], aliases: Iterable[tuple[str, ...]]) -> None:
    while True:
        more = {right for left, right in aliases if left in names and right not in names}
        if not more:
            return
        names |= more
