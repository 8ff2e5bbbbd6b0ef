"""What a git repository holds at a revision, read without touching the working tree or the index.

Only commands that read are run (``rev-parse``, ``merge-base``, ``ls-tree``, ``ls-files``, ``cat-file``): they ask no
configured filter, hook, pager, external diff or file system monitor, and the network is closed to them, so that a
partial clone fetches nothing behind its user's back. See https://git-scm.com/docs/git and
https://git-scm.com/docs/git-cat-file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from eagle3_lint.errors import GitError

if TYPE_CHECKING:
    import subprocess

LINK = "120000"
SUBMODULE = "160000"

# A hook's own repository must not stand in for the one around a path.
_NOT_INHERITED = frozenset(
    (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    )
)
_ADDED = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_CHUNK = 1024 * 1024
# git's own default: what is compared grows with the square of it
_MOST_RENAMES = 1000


@dataclass(frozen=True)
class Entry:
    """One file, link or submodule of a tree; ``path`` is relative to the top and uses ``/``."""

    path: str
    mode: str
    name: str

    @property
    def is_python(self) -> bool:
        """Whether it is a Python file by its name, and no link."""
        return self.path.endswith(".py") and self.mode not in (LINK, SUBMODULE)


@dataclass(frozen=True)
class Repository:
    """A repository with a working tree; ``top`` is the absolute directory that holds it, links resolved."""

    top: str

    def commit(self, revision: str) -> str:
        """The name of the commit that ``revision`` means.

        ``A..B`` and ``A...B`` mean what the working tree of ``B`` is compared with: ``A``, and the newest commit that
        both come from (``A`` again where their histories have none in common).

        Raises GitError for what names no commit, or is not here because the clone is shallow, and for a range that
        ends elsewhere than at ``HEAD``.
        """
        found = self._commit(revision)
        if found is not None:
            return found
        start, dots, end = _range(revision)
        if not dots:
            raise self._unknown(revision)
        first, last = self._known(start or "HEAD"), self._known(end or "HEAD")
        if end and last != self._commit("HEAD"):
            raise GitError(f"--since {revision}: {end} isn't checked out, and only what is can be linted")
        return first if dots == ".." else self._merge_base(revision, first, last)

    def entries(self, tree: str) -> tuple[Entry, ...]:
        """Everything that the tree or commit ``tree`` holds; what a hostile tree may be named is left out."""
        listing = self._run("ls-tree", "-r", "-z", "--full-tree", tree)
        found = []
        for record in listing.split(b"\0"):
            if record:
                head, _, path = record.partition(b"\t")
                mode, _, name = head.decode("ascii").split(" ")
                found.append(Entry(os.fsdecode(path), mode, name))
        return tuple(entry for entry in found if _is_harmless(entry.path))

    def linked(self, commit: str, path: str) -> str | None:
        """The name of the blob that the link at ``path`` leads to inside the commit's tree, else None."""
        question = f"{commit}:{path}"
        if "\n" in question:
            return None
        answer = self._run("cat-file", "--batch-check", "--follow-symlinks", given=os.fsencode(question) + b"\n")
        words = answer.split(b"\n", 1)[0].split(b" ")
        return words[0].decode("ascii") if len(words) == 3 and words[1] == b"blob" else None

    def blob(self, name: str) -> bytes:
        """The content of one small blob."""
        return self._run("cat-file", "blob", name)

    def write(self, names: Sequence[str], targets: Sequence[str]) -> None:
        """Write the blobs ``names`` to new files at ``targets``; raises GitError where one isn't in this clone."""
        import tempfile

        with tempfile.TemporaryFile() as questions:
            questions.write("".join(f"{name}\n" for name in names).encode("ascii"))
            questions.seek(0)
            with _started(self.top, ("cat-file", "--batch"), questions) as process:
                assert process.stdout is not None
                try:
                    for name, path in zip(names, targets, strict=True):
                        with open(path, "xb") as target:
                            _copy(process.stdout, target, name)
                finally:
                    process.kill()

    def left_out(self) -> frozenset[str]:
        """The files that a sparse checkout leaves out of the working tree: they are not deleted."""
        listing = self._run("ls-files", "-t", "-z")
        return frozenset(os.fsdecode(one[2:]) for one in listing.split(b"\0") if one.startswith(b"S "))

    def submodule(self, path: str) -> Repository | None:
        """The repository of the submodule at ``path``, where it is checked out."""
        directory = os.path.join(self.top, *path.split("/"))
        if not os.path.lexists(os.path.join(directory, ".git")):
            return None
        return repository_around(directory)

    def has(self, name: str) -> bool:
        """Whether the object ``name`` is here."""
        return self._run("cat-file", "--batch-check", given=f"{name}\n".encode()).split(b" ")[1:2] != [b"missing\n"]

    def _known(self, revision: str) -> str:
        found = self._commit(revision)
        if found is None:
            raise self._unknown(revision)
        return found

    def _commit(self, revision: str) -> str | None:
        if not revision or revision.startswith("-") or any(sign in revision for sign in "\0\n"):
            return None
        name = self._verified(revision)
        # ":/text^{commit}" would search for all of that
        return self._verified(f"{name}^{{commit}}") if name is not None else None

    def _verified(self, revision: str) -> str | None:
        code, out, _ = _run(self.top, ("rev-parse", "--verify", "--quiet", revision))
        return out.decode("ascii").strip() if code == 0 else None

    def _merge_base(self, revision: str, first: str, last: str) -> str:
        code, out, error = _run(self.top, ("merge-base", first, last))
        if code == 0:
            return out.decode("ascii").split("\n", 1)[0]
        if code != 1:
            raise GitError(f"git: {_said(error)}")
        if self._is_shallow:
            raise GitError(f"--since {revision}: this shallow clone doesn't reach back to where both histories meet")
        return first

    def _unknown(self, revision: str) -> GitError:
        where = f"--since: no commit {revision!a} in {self.top}"
        return GitError(f"{where}, a shallow clone: fetch that commit first" if self._is_shallow else where)

    @property
    def _is_shallow(self) -> bool:
        return _run(self.top, ("rev-parse", "--is-shallow-repository"))[1].strip() == b"true"

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        code, out, error = _run(self.top, arguments, given)
        if code != 0:
            raise GitError(f"git {arguments[0]} in {self.top}: {_said(error)}")
        return out


def repository_around(directory: str) -> Repository:
    """The repository whose working tree the existing ``directory`` lies in.

    Raises GitError where there is no git, no repository, one without a working tree, or one that git refuses to read.
    """
    code, out, error = _run(directory, ("rev-parse", "--show-toplevel"))
    if code == 0:
        return Repository(os.path.realpath(os.fsdecode(out.removesuffix(b"\n"))))
    said = _said(error)
    if "not a git repository" in said:
        raise GitError(f"--since: {directory} is not in a git repository")
    raise GitError(f"--since: git can't read the repository around {directory}: {said}")


def renames(old: Iterable[tuple[str, str]], new: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What git takes for renames from ``old`` to ``new``: each file by its path and the file that holds its content.

    The files are laid out in a directory of their own and compared there, so that no configuration and no attribute
    of a repository has a say.
    """
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="eagle3-lint-") as work:
        for side, files in (("a", old), ("b", new)):
            for path, content in files:
                target = os.path.join(work, side, *path.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(content, target)
        if not all(os.path.isdir(os.path.join(work, side)) for side in "ab"):
            return {}
        arguments = ("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--find-renames", "--name-status", "-z")
        isolated = {
            "GIT_CEILING_DIRECTORIES": os.path.dirname(work),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
        }
        settings = ("-c", f"diff.renameLimit={_MOST_RENAMES}", *arguments, "--", "a", "b")
        _, out, _ = _run(work, settings, extra=isolated)
    return dict(_renamed(out))


def _renamed(listing: bytes) -> Iterator[tuple[str, str]]:
    fields = iter(listing.split(b"\0"))
    for status in fields:
        if status.startswith(b"R"):
            source, target = os.fsdecode(next(fields)), os.fsdecode(next(fields))
            yield source.partition("/")[2], target.partition("/")[2]
        elif status:
            next(fields)


def _range(revision: str) -> tuple[str, str, str]:
    for dots in ("...", ".."):
        start, found, end = revision.partition(dots)
        if found:
            return start, dots, end
    return revision, "", ""


def _is_harmless(path: str) -> bool:
    """Git refuses to make such entries, but not to list them where somebody made them by hand."""
    parts = path.split("/")
    strange = any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    return not strange and not (os.sep != "/" and any(sign in path for sign in "\\:"))


def _copy(source: IO[bytes], target: IO[bytes], name: str) -> None:
    words = source.readline().split()
    if len(words) != 3 or words[1] != b"blob":
        raise GitError(f"--since: the object {name} isn't in this clone (a partial one?): fetch it first")
    remaining = int(words[2])
    while remaining:
        chunk = source.read(min(remaining, _CHUNK))
        if not chunk:
            raise GitError(f"--since: git ended before it gave the object {name}")
        target.write(chunk)
        remaining -= len(chunk)
    source.read(1)


def _run(
    directory: str, arguments: Sequence[str], given: bytes = b"", extra: dict[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    with _started(directory, arguments, None, extra) as process:
        out, error = process.communicate(given)
    return process.returncode, out, error


def _started(
    directory: str, arguments: Sequence[str], given: IO[bytes] | None, extra: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    import subprocess

    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    try:
        return subprocess.Popen(
            (_program(), *_SETTINGS, *arguments),
            cwd=directory,
            env={**inherited, **_ADDED, **(extra or {})},
            stdin=subprocess.PIPE if given is None else given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if given is None else subprocess.DEVNULL,
        )
    except OSError as error:
        raise GitError(f"--since: git can't be run in {directory}: {error.strerror or error}") from None


def _program() -> str:
    """The git on the search path; a relative entry of it could be a planted one in the working directory."""
    import shutil

    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("git", path=os.pathsep.join(folders))
    if found is None or not os.path.isabs(found):
        raise GitError("--since needs git, and there is none on the search path")
    return found


def _said(error: bytes) -> str:
    lines = error.decode("utf-8", "replace").strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    shown = (fatal or lines or ["it failed without a word"])[0]
    return shown.partition(": ")[2] if fatal else shown
