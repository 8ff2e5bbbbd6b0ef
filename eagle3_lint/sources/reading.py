"""From a path, or a host's buffer, to decoded source text and its syntax tree.

The rules are Python's own: PEP 263 (https://peps.python.org/pep-0263/) and the tokenizer's handling of the UTF-8
byte order mark. Whatever a file is, the worst that it can cause is ``UnreadableSourceError``: files that are no
regular files are never opened, and what would cost the parser memory or time out of proportion is refused first.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from itertools import islice
from typing import TYPE_CHECKING

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.sources.text import SourceText

if TYPE_CHECKING:
    import ast

MAX_SOURCE_BYTES = 16 * 1024 * 1024
"""Files above this size are not read (the largest module of SGLang has 0.3 MB)."""

MAX_TOKENS = 2_000_000
"""Files with more words and signs than this are not parsed: a syntax tree takes 350 to 900 bytes for each."""

MAX_IMPORT_DOTS = 100
"""Dots in one imported name, above which a file with many dots is not parsed."""

MAX_FSTRING_COST = 5 * 10**10 if sys.version_info >= (3, 12) else 10**10
"""Replacement fields times the bytes that this Python's parser goes through for each: some seconds of parsing."""

_TOKENS_COUNTED_FROM = 256 * 1024
_DOTS_COUNTED_FROM = 1 << 28
_FIELDS_COUNTED_FROM = 1 << 32
# Most runs never need these: compiling them would cost every run a millisecond.
_TOKEN = r"\w+|[^\w\s]"
# A literal start lets the matcher leap through the text.
_IMPORTS = tuple(rf"{word}\b(?<!\w{word})(?:\\(?:\r\n|\r|\n)|[^\r\n;#])*" for word in ("import", "from"))
_FSTRING = (
    r"(?s)\b(?:[fF][rR]?|[rR][fF])"
    r"(?:('{3}|\"{3})[^'\"\\]*(?:(?:\\.|(?!\1)['\"])[^'\"\\]*)*"
    r"|\"[^\"\\\r\n]*(?:\\.[^\"\\\r\n]*)*|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*)"
)

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_COOKIE = rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
_FIRST_LINE_COOKIE = re.compile(_COOKIE)
_SECOND_LINE_COOKIE = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)" + _COOKIE)
_LINE_END = re.compile(rb"\r\n|\r|\n")

# Decoding with these takes time that grows with the square of the size, and no source needs them.
_REFUSED_CODECS = frozenset({"idna", "punycode", "undefined"})

# Without O_NONBLOCK a FIFO that replaces the file between stat and open would block for ever.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "a link that leads back to itself",
    errno.ENAMETOOLONG: "its path is too long",
}


def read_source(path: str, data: bytes | None = None) -> SourceText:
    """Read and decode one file.

    :param path: the file; a relative one starts at the working directory.
    :param data: the content, where a host holds it in a buffer; the file is then not touched.
    :returns: the text, with its own line endings, form feeds and tabs, without a byte order mark.
    :raises UnreadableSourceError: there is no such regular file, it may not be read, it is larger than
        ``MAX_SOURCE_BYTES``, it holds a NUL byte, or its bytes are not what its encoding allows.
    """
    absolute = os.path.abspath(path)
    if data is None:
        data = _read_regular_file(absolute, MAX_SOURCE_BYTES)
    elif len(data) > MAX_SOURCE_BYTES:
        raise _too_large(MAX_SOURCE_BYTES)
    return _decode(absolute, data)


def read_bytes(path: str, limit: int = MAX_SOURCE_BYTES) -> bytes:
    """The content of one file, undecoded.

    Raises UnreadableSourceError as ``read_source`` does for what isn't a file, and for one of more than ``limit`` bytes.
    """
    return _read_regular_file(os.path.abspath(path), limit)


def check_regular_file(path: str) -> UnreadableSourceError | None:
    """Why ``path`` can't be read as a source file, as far as its status tells without opening it; else None."""
    try:
        _require_regular(os.stat(path).st_mode)
    except UnreadableSourceError as error:
        return error
    except (OSError, ValueError) as error:
        return unreadable(path, error)
    return None


def unreadable(path: str, error: OSError | ValueError) -> UnreadableSourceError:
    """The operating system's ``error`` about ``path`` in the words of a finding."""
    if not isinstance(error, OSError):
        return UnreadableSourceError("its path holds a NUL character")
    if error.errno == errno.ENOENT and (target := _link_target(path)) is not None:
        return UnreadableSourceError(f"a dangling link to {target!r}")
    reason = _REASONS.get(error.errno or 0) or error.strerror or type(error).__name__
    return UnreadableSourceError(reason)


def parse_source(source: SourceText) -> ast.Module:
    """The syntax tree of a source text; positions are those of ``ast`` in ``source.text``.

    :raises UnreadableSourceError: the text is not Python, or parsing it would take more time or memory than any
        real module does; with the parser's reason, line and column.
    """
    _check_budget(source)
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source.text)
        except SyntaxError as error:
            raise _syntax_error(source, error) from None
        except RecursionError:
            raise UnreadableSourceError("it is nested too deeply to parse") from None
        except MemoryError:
            raise UnreadableSourceError("it is too complex to parse") from None
        except (ValueError, OverflowError) as error:
            raise UnreadableSourceError(f"it can't be parsed: {error}") from None


def _link_target(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None


def parse_lines(text: str) -> ast.Module:
    """The syntax tree of some whole statements of a file that has been parsed before.

    :raises UnreadableSourceError: the statements can't be parsed on their own.
    """
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError) as error:
            raise UnreadableSourceError(f"it can't be parsed: {error}") from None


def _read_regular_file(path: str, limit: int) -> bytes:
    try:
        _require_regular(os.stat(path).st_mode)
        descriptor = os.open(path, _OPEN_FLAGS)
        try:
            status = os.fstat(descriptor)
            _require_regular(status.st_mode)
            return _read_all(descriptor, status.st_size, limit)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _require_regular(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    kind = next((name for test, name in kinds if test(mode)), "a special file")
    raise UnreadableSourceError(f"{kind}, not a file")


def _read_all(descriptor: int, size: int, limit: int) -> bytes:
    if size > limit:
        raise _too_large(limit)
    chunks = []
    total = 0
    while chunk := os.read(descriptor, max(size - total, 0) + 4096):
        chunks.append(chunk)
        total += len(chunk)
        if total > limit:
            raise _too_large(limit)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large(limit: int) -> UnreadableSourceError:
    return UnreadableSourceError(f"it is larger than {limit // 1024**2} MiB")


def _decode(path: str, data: bytes) -> SourceText:
    if b"\0" in data:
        raise _nul_byte(data)
    has_bom = data.startswith(_BOM)
    body = data[len(_BOM) :] if has_bom else data
    cookie = _declared_encoding(body)
    name = _as_python_names_it(cookie) if cookie else "utf-8"
    if has_bom and name != "utf-8":
        raise UnreadableSourceError(f"it declares the encoding {cookie!r}, but starts with a UTF-8 byte order mark")
    try:
        text = str(body, "utf-8") if name == "utf-8" else _decode_with(body, name)
    except UnicodeDecodeError as error:
        raise _undecodable(body, cookie, name, error) from None
    return SourceText(path, data, text, name, has_bom)


def _declared_encoding(body: bytes) -> str | None:
    match = _FIRST_LINE_COOKIE.match(body) or _SECOND_LINE_COOKIE.match(body)
    return match.group(1).decode("ascii") if match else None


def _as_python_names_it(cookie: str) -> str:
    """The spellings that Python's tokenizer folds before it compares and looks up."""
    folded = cookie[:12].lower().replace("_", "-")
    if folded == "utf-8" or folded.startswith("utf-8-"):
        return "utf-8"
    for latin in ("latin-1", "iso-8859-1", "iso-latin-1"):
        if folded == latin or folded.startswith(latin + "-"):
            return "iso-8859-1"
    return cookie


def _decode_with(body: bytes, name: str) -> str:
    import codecs
    import warnings

    try:
        codec = codecs.lookup(name).name
    except LookupError:
        raise UnreadableSourceError(f"it declares the unknown encoding {name!r}") from None
    if codec in _REFUSED_CODECS:
        raise UnreadableSourceError(f"it declares the encoding {name!r}, which no source may have")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(body, name)
        except LookupError:
            raise UnreadableSourceError(f"it declares the encoding {name!r}, which is not one of text") from None


def _nul_byte(data: bytes) -> UnreadableSourceError:
    if data.startswith(_UTF16_BOMS):
        return UnreadableSourceError("it is UTF-16, which Python does not read")
    start = data.index(b"\0")
    line, column = _position(data, start, "utf-8")
    return UnreadableSourceError("it holds a NUL byte", line, column)


def _undecodable(body: bytes, cookie: str | None, name: str, error: UnicodeDecodeError) -> UnreadableSourceError:
    line, column = _position(body, error.start, name)
    what = f"byte 0x{body[error.start]:02x}" if error.start < len(body) else "its end"
    expected = f"valid in its declared encoding {cookie!r}" if cookie else "UTF-8, and no encoding is declared"
    return UnreadableSourceError(f"{what} is not {expected}", line, column)


def _position(data: bytes, start: int, encoding: str) -> tuple[int, int]:
    line, line_start = 1, 0
    for end in _LINE_END.finditer(data, 0, start):
        line, line_start = line + 1, end.end()
    return line, len(data[line_start:start].decode(encoding, "replace")) + 1


def _check_budget(source: SourceText) -> None:
    size = len(source.data)
    if size > _TOKENS_COUNTED_FROM:
        _check_tokens(source)
    square = size * size
    if square > _DOTS_COUNTED_FROM and size * source.data.count(b".") > _DOTS_COUNTED_FROM:
        _check_imports(source)
    if square > _FIELDS_COUNTED_FROM and size * source.data.count(b"{") > _FIELDS_COUNTED_FROM:
        _check_fstrings(source)


def _check_tokens(source: SourceText) -> None:
    tokens = sum(1 for _ in islice(re.finditer(_TOKEN, source.text), MAX_TOKENS + 1))
    if tokens > MAX_TOKENS:
        raise UnreadableSourceError(f"it is too large to parse: more than {MAX_TOKENS:,} tokens")


def _check_imports(source: SourceText) -> None:
    # The parser joins an imported dotted name dot by dot and keeps every step: memory by the square of its length.
    for statement in (one for pattern in _IMPORTS for one in re.finditer(pattern, source.text)):
        if any(name.count(".") > MAX_IMPORT_DOTS for name in statement.group().split(",")):
            line = len(SourceText(source.path, b"", source.text[: statement.start()]).lines)
            raise UnreadableSourceError(f"it imports a name with more than {MAX_IMPORT_DOTS} dots", line)


def _check_fstrings(source: SourceText) -> None:
    # Up to 3.11 the parser goes through the literal again for each field, later through the rest of the file.
    whole = len(source.data) if sys.version_info >= (3, 12) else 0
    cost = sum(
        text.count("{") * (whole or len(text)) for text in map(re.Match.group, re.finditer(_FSTRING, source.text))
    )
    if cost > MAX_FSTRING_COST:
        raise UnreadableSourceError("it has too many replacement fields in f-strings to parse")


def _syntax_error(source: SourceText, error: SyntaxError) -> UnreadableSourceError:
    line = min(max(error.lineno or 1, 1), len(source.lines))
    column = min(max(error.offset or 1, 1), len(source.lines[line - 1]) + 1)
    return UnreadableSourceError(f"syntax error: {error.msg.rstrip('.')}", line, column)
