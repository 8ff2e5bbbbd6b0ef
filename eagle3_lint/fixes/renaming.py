"""The right name for a misspelled method."""

from __future__ import annotations

from eagle3_lint.facts.module import Member
from eagle3_lint.findings.model import Edit, Fix
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.sources.identifiers import places


def renaming_fix(info: ClassInfo, member: Member, name: str, *, replaces: bool) -> Fix:
    """The fix that calls ``member`` of ``info`` ``name``.

    Unsafe where the old name stands elsewhere in the module too, or where the method then ``replaces`` an inherited one.
    """
    module = info.module
    edit = Edit(info.path, module.name_span(member.place, member.name), name)
    if len(places(module.source.text, member.name)) > 1:
        return Fix("unsafe", (edit,), f"see whether the other places that say {member.name} mean this method")
    return Fix("unsafe" if replaces else "safe", (edit,))
