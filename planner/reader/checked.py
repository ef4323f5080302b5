"""A JSON value to an object of the schema, or an error which says where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from planner.errors import SchemaError
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.reader.show import Path, place, plain, shown
from planner.state.base import Schema

Kind = TypeVar("Kind", bound=Schema)


def checked(kind: type[Kind], value: object, where: str, path: Path, subject: str = "") -> Kind:
    """Validate one value; ``subject`` names it in a message.

    Raises
    ------
    SchemaError
        If it is no object, or a field of it cannot be used.
    """
    if not isinstance(value, Mapping):
        raise SchemaError(place(where, path), f"{shown(value)} is not an object", "an object")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        item = Item(where, path, dict(value))
        raise schema_error(item, subject or kind.__name__, error, error.error_count()) from None


def checked_list(
    kind: type[Kind], value: Mapping[str, Any], field: str, where: str, name: str
) -> tuple[Kind, ...]:
    """Validate every value of a list; a field that is missing counts as an empty one.

    The field ``name`` of a value says in a message which it is.

    Raises
    ------
    SchemaError
        If it is no list, or a value of it cannot be used.
    """
    values = value.get(field)
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise SchemaError(place(where, (field,)), f"{shown(values)} is not a list", "a list")
    return tuple(
        checked(kind, one, where, (field, i), _called(field.removesuffix("s"), one, name))
        for i, one in enumerate(values)
    )


def _called(subject: str, value: object, name: str) -> str:
    called = value.get(name) if isinstance(value, Mapping) else None
    return f"{subject} {plain(called)}" if isinstance(called, str) and called else subject
