"""Where results go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.errors import InputError

STDOUT: Final = Path("-")
FILE_WIDTH: Final = 108


@dataclass(frozen=True, slots=True)
class Target:
    """Where a result goes, and what it may look like there."""

    path: Path | None
    style: str
    width: int
    color: bool

    @classmethod
    def choose(cls, style: str | None, path: Path | None) -> Target:
        """Decide on format, width and colour; refuse a file that cannot be written early.

        Raises
        ------
        InputError
            If the file's folder is not there.
        """
        if path == STDOUT:
            path = None
        if path is not None:
            check_file("-o", path)
        terminal = path is None and is_terminal(sys.stdout)
        return cls(
            path=path,
            style=style or ("table" if terminal else "plain"),
            width=shutil.get_terminal_size((FILE_WIDTH, 24)).columns
            if terminal or os.environ.get("COLUMNS")
            else FILE_WIDTH,
            color=terminal and wants_color(os.environ),
        )

    def emit(self, text: str) -> None:
        """Write the result.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        if self.path is None:
            _print(text)
        else:
            write_file("-o", self.path, text.encode("utf-8"))


def is_terminal(stream: object) -> bool:
    """Say whether a standard stream is there and is a terminal."""
    isatty = getattr(stream, "isatty", None)
    try:
        return bool(isatty and isatty())
    except ValueError:  # a closed stream
        return False


def wants_color(environment: Mapping[str, str]) -> bool:
    """Say whether colours are welcome: not with NO_COLOR, nor on a terminal that has none."""
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def print_parts(parts: Iterable[str]) -> None:
    """Write a text part by part to standard output.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    for text in parts:
        _print(text)


def _print(text: str) -> None:
    stream = sys.stdout
    if stream is None:
        raise InputError("standard output", "is closed", hint="-o writes the result to a file")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError("standard output", _reason(error)) from None


def check_file(option: str, path: Path) -> None:
    """Refuse the file of an option early that cannot be written later.

    Raises
    ------
    InputError
        If its folder is not there, or it is a folder itself.
    """
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{option} {path}", f"there is no folder {folder}")
    if path.is_dir():
        raise InputError(f"{option} {path}", "is a folder", "the name of a file")


def write_file(option: str, path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write the file of an option, whole or not at all; it may come in parts.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    parts = (data,) if isinstance(data, bytes) else data
    try:
        target = path.resolve()  # a link stays a link: what it points to is replaced
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            # A device or a pipe cannot be replaced, only written to.
            with target.open("wb") as file:
                file.writelines(parts)
        else:
            _replace(target, parts)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{option} {path}", _reason(error)) from None


def _replace(target: Path, parts: Iterable[bytes]) -> None:
    """Write a new file next to the old one, then let it take the old one's place."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    # The only way to read it is to set it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    return f"cannot be written: {error.strerror or error}"
