"""Take the Python files of the package ``sglang`` out of a wheel, whatever the wheel holds."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from typing import IO

from eagle3_lint.errors import ReleaseError

MAX_WHEEL_BYTES = 512 * 1024 * 1024
MAX_ENTRIES = 50_000
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_TOTAL_BYTES = 512 * 1024 * 1024

_MAX_DEPTH = 50
_MAX_PART_BYTES = 255
_CHUNK = 1024 * 1024
_ENTRY_SIGNATURE = b"PK\x01\x02"
_PREFIX = "sglang/"
_ENCRYPTED = 0x1


def unpack_sources(wheel: str, target: str) -> int:
    """Write every ``sglang/**/*.py`` of ``wheel`` below the new directory ``target``; how many there were.

    A wheel with an entry that is absolute, climbs with ``..``, is a link or comes twice is refused as a whole,
    whether or not that entry would have been written. Sizes are counted while reading: what the headers say is not
    believed.

    :raises ReleaseError: the wheel is refused or damaged, or has more than ``MAX_ENTRIES`` entries,
        ``MAX_FILE_BYTES`` in one file or ``MAX_TOTAL_BYTES`` in all.
    :raises OSError: the wheel can't be read or the target not written.
    """
    if os.path.getsize(wheel) > MAX_WHEEL_BYTES:
        raise _refused(wheel, f"it is larger than {MAX_WHEEL_BYTES // 1024**2} MiB")
    # Listing an archive builds an object for each entry, so that a bomb of entries must be found before.
    if _count_entries(wheel) > MAX_ENTRIES:
        raise _refused(wheel, f"it has more than {MAX_ENTRIES:,} entries")
    try:
        with zipfile.ZipFile(wheel) as archive:
            return _unpack(archive, wheel, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise _refused(wheel, f"it is damaged ({error})") from None


def _unpack(archive: zipfile.ZipFile, wheel: str, target: str) -> int:
    seen: set[str] = set()
    entries = archive.infolist()
    for entry in entries:
        if reason := _danger(entry, seen):
            raise _refused(wheel, f"{reason} ({entry.orig_filename[:80]!a})")
        seen.add(entry.orig_filename)
    sources = [entry for entry in entries if entry.filename.startswith(_PREFIX) and entry.filename.endswith(".py")]
    remaining = MAX_TOTAL_BYTES
    os.mkdir(target)
    for entry in sources:
        path = os.path.join(target, *entry.filename.split("/"))
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            remaining -= _write(archive, entry, path, min(remaining, MAX_FILE_BYTES))
        except (FileExistsError, NotADirectoryError):
            raise _refused(wheel, f"two entries have one place ({entry.filename[:80]!a})") from None
        except OverflowError:
            raise _refused(wheel, f"it unpacks to too many bytes ({entry.filename[:80]!a})") from None
    return len(sources)


def _danger(entry: zipfile.ZipInfo, seen: set[str]) -> str | None:
    name = entry.orig_filename
    parts = name.split("/")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if name.startswith("/"):
        return "an entry has an absolute name"
    if ".." in parts:
        return "an entry climbs out with '..'"
    if any(character in "\\:" or not character.isprintable() for character in name) or "." in parts or "" in parts[:-1]:
        return "an entry has a malformed name"
    if len(parts) > _MAX_DEPTH or any(len(part.encode()) > _MAX_PART_BYTES for part in parts):
        return "an entry has too long a name"
    if kind == stat.S_IFLNK:
        return "an entry is a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "an entry is a special file"
    if name in seen:
        return "two entries have one name"
    if entry.flag_bits & _ENCRYPTED:
        return "an entry is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "an entry has an unusual compression"
    return None


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, limit: int) -> int:
    """Write one entry; its size. OverflowError above ``limit`` bytes."""
    total = 0
    with _opened(archive, entry) as source, open(path, "xb") as sink:
        while chunk := source.read(_CHUNK):
            total += len(chunk)
            if total > limit:
                raise OverflowError
            sink.write(chunk)
    return total


def _opened(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(entry)
    except OSError as error:
        # an entry that says it begins before the file does
        raise zipfile.BadZipFile(f"an entry has no place: {error.strerror}") from None


def _count_entries(wheel: str) -> int:
    count = 0
    tail = b""
    with open(wheel, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            window = tail + chunk
            count += window.count(_ENTRY_SIGNATURE)
            tail = window[-(len(_ENTRY_SIGNATURE) - 1) :]
    return count


def _refused(wheel: str, reason: str) -> ReleaseError:
    return ReleaseError(f"the wheel {os.path.basename(wheel)} is refused: {reason}")
