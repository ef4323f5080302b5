"""What can be set of an object, and how a new value is read and put in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from planner.errors import SchemaError
from planner.reader.complaint import closest, schema_error
from planner.reader.items import Item
from planner.state.base import Schema

ABSENT: Final = "none"
"""Written for a value that is absent, such as a limit that does not bind."""

_WORDS: Final[Mapping[str, bool | None]] = {ABSENT: None, "true": True, "false": False}
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,30}")

Part = tuple[tuple[str, ...], str]
"""The steps to a part of an object, by Python names, and a field of it by its Kubernetes name."""

AnySchema = TypeVar("AnySchema", bound=Schema)


@dataclass(frozen=True, slots=True)
class Setting:
    """One edit as it was written: what is to be set, and the text of the new value."""

    text: str
    target: str
    value: str

    @property
    def where(self) -> str:
        """The edit, for messages."""
        return f"edit {self.text}"

    def refused(self, found: str, expected: str, hint: str = "") -> SchemaError:
        """Return an error about this edit."""
        return SchemaError(self.where, found, expected, hint)

    def unknown(self, what: str, name: str, known: Sequence[str]) -> SchemaError:
        """Return an error about a name that is not there, with those that are."""
        close = closest(name, list(known)) if name else None
        shown = ", ".join(known[:_MOST_SHOWN]) or "none: there is nothing to set"
        more = len(known) - _MOST_SHOWN
        expected = f"one of {shown}" + (f" and {more} more" if more > 0 else "")
        return self.refused(
            f'there is no {what} "{name}"', expected, f'did you mean "{close}"?' if close else ""
        )


_MOST_SHOWN: Final = 12


def replaced(
    thing: AnySchema, steps: Sequence[str], field: str, setting: Setting, subject: str
) -> AnySchema:
    """Return a copy of an object in which one field, some steps down, has the new value.

    Parameters
    ----------
    thing
        The object; what it holds stays as it is.
    steps
        The fields, by their Python names, that lead to the part with the field.
    field
        The field by its Kubernetes name.
    setting
        The edit.
    subject
        What to call the object in messages.

    Raises
    ------
    SchemaError
        If the field cannot have the value.
    """
    if steps:
        first, *rest = steps
        part = replaced(getattr(thing, first), rest, field, setting, subject)
        return thing.model_copy(update={first: part})
    fields = type(thing).model_fields
    name = next(own for own, info in fields.items() if field in {own, info.alias})
    names = {own: getattr(thing, own) for own, info in fields.items() if info.is_required()}
    given: dict[str, Any] = {own: text for own, text in names.items() if isinstance(text, str)}
    given[field] = _value(setting.value)
    try:
        checked = type(thing).model_validate(given)
    except ValidationError as error:
        item = Item(setting.where, (), given)
        raise schema_error(item, subject, error, error.error_count()) from None
    return thing.model_copy(update={name: getattr(checked, name)})


def _value(text: str) -> str | int | bool | None:
    """Read a value as YAML would: a whole number, true or false, ``none``, or a text."""
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if _WHOLE.fullmatch(text) else text
