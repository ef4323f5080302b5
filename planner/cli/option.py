"""A command and a run of it: the values of its options, and the options that commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import click

from planner.cli.exit_code import POINTER
from planner.cli.output import Target
from planner.errors import InputError, SchemaError
from planner.scheduler import Part

if TYPE_CHECKING:
    from datetime import datetime

    from click.shell_completion import CompletionItem

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


FORMATS: Final = ("table", "plain", "json")
PAGE_FORMATS: Final = (*FORMATS, "markdown", "html")
TABLE_FORMATS: Final = (*FORMATS, "csv", "markdown", "html")
NO_LIMIT: Final = "none"
NEVER: Final = "never"
TIME_LIMIT: Final = "45"
"""Seconds that a plan may take unless said; the library has no limit of its own."""
LOOPBACK: Final = "127.0.0.1"
MOST_PORTS: Final = 65535


class CommandLine(Protocol):
    """What the command line asks of a scheduler.

    ``OPTIONS`` are those that it alone has, by name; ``HELP`` what it has to say in the help of
    commands.
    """

    OPTIONS: Mapping[str, Option]
    HELP: Mapping[str, str]


COMMAND_LINE: Final = Part[CommandLine]("command line")


def own(*names: str) -> list[Option]:
    """Return options that only one scheduler has, by their names."""
    known = [scheduler.OPTIONS for scheduler in COMMAND_LINE.of_all()]
    return [options[name] for name in names for options in known if name in options]


def own_help(about: str) -> str:
    """Return what the schedulers say about something in the help of commands."""
    return "".join(scheduler.HELP.get(about, "") for scheduler in COMMAND_LINE.of_all())


SUFFIXES: Final = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
}
"""The formats that names of files ask for."""


def style(formats: Sequence[str], more: str = "") -> Option:
    """Return the option ``--format``; ``more`` is the rest of its help.

    Without it the name of the file that the result goes to decides, if it says a format.
    """

    def chosen(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        path: Path | None = ctx.params.get("output")  # read before: that option is eager
        wanted = SUFFIXES.get(path.suffix.lower()) if path is not None else None
        if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
            return value
        if wanted is not None and wanted not in formats:
            raise click.UsageError(
                f"-o {path}: there is no {wanted} of this; --format says which of "
                f"{', '.join(formats)} goes into it"
            )
        return wanted or value  # which an environment variable may have said for all files

    said = (
        "How to print the result; by default what the name of the file says, such as plan.html, a "
        "table on a terminal, and plain text elsewhere."
    )
    return click.option(
        "--format", "style", type=click.Choice(formats), callback=chosen, help=said + more
    )


page_format = style(
    PAGE_FORMATS,
    " html is one page that needs nothing from elsewhere, markdown goes into tickets.",
)
state = click.argument("state", metavar="STATE")
states = click.argument("states", metavar="STATE...", nargs=-1, required=True)


def seconds(text: str) -> float | None:
    """Read a finite number of seconds, 0 or more; ``None`` for the word ``none``."""
    if text.strip().lower() == NO_LIMIT:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise click.BadParameter(f"{text!r} is not a number of seconds, 0 or more, or {NO_LIMIT}")
    return value


def size(text: str) -> int:
    """Read a number of bytes such as 1000000, 200M or 64Mi."""
    from planner.quantity import QuantityError, parse_quantity, to_units

    try:
        value = to_units(parse_quantity(text), "bytes")
    except QuantityError:
        value = 0
    if value <= 0:
        raise click.BadParameter(f"{text!r} is not a size such as 1000000, 200M or 64Mi")
    return value


def address(text: str) -> tuple[str, int]:
    """Read HOST:PORT, or :PORT on loopback."""
    host, colon, port = text.rpartition(":")
    is_port = port.isascii() and port.isdecimal() and len(port) <= len(str(MOST_PORTS))
    if not colon or not is_port or int(port) > MOST_PORTS:
        raise click.BadParameter(f"{text!r} is neither :PORT nor HOST:PORT")
    return host.strip("[]") or LOOPBACK, int(port)


def moment(text: str) -> datetime:
    """Read an RFC 3339 timestamp."""
    from planner.state import parse_time

    try:
        return parse_time(text)
    except ValueError:
        example = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise click.BadParameter(f"{text!r} is not {example}") from None


def meant(name: str, known: Iterable[str]) -> str:
    """Return a sentence, after a space, that names what is known and spelt almost like a name."""
    from planner.reader.complaint import closest

    close = closest(name, list(known))
    return f" Did you mean {close!r}?" if close else ""


def objective(name: str) -> str:
    """Look up the name of a profile, or take that of a TOML file; they are loaded only now."""
    from planner.objective.profile_file import FRONT, SUFFIX
    from planner.objective.profiles import PROFILES

    if name.startswith(FRONT):
        raise click.BadParameter(
            f"{name!r} asks for a front of plans, which only planner solve prints; here it must "
            "be an objective for one plan"
        )
    if name not in PROFILES and not name.endswith(SUFFIX):
        raise click.BadParameter(
            f"{name!r} is not one of {', '.join(PROFILES)}, or a file NAME{SUFFIX}."
            f"{meant(name, PROFILES)}"
        )
    return name


def objective_or_front(name: str) -> str:
    """Look up an objective, or take the two measures of a Pareto front."""
    from planner.objective.profile_file import FRONT, parse_front

    if not name.startswith(FRONT):
        return objective(name)
    try:
        parse_front(name)
    except SchemaError as error:
        raise click.BadParameter(f"{error.found}: expected {error.expected}") from None
    return name


def front_measures(name: str) -> tuple[str, str] | None:
    """Return the two measures of a front, or ``None`` if the objective is for one plan."""
    from planner.objective.profile_file import FRONT

    first, _, second = name.removeprefix(FRONT).partition(",")
    return (first, second) if name.startswith(FRONT) else None


def complete_objective(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of the profiles to a shell."""
    from click.shell_completion import CompletionItem

    from planner.objective.profiles import PROFILES

    del ctx, param
    return [
        CompletionItem(profile.name, help=profile.summary)
        for profile in PROFILES.values()
        if profile.name.startswith(incomplete)
    ]


def _objective_option(read: Callable[[str], str], more: str) -> Option:
    return click.option(
        "--objective",
        "profile",
        metavar="NAME",
        type=read,
        shell_complete=complete_objective,
        default="no-regret",
        show_default=True,
        help=f"What to minimise, level by level: a name, or a file of your own, NAME.toml{more}.",
    )


profile = _objective_option(objective, "")
profile_or_front = _objective_option(
    objective_or_front, "; or pareto:A,B for the trade of one measure for another"
)


def time_limit(covers: str) -> Option:
    """Return the option ``--time-limit``; ``covers`` says in its help what the limit is for."""
    return click.option(
        "--time-limit",
        metavar="SECONDS",
        type=seconds,
        default=TIME_LIMIT,
        show_default=True,
        help=covers,
    )


def file(name: str, covers: str, *names: str, first: bool = False) -> Option:
    """Return an option that takes the name of a file; ``covers`` is its help.

    It is read before the others where it comes ``first``.
    """
    kind = click.Path(path_type=Path)
    return click.option(name, *names, metavar="FILE", type=kind, help=covers, is_eager=first)


output = file(
    "--output",
    "Write the result to a file, whole or not at all, instead of standard output.",
    "-o",
    first=True,
)


def fail_on(codes: Sequence[str]) -> Option:
    """Return the option ``--fail-on`` for findings of some codes; `fatal_of` reads it."""
    return click.option(
        "--fail-on",
        "fatal",
        type=click.Choice([*codes, NEVER]),
        multiple=True,
        help="Which findings end with exit code 1; may be given several times. By default all.",
    )


def fatal_of(given: Given, codes: Sequence[str]) -> set[str]:
    """Return the findings that end with exit code 1.

    Raises
    ------
    UsageError
        If none is to do so, and some are.
    """
    if NEVER in given.fatal and len(given.fatal) > 1:
        raise click.UsageError("--fail-on never goes with no other")
    return set(given.fatal or codes)


assume = click.option(
    "--assume",
    type=click.Choice(["quota"]),
    help="Your word that quota alone decides, and nothing else that the state holds and the "
    "planner does not model. No answer is conditional (exit code 6) then, and audits count all.",
)
now = click.option(
    "--now",
    metavar="TIME",
    type=moment,
    help="The clock, such as 2026-03-08T21:06:00Z; by default the time at which STATE was taken, "
    "if that is known, or the newest time in it.",
)
max_size = click.option(
    "--max-size", metavar="BYTES", type=size, help="How much is read at most, such as 500M."
)
named_pending = f"The pending workload to plan for, {own_help('pending')}."
pending = click.option("--pending", metavar="NAME", help=named_pending)
several_pending = click.option(
    "--pending",
    metavar="NAME",
    multiple=True,
    help=f"{named_pending} With --joint it may be repeated.",
)
clock = click.option(
    "--now",
    metavar="TIME",
    type=moment,
    help="The clock, for all states; by default each state's own.",
)
costs = file(
    "--costs",
    "JSON object of workload (NAMESPACE/NAME) or allocation key to cost, for the objective "
    "min-cost.",
)
