"""What the texts of many files show by themselves: found where they are parsed for their facts, or in a second process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.own_text import OwnFindings, OwnText
from eagle3_lint.engine.second_process import WORTH_A_PROCESS, SecondProcess
from eagle3_lint.findings.encoding import decode_finding, encode_finding
from eagle3_lint.findings.report import InternalError

if TYPE_CHECKING:
    import ast

    from typing_extensions import Self

    from eagle3_lint.engine.session import Session
    from eagle3_lint.engine.workspace import Workspace


class TextsElsewhere:
    """The checks of some files' own texts, which are under way elsewhere.

    Those of models whose facts aren't known are made by whoever parses these; others in a second process, which a
    ``with`` block ends with itself.
    """

    def __init__(self, session: Session, files: Sequence[str], codes: frozenset[str]) -> None:
        self._session = session
        self._codes = codes
        self._chosen, self._to_parse = _chosen(session, files, codes)
        for workspace in session.workspaces if self._to_parse else ():
            workspace.look_beside = self._look_beside
        self._found: dict[str, OwnFindings] | None = None
        self._second: SecondProcess | None = None
        if self._chosen:
            self._second = SecondProcess(lambda: [_plain(session, codes, path) for path in self._chosen])

    def _look_beside(self, path: str, tree: ast.Module) -> Any:
        return _plain(self._session, self._codes, path, tree) if path in self._to_parse else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._second is not None:
            self._second.stop()

    def found_in(self, path: str) -> OwnFindings | None:
        """What was found in ``path`` there, or None where it wasn't looked at; waits for the process."""
        beside = self._session.workspace_of(path).looked_at.get(path)
        if beside is not None:
            return _decoded(beside)
        if self._second is None or path not in self._chosen:
            return None
        if self._found is None:
            self._found = {one[0]: _decoded(one) for one in self._second.result()}
        return self._found.get(path)


def _chosen(session: Session, files: Sequence[str], codes: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The files for the second process, and those that are to be looked at where they are parsed for their facts.

    For the second process: models whose facts are known, while this one looks at their classes, and half of the rest.
    """
    if not session.parallel:
        return frozenset(), frozenset()
    models: list[str] = []
    others: list[str] = []
    to_parse: list[str] = []
    size = 0
    for path in files:
        workspace = session.workspace_of(path)
        if _is_known(session, workspace, path, codes):
            continue
        if workspace.is_model_file(path) and not workspace.knows_facts(path):
            to_parse.append(path)
            continue
        size += workspace.size_of(path)
        (models if workspace.is_model_file(path) else others).append(path)
    second = frozenset((*models, *others[::2])) if size >= WORTH_A_PROCESS else frozenset()
    return second, frozenset(to_parse)


def _is_known(session: Session, workspace: Workspace, path: str, codes: frozenset[str]) -> bool:
    return OwnText(workspace, path, codes, session.target).recall() is not None


def _plain(session: Session, codes: frozenset[str], path: str, tree: ast.Module | None = None) -> Any:
    workspace = session.workspace_of(path)
    # The models are parsed by the process that looks at their classes.
    is_parsed = workspace.is_model_file(path)
    found = OwnText(workspace, path, codes, session.target).look(is_python=is_parsed, tree=tree)
    errors = [(one.rule, one.path, one.line, one.text) for one in found.internal_errors]
    return path, [encode_finding(one) for one in found.findings], errors, tuple(found.visited)


def _decoded(plain: Any) -> OwnFindings:
    _, findings, errors, visited = plain
    return OwnFindings(
        tuple(decode_finding(one) for one in findings),
        tuple(InternalError(*one) for one in errors),
        frozenset(visited),
    )
