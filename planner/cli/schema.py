"""``planner schema``: the JSON Schemas of what the planner reads and writes."""

from __future__ import annotations

from pathlib import Path

import click

from planner.cli.exit_code import OPTIMAL, epilog
from planner.cli.option import output_option

EPILOG = """\b
Examples:
  planner schema
  planner schema plan
  planner schema input -o input.schema.json

""" + epilog()


@click.command(epilog=EPILOG, short_help="Print the JSON Schemas of input and output.")
@click.argument("name", metavar="[NAME]", required=False)
@output_option
def command(name: str | None, *, output: Path | None) -> int:
    """Print the JSON Schema called NAME; without a name, list them.

    They are the contract for programs: fields may be added, but none changes its meaning
    without a new version in the field "schema".
    """
    from planner.cli.output import Target
    from planner.cli.schemas import SCHEMAS, schema_text

    target = Target.choose("plain", output)
    if name is None:
        lines = [f"{known:<12}{schema.summary}\n" for known, schema in SCHEMAS.items()]
        target.emit("".join(lines))
    elif name in SCHEMAS:
        target.emit(schema_text(name))
    else:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(SCHEMAS)}", param_hint="NAME")
    return OPTIMAL
