"""A JSON value to an object of the schema, or to an error: found, expected, and a hint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from planner.errors import SchemaError, did_you_mean
from planner.quantity import SUFFIXES, QuantityError, parse_quantity
from planner.reader.items import Item
from planner.reader.show import Path, place, plain, shown
from planner.state.base import TIMESTAMP

_FORMER_NAMES: Final = {
    "cohortName": "cohort",
    "parentName": "parent",
    "priorityClassRef": "priorityClassName",
}
"""The name of a field in an older version of its object."""

_FOUND_AND_EXPECTED: Final = {
    "missing": ("is missing", ""),
    "extra_forbidden": ("there is no such key", ""),
    "model_type": ("is not an object", "an object"),
    "dict_type": ("is not an object", "an object"),
    "tuple_type": ("is not a list", "a list"),
    "string_type": ("is not a string", "a string"),
    "string_unicode": ("is not a string that can be written", "a string of whole characters"),
    "string_too_short": ("is empty", "a name"),
    "string_too_long": ("is too long", "at most {max_length} characters"),
    "too_many": ("has too many entries", "at most {most} entries"),
    "int_type": ("is not a whole number", "a whole number"),
    "bool_type": ("is neither true nor false", "true or false"),
    "greater_than_equal": ("is too small", "a whole number of at least {ge}"),
    "less_than_equal": ("is too large", "a whole number of at most {le}"),
    "literal_error": ("is not a value it can have", "one of {choices}"),
    "quantity": ("is not a Kubernetes quantity", SUFFIXES),
    "own_quantity": ("is not a quantity", "{expected}"),
    "negative": ("is negative", "a quantity of 0 or more"),
    "values": ("does not fit the operator", "{expected}"),
    "timestamp": ("is not a timestamp", TIMESTAMP),
    "quota_twice": ("has a quota twice", "{which} once"),
}
"""By pydantic's type of an error, the words for what was found and what is expected."""

_QUOTED: Final = re.compile(r"'([^']*)'")
_LONGEST_QUANTITY: Final = 40
_DIGITS: Final = re.compile(r"-?[0-9]{1,10}")


def schema_error(item: Item, subject: str, error: ValidationError, total: int) -> SchemaError:
    """Return the first of ``total`` errors in words.

    ``subject`` names the object, such as ``Workload team-a/train``.
    """
    first = error.errors(include_url=False)[0]
    kind, context = first["type"], dict(first.get("ctx", {}))
    location, given = first["loc"], first["input"]
    if "entry" in context:  # a validator of a whole mapping says which entry it is about
        key, given = context.pop("entry")
        location = (*location, key)
    found, expected = _FOUND_AND_EXPECTED.get(kind, (f"cannot be used: {first['msg']}", ""))
    quoted = _QUOTED.findall(str(context.get("expected", ""))) if kind == "literal_error" else []
    choices = [choice for choice in quoted if choice]  # nobody is told to write nothing
    if kind == "value_error":
        found, expected = "cannot be used", str(context["error"]).removeprefix("should be ")
    elif context:
        expected = expected.format(choices=", ".join(choices), **context)
        if "owner" in context:
            found = f"{found} of {context['owner']}"
    # A missing field has no value of its own: pydantic gives the object it is missing from.
    absent = kind in {"missing", "extra_forbidden"}
    phrase = found if absent else f"{shown(given)} {found}"
    if total > 1:
        phrase += f" (the first of {total} such problems)"
    where = place(item.root, (*item.path, *_written(item.value, location)))
    hint = _hint(kind, given, choices)
    return SchemaError(where, f"{subject}: {phrase}", expected, hint)


def _written(value: object, location: tuple[str | int, ...]) -> Iterator[str | int]:
    """Yield a location with the field names that the user wrote, which may be older ones."""
    for step in location:
        if step == "[key]":
            return
        if isinstance(value, dict) and step not in value:
            former = _FORMER_NAMES.get(str(step))
            if former is not None and former in value:
                yield former
                return
        yield step
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
            value = value[step]


def _hint(kind: str, found: object, choices: list[str]) -> str:
    if kind == "literal_error" and isinstance(found, str):
        return did_you_mean(found, choices)
    if kind == "quantity" and isinstance(found, str):
        meant = _meant_quantity(found)
        return f'did you mean "{meant}"?' if meant else ""
    if kind == "string_type" and isinstance(found, bool | int | float):
        return "put it in quotes"
    if isinstance(found, str):
        quoted = kind == "bool_type" and found.lower() in {"true", "false"}
        if quoted or (kind == "int_type" and _DIGITS.fullmatch(found)):
            return "leave out the quotes"
        if kind == "timestamp" and re.fullmatch(r"[0-9-]{10}[T ][0-9:.]+", found):
            return "add the time zone, such as Z for UTC"
    return ""


def _meant_quantity(found: str) -> str | None:
    """Return a quantity which is spelt almost like what was found, if there is one."""
    if len(found) > _LONGEST_QUANTITY:
        return None
    text = "".join(found.split()).replace(",", ".").replace("_", "")
    suffix = text.lstrip("+-.0123456789")
    digits = text.removesuffix(suffix)
    unit = suffix.lower().removesuffix("bytes").removesuffix("byte").removesuffix("b")
    spellings = [unit, unit.capitalize(), unit.upper()]
    if suffix[:1] == "m" and suffix != "m":  # "mi" and "mb" mean mega, but plain "m" is milli
        spellings.remove(unit)
    for spelling in spellings:
        try:
            parse_quantity(digits + spelling)
        except QuantityError:
            continue
        return digits + spelling
    return None


Kind = TypeVar("Kind", bound=BaseModel)


def checked(kind: type[Kind], value: object, where: str, path: Path, subject: str = "") -> Kind:
    """Validate one value; ``subject`` names it in a message.

    Raises ``SchemaError`` if the value is no object, or a field of it cannot be used.
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

    The field ``name`` of a value names it in messages.

    Raises ``SchemaError`` if the field is no list, or a value of it cannot be used.
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
