"""The Python files of a repository at one commit, laid out in a directory as in the working tree.

A snapshot is kept under ``revisions`` of the cache directory, named by what it holds, so that the next run finds it (and
what was learnt of it) again; a run without cache has it in a temporary directory for as long as it needs it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from eagle3_lint.errors import GitError
from eagle3_lint.sources.files import package_root
from eagle3_lint.sources.git import LINK, SUBMODULE, Entry, Repository

_LAYOUT = "1"
_MOST_KEPT = 8
_IN_USE_SECONDS = 3600
_WORK_PREFIX = ".work-"


@dataclass(frozen=True)
class Wanted:
    """Which files of a repository are wanted, by paths relative to its top: Python files below ``folders`` and directly
    in ``flat``, and ``files`` whatever their names. The top itself is the empty string."""

    folders: frozenset[str]
    flat: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    def has(self, path: str) -> bool:
        """Whether the file ``path`` is wanted."""
        if path in self.files:
            return True
        if not path.endswith(".py"):
            return False
        directory = path.rpartition("/")[0]
        return directory in self.flat or any(folder in self.folders for folder in _upwards(directory))

    def reaches(self, folder: str) -> bool:
        """Whether something below ``folder`` may be wanted."""
        below = f"{folder}/"
        inside = any(one in self.folders for one in _upwards(folder))
        return inside or any(one.startswith(below) or one == folder for one in self.folders | self.flat | self.files)


@dataclass(frozen=True)
class _Piece:
    """One file to write: a blob of ``repository``, or else a link to ``target``."""

    path: str
    repository: Repository
    blob: str
    target: str = ""


@dataclass(frozen=True)
class Revision:
    """What one commit of a repository holds; ``entries`` are all of its files, those of submodules not among them."""

    repository: Repository
    commit: str
    entries: tuple[Entry, ...]

    @contextmanager
    def snapshot(self, wanted: Wanted, cache_dir: str | None) -> Iterator[str]:
        """The wanted files, laid out below the directory that is given; what is for the top lies directly in it.

        Raises GitError where they can't be read or written anywhere.
        """
        import tempfile

        pieces = tuple(_pieces(self.repository, self.commit, self.entries, wanted))
        names = _names_of_top(self.repository)
        kept = _kept(pieces, names, os.path.join(cache_dir, "revisions")) if cache_dir is not None else None
        if kept is not None:
            yield os.path.join(kept, *names)
            return
        try:
            work = tempfile.TemporaryDirectory(prefix="eagle3-lint-", ignore_cleanup_errors=True)
        except OSError as error:
            raise GitError(f"--since: no place for the files of that revision: {error.strerror}") from None
        with work as directory:
            root = os.path.realpath(directory)
            try:
                _write(pieces, names, root)
            except OSError as error:
                raise GitError(f"--since: can't write the files of that revision: {error.strerror}") from None
            yield os.path.join(root, *names)

    def write(self, entries: Sequence[Entry], directory: str) -> list[tuple[str, str]]:
        """Write ``entries`` as numbered files into ``directory``: the path of each and the file with its content."""
        found = [(entry.path, os.path.join(directory, str(index))) for index, entry in enumerate(entries)]
        self.repository.write([entry.name for entry in entries], [path for _, path in found])
        return found


def revision_of(repository: Repository, name: str) -> Revision:
    """What the revision ``name`` of ``repository`` holds; raises GitError where there is none."""
    commit = repository.commit(name)
    return Revision(repository, commit, repository.entries(commit))


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _names_of_top(repository: Repository) -> tuple[str, ...]:
    """The directories to put above the files, so that a top that is a package keeps its dotted name."""
    above = package_root(os.path.join(repository.top, "__init__.py"))
    return tuple(part for part in os.path.relpath(repository.top, above).split(os.sep) if part != os.curdir) or (
        os.path.basename(repository.top) or "top",
    )


def _pieces(
    repository: Repository, commit: str, entries: Sequence[Entry], wanted: Wanted, prefix: str = ""
) -> Iterator[_Piece]:
    for entry in entries:
        path = prefix + entry.path
        if entry.mode == SUBMODULE:
            if wanted.reaches(path):
                yield from _submodule(repository, entry, wanted, path)
        elif not wanted.has(path):
            continue
        elif entry.mode == LINK:
            yield _link(repository, commit, entry, path)
        else:
            yield _Piece(path, repository, entry.name)


def _submodule(repository: Repository, entry: Entry, wanted: Wanted, path: str) -> Iterator[_Piece]:
    """The files of a submodule that is checked out; one that isn't has none now either, so there is nothing to compare."""
    inner = repository.submodule(entry.path)
    if inner is None or inner.top != os.path.join(repository.top, *entry.path.split("/")):
        return
    if not inner.has(entry.name):
        raise GitError(f"--since: the submodule {path} hasn't the commit {entry.name[:12]} of that revision: fetch it")
    yield from _pieces(inner, entry.name, inner.entries(entry.name), wanted, f"{path}/")


def _link(repository: Repository, commit: str, entry: Entry, path: str) -> _Piece:
    blob = repository.linked(commit, entry.path)
    if blob is not None:
        return _Piece(path, repository, blob)
    text = os.fsdecode(repository.blob(entry.name))
    present = os.path.join(repository.top, *entry.path.split("/")[:-1], text)
    return _Piece(path, repository, "", present if os.path.exists(present) else text)


def _kept(pieces: Sequence[_Piece], names: Sequence[str], revisions: str) -> str | None:
    """The directory in the cache that holds ``pieces``; None where the cache can't be used."""
    import shutil
    import tempfile

    final = os.path.join(os.path.realpath(revisions), _key(pieces, names))
    if _is_whole(pieces, names, final):
        _touch(final)
        return final
    try:
        os.makedirs(revisions, exist_ok=True)
        _shrink(revisions)
        work = tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=revisions)
    except OSError:
        return None
    try:
        sources = os.path.join(work, "sources")
        os.mkdir(sources)
        _write(pieces, names, sources)
        _publish(sources, final, os.path.join(work, "broken"))
        return final if _is_whole(pieces, names, final) else None
    except OSError:
        return None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _publish(sources: str, final: str, broken: str) -> None:
    """Put ``sources`` in the place of ``final``, in one step where nothing is there."""
    try:
        os.rename(sources, final)
    except OSError:
        # another run was first, or what lies there has lost files
        os.rename(final, broken)
        os.rename(sources, final)


def _write(pieces: Sequence[_Piece], names: Sequence[str], root: str) -> None:
    for depth in range(1, len(names)):
        folder = os.path.join(root, *names[:depth])
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "__init__.py"), "wb"):
            pass
    top = os.path.join(root, *names)
    os.makedirs(top, exist_ok=True)
    by_repository: dict[Repository, list[_Piece]] = {}
    for piece in pieces:
        os.makedirs(os.path.dirname(_place(top, piece)), exist_ok=True)
        if piece.blob:
            by_repository.setdefault(piece.repository, []).append(piece)
        else:
            os.symlink(piece.target, _place(top, piece))
    for repository, chosen in by_repository.items():
        repository.write([piece.blob for piece in chosen], [_place(top, piece) for piece in chosen])


def _place(top: str, piece: _Piece) -> str:
    return os.path.join(top, *piece.path.split("/"))


def _key(pieces: Sequence[_Piece], names: Sequence[str]) -> str:
    state = hashlib.sha256("\0".join((_LAYOUT, *names)).encode("utf-8", "surrogateescape"))
    for piece in sorted(pieces, key=lambda one: one.path):
        state.update(f"\0{piece.path}\0{piece.blob}\0{piece.target}".encode("utf-8", "surrogateescape"))
    return state.hexdigest()[:32]


def _is_whole(pieces: Sequence[_Piece], names: Sequence[str], directory: str) -> bool:
    top = os.path.join(directory, *names)
    return os.path.isdir(top) and all(os.path.lexists(_place(top, piece)) for piece in pieces)


def _touch(path: str) -> None:
    try:
        os.utime(path)
    except OSError:
        return


def _shrink(revisions: str) -> None:
    """Remove all but the latest snapshots, and what was left half-written; nothing that a run may be using now."""
    import shutil

    with os.scandir(revisions) as listing:
        found = sorted(((entry.stat(follow_symlinks=False).st_mtime, entry.path) for entry in listing), reverse=True)
    oldest = time.time() - _IN_USE_SECONDS
    finished = [one for one in found if not os.path.basename(one[1]).startswith(_WORK_PREFIX)]
    for modified, path in found:
        if modified < oldest and (modified, path) not in finished[: _MOST_KEPT - 1]:
            shutil.rmtree(path, ignore_errors=True)
