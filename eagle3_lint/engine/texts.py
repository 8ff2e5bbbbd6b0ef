"""What the texts of many files show by themselves, found in a second process while this one looks at the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.own_text import OwnFindings, OwnText
from eagle3_lint.engine.second_process import WORTH_A_PROCESS, SecondProcess
from eagle3_lint.findings.encoding import decode_finding, encode_finding
from eagle3_lint.findings.report import InternalError

if TYPE_CHECKING:
    from typing_extensions import Self

    from eagle3_lint.engine.session import Session
    from eagle3_lint.engine.workspace import Workspace


class TextsElsewhere:
    """The checks of some files' own texts, under way in a second process, which a ``with`` block ends with itself."""

    def __init__(self, session: Session, files: Sequence[str], codes: frozenset[str]) -> None:
        self._chosen = _chosen(session, files, codes)
        self._found: dict[str, OwnFindings] | None = None
        self._second: SecondProcess | None = None
        if self._chosen:
            self._second = SecondProcess(lambda: [_plain(session, path, codes) for path in self._chosen])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._second is not None:
            self._second.stop()

    def found_in(self, path: str) -> OwnFindings | None:
        """What was found in ``path`` there, or None where it wasn't looked at; waits for the process."""
        if self._second is None or path not in self._chosen:
            return None
        if self._found is None:
            self._found = {one[0]: _decoded(one) for one in self._second.result()}
        return self._found.get(path)


def _chosen(session: Session, files: Sequence[str], codes: frozenset[str]) -> frozenset[str]:
    """The files for the second process: those of the models, whose classes keep this one busy, and half of the rest."""
    if not session.parallel:
        return frozenset()
    models: list[str] = []
    others: list[str] = []
    size = 0
    for path in files:
        workspace = session.workspace_of(path)
        if _is_known(session, workspace, path, codes):
            continue
        size += workspace.size_of(path)
        (models if workspace.is_model_file(path) else others).append(path)
    return frozenset((*models, *others[::2])) if size >= WORTH_A_PROCESS else frozenset()


def _is_known(session: Session, workspace: Workspace, path: str, codes: frozenset[str]) -> bool:
    return OwnText(workspace, path, codes, session.target).recall() is not None


def _plain(session: Session, path: str, codes: frozenset[str]) -> Any:
    workspace = session.workspace_of(path)
    # The models are parsed by the process that looks at their classes.
    is_parsed = workspace.is_model_file(path)
    found = OwnText(workspace, path, codes, session.target).look(is_python=is_parsed)
    errors = [(one.rule, one.path, one.line, one.text) for one in found.internal_errors]
    return path, [encode_finding(one) for one in found.findings], errors, tuple(found.visited)


def _decoded(plain: Any) -> OwnFindings:
    _, findings, errors, visited = plain
    return OwnFindings(
        tuple(decode_finding(one) for one in findings),
        tuple(InternalError(*one) for one in errors),
        frozenset(visited),
    )
