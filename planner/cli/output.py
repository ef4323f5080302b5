"""Everything that is written: results, files whole or not at all, messages, and progress."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple

import click

from planner.errors import InputError
from planner.stage import progress_to

STDOUT: Final = Path("-")
READ: Final = (
    *("state", "plan", "suite", "file", "files", "before", "after"),
    *("costs", "assignment", "script", "nodes", "shapes", "workload", "workloads", "objective"),
    "baseline",
)
"""The parameters that name files or folders to read; many states have a check of their own."""
OF_ITS_OWN: Final = "a file of its own"
FILE_WIDTH: Final = 108
ASK_TO_REPORT: Final = (
    "  this is a bug of planner, not of your input: please report it with the input, and with\n"
    "  what the same command prints under `planner --debug`\n"
)
PATIENCE_S: Final = 1.0
REDRAW_S: Final = 0.1
BAR: Final = 24
IN_ASCII: Final = str.maketrans(
    {
        "─": "-",
        "…": "...",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "−": "-",  # noqa: RUF001
        "⚠": "!",
        "\ufe0f": "",
        "❌": "x",
    }
)
"""What rules and signs of our own become where an encoding does not have them."""


class Target(NamedTuple):
    """Where a result goes, and what it may look like there."""

    path: Path | None
    style: str
    width: int
    color: bool

    @classmethod
    def choose(cls, style: str | None, path: Path | None) -> Target:
        """Decide on format, width and colour; refuse a file that cannot be written early.

        Raises an InputError if the file's folder is not there.
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
        """Write the result; raises an InputError if it cannot be written."""
        if self.path is None:
            print_parts([text])
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

    Raises an InputError if it cannot be written.
    """
    for text in parts:
        LINE.wipe()
        stream = sys.stdout
        if stream is None:
            raise InputError("standard output", "is closed", hint="-o writes the result to a file")
        try:
            stream.write(_encodable(text, stream, "replace"))
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError("standard output", unwritable(error)) from None


def _encodable(text: str, stream: IO[str], errors: str) -> str:
    """Return a text as a stream can write it: signs in ASCII, then names by a way of `codecs`."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(IN_ASCII).encode(encoding, errors).decode(encoding)
    return text


def make_folder(option: str, folder: Path) -> None:
    """Make the folder of an option if it is not there; raises an InputError where it cannot."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        said = f"cannot be made: {error.strerror or error}"
        raise InputError(f"{option} {folder}", said) from None


def check_file(option: str, path: Path) -> None:
    """Refuse the file of an option early that cannot be written later.

    Raises an InputError if its folder is not there, it is a folder itself, or the command that runs
    reads it.
    """
    from planner.reader.source import is_dump

    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{option} {path}", f"there is no folder {folder}")
    if path.is_dir():
        raise InputError(f"{option} {path}", "is a folder", "the name of a file")
    context = click.get_current_context(silent=True)
    for given in named_to_read(context.params if context else {}) if path.is_file() else ():
        read = Path(given) if isinstance(given, str | Path) else STDOUT
        if read.is_dir() and is_dump(path.name):
            read /= path.name  # of a folder, only the file of this name
        if read.is_file() and read.samefile(path):
            raise InputError(
                f"{option} {path}", "is read by this command, and would be lost", "another file"
            )


def check_files(files: Mapping[str, Path | None]) -> None:
    """Refuse early the files of some options that cannot be written beside the result of ``-o``.

    Raises an InputError as `check_file` does, or if a file is standard output, or that of two.
    """
    known: dict[Path, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        if path == STDOUT:
            raise InputError(f"{option} {path}", "the result goes to standard output", OF_ITS_OWN)
        check_file(option, path)
        other = known.setdefault(path.resolve(), option)
        if other != option and (path.is_file() or not path.exists()):
            raise InputError(f"{option} {path}", f"is the file of {other}, too", OF_ITS_OWN)


def named_to_read(values: Mapping[str, object]) -> Iterator[object]:
    """Yield what the parameters of `READ` name, each of several by itself."""
    for value in map(values.get, READ):
        yield from value if isinstance(value, tuple) else (value,)


def write_file(option: str, path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write the file of an option, whole or not at all; it may come in parts.

    Raises an InputError if it cannot be written.
    """
    parts = (data,) if isinstance(data, bytes) else data
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            # A device or a pipe cannot be replaced, only written to; /dev/stdout is a link to one
            # that has no name.
            with path.open("wb") as file:
                file.writelines(parts)
        else:
            _replace(path.resolve(), parts)  # a link stays a link: what it points to is replaced
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{option} {path}", unwritable(error)) from None


def _replace(target: Path, parts: Iterable[bytes]) -> None:
    """Write a new file next to the old one, then let it take the old one's place."""
    from functools import partial

    mask = os.umask(0o077)  # the only way to read it is to set it
    os.umask(mask)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~mask
    # Named before it is made: whoever interrupts that leaves no file of an unknown name.
    new = target.parent / f".{target.name[:64]}.{os.urandom(8).hex()}"
    try:
        with open(new, "xb", opener=partial(os.open, mode=0o600)) as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode)
        new.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def unwritable(error: OSError) -> str:
    """Say that something cannot be written, and why."""
    return f"cannot be written: {error.strerror or error}"


def say(kind: str, message: str) -> None:
    """Write ``kind: message`` to standard error; a closed one is no reason to fail.

    Messages quote names from dumps that anyone may have written, so they are made harmless, and
    cut where they are longer than anybody reads.
    """
    from planner.report import text

    write(f"{kind}: {text.message(message)}\n")


def write(text: str) -> None:
    """Write text to standard error as it is."""
    LINE.wipe()
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(_encodable(text, sys.stderr, "backslashreplace"))
        sys.stderr.flush()


def warn(notes: Iterable[str]) -> None:
    """Write every note as a warning, once."""
    for note in dict.fromkeys(notes):
        say("warning", note)


class Line:
    """The last line of a terminal, which shows progress of work that takes longer than a second.

    All other output wipes the line first. It is drawn anew when the work reports progress, and has
    no timer of its own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._on = self._drawn = False
        self._begun = self._next = 0.0
        self._bar = self._stage = ""

    @contextmanager
    def shown(self, *, quiet: bool) -> Iterator[None]:
        """Show the progress of the work within: on a terminal only, and not if ``quiet``."""
        capable = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._on, self._bar, self._stage = capable and not quiet, "", ""
        self._begun = self.clock()
        self._next = self._begun + PATIENCE_S
        try:
            with progress_to(self._hear) if self._on else contextlib.nullcontext():
                yield
        finally:
            self.wipe()
            self._on = False

    def update(self, share: float, label: str) -> None:
        """Say that a share of the work, from 0 to 1, is done, and what comes next."""
        full = round(BAR * min(max(share, 0.0), 1.0))
        self._bar = f"[{'#' * full}{'.' * (BAR - full)}] {share:4.0%} {label}"
        self._stage = ""
        self._hear(None)

    def wipe(self) -> None:
        """Wipe the line, so that something else can be written."""
        if self._drawn:
            self._drawn = False
            write("\r\x1b[K")

    def _hear(self, stage: str | None) -> None:
        begins = stage is not None and stage != self._stage
        self._stage = self._stage if stage is None else stage
        now = self.clock()
        if not self._on or now < (self._begun + PATIENCE_S if begins else self._next):
            return
        self._next = now + REDRAW_S
        from planner.report.text import clean

        said = " - ".join(part for part in (self._bar, self._stage) if part)
        # A line that is broken in two cannot be wiped.
        most = shutil.get_terminal_size((80, 24)).columns - 1
        self._drawn = False
        write("\r\x1b[K" + clean(f"{now - self._begun:.0f} s  {said}")[:most])
        self._drawn = True


LINE: Final = Line()
