"""The command line as a page: every command with its options, from click itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from planner.cli.exit_code import FROM_BEST_TO_WORST, INTERRUPTED, MEANINGS, PIPE_CLOSED, POINTER
from planner.cli.main import COMMANDS, SECTIONS, main

HEAD = """# Command line

```text
planner [--debug] COMMAND [OPTIONS] STATE
```

The result goes to standard output, everything else to standard error. STATE is a file, a folder of
files, or `-` for standard input. Every option is an environment variable, too, named in the last
column after the command; without the command's name it holds for all commands that have the
option. How a command ends is in [exit codes](exit-codes.md).
"""


def page() -> str:
    """Return the page of all commands."""
    group = click.Context(main, info_name="planner")
    rows = [
        f"| {title} | [`{name}`](#planner-{name}) | {line} |"
        for title, commands in SECTIONS.items()
        for name, line in commands.items()
    ]
    known = ((name, main.get_command(group, name)) for name in COMMANDS)
    described = (
        "\n\n".join(_command(command, click.Context(command, group, name)))
        for name, command in known
        if command
    )
    table = "\n".join(["| | command | what |", "|---|---|---|", *rows])
    return "\n\n".join([HEAD, table, *described]) + "\n"


def exit_codes() -> str:
    """Return the page of exit codes."""
    rows = [f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]
    rows.append(f"| {INTERRUPTED} | interrupted, by Ctrl-C or SIGTERM |")
    rows.append(f"| {PIPE_CLOSED} | whoever read standard output closed it |")
    order = ", ".join(map(str, FROM_BEST_TO_WORST))
    text = f"""# Exit codes

They are part of the contract of the command line, and never change. Several plans at once end with
the worst of their codes, in the order {order}. Of comparisons and simulations their help says which
code goes first, of audits [their guide](../how-to/audit.md#many-states).

| code | meaning |
|---:|---|
"""
    return text + "\n".join(rows) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## planner {context.info_name}"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    yield _prose(command.help or "")
    rows = [row for parameter in command.params if (row := _row(parameter, context))]
    if rows:
        yield "\n".join(["| option | what | environment |", "|---|---|---|", *rows])
    notes = (command.epilog or "").removesuffix(POINTER).strip("\n")
    if notes:
        yield from _notes(notes)


def _row(parameter: click.Parameter, context: click.Context) -> str | None:
    record = parameter.get_help_record(context)
    if record is None or not isinstance(parameter, click.Option):
        return None
    names, text = record
    variables = parameter.envvar if isinstance(parameter.envvar, list) else []
    named = f"`{variables[0]}`" if variables else ""
    return f"| {_code(names)} | {_cell(text)} | {named} |"


def _code(names: str) -> str:
    return ", ".join(f"`{_pipe(name)}`" for name in names.split(", "))


def _cell(text: str) -> str:
    return _pipe(_prose(text)).replace("\n", " ").replace("<", "&lt;")


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


def _prose(text: str) -> str:
    """Return help text as Markdown: paragraphs, and what click must not rewrap as it stands."""
    return "\n\n".join(_notes(text.replace("<", "&lt;").replace("*", "\\*")))


def _notes(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        kept = paragraph.removeprefix("\b\n")
        if kept != paragraph:
            title, _, rest = kept.partition("\n")
            lines = rest if title.endswith(":") else kept
            if title.endswith(":"):
                yield f"**{title.removesuffix(':')}**"
            yield f"```text\n{_dedent(lines)}\n```"
        elif paragraph.strip():
            yield " ".join(paragraph.split())


def _dedent(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.splitlines())
