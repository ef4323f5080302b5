"""One published JSON Schema as a table names it."""

from __future__ import annotations

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

Schema = tuple[str, type[BaseModel], JsonSchemaMode]
"""A summary of what it describes, the model, and whether that is read or written."""


def output(of: str, model: type[BaseModel]) -> Schema:
    """Return the schema of what a command writes."""
    return f"the output of {of} --format json", model, "serialization"
