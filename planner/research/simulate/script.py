"""How long workloads run, what an eviction loses, and who arrives when: all of it is optional.

By default a workload runs for ever, and an eviction loses all of its progress. Its run time is the
first that is given of: an entry of the file, its annotation ``preemption-planner.io/run-seconds``,
the default of the file. A pending workload of Kueue that was created after the clock of the state
arrives when it was created.

The file is TOML, or JSON with the same keys; all times are whole seconds::

    run_seconds = 3600                # the default, for workloads without a time of their own
    checkpoint_seconds = 600          # an eviction loses what came after the last 600 s

    [[workload]]                      # the last entry that names a workload counts
    name = "team-a/*"                 # namespace/name (or YuniKorn's key); * ? [] as in a shell
    run_seconds = 7200
    checkpoint_seconds = 1            # an eviction loses nothing
    arrive_seconds = 60               # pending ones only: they are not there before

    [[arrival]]                       # copies of a workload, called train-1, train-2, ...
    like = "team-a/train"
    at_seconds = 0                    # when the first copy arrives
    every_seconds = 600               # and how much later each further copy
    count = 10
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from pydantic import Field, Strict, model_validator

from planner.errors import ParseError, SchemaError
from planner.objective.profile_file import parse_toml
from planner.plan.base import Record
from planner.reader.complaint import checked
from planner.reader.source import load_file

MAX_BYTES: Final = 16 * 2**20
MOST_ARRIVALS: Final = 100_000

MOST_S: Final = 2**31
"""The most seconds that a simulation may take, 68 years: the calendar has an end."""

Seconds = Annotated[int, Strict(), Field(ge=0, le=MOST_S)]
PositiveSeconds = Annotated[int, Strict(), Field(ge=1, le=MOST_S)]


class Rule(Record):
    """What is said of the workloads whose name matches."""

    name: str
    run_seconds: PositiveSeconds | None = None
    checkpoint_seconds: PositiveSeconds | None = None
    arrive_seconds: Seconds | None = None
    vacate_seconds: PositiveSeconds | None = None


class Arrivals(Record):
    """Copies of a workload or an ask that arrive one after the other."""

    like: str
    at_seconds: Seconds = 0
    every_seconds: Seconds = 0
    count: Annotated[int, Strict(), Field(ge=1, le=MOST_ARRIVALS)] = 1

    def at_s(self, number: int) -> int:
        """Return when the copy of a number arrives; numbers count from 1."""
        return self.at_seconds + (number - 1) * self.every_seconds


class Script(Record):
    """The whole file."""

    run_seconds: PositiveSeconds | None = None
    checkpoint_seconds: PositiveSeconds | None = None
    workload: tuple[Rule, ...] = ()
    arrival: tuple[Arrivals, ...] = ()

    @model_validator(mode="after")
    def _arrivals_are_bounded(self) -> Script:
        if sum(rows.count for rows in self.arrival) > MOST_ARRIVALS:
            raise ValueError(f"should be at most {MOST_ARRIVALS} arrivals in all")
        if any(rows.at_s(rows.count) > MOST_S for rows in self.arrival):
            raise ValueError(f"should be arrivals no later than {MOST_S} seconds")
        return self

    def run_s(self, *called: str, annotated: int | None = None) -> int | None:
        """Return for how many seconds a workload runs, by its names; ``None``: for ever."""
        return self._last(called, "run_seconds") or annotated or self.run_seconds

    def checkpoint_s(self, *called: str) -> int | None:
        """Return after how many seconds each a workload makes a checkpoint; ``None``: never."""
        return self._last(called, "checkpoint_seconds") or self.checkpoint_seconds

    def arrive_s(self, *called: str) -> int | None:
        """Return when a workload arrives; ``None`` if no entry gives that."""
        return self._last(called, "arrive_seconds")

    def vacate_s(self, key: str) -> int | None:
        """Return how long a victim keeps its quota; ``None`` if no entry gives that."""
        return self._last((key,), "vacate_seconds")

    def idle(self, called: Sequence[str]) -> Iterator[str]:
        """Yield the names of the rules that name none of some workloads."""
        for rule in self.workload:
            if not any(fnmatchcase(key, rule.name) for key in called):
                yield rule.name

    def _last(self, called: Iterable[str], field: str) -> int | None:
        """Return the value of a field in the last rule that names a workload and sets the field."""
        for rule in reversed(self.workload):
            value: int | None = getattr(rule, field)
            if value is not None and any(fnmatchcase(key, rule.name) for key in called):
                return value
        return None


NOTHING_SAID: Final = Script()


class Leaving(NamedTuple):
    """How long victims keep their quota, in seconds: each at least 1.

    ``apart_s`` is how much longer each victim of a decision takes than the victim before. A time
    that the script gives for a victim comes first.
    """

    eviction_s: int = 1
    apart_s: int = 0

    def seconds(self, script: Script, key: str, place: int = 0) -> int:
        """Return how long a victim keeps its quota; ``place`` counts the victims before it."""
        given = script.vacate_s(key)
        return self.eviction_s + place * self.apart_s if given is None else given


def read_script(path: str | Path) -> Script:
    """Read a script from a TOML file, or a JSON file if its name ends in ``.json``.

    Raises ``InputError`` if the file cannot be read; ``ParseError`` if it is neither TOML nor JSON,
    or too large; ``SchemaError`` if a key is unknown or has an unusable value.
    """
    text = load_file(Path(path), MAX_BYTES, "a file")
    is_json = text.where.endswith(".json")
    try:
        value = json.loads(text.data) if is_json else parse_toml(text.data.decode())
    except (ValueError, RecursionError) as error:
        raise ParseError(text.where, f"not {'JSON' if is_json else 'TOML'}: {error}") from None
    try:
        return checked(Script, value, text.where, (), "the script")
    except SchemaError as error:
        error.hint = error.hint or "docs/how-to/simulate.md has the keys and an example"
        raise
