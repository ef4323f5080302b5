"""A command and a run of it: the values of its options, and what all commands do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli.exit_code import POINTER
from planner.cli.output import Target
from planner.errors import InputError, SchemaError

if TYPE_CHECKING:
    from planner.state import AnyState

MAX_BYTES: Final = 64 * 2**20
"""How large a small file beside the state may be."""

Option = Callable[[Any], Any]
"""A decorator of click: an option or an argument."""


class Given:
    """The values of the options of one run, by their names, and where its result goes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        # What cannot be written later is refused before any work.
        self.target = Target.choose(values.get("style"), values.get("output"))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - each option has a type of its own
        """Return the value of an option."""
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def of(self, names: str) -> dict[str, Any]:
        """Return the values of some options by name; ``parameter=option`` renames one."""
        pairs = (name.partition("=") for name in names.split())
        return {parameter: getattr(self, option or parameter) for parameter, _, option in pairs}

    @property
    def names_state(self) -> bool:
        """Whether STATE can be read once more by its name."""
        return str(self._values.get("state", "-")) != "-"

    @property
    def cluster_options(self) -> Sequence[str]:
        """The options of kubectl that say which cluster STATE is of; none of a file."""
        return ()

    @property
    def limit_of_bytes(self) -> int:
        """How much of a state is read at most."""
        from planner.reader import MAX_BYTES as MOST

        return self._values["max_size"] or MOST

    def read(self, **how: Any) -> AnyState:  # noqa: ANN401 - as the reader takes it
        """Read STATE.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        from planner.reader import read

        said = {"now": self._values.get("now"), "release": self.release}
        if self._values.get("requests") is not None:
            said["requests"] = self.requests
        return read(self.state, max_bytes=self.limit_of_bytes, **{**said, **how})

    def read_file(self, name: str) -> Any:  # noqa: ANN401 - any JSON
        """Read the file of an option that may be left out: one JSON (or YAML) object.

        Raises
        ------
        InputError
            If it cannot be read, is too large, or holds something else.
        """
        return None if self._values[name] is None else _read_object(self._values[name])

    @contextmanager
    def naming(self, *names: str) -> Iterator[None]:
        """Let errors in what a file gave name the file, not the parameter it became."""
        try:
            yield
        except InputError as error:
            for name in names:
                path = self._values[name]
                if path is not None and error.where.startswith(name):
                    rest = error.where.removeprefix(name).removeprefix(": ")
                    error.where = f"{path}: {rest}" if rest else str(path)
            raise

    def show(self, render: Callable[..., str], *answer: object, **more: object) -> None:
        """Write an answer where it goes, in the style that was asked for."""
        target = self.target
        text = render(*answer, target.style, width=target.width, color=target.color, **more)
        target.emit(text)


def define(*options: Option, epilog: str) -> Callable[[Callable[[Given], int]], click.Command]:
    """Make a command of what it does with what was given, and of its options in their order.

    ``epilog`` stands below the options in its help, and where the exit codes are below that.
    """

    def made(run: Callable[[Given], int]) -> click.Command:
        @wraps(run)
        def callback(**values: object) -> int:
            return run(Given(values))

        decorated: Any = callback
        for option in reversed(options):
            decorated = option(decorated)
        return click.command(epilog=epilog + POINTER)(decorated)

    return made


def _read_object(path: Path) -> dict[str, Any]:
    from planner.reader.parse import parse
    from planner.reader.show import shown
    from planner.reader.source import load

    if path.is_dir():
        raise InputError(str(path), "is a folder", "a file")
    documents = [document for text in load(path, MAX_BYTES).texts for document in parse(text)]
    value = documents[0].value
    if len(documents) != 1 or not isinstance(value, dict):
        found = (
            f"{len(documents)} documents stand" if len(documents) != 1 else f"{shown(value)} stands"
        )
        raise SchemaError(str(path), f"{found} here", "one JSON object")
    return {str(key): item for key, item in value.items()}
