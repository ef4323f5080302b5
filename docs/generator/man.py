"""The man page, from ``--help`` of the program and of each command, as it stands.

python docs/generator/man.py > planner.1
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

import click

from planner.cli.main import COMMANDS, main

WIDTH: Final = 72
"""Characters of a line: man itself indents by seven."""


def page() -> str:
    """Return the page in man's own macros: lines of help are neither filled nor read as macros."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH PLANNER 1 "" "planner {version("preemption-planner")}"'
    yield from _section("name", "planner - plan whom Kueue or YuniKorn should preempt")
    group = click.Context(main, None, "planner", terminal_width=WIDTH, **main.context_settings)
    yield from _section("planner", main.get_help(group))
    for name in COMMANDS:
        if command := main.get_command(group, name):
            context = click.Context(command, group, name, terminal_width=WIDTH)
            yield from _section(f"planner {name}", command.get_help(context))


def _section(title: str, text: str) -> Iterator[str]:
    yield from (f".SH {title.upper()}", ".nf")
    for line in text.splitlines():
        yield r"\&" + line.replace("\\", r"\e").replace("-", r"\-")


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what it prints
