"""Bytes from files, directories and standard input, with a bound on how many."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from planner.errors import AT_MOST, InputError, ParseError

MAX_BYTES: Final = 160 * 2**20
"""How much is read at most unless the caller says otherwise; a gzip file counts unpacked."""

STDIN: Final = "stdin"
EXTENSIONS: Final = (".json", ".yaml", ".yml")
UNREAD: Final = "folders in it are not read"
_MOST_SHOWN: Final = 10
_SOURCES: Final = "a file, a directory of files, or - for standard input"
GZIP_MAGIC: Final = b"\x1f\x8b"
_TEXT_BEGINS: Final = ("{", "[")


Holds = Literal["state", "perhaps", "part"]
"""What a text holds: a state by itself; what may be one, or a part of one; or a part at most."""


class Text(NamedTuple):
    """One file, unpacked: its name in messages, its bytes, and whether its name says YAML."""

    where: str
    data: bytes
    named_yaml: bool = False


class Source(NamedTuple):
    """The files that were asked for: their common name, their texts in order, and the digest.

    ``max_bytes`` is the bound under which they were read. ``below`` are the folders in the folder
    that was asked for: what they hold is not read.
    """

    name: str
    texts: tuple[Text, ...]
    digest: str
    max_bytes: int = MAX_BYTES
    below: tuple[str, ...] = ()


Loadable = str | os.PathLike[str] | bytes | IO[bytes] | IO[str]
"""The name of a file or directory, the bytes of a file, or an open file."""


def load(source: Loadable, max_bytes: int) -> Source:
    """Read a file, a directory of files, standard input (``-``), an open file, or given bytes.

    The digest is the SHA-256 of the bytes as they are stored; for a directory, of each file's
    name, length and bytes in the order of the names.

    Raises ``InputError`` if there is nothing to read, the file may not be read, or it is too large.
    """
    if isinstance(source, bytes):
        if len(source) > max_bytes:
            raise too_large("the bytes", max_bytes, len(source))
        return _single("the bytes", source, max_bytes)
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "read"):
            found = f"{type(source).__name__} cannot be read"
            raise InputError("", found, f"{_SOURCES}, an open file, bytes, or a JSON value")
        where = printable(str(getattr(source, "name", "the open file")))
        with _reading(where):  # from where it stands
            data = source.read(min(max_bytes, sys.maxsize - 1) + 1)
        raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
        if len(raw) > max_bytes:
            raise too_large(where, max_bytes)
        return _single(where, raw, max_bytes)
    if source == "-":
        return _single(STDIN, _read_stdin(max_bytes), max_bytes)
    if not os.fspath(source):
        raise InputError("", "the name of the file is empty", _SOURCES)
    path = Path(source)
    where = printable(os.fspath(path))
    if stat.S_ISDIR(_status(path, where).st_mode):
        return _load_directory(path, where, max_bytes)
    raw = _read_file(path, where, max_bytes)
    return _single(where, raw, max_bytes, named_yaml=_named_yaml(path.name))


def load_file(source: Loadable, max_bytes: int, expected: str) -> Text:
    """Read what `load` does, except a directory: the error then says what is ``expected``.

    Raises ``InputError`` if there is nothing to read, the file may not be read, is too large, or is
    a directory.
    """
    loaded = load(source, max_bytes)
    text = loaded.texts[0]
    if len(loaded.texts) != 1 or text.where != loaded.name:
        raise InputError(loaded.name, "is a directory", expected)
    return text


def printable(name: str) -> str:
    """Write a file's name so that it can be printed on any terminal, in one line."""
    if name.isprintable():
        return name
    return name.encode("unicode_escape", "backslashreplace").decode("ascii")


def is_dump(name: str) -> bool:
    """Say whether a file of this name in a folder is read, whatever the case of its suffixes."""
    return name.lower().removesuffix(".gz").endswith(EXTENSIONS) and not name.startswith(".")


def _named_yaml(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith((".yaml", ".yml"))


def _single(where: str, raw: bytes, max_bytes: int, *, named_yaml: bool = False) -> Source:
    text = Text(where, _unpack(raw, where, max_bytes), named_yaml)
    return Source(where, (text,), hashlib.sha256(raw).hexdigest(), max_bytes)


def _load_directory(path: Path, where: str, max_bytes: int) -> Source:
    with _reading(where), os.scandir(path) as entries:
        visible = sorted(
            (entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith(".")
        )
    names = [name for name, is_folder in visible if is_dump(name) and not is_folder]
    below = tuple(printable(name) for name, is_folder in visible if is_folder)
    if not names:
        raise InputError(
            where,
            "the directory has no file to read",
            "files that end in .json, .yaml or .yml, also with .gz",
            f"{UNREAD}: {', '.join(below[:_MOST_SHOWN])}" if below else "",
        )
    digest = hashlib.sha256()
    texts = []
    left = max_bytes
    for name in names:
        file = path / name
        file_where = printable(os.fspath(file))
        raw = _read_file(file, file_where, max_bytes, left)
        # With names and lengths in it, two different folders never give the same bytes.
        digest.update(b"%s\0%d\0" % (os.fsencode(name), len(raw)))
        digest.update(raw)
        text = Text(file_where, _unpack(raw, file_where, max_bytes, left), _named_yaml(name))
        left -= len(text.data)
        texts.append(text)
    return Source(where, tuple(texts), digest.hexdigest(), max_bytes, below)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry of a folder is one, also by a link; links may go round in circles."""
    with _reading(printable(entry.path)):
        return entry.is_dir()


def _status(path: Path, where: str) -> os.stat_result:
    with _reading(where):
        try:
            return path.stat()
        except ValueError:  # a NUL in the name
            raise InputError(where, "is not the name of a file") from None
        except OSError as error:
            if _is_text(os.fspath(path)):
                raise InputError(
                    "",
                    "a text stands where the name of a file is expected",
                    _SOURCES,
                    "the text itself is sent to standard input; Python reads text.encode()",
                ) from None
            if isinstance(error, FileNotFoundError) and path.is_symlink():
                target = printable(os.fspath(path.readlink()))
                raise InputError(where, f"is a link to {target}, which is not there") from None
            raise


def _is_text(name: str) -> bool:
    """Say whether what is no file's name looks like what a file holds."""
    return name.lstrip().startswith(_TEXT_BEGINS) or ("\n" in name and ": " in name)


def _read_file(path: Path, where: str, max_bytes: int, left: int | None = None) -> bytes:
    """Read a regular file of which ``left`` of ``max_bytes`` may still be read."""
    room = max_bytes if left is None else left
    status = _status(path, where)
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            where,
            "is neither a file nor a directory",
            _SOURCES,
            "a pipe or a device can be sent to standard input",
        )
    if status.st_size > room:
        raise too_large(where, max_bytes, status.st_size)
    with _reading(where), path.open("rb") as stream:
        data = stream.read(status.st_size)
        # One byte first: a stream allocates all that it may read, and most files end here.
        more = stream.read(1)
        more += _read_up_to(stream, room + 1 - len(data)) if more else b""
    if more:  # the file grew, or does not know its length
        data += more
    if len(data) > room:
        raise too_large(where, max_bytes)
    return data


def _read_stdin(max_bytes: int) -> bytes:
    stream = sys.stdin
    if stream is None or stream.closed:
        raise InputError(STDIN, "is closed", "a dump on standard input")
    with _reading(STDIN):
        if hasattr(stream, "buffer"):
            data = _read_up_to(stream.buffer, max_bytes + 1)
        else:
            data = stream.read(min(max_bytes, sys.maxsize - 1) + 1).encode()
    if len(data) > max_bytes:
        raise too_large(STDIN, max_bytes)
    return data


def _read_up_to(stream: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    """Read to the end, or ``most`` bytes, in pieces: a stream allocates all that it may read."""
    pieces = []
    while most > 0 and (piece := stream.read(min(most, MAX_BYTES + 1))):
        pieces.append(piece)
        most -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _unpack(raw: bytes, where: str, max_bytes: int, left: int | None = None) -> bytes:
    """Undo gzip, recognised by its first two bytes, without unpacking more than allowed."""
    if not raw.startswith(GZIP_MAGIC):
        return raw
    room = max_bytes if left is None else left
    data = gunzip(raw, where, room + 1)
    if len(data) > room:
        raise too_large(where, max_bytes, unpacked=True)
    return data


def gunzip(raw: bytes, where: str, most: int) -> bytes:
    """Undo gzip up to so many bytes; raises a `ParseError` if it is damaged before."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            return _read_up_to(stream, most)
    except (OSError, EOFError, zlib.error) as error:
        message = str(error).rstrip(".")
        raise ParseError(where, f"is not a whole gzip file: {message}") from None


def too_large(
    where: str, max_bytes: int, size: int | None = None, *, unpacked: bool = False
) -> ParseError:
    """Return the error about an input that is larger than what is read at most."""
    amount = "more than" if size is None else f"{megabytes(size)}, more than"
    subject = "unpacks to" if unpacked else "has"
    return ParseError(
        where,
        f"{subject} {amount} the {megabytes(max_bytes)} {AT_MOST}",
        hint="max_bytes=BYTES sets another bound",
    ).of_kind("too large")


def megabytes(size: int) -> str:
    """Write a number of bytes in the unit a person would choose."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.4g} {unit}"
    return f"{size} bytes"


@contextmanager
def _reading(where: str) -> Iterator[None]:
    """Raise an `InputError` that says in words why an input cannot be read or decoded."""
    try:
        yield
    except (OSError, ValueError) as error:
        default = ((error.strerror or "") if isinstance(error, OSError) else "") or str(error)
        reasons: dict[type[Exception], tuple[str, str]] = {
            FileNotFoundError: ("there is no such file or directory", ""),
            PermissionError: ("may not be read", "check the permissions of the file"),
            IsADirectoryError: ("is a directory", ""),
        }
        found, hint = reasons.get(type(error), (f"cannot be read: {default}", ""))
        raise InputError(where, found, hint=hint) from None
