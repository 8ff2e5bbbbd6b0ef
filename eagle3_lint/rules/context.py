"""What a rule sees of one module."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from eagle3_lint.facts.typing_use import StarImport, TypingUse, find_undefined_typing_names
from eagle3_lint.facts.typing_words import table_words
from eagle3_lint.findings.sieve import MARK_WORDS
from eagle3_lint.sources.text import SourceText

_MODELS = "sglang.srt.models."


@dataclass(frozen=True)
class ModuleContext:
    """One module, for rules that look at its text alone.

    ``parse`` gives the syntax tree (UnreadableSourceError where there is none), ``target`` the Python version that the
    module is for, ``star_exports`` the names that ``from MODULE import *`` binds in it, given MODULE and the number of
    leading dots, or None where that can't be read. ``module_name`` is dotted; None where nothing names the module.
    ``with_fixes`` says that findings are to carry their fixes.
    """

    source: SourceText
    parse: Callable[[], ast.Module]
    target: tuple[int, int]
    star_exports: Callable[[str, int], frozenset[str] | None]
    module_name: str | None
    with_fixes: bool = True

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return self.parse()

    @cached_property
    def imports(self) -> tuple[ast.ImportFrom, ...]:
        """The ``from`` imports of the top level."""
        return tuple(node for node in self.tree.body if isinstance(node, ast.ImportFrom))

    @cached_property
    def typing_blocks(self) -> tuple[ast.If, ...]:
        """The ``if TYPE_CHECKING:`` of the top level."""
        from eagle3_lint.facts.extract import checks_typing

        return tuple(node for node in self.tree.body if isinstance(node, ast.If) and checks_typing(node.test))

    @cached_property
    def typing_uses(self) -> tuple[TypingUse, ...]:
        """The uses of typing names that no binding provides; the tree isn't needed for most modules."""
        return find_undefined_typing_names(self.source, lambda: self.tree, self.target, self._exports, self._words)

    @property
    def may_hold_directives(self) -> bool:
        """Whether a comment of the module may be one that silences findings; False is certain."""
        return not MARK_WORDS.isdisjoint(self._words)

    @cached_property
    def _words(self) -> frozenset[str]:
        return table_words(self.source.text)

    @property
    def is_model_module(self) -> bool:
        """Whether SGLang's registry imports this module: it lies directly in ``sglang.srt.models``."""
        name = self.module_name or ""
        return name.startswith(_MODELS) and "." not in name[len(_MODELS) :]

    def _exports(self, star: StarImport) -> frozenset[str] | None:
        return self.star_exports(star.module, star.level)
