"""The group behind ``planner``: commands loaded on use, and the one path for all errors."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any, Final

import click

from planner.cli.exit_code import BAD_INPUT, INTERRUPTED, OUR_BUG, PIPE_CLOSED
from planner.cli.message import say, write
from planner.errors import InternalError, PlannerError

PROGRAM: Final = "planner"
PREFIX: Final = "PLANNER"
ASK_TO_REPORT: Final = (
    "  this is a bug of planner, not of your input: please report it with the input, and with\n"
    "  what the same command prints under `planner --debug`"
)

NO_MEMORY: Final = (
    "the system gives no more memory\n  hint: work on less at once, or where there is more memory"
)


class PlannerCommand(click.Command):
    """A program: it returns its exit code; whatever it raises becomes one message and a code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Run the command line; exit with its code or, where not standalone, return it."""
        try:
            answer = super().main(
                args, prog_name or PROGRAM, complete_var, standalone_mode=False, **extra
            )
            code = answer if isinstance(answer, int) else 0
        except click.ClickException as error:
            code = _usage(error)
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

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run a command; its errors become one message on standard error and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BrokenPipeError:
            return _pipe_closed()
        except Exception as error:  # noqa: BLE001 - users never see a traceback
            if ctx.params.get("debug"):
                write(traceback.format_exc())
            return _failed(error)


class PlannerGroup(PlannerCommand, click.Group):
    """Commands by name, each with a module of ``planner.cli`` and a line of help.

    A module is imported when its command runs, so that ``planner --help`` stays quick.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which they were given."""
        del ctx
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in self._lazy:
            return None
        # A module cannot be named like a word of Python itself, such as import.
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"planner.cli.{module}").command
        for option in command.params:
            if isinstance(option, click.Option):
                option.envvar = _variables(cmd_name, option)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lazy.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print help when nothing is asked for: as a usage error, whatever click's version."""
        if not args and not ctx.resilient_parsing:
            write(ctx.get_help() + "\n")
            ctx.exit(BAD_INPUT)
        return super().parse_args(ctx, args)


def _variables(command: str, option: click.Option) -> list[str]:
    """Return the environment variables of an option: for one command, then for all.

    They are named after the option, ``--time-limit``, not after the parameter it sets.
    """
    longest = max(option.opts, key=len)
    name = longest.lstrip("-").replace("-", "_").upper()
    return [f"{PREFIX}_{command.upper()}_{name}", f"{PREFIX}_{name}"]


def _pipe_closed() -> int:
    """Stop writing: the reader of standard output has seen enough.

    click itself would end with code 1, which means findings here.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # What is still buffered goes nowhere when the interpreter flushes it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def _usage(error: click.ClickException) -> int:
    say("error", error.format_message())
    context = getattr(error, "ctx", None)
    if context is not None:
        write(f"  hint: {context.command_path} --help\n")
    return BAD_INPUT


def _failed(error: Exception) -> int:
    if isinstance(error, MemoryError):
        error.__traceback__ = None  # with it goes all that was being made
        say("error", NO_MEMORY)
        return BAD_INPUT
    if isinstance(error, OSError):  # a file or folder that the system keeps from us
        from planner.reader.source import printable

        name = error.filename if isinstance(error.filename, str | bytes) else "the system"
        say("error", f"{printable(os.fsdecode(name))}: cannot be used: {error.strerror or error}")
        return BAD_INPUT
    known = isinstance(error, PlannerError)
    say("error", str(error) if known else f"{type(error).__name__}: {error}")
    if not known or isinstance(error, InternalError):
        write(ASK_TO_REPORT + "\n")
    return error.exit_code if isinstance(error, PlannerError) else OUR_BUG
