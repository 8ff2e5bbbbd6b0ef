"""The sources that ``--sglang`` names: a directory, a wheel, or a release taken from the package index.

A release is fetched by pip (https://pip.pypa.io/en/stable/cli/pip_download/), which knows the user's index, proxy and
credentials: one wheel, no dependencies, nothing built and nothing run. Of the wheel only the Python files of the
package are kept, under ``releases/<version>`` of the cache directory, which a completed unpacking alone creates.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eagle3_lint.errors import ReleaseError, TreeError, UsageError
from eagle3_lint.sources.tree import SourceTree, tree_at, tree_of_spec

if TYPE_CHECKING:
    import subprocess

Progress = Callable[[str], None]

_VERSION = re.compile(r"v?([0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?)")
_MAX_VERSION_LENGTH = 40
_TICK_SECONDS = 0.2
_ABANDONED_SECONDS = 24 * 3600
_FETCH_PREFIX = ".fetch-"

_NO_MATCH = "No matching distribution found"
_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_NETWORK_TROUBLE = re.compile(
    r"connection broken by|Could not fetch URL (?!.*\b404\b)|Max retries exceeded|NewConnectionError|NameResolutionError"
    r"|ConnectTimeout|ReadTimeout|ConnectionError|ConnectionReset|ProxyError|SSLError|ProtocolError"
    r"|not a trusted or secure host|IncompleteRead|Network is unreachable|name resolution|5\d\d Server Error",
    re.IGNORECASE,
)


class IndexUnreachableError(ReleaseError):
    """The package index can't be reached."""


def release_tree(spec: str, cache_dir: str, progress: Progress | None = None) -> SourceTree:
    """The tree that ``spec`` names.

    :param spec: a checkout, an unpacked wheel, any directory of the package, a wheel file, or a version. What could
        be both is a path where it has a path separator or is a directory with SGLang's sources, else a version.
    :param cache_dir: where releases are kept.
    :param progress: called a few times a second with one short line while a release is fetched.
    :raises TreeError: a path without SGLang's sources.
    :raises UsageError: neither a path nor a version.
    :raises ReleaseError: no such release, no network, no pip, a wheel that is refused, a cache that can't be written.
    """
    path = os.path.expanduser(spec)
    if spec and (tree := tree_of_spec(path)):
        return tree
    releases = os.path.join(os.path.abspath(cache_dir), "releases")
    if path.endswith(".whl") and os.path.isfile(path):
        return _cached(releases, _wheel_key(path), lambda work: os.path.abspath(path), progress)
    if os.sep in path or "/" in path or path.endswith(".whl"):
        reason = "has no SGLang sources" if os.path.exists(path) else "does not exist"
        raise TreeError(f"--sglang: {_shown(spec)} {reason}")
    match = _VERSION.fullmatch(spec)
    if not match or len(spec) > _MAX_VERSION_LENGTH:
        raise UsageError(f"--sglang: {_shown(spec)} is neither a directory with SGLang's sources nor a version")
    version = match.group(1)
    return _cached(releases, version, lambda work: _fetch(version, work, progress), progress)


def _shown(spec: str) -> str:
    return ascii(spec) if len(spec) <= 200 else ascii(spec[:200]) + "..."


def _wheel_key(wheel: str) -> str:
    import hashlib

    digest = hashlib.sha256()
    try:
        with open(wheel, "rb") as stream:
            while chunk := stream.read(1024 * 1024):
                digest.update(chunk)
    except OSError as error:
        raise ReleaseError(f"{_shown(wheel)} can't be read: {error.strerror}") from None
    return f"wheel-{digest.hexdigest()[:32]}"


def _cached(releases: str, key: str, wheel: Callable[[str], str], progress: Progress | None) -> SourceTree:
    final = os.path.join(releases, key)
    if tree := tree_at(final):
        return tree
    import tempfile

    from eagle3_lint.sources.unpacking import unpack_sources

    try:
        os.makedirs(releases, exist_ok=True)
        _remove_abandoned(releases)
        with tempfile.TemporaryDirectory(prefix=_FETCH_PREFIX, dir=releases, ignore_cleanup_errors=True) as work:
            archive = wheel(work)
            if progress:
                progress(f"unpacking {os.path.basename(archive)}")
            unpacked = os.path.join(work, "sources")
            unpack_sources(archive, unpacked)
            if not tree_at(unpacked):
                raise ReleaseError(f"the wheel {os.path.basename(archive)} holds no sglang/srt/models")
            _publish(unpacked, final, work)
    except OSError as error:
        raise ReleaseError(f"the cache directory {_shown(releases)} can't be used: {error.strerror}") from None
    return SourceTree(final)


def _publish(unpacked: str, final: str, work: str) -> None:
    """Move ``unpacked`` to ``final`` in one step; where another process was first, its copy stays."""
    try:
        os.rename(unpacked, final)
    except OSError:
        if tree_at(final):
            return
        os.rename(final, os.path.join(work, "broken"))
        os.rename(unpacked, final)


def _remove_abandoned(releases: str) -> None:
    import shutil

    oldest = time.time() - _ABANDONED_SECONDS
    with os.scandir(releases) as listing:
        abandoned = [
            entry.path for entry in listing if entry.name.startswith(_FETCH_PREFIX) and entry.stat().st_mtime < oldest
        ]
    for path in abandoned:
        shutil.rmtree(path, ignore_errors=True)


def _fetch(version: str, work: str, progress: Progress | None) -> str:
    """Download the wheel of ``version`` into ``work``; its path."""
    log = _download(version, work, (), progress)
    if not _wheel_in(work) and _NO_MATCH in log and (tags := _offered_tags(version, log)):
        # The wheel is for another platform or Python: its sources are the same, so pip is told to take it.
        log = _download(version, work, tags, progress)
    wheel = _wheel_in(work)
    if wheel is None:
        raise _explain(version, log)
    return wheel


def _download(version: str, work: str, tags: Sequence[str], progress: Progress | None) -> str:
    """Run pip once; what it said. Ends pip and whatever it started when interrupted."""
    import subprocess

    # pip runs in a folder of its own because "-m" puts the working directory on the import path.
    for name in ("empty", "tmp", "wheels"):
        os.makedirs(os.path.join(work, name), exist_ok=True)
    log = os.path.join(work, "log")
    started = time.monotonic()
    with open(log, "wb") as sink:
        process = subprocess.Popen(
            _pip_command(version, os.path.join(work, "wheels"), tags),
            cwd=os.path.join(work, "empty"),
            env=_pip_environment(os.path.join(work, "tmp")),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while _is_running(process):
                if progress:
                    progress(_tick(version, work, time.monotonic() - started))
        finally:
            _end(process)
    with open(log, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def _pip_command(version: str, target: str, tags: Sequence[str]) -> list[str]:
    """The command that downloads one wheel; the user's own settings of pip stay in force."""
    if not sys.executable:
        raise ReleaseError("pip can't be run: this Python does not know its own path")
    command = [sys.executable, "-E"]
    if sys.flags.no_user_site:
        command.append("-s")
    command += ["-m", "pip", "download", "-vv", "--no-input", "--no-color", "--progress-bar", "off"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
    if not os.environ.keys() & {"PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT"}:
        command += ["--timeout", "15"]
    if "PIP_RETRIES" not in os.environ:
        command += ["--retries", "1"]
    return [*command, *tags, "--dest", target, f"sglang=={version}"]


def _pip_environment(temporary: str) -> dict[str, str]:
    dropped = {"PIP_QUIET", "PIP_VERBOSE", "PIP_REQUIRE_VIRTUALENV"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**environment, "TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    import subprocess

    try:
        process.wait(_TICK_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    import signal

    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tick(version: str, work: str, seconds: float) -> str:
    # pip loads into its temporary folder and then copies: the sum of both would count the wheel twice.
    size = max(_size(os.path.join(work, name)) for name in ("tmp", "wheels"))
    return f"downloading sglang {version}: {size / 1e6:.1f} MB, {seconds:.0f} s"


def _size(folder: str) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(directory, name))
            except OSError:
                continue
    return total


def _wheel_in(work: str) -> str | None:
    wheels = os.path.join(work, "wheels")
    return next((os.path.join(wheels, name) for name in sorted(os.listdir(wheels)) if name.endswith(".whl")), None)


def _offered_tags(version: str, log: str) -> list[str]:
    """pip's options for the first wheel of ``version`` that pip saw and passed over."""
    name = re.compile(
        rf"\bsglang-{re.escape(version)}-(?:[0-9]\w*-)?(cp|py)([0-9])([0-9]*)[\w.]*-([\w.]+)-([\w.]+)\.whl\b"
    )
    match = name.search(log)
    if match is None:
        return []
    implementation, major, minor, abis, platforms = match.groups()
    options = ["--implementation", implementation, "--python-version", f"{major}.{minor}" if minor else major]
    for abi in abis.split("."):
        options += ["--abi", abi]
    for platform in platforms.split("."):
        options += ["--platform", platform]
    return options


def _explain(version: str, log: str) -> ReleaseError:
    if "No module named pip" in log:
        return ReleaseError(
            f"fetching sglang {version} needs pip, which this Python ({sys.executable}) has not; install pip, "
            "or give --sglang the path of a wheel or a checkout"
        )
    offered = _OFFERED.search(log)
    versions = [name.strip() for name in offered.group(1).split(",")] if offered else []
    if _NETWORK_TROUBLE.search(log):
        also = "" if versions in ([], ["none"]) else ", and what can be has no such release"
        return IndexUnreachableError(f"sglang {version} can't be fetched: the package index can't be reached{also}")
    if f"sglang-{version}.tar.gz" in log:
        return ReleaseError(f"sglang {version} has no wheel, and nothing else is taken: building would run its code")
    if _NO_MATCH in log:
        return ReleaseError(f"the package index has no sglang {version}" + _near(version, versions))
    errors = [line.strip() for line in log.splitlines() if line.strip().lower().startswith("error")]
    said = errors[-1] if errors else "it said nothing of why"
    return ReleaseError(f"sglang {version} can't be fetched: pip failed: {said[:300]}")


def _near(version: str, versions: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(version, versions, n=3, cutoff=0.7)
    return f" (near: {', '.join(near)})" if near else ""
