"""``planner schema``: the JSON Schemas of what the planner reads and writes."""

from __future__ import annotations

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import define


class Options(option.Saved):
    """What `planner schema` is given."""

    name = value.optional_argument("[NAME]")


@define(Options)
def command(given: Options) -> int:
    """Print the JSON Schema called NAME; without a name, list them.

    They are the contract for programs: fields may be added, but none changes its meaning
    without a new version in the field "schema".

      planner schema
      planner schema plan
      planner schema input -o input.schema.json
    """
    from planner.cli.schemas import SCHEMAS, schema_text

    if given.name is None:
        lines = (f"{known:<12}{schema.summary}\n" for known, schema in SCHEMAS.items())
        given.target.emit("".join(lines))
    elif given.name in SCHEMAS:
        given.target.emit(schema_text(given.name))
    else:
        known = ", ".join(SCHEMAS)
        said = f"{given.name!r} is not one of {known}.{option.meant(given.name, SCHEMAS)}"
        raise click.BadParameter(said, param_hint="NAME")
    return OPTIMAL
