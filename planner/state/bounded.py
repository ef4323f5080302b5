"""Bounds on the errors in a value: a list of a million bad entries is one complaint."""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

MOST_KEYS: Final = 10_000
"""How many entries a mapping of names to values has at most."""

_MOST: Final = {"most": MOST_KEYS}
_BEFORE: Final = "function-before"
_LISTS: Final = ("tuple", "list")


def with_bounded_errors(schema: Any, most_keys: int | None = MOST_KEYS) -> Any:  # noqa: ANN401 - pydantic's
    """Let every list in a schema of pydantic end at its first bad entry, and bound its mappings.

    Pydantic collects all errors, a kilobyte each; only the first is ever shown. ``most_keys`` is
    how many entries a mapping may have.
    """
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, list | tuple):
            todo += part
        elif isinstance(part, dict):
            if part.get("type") in _LISTS:
                part["fail_fast"] = True
            elif part.get("type") == "dict" and "keys_schema" in part and most_keys is not None:
                mapping = cast("CoreSchema", dict(part))
                part.clear()
                part.update(core_schema.no_info_before_validator_function(_not_too_long, mapping))
                part = mapping
            elif part.get("type") == _BEFORE and part["function"]["function"] is _not_too_long:
                part = part["schema"]  # a schema in this one, bounded when it was made
            todo += part.values()
    return schema


def _not_too_long(value: object) -> object:
    if isinstance(value, dict) and len(value) > MOST_KEYS:
        raise PydanticCustomError("too_many", "should have at most {most} entries", _MOST)
    return value
