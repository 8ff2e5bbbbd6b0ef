"""What the texts of many files show by themselves: found where they are parsed for their facts, or by two processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.own_text import OwnFindings, OwnText
from eagle3_lint.engine.partner import Partner
from eagle3_lint.engine.second_process import WORTH_A_PROCESS, Ended
from eagle3_lint.findings.encoding import decode_errors, decode_finding, encode_errors, encode_finding

if TYPE_CHECKING:
    import ast

    from typing_extensions import Self

    from eagle3_lint.engine.session import Session
    from eagle3_lint.engine.workspace import Workspace


class TextsElsewhere:
    """The checks of some files' own texts, which are under way elsewhere.

    Those of models whose facts aren't known are made by whoever parses these; the others are a job that a partner begins
    with at once, and that this process joins when it asks for the first of them. A ``with`` block ends the partner, and
    waits for the other second processes of the session.
    """

    def __init__(self, session: Session, files: Sequence[str], codes: frozenset[str]) -> None:
        self._session = session
        self._codes = codes
        self._chosen, self._to_parse = _chosen(session, files, codes)
        self._ended = Ended()
        for workspace in session.workspaces:
            workspace.ended = self._ended
            if self._to_parse:
                workspace.look_beside = self._look_beside
        self._found: dict[str, OwnFindings] = {}
        self._partner = Partner(self)
        if self._chosen:
            self._partner.start()
            self._partner.begin(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._partner.stop()
        self._ended.wait()

    def found_in(self, path: str) -> OwnFindings | None:
        """What was found in ``path`` there, or None where it wasn't looked at."""
        beside = self._session.workspace_of(path).looked_at.get(path)
        if beside is not None:
            return _decoded(beside)
        if self._chosen and not self._found:
            self._partner.share(self)
        return self._found.get(path)

    @property
    def count(self) -> int:
        """The files that nobody parses for their facts."""
        return len(self._chosen)

    @property
    def mine(self) -> int:
        """None is to be looked at by one process rather than the other."""
        return len(self._chosen)

    def argument(self) -> Any:
        """Nothing: the partner knows the files."""
        return None

    def here(self, number: int) -> None:
        """Look at one text."""
        path = self._chosen[number]
        self._found[path] = _look(self._session, self._codes, path)

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        """The same in the partner."""
        return {
            path: _plain(_look(self._session, self._codes, path)) for path in map(self._chosen.__getitem__, numbers)
        }

    def take(self, answer: Any) -> None:
        """Take what the partner found."""
        self._found.update((path, _decoded(plain)) for path, plain in answer.items())

    def _look_beside(self, path: str, tree: ast.Module) -> Any:
        return _plain(_look(self._session, self._codes, path, tree)) if path in self._to_parse else None


def _chosen(session: Session, files: Sequence[str], codes: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """The files for the partner, the largest first, and those that are to be looked at where they are parsed."""
    if not session.parallel:
        return [], frozenset()
    sizes: dict[str, int] = {}
    to_parse: list[str] = []
    for path in files:
        workspace = session.workspace_of(path)
        if _is_known(session, workspace, path, codes):
            continue
        if workspace.is_model_file(path) and not workspace.knows_facts(path):
            to_parse.append(path)
        else:
            sizes[path] = workspace.size_of(path)
    is_worth = sum(sizes.values()) >= WORTH_A_PROCESS
    return sorted(sizes, key=sizes.__getitem__, reverse=True) if is_worth else [], frozenset(to_parse)


def _is_known(session: Session, workspace: Workspace, path: str, codes: frozenset[str]) -> bool:
    return OwnText(workspace, path, codes, session.target).recall() is not None


def _look(session: Session, codes: frozenset[str], path: str, tree: ast.Module | None = None) -> OwnFindings:
    text = OwnText(session.workspace_of(path), path, codes, session.target)
    return text.look(is_python=text.is_for_classes, tree=tree)


def _plain(found: OwnFindings) -> Any:
    findings = [encode_finding(one) for one in found.findings]
    return findings, encode_errors(found.internal_errors), tuple(found.visited), found.may_name_ours


def _decoded(plain: Any) -> OwnFindings:
    findings, errors, visited, may_name_ours = plain
    return OwnFindings(
        tuple(decode_finding(one) for one in findings),
        decode_errors(errors),
        frozenset(visited),
        may_name_ours,
    )
