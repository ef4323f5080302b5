"""The entry point of the command line, ``planner``: commands loaded on use, one path for errors.

A new command is a new module here with a click command named ``command``, and a line in CORE, or
a module and a line of a wing; `planner.scheduler` has those of one scheduler only.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final, cast

import click

from planner.cli.exit_code import BAD_INPUT, INTERRUPTED, OUR_BUG, PIPE_CLOSED, epilog
from planner.cli.output import ASK_TO_REPORT, LINE, say, unwritable, write
from planner.cli.value import Command, Valued
from planner.errors import (
    KIND,
    NO_MEMORY,
    TELL_KIND,
    InputError,
    InternalError,
    Kind,
    PlannerError,
)
from planner.scheduler import schedulers
from planner.wing import load, wings

CORE: Final = {
    "Plan": {
        "solve": "Plan whom to evict for a pending workload, and prove it.",
        "explain": "Say why a workload must go, why another need not, or why nothing.",
        "check": "Check a plan and its proofs, without a solver.",
        "boost": "Find the priority boosts that make the scheduler carry out a plan.",
    },
    "Know your cluster": {
        "whatif": "Show what an edit of the state, or a new workload, changes.",
    },
    "Research": {
        "audit": "Judge the scheduler's own answers, on one state or thousands.",
        "compare": "Compare algorithms, on one state or thousands.",
        "replay": "Compare recorded answers of the real scheduler with the planner's replay.",
    },
    "Reference": {
        "laws": "List the rules, the disruption terms and the objectives.",
        "schema": "Print the JSON Schemas of input and output.",
    },
}
"""The core's commands with their line of help, as ``planner --help`` lists them."""
WINGS: Final = {
    name: command
    for wing in wings()
    for section in wing.commands.values()
    for name, command in section.items()
}
"""The line of help and the place of each command of a wing."""
SECTIONS: Final = {
    title: commands
    | {name: line for wing in wings() for name, (line, _) in wing.commands.get(title, {}).items()}
    for title, commands in CORE.items()
}
COMMANDS: Final = {name: line for section in SECTIONS.values() for name, line in section.items()}

PROGRAM: Final = "planner"
PREFIX: Final = "PLANNER"
_OBJECTS: Final = 100_000
"""Objects that are made between two searches for cycles of garbage."""

EPILOG: Final = """\b
Examples:
  planner snapshot -o cluster.json
  planner solve cluster.json --pending team-a/train-llm
  planner solve cluster.json --all -o plans.json

Every option is an environment variable too: --time-limit is PLANNER_TIME_LIMIT or, for solve
alone, PLANNER_SOLVE_TIME_LIMIT. Where seconds are asked for, 250ms, 5s, 10m and 2h do, too.

\b
Completion of commands and options, for bash; zsh_source and fish_source for other shells:
  eval "$(_PLANNER_COMPLETE=bash_source planner)"

""" + epilog()


class PlannerCommand(Command):
    """A program: it returns its exit code; whatever it raises becomes one message and a code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: object,
    ) -> Any:  # noqa: ANN401
        """Run the command line; exit with its code or, where not standalone, return it."""
        try:
            answer = super().main(
                args, prog_name or PROGRAM, complete_var, standalone_mode=False, **extra
            )
            code = answer if isinstance(answer, int) else 0
        except click.ClickException as error:
            say("error", error.format_message().replace("\n\t", " "))  # before each of its choices
            context = getattr(error, "ctx", None)
            if context is not None:
                write(f"  hint: {context.command_path} --help\n")
            _tell("option")
            code = BAD_INPUT
        except click.Abort:
            say("error", "interrupted")
            code = INTERRUPTED
        if standalone_mode:
            sys.exit(code)
        return code

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words of the command line apart; --help is written here."""
        try:
            return super().parse_args(ctx, args)
        except BrokenPipeError:
            ctx.exit(_pipe_closed())
        except OSError as error:  # such as a full disk
            ctx.exit(_failed(InputError("standard output", unwritable(error))))

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; its errors become one message on standard error and an exit code."""
        try:
            with LINE.shown(quiet=bool(ctx.params.get("quiet"))):
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BrokenPipeError:
            return _pipe_closed()
        except Exception as error:
            if _is_interruption(error):
                raise KeyboardInterrupt from error
            if ctx.params.get("debug"):
                write(traceback.format_exc())
            return _failed(error)


class PlannerGroup(PlannerCommand, click.Group):
    """Commands by name, each with a module of ``planner.cli`` and a line of help.

    A module is imported when its command runs, so that ``planner --help`` stays quick.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which they were given."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = next((own for one in schedulers() if (own := one.own_command(cmd_name))), None)
        if command is None:
            place = WINGS[cmd_name][1] if cmd_name in WINGS else f"planner.cli.{cmd_name}:command"
            command = cast("click.Command", load(place))
        command.short_help = COMMANDS[cmd_name]
        for option in command.params:
            if isinstance(option, click.Option):
                # Named after the option, --time-limit, not after the parameter it sets.
                longest = max(option.opts, key=len)
                name = longest.lstrip("-").replace("-", "_").upper()
                option.envvar = [f"{PREFIX}_{cmd_name.upper()}_{name}", f"{PREFIX}_{name}"]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first word; for an unknown word, name the one spelt alike."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from planner.cli.option import meant

            ctx.fail(f"No such command {name!r}.{meant(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them, one column for all sections."""
        del ctx
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", line) for name, line in commands.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print help when nothing is asked for: as a usage error, whatever click's version."""
        if not args and not ctx.resilient_parsing:
            write(ctx.get_help() + "\n")
            ctx.exit(BAD_INPUT)
        return super().parse_args(ctx, args)


def _pipe_closed() -> int:
    """Stop writing: the reader of standard output has seen enough.

    click itself would end with code 1, which means findings here.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # What is still buffered goes nowhere when the interpreter flushes it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def _is_interruption(error: BaseException | None) -> bool:
    """Say whether an error comes of Ctrl-C: a library that is just loaded calls it its failure."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _tell(kind: Kind) -> None:
    """Tell the program that asks for it of which kind the error is."""
    if os.environ.get(TELL_KIND):
        write(f"{KIND}{kind}\n")


def _failed(error: Exception) -> int:
    if isinstance(error, MemoryError):
        error.__traceback__ = None  # frees all that was being made
        say("error", f"{NO_MEMORY}\n  hint: work on less at once, or where there is more memory")
        _tell("memory")
        return BAD_INPUT
    if isinstance(error, OSError):  # a file or folder that the system keeps from us
        from planner.reader.source import printable

        name = error.filename if isinstance(error.filename, str | bytes) else "the system"
        say("error", f"{printable(os.fsdecode(name))}: cannot be used: {error.strerror or error}")
        _tell("input")
        return BAD_INPUT
    known = isinstance(error, PlannerError)
    say("error", str(error) if known else f"{type(error).__name__}: {error}")
    if not known or isinstance(error, InternalError):
        write(ASK_TO_REPORT)
    if isinstance(error, InputError):
        _tell(error.kind)
    return error.exit_code if isinstance(error, PlannerError) else OUR_BUG


@click.group(
    cls=PlannerGroup,
    epilog=EPILOG,
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.option("--debug", cls=Valued, is_flag=True, help="Print tracebacks of errors.")
@click.option("--quiet", cls=Valued, is_flag=True, help="Show no line of progress on a terminal.")
@click.version_option(
    package_name="preemption-planner",
    message="planner %(version)s",
    allow_from_autoenv=False,  # PLANNER_VERSION may well be set, and mean something else
)
def main(*, debug: bool, quiet: bool) -> None:
    """Plan whom Kueue or YuniKorn should preempt so that a pending workload can start.

    The planner reads what kubectl prints, works out what the scheduler itself would do, finds
    the least disruptive set of victims that the scheduler's own rules permit, proves that there
    is no better one, and shows both.
    """
    del debug, quiet  # read by PlannerCommand, around the command


def run(command: click.Command = main, program: str = PROGRAM) -> None:
    """Be the program: set the process up for one command, and end it with the command's code."""
    # This program does one thing and ends. Modules and states make many objects and few cycles:
    # to look for cycles after every thousand takes a tenth of a small plan. Pydantic would
    # read the metadata of all that is installed to find plugins of its own. NumPy's OpenBLAS would
    # start a thread for each core, which spins while it waits for products of matrices that no
    # command makes. Of the hundred libraries of the solver a small plan calls little: what it calls
    # is looked up when it is called.
    gc.set_threshold(_OBJECTS)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform != "win32":  # Windows always looks up on use
        sys.setdlopenflags(os.RTLD_LAZY)
    # A supervisor, or a machine that goes down, ends a command as Ctrl-C does.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        command.main(prog_name=program)
    finally:
        signal.signal(signal.SIGTERM, before)
        gc.freeze()  # or the interpreter would search all objects for cycles before it ends
