"""``get_embed_and_head`` of a class that owns its body and its head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle3_lint.findings.model import Fix
from eagle3_lint.fixes.methods import Line, added_methods, statement
from eagle3_lint.fixes.spelling import is_imported, typing_imports
from eagle3_lint.fixes.style import class_style
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.contract.model import EMBED_GETTER

if TYPE_CHECKING:
    from eagle3_lint.project.project import Project

_EMBEDDINGS = ("embed_tokens", "word_embeddings", "tok_embeddings", "wte", "embedding", "embeddings", "embed_in")
_HEADS = ("lm_head", "output", "embed_out", "head")


def own_fix(project: Project, owner: ClassInfo, methods: tuple[str, ...]) -> Fix | None:
    """The fix that gives ``owner`` its ``get_embed_and_head``; None where its embedding or its head isn't to be seen.

    Never safe: heads are tied, sharded, or on another rank of the pipeline.
    """
    if methods != (EMBED_GETTER,):
        return None
    attributes = project.construct(owner).attributes
    head = next((name for name in _HEADS if name in attributes), None)
    embedding = _embedding(project, owner)
    if head is None or embedding is None:
        return None
    module = owner.module
    style = class_style(module.source, owner.facts)
    result = ""
    if style.returns and is_imported(module, "torch", owner.line):
        result = f" -> {typing_imports(module, owner.line).pair('torch.Tensor').text}"
    method = (
        *statement(style, 0, f"def {EMBED_GETTER}(", "self", f"){result}:"),
        Line(1, f"return self.{embedding}.weight, self.{head}.weight"),
    )
    remains = f"see that self.{embedding} and self.{head} are there on each pipeline rank, tied or not"
    return Fix("unsafe", added_methods(module, owner.facts, style, [method]), remains)


def _embedding(project: Project, owner: ClassInfo) -> str | None:
    """The path of the token embedding from the object: in its body, or its own."""
    roles, construct = project.roles, project.construct
    for name in roles.held(owner):
        for one in roles.candidates(owner, name):
            found = next((key for key in _EMBEDDINGS if key in construct(one.info).attributes), None)
            if found is not None:
                return f"{name}.{found}"
    return next((key for key in _EMBEDDINGS if key in construct(owner).attributes), None)
