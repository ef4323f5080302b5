"""The published JSON Schemas: a page that describes them, and the files themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from planner.cli.schemas import SCHEMAS, schema_text

HEAD = """# JSON Schemas

What the planner reads and writes as JSON follows these schemas; `planner schema NAME` prints them.
"""
Schema = Mapping[str, Any]


def page() -> str:
    """Return the page of all schemas."""
    rows = [
        f"| [{name}](#{name}) | {published.summary} | [file](schema/{name}.schema.json) |"
        for name, published in SCHEMAS.items()
    ]
    parts = [HEAD, "\n".join(["| schema | what | |", "|---|---|---|", *rows])]
    for name, published in SCHEMAS.items():
        parts += [f"## {name}", f"{published.summary[0].upper()}{published.summary[1:]}."]
        parts += _described(json.loads(_text(name)))
    return "\n\n".join(parts) + "\n"


def files() -> dict[str, str]:
    """Return the files of the schemas by path in the site."""
    return {f"reference/schema/{name}.schema.json": _text(name) for name in SCHEMAS}


@cache
def _text(name: str) -> str:
    return schema_text(name)


def _described(schema: Schema) -> Iterator[str]:
    table = _table(schema)
    if table:
        yield table
    for name, part in schema.get("$defs", {}).items():
        table = _table(part)
        if table:
            text = _cell(part.get("description", "")).partition(". ")[0]
            yield f'??? info "{name}"\n\n    {text}\n\n' + "\n".join(
                f"    {line}" for line in table.splitlines()
            )


def _table(schema: Schema) -> str:
    rows = [
        f"| `{name}` | {_kind(part)} | {_cell(part.get('description', ''))} |"
        for name, part in schema.get("properties", {}).items()
    ]
    return "\n".join(["| field | type | |", "|---|---|---|", *rows]) if rows else ""


def _kind(part: Schema) -> str:
    """Return the type of a field in a few words."""
    if "$ref" in part:
        return str(part["$ref"]).rpartition("/")[2]
    values = part.get("enum", [part["const"]] if "const" in part else [])
    if values:
        return ", ".join(f"`{json.dumps(value)}`" for value in values)
    if options := part.get("anyOf", part.get("oneOf")):
        return " or ".join(map(_kind, options))
    kind, fields = str(part.get("type", "any")), part.get("additionalProperties")
    if kind == "array":
        return f"list of {_kind(part.get('items', {}))}"
    return f"object of {_kind(fields)}" if isinstance(fields, dict) else kind


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
