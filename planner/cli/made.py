"""Where states go that a command makes: a file, a file of one state a line, or a folder."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from planner.cli.output import STDOUT, check_file, print_parts, write_file
from planner.errors import InputError

LINES: Final = ".jsonl"
PACKED_LINES: Final = ".jsonl.gz"
YAML: Final = (".yaml", ".yml")

made_output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to a file instead of standard output: NAME.json or NAME.yaml for one state, "
    "NAME.jsonl or NAME.jsonl.gz for a state a line; any other name is a folder, made if it is "
    "not there, with a file for each state.",
)


class MadeState(NamedTuple):
    """What a dump of a state holds, a v1 List or of YuniKorn; and its file's name in a folder."""

    name: str
    value: Mapping[str, Any]


class MadeTarget(NamedTuple):
    """Where they go: a file or a folder, or standard output; and whether there may be several."""

    path: Path | None
    several: bool

    @classmethod
    def choose(cls, path: Path | None, *, several: bool) -> MadeTarget:
        """Refuse early what cannot be written later.

        Raises
        ------
        InputError
            If the file is for one state and there may be several, its folder is not there, or
            the folder to fill is not empty.
        """
        if path is None or path == STDOUT:
            return cls(None, several)
        if _is_lines(path) or _is_single(path):
            check_file("-o", path)
            if several and not _is_lines(path):
                hint = f"-o {path.stem}{LINES} holds a state a line, -o {path.stem} is a folder"
                raise InputError(f"-o {path}", "holds one state, and there are several", hint=hint)
        elif path.is_dir():
            if any(path.iterdir()):
                raise InputError(f"-o {path}", "is a folder that is not empty", "an empty folder")
        elif path.exists():
            expected = "a name that ends in .json, .yaml, .jsonl or .jsonl.gz, or a folder"
            raise InputError(f"-o {path}", "is not a folder", expected)
        else:
            check_file("-o", path)
        return cls(path, several)

    def emit(self, states: Iterable[MadeState]) -> None:
        """Write the states, one at a time; a file is written whole or not at all.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        from planner.dump import as_json, as_line

        path = self.path
        if path is None:
            text: Callable[[Mapping[str, Any]], str] = as_line if self.several else as_json
            print_parts(text(state.value) for state in states)
        elif _is_lines(path):
            write_file("-o", path, _lines(states, packed=path.name.endswith(PACKED_LINES)))
        elif _is_single(path):
            write_file("-o", path, (_text(state, path) for state in states))
        else:
            _fill(path, states)


def _is_lines(path: Path) -> bool:
    return path.name.endswith((LINES, PACKED_LINES))


def _is_single(path: Path) -> bool:
    return path.name.endswith((".json", *YAML))


def _text(state: MadeState, path: Path) -> bytes:
    from planner.dump import as_json, as_yaml

    return (as_yaml if path.name.endswith(YAML) else as_json)(state.value).encode()


def _lines(states: Iterable[MadeState], *, packed: bool) -> Iterator[bytes]:
    from planner.dump import as_line

    for state in states:
        line = as_line(state.value).encode()
        # Each line is a member of its own, without a time: the same states are the same bytes.
        yield gzip.compress(line, mtime=0) if packed else line


def _fill(folder: Path, states: Iterable[MadeState]) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"-o {folder}", f"cannot be made: {error.strerror or error}") from None
    for state in states:
        path = folder / f"{state.name}.json"
        path.parent.mkdir(exist_ok=True)  # a dump of YuniKorn has a folder of its own
        write_file("-o", path, _text(state, path))
