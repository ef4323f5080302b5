"""A command and a run of it: the values of its options, and the options that commands share."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from planner.cli import value
from planner.cli.exit_code import POINTER
from planner.cli.output import STDOUT, Target, named_to_read
from planner.cli.value import Option
from planner.errors import LOOP, InputError, ParseError, SchemaError, closest
from planner.scheduler import schedulers
from planner.wing import wings

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from planner.commands.study.record import Failure
    from planner.plan import Assume
    from planner.reader import Ignored
    from planner.state import AnyState, RequestsFrom

MAX_BYTES: Final = 64 * 2**20
"""How large a small file beside the state may be."""
_HOW_READ: Final = ("now", "release", "requests")
"""The parameters of `planner.read` that options set."""
_ONE_OBJECT: Final = "one JSON object"
"""What such a file must hold."""


_PARAMETER: Final = re.compile(r"(?<![\w./-])([a-z_]+)=")
"""A parameter of the library, as its hints name one with a value."""


class CommandLine:
    """The values of the options of one run, and where its result goes.

    A command has a class of its own, whose attributes are its options. They are named like the
    parameters of the library, so that errors about these can name the option.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        # Each scheduler has an option of its own, the library one parameter for all.
        core = values.get("core_release")
        self.values = values if core is None else {**values, "release": core}
        if [*named_to_read(values)].count(str(STDOUT)) > 1:
            raise click.UsageError("only one of the files that are read can be standard input")
        # A result that cannot be written later is refused before any work.
        self.target = Target.choose(values.get("style"), values.get("output"))

    def option_of(self, parameter: str) -> str | None:
        """Return the option behind a parameter of the library; ``None`` if there is none."""
        name = "laws" if parameter == "rules" and self.values.get("laws") else parameter
        params = click.get_current_context().command.params
        found = (one for one in params if isinstance(one, click.Option) and one.name == name)
        return next((max(one.opts, key=len) for one in found), None)

    def in_options(self, text: str) -> str:
        """Return a text in which options stand for parameters: ``--now TIME`` for ``now=TIME``."""

        def written(found: re.Match[str]) -> str:
            option = self.option_of(found[1])
            return found[0] if option is None else f"{option} "

        every = self.option_of("each") or "planner solve --all"
        return _PARAMETER.sub(written, text).replace(LOOP, every)

    @property
    def names_state(self) -> bool:
        """Whether STATE can be read once more by its name."""
        return str(self.values.get("state", "-")) != "-"

    @property
    def cluster_options(self) -> Sequence[str]:
        """The options of kubectl that say which cluster STATE is of; none of a file."""
        return ()

    @property
    def limit_of_bytes(self) -> int:
        """How many bytes of a state are read at most."""
        from planner.reader import MAX_BYTES as MOST

        return self.values["max_bytes"] or MOST

    def read(self, now: str | None = None, ignored: Ignored | None = None) -> AnyState:
        """Read STATE; raises an InputError if it cannot be read."""
        from planner.reader import read

        how = {name: self.values[name] for name in _HOW_READ if self.values.get(name) is not None}
        if now is not None:
            how["now"] = now
        return read(self.values["state"], max_bytes=self.limit_of_bytes, ignored=ignored, **how)

    def of(self, asked: Callable[..., object], **more: object) -> dict[str, Any]:
        """Return what a verb, or the record of a question, is given: options named like parameters.

        What is in ``more`` stands before an option of that name. A verb that takes a state is not
        told once more how that was read.
        """
        names = {*signature(asked).parameters}
        names -= {"state", *_HOW_READ} if "state" in names else set()
        return {name: one for name, one in self.values.items() if name in names} | more

    def read_file(self, name: str) -> dict[str, Any] | None:
        """Read the file of an option that may be left out: one JSON (or YAML) object.

        Raises an InputError if it cannot be read, is too large, or holds something else.
        """
        path: Path | None = self.values[name]
        if path is None:
            return None
        from planner.reader.parse import BOM, EXPECTED, OF_STATES, parse, refuse_twice
        from planner.reader.show import shown
        from planner.reader.source import load

        if path.is_dir():
            raise InputError(str(path), "is a folder", "a file")
        texts = load(str(path) if path == STDOUT else path, MAX_BYTES).texts
        try:
            documents = [document for text in texts for document in parse(text)]
        except ParseError as error:
            error.expected = error.expected.replace(EXPECTED, _ONE_OBJECT)
            error.hint = error.hint.removesuffix(OF_STATES)
            raise
        found = documents[0].value
        if len(documents) != 1 or not isinstance(found, dict):
            several = len(documents) != 1
            said = f"{len(documents)} documents stand" if several else f"{shown(found)} stands"
            raise SchemaError(str(path), f"{said} here", _ONE_OBJECT)
        if not documents[0].yaml:  # where a key stands twice in YAML it has been refused
            refuse_twice(texts[0].data.removeprefix(BOM), documents[0].where, _ONE_OBJECT)
        return {str(key): item for key, item in found.items()}

    @contextmanager
    def naming(self, *names: str) -> Iterator[None]:
        """Make errors in the values of options name the option, or its file: not the parameter."""
        try:
            yield
        except InputError as error:
            error.hint = self.in_options(error.hint)
            for name in names:
                path = self.values[name]
                if path is not None and error.where.startswith(name):
                    rest = error.where.removeprefix(name).removeprefix(": ")
                    error.where = f"{path}: {rest}" if rest else str(path)
            error.where = self.option_of(error.where) or error.where
            raise

    def named(self, failures: Iterable[Failure]) -> tuple[Failure, ...]:
        """Return failures of a batch that name the options, as errors do that are raised."""
        parts = [(one, *one.detail.partition(": ")) for one in failures]
        return tuple(
            one.model_copy(update={"detail": f"{self.option_of(where) or where}{colon}{rest}"})
            for one, where, colon, rest in parts
        )

    def show(self, render: Callable[..., str], *answer: object, **more: object) -> None:
        """Write an answer to the target, in its style."""
        target = self.target
        text = render(*answer, target.style, width=target.width, color=target.color, **more)
        target.emit(text)


Run = TypeVar("Run", bound=CommandLine)


_LIST: Final = re.compile(r"(?m)^ *\{(\w+)\}$\n?")
"""A line of a docstring in whose place a list stands that is not written there."""


def help_of(docstring: str, **lists: str) -> tuple[str, str]:
    """Return what the help of a command has above its options, and below them.

    Below stands all from the first indented lines on, which are examples; paragraphs with indented
    lines keep their lines. ``{name}`` alone in a line is one of the ``lists``, or else what
    schedulers and wings say about the name.
    """
    text = _LIST.sub(lambda one: lists.get(one[1]) or own_help(one[1]), cleandoc(docstring))
    about, _, below = text.partition("\n\n  ")
    parts = filter(None, f"Examples:\n  {below}".strip("\n").split("\n\n"))
    kept = (f"\b\n{part}" if "\n  " in part else part for part in parts)
    return about, "\n\n".join(kept) + "\n\n"


def define(kind: type[Run], **lists: str) -> Callable[[Callable[[Run], int]], click.Command]:
    """Return the decorator that makes a command of a function, with the options of a class.

    Its help is the docstring of the function, see `help_of`, with a pointer to the exit codes at
    the end. Options of the class itself come first, then those of its bases.
    """
    named = (pair for one in kind.__mro__ for pair in vars(one).items())
    names = dict.fromkeys(name for name, one in named if isinstance(one, Option))
    params = [getattr(kind, name).parameter() for name in names]

    def made(run: Callable[[Run], int]) -> click.Command:
        about, below = help_of(run.__doc__ or "", **lists)
        command = click.command(
            cls=value.Command, params=params, help=about, epilog=below + POINTER
        )

        @wraps(run)
        def callback(**values: object) -> int:
            given = kind(values)
            with given.naming():
                return run(given)

        return command(callback)

    return made


FORMATS: Final = ("table", "plain", "json")
PAGE_FORMATS: Final = (*FORMATS, "markdown", "html")
TABLE_FORMATS: Final = (*FORMATS, "csv", "markdown", "html")
NEVER: Final = "never"
TIME_LIMIT: Final = "45"
"""Seconds that a plan may take unless said; the library has no limit of its own."""


def own(name: str) -> Option[Any]:
    """Return an option that only one scheduler has."""
    return ChainMap(*(dict(one.options) for one in schedulers()))[name]


core_release: Option[str | None] = own("core_release")
"""The release under another scheduler's name, for commands that serve several."""


def own_help(about: str) -> str:
    """Return the texts of all schedulers and wings about a subject in the help of commands."""
    texts = [one.help for one in schedulers()] + [wing.help for wing in wings()]
    return "".join(each.get(about, "") for each in texts)


def written(names: Collection[str]) -> Iterator[click.Parameter]:
    """Yield those options of some names that stand on the command line, in the order of its help.

    One that an environment variable sets for all commands does not.
    """
    context, by_hand = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    for one in context.command.params:
        if one.name in names and context.get_parameter_source(one.name) is by_hand:
            yield one


SUFFIXES: Final = {
    ".csv": "csv",
    ".gz": "gzip",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".jsonl": "JSON Lines",
    ".md": "markdown",
    ".ndjson": "JSON Lines",
    ".parquet": "Parquet",
    ".pdf": "PDF",
    ".png": "PNG",
    ".sarif": "sarif",
    ".svg": "SVG",
    ".tsv": "TSV",
    ".xlsx": "Excel",
    ".xml": "XML",
    ".yaml": "yaml",
    ".yml": "yaml",
}
"""The formats of results, and those which none has, by the suffixes of their files."""


def style(formats: Sequence[str], more: str = "") -> Option[str | None]:
    """Return the option ``--format``; ``more`` is the rest of its help.

    Without the option the suffix of the result's file decides, if it is a known one.
    """

    def chosen(ctx: click.Context, param: click.Parameter, said: str | None) -> str | None:
        path: Path | None = ctx.params.get("output")  # read before: that option is eager
        wanted = SUFFIXES.get(path.suffix.lower()) if path is not None else None
        if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
            return said
        if wanted is not None and wanted not in formats:
            raise click.UsageError(
                f"-o {path}: there is no {wanted} of this; --format says which of "
                f"{', '.join(formats)} goes into it"
            )
        return wanted or said  # said: perhaps by an environment variable, for all files

    covers = (
        "How to print the result; by default what the name of the file says, such as plan.html, a "
        "table on a terminal, and plain text elsewhere."
    )
    kind = click.Choice(formats)
    return value.one("--format", kind, covers + more, callback=chosen)


states = value.arguments("STATE...", required=True)


def meant(name: str, known: Iterable[str]) -> str:
    """Return a sentence, after a space, with the known name spelt most alike; empty if none is."""
    close = closest(name, list(known))
    return f" Did you mean {close!r}?" if close else ""


def profile(name: str) -> str:
    """Return the name of a known profile or of a TOML file; profiles are loaded only now."""
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


def profile_or_front(name: str) -> str:
    """Return an objective as `profile` does, or the two measures of a Pareto front."""
    from planner.objective.profile_file import FRONT, parse_front

    if not name.startswith(FRONT):
        return profile(name)
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


def objective_named(covers: str, default: str, read: Callable[[str], str] = profile) -> Option[str]:
    """Return the option ``--objective`` with a default."""
    return value.one("--objective NAME", read, covers, default, shell_complete=complete_objective)


def objective_of_plan(covers: str) -> Option[str | None]:
    """Return the option ``--objective`` of a command on a plan, which names its own."""
    return value.one("--objective NAME", profile, covers, shell_complete=complete_objective)


_MINIMISED: Final = "What to minimise, level by level: a name, or a file of your own, NAME.toml"
objective = objective_named(f"{_MINIMISED}.", "no-regret")
objective_or_front = objective_named(
    f"{_MINIMISED}; or pareto:A,B for the trade of one measure for another.",
    "no-regret",
    profile_or_front,
)


def line_format(name: str) -> Option[str]:
    """Return the option of a command that goes on, and says what happens line by line."""
    return value.one(
        "--format",
        click.Choice(["plain", "jsonl"]),
        f"Lines to read, or a JSON object a line (planner schema {name}).",
        default="plain",
    )


def how_long(verb: str) -> Option[float | None]:
    """Return the option that ends a command which goes on; ``verb`` is what it does."""
    return value.one(
        "--for SECONDS",
        value.seconds,
        f"How long to {verb}; none, which holds without it: until it is ended.",
        default="none",
        show_default=False,
    )


def time_limit(covers: str) -> Option[float | None]:
    """Return the option ``--time-limit``; ``covers`` says in its help what the limit is for."""
    return value.one("--time-limit SECONDS", value.seconds, covers, TIME_LIMIT)


class Saved(CommandLine):
    """A run with a result that may go to a file."""

    output = value.file(
        "-o, --output",
        "Write the result to a file, whole or not at all, instead of standard output.",
        first=True,
    )


class Paged(Saved):
    """A run with a result in any of `PAGE_FORMATS`."""

    style = style(
        PAGE_FORMATS,
        " html is one page that needs nothing from elsewhere, markdown goes into tickets.",
    )


class Sized(CommandLine):
    """A run that reads so many bytes at most."""

    max_bytes = value.one("--max-size BYTES", value.size, "How much is read at most, such as 500M.")


class Dumps(Sized):
    """A run that reads states, by a release and requests where their scheduler knows these."""

    release: Option[str] = own("release")
    requests: Option[RequestsFrom] = own("requests")


class OfState(Dumps, Paged):
    """A run on one state, with a page as its result."""

    state = value.argument("STATE", str)
    now = value.one(
        "--now TIME",
        value.moment,
        "The clock, such as 2026-03-08T21:06:00Z; by default the time at which STATE was taken, "
        "if that is known, or the newest time in it.",
    )


def fail_on(codes: Sequence[str]) -> Option[tuple[str, ...]]:
    """Return the option ``--fail-on`` for findings of some codes; `fatal_of` reads it."""
    return value.several(
        "--fail-on",
        click.Choice([*codes, NEVER]),
        "Which findings end with exit code 1; may be given several times. By default all.",
    )


def fatal_of(fatal: Sequence[str], codes: Sequence[str]) -> set[str]:
    """Return the findings that end with exit code 1.

    Raises a UsageError if ``never`` is given beside others.
    """
    if NEVER in fatal and len(fatal) > 1:
        raise click.UsageError("--fail-on never goes with no other")
    return set(fatal or codes)


assume: Option[Assume | None] = value.one(
    "--assume",
    click.Choice(["quota"]),
    "Your word that quota alone decides, and nothing else that the state holds and the "
    "planner does not model. No answer is conditional (exit code 6) then, and audits count all.",
)
PENDING: Final = f"The pending workload to plan for, {own_help('pending')}."
pending = value.one("--pending NAME", str, PENDING)
metrics = value.one(
    "--metrics [HOST]:PORT",
    value.address,
    "Also serve figures for Prometheus there, on loopback unless a host is given. It needs the "
    "extra [operations].",
)
clock = value.one(
    "--now TIME", value.moment, "The clock, for all states; by default each state's own."
)
costs = value.file(
    "--costs",
    "JSON object of workload (NAMESPACE/NAME) or allocation key to cost, for the objective "
    "min-cost.",
)
laws: Option[str | None] = own("laws")
quota: Option[str | None] = own("quota")
rules: Option[str | None] = own("rules")
queue: Option[str | None] = own("queue")
stable: Option[bool] = own("stable")
assignment: Option[Path | None] = own("assignment")


BOTH: Final = "--rules and --laws are for different schedulers: leave one out"


def refuse(wrong: Mapping[str, object]) -> None:
    """Refuse options that do not go together: the first, by what is said of it, that is so."""
    for said, is_so in wrong.items():
        if is_so:
            raise click.UsageError(said)
