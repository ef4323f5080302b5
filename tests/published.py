"""The published schemas as judges of values."""

import json
from functools import cache

from jsonschema import Draft202012Validator

from planner.cli.schemas import schema_text


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what judges values by a schema; to make it takes longer than to judge most values."""
    return Draft202012Validator(json.loads(schema_text(name)))
