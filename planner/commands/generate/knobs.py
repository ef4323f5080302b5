"""What a generated cluster is like: every knob with its unit, its limits and its default.

The command line makes its options of these records, and the library its keyword arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from planner.errors import InputError
from planner.scheduler import scheduler_of

FULL: Final = 100
WIDEST: Final = 1024
"""How many cohorts or parent queues a level may have at most."""


@dataclass(frozen=True, slots=True)
class Knob:
    """What a knob does, with its unit; numbers have limits, both included."""

    what: str
    least: int = 0
    most: int = 100

    def holds(self, value: int) -> bool:
        """Say whether a number is within the limits."""
        return self.least <= value <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What a scheduler's clusters are like: its own knobs are the fields of a record of its own."""

    scheduler: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Preset:
    """A name, what it is in a line, and its knobs."""

    name: str
    summary: str
    knobs: Knobs


class KnobOption(NamedTuple):
    """A knob as the command line and the documentation tell of it."""

    name: str
    knob: Knob
    kind: type | tuple[str, ...]
    default: Any


def knobs_of(record: type[Knobs]) -> Iterator[KnobOption]:
    """Yield the knobs of a record; ``kind`` is int, bool, or the words to choose from."""
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        written, knob = get_args(hints[field.name])
        words = get_args(written) if get_origin(written) is Literal else None
        yield KnobOption(field.name, knob, words or written, field.default)


def with_knobs(knobs: Knobs, given: Mapping[str, Any]) -> Knobs:
    """Return a record with some knobs turned.

    Raises
    ------
    InputError
        If there is no such knob, or its value cannot be used.
    """
    known = [field.name for field in fields(knobs)]
    for name in given:
        if name not in known:
            what = scheduler_of(knobs).words.name
            raise InputError(
                _option(name), f"there is no such knob for {what}", f"one of {', '.join(known)}"
            )
    return replace(knobs, **given)


def check_limits(knobs: Knobs) -> None:
    """Refuse a value of the wrong type or outside its limits.

    Raises
    ------
    InputError
        If there is one.
    """
    for option in knobs_of(type(knobs)):
        value = getattr(knobs, option.name)
        if isinstance(option.kind, tuple):
            if value not in option.kind:
                raise InputError(
                    _option(option.name), f"{value!r} is not one of them", ", ".join(option.kind)
                )
        elif type(value) is not option.kind:
            raise InputError(
                _option(option.name), f"{value!r} is not of type {option.kind.__name__}"
            )
        elif isinstance(value, int) and not option.knob.holds(value):
            limits = f"{option.knob.least} to {option.knob.most}"
            raise InputError(_option(option.name), f"{value} is outside the limits", limits)


def too_wide(branches: int, depth: int) -> InputError:
    """Return an error about too many cohorts or parent queues."""
    found = f"{depth} levels with {branches} branches each"
    return impossible("branches", found, f"at most {WIDEST} on the last level")


def impossible(name: str, found: str, expected: str) -> InputError:
    """Return an error about a knob that contradicts another one."""
    return InputError(_option(name), found, expected)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
