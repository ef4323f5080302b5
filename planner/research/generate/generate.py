"""Knobs and presets of generated clusters, and the way from a preset, a seed and knobs to a state.

Every knob has a unit, limits and a default. The command line makes its options of these records,
and the library its keyword arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain
from numbers import Integral
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct

from planner.errors import InputError
from planner.reader import read_objects
from planner.research.wing import generators
from planner.scheduler import scheduler_of
from planner.stage import begin
from planner.state import AnyState

FULL: Final = 100
WIDEST: Final = 1024
"""How many cohorts or parent queues a level may have at most."""


class Knob(Struct, frozen=True):
    """What a knob does, with its unit; numbers have limits, both included."""

    what: str
    least: int = 0
    most: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The base of the knobs of a scheduler's clusters: a derived record has the knobs as fields.

    ``scheduler`` is the id of the scheduler.
    """

    scheduler = ""


class Preset(NamedTuple):
    """A named cluster: a line that describes it, and its knobs."""

    summary: str
    knobs: Knobs


class KnobOption(NamedTuple):
    """A knob as the command line and the documentation show it."""

    name: str
    knob: Knob
    kind: type | tuple[str, ...]
    default: object


def knobs_of(record: type[Knobs]) -> Iterator[KnobOption]:
    """Yield the knobs of a record; ``kind`` is int, bool, or the words to choose from."""
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        written, knob = get_args(hints[field.name])
        words = get_args(written) if get_origin(written) is Literal else None
        yield KnobOption(field.name, knob, words or written, field.default)


def check_limits(knobs: Knobs) -> None:
    """Refuse a value of the wrong type or outside its limits, with an InputError."""
    for name, knob, kind, _ in knobs_of(type(knobs)):
        value = getattr(knobs, name)
        if isinstance(kind, tuple):
            if value not in kind:
                raise impossible(name, f"{value!r} is not one of them", ", ".join(kind))
        elif type(value) is not kind:
            raise impossible(name, f"{value!r} is not of type {kind.__name__}")
        elif isinstance(value, int) and not knob.least <= value <= knob.most:
            limits = f"{knob.least} to {knob.most}"
            raise impossible(name, f"{value} is outside the limits", limits)


def check_width(branches: int, depth: int) -> None:
    """Refuse too many cohorts or parent queues, with an InputError."""
    if branches ** max(0, depth - 1) > WIDEST:
        found = f"{depth} levels with {branches} branches each"
        raise impossible("branches", found, f"at most {WIDEST} on the last level")


def check_seed(seed: int) -> None:
    """Refuse what is no seed, with an InputError."""
    if not isinstance(seed, Integral):
        raise InputError("seed", f"{seed!r} is no whole number", "0 to 2^63 - 1")
    if not 0 <= seed < 2**63:
        raise InputError("seed", f"{seed} is outside the limits", "0 to 2^63 - 1")


def impossible(name: str, found: str, expected: str = "") -> InputError:
    """Return an error about a knob: its value cannot be used, or contradicts another knob."""
    return InputError(name, found, expected)


KnobsT = TypeVar("KnobsT", bound=Knobs)


class Generated(Protocol[KnobsT]):
    """What making up clusters asks of a scheduler: its knobs, and its named clusters.

    ``FOLDER`` names the folder in which a state lies for the reader; empty if a file will do.
    """

    KNOBS: type[KnobsT]
    PRESETS: Mapping[str, Preset]
    FOLDER: str

    def made(self, knobs: KnobsT, seed: int) -> dict[str, Any]:
        """Return a cluster as kubectl, or the scheduler itself, prints it."""
        ...


RECORDS: Final = tuple(
    (scheduler_of(one.KNOBS()).words.name, one.KNOBS) for one in generators().values()
)
"""The name of each scheduler and its knobs."""
PRESETS: Final = dict(chain.from_iterable(one.PRESETS.items() for one in generators().values()))
"""The presets by name."""


def generate(preset: str = "flat", seed: int = 0, **knobs: object) -> AnyState:
    """Make up a state: the same preset, seed and knobs give the same state, on every machine.

    Parameters
    ----------
    preset
        The name of a cluster to start from; ``planner generate --help`` lists them.
    seed
        Which one of the clusters of this kind, 0 to 2^63 - 1.
    knobs
        What to change of the preset: fields of the record of knobs of its scheduler.

    Raises
    ------
    InputError
        If there is no such preset or knob, or no such cluster.
    """
    value = generate_objects(preset, seed, knobs)
    return read_objects(value, where=f"{preset}, seed {seed}")


def generate_objects(preset: str, seed: int, knobs: Mapping[str, object]) -> dict[str, Any]:
    """Make up what kubectl would print of a cluster of Kueue, or the state dump of a YuniKorn.

    Parameters and errors are those of `generate`.
    """
    if preset not in PRESETS:
        raise InputError("PRESET", f"there is no preset {preset!r}", f"one of {', '.join(PRESETS)}")
    chosen = PRESETS[preset].knobs
    known = [field.name for field in fields(chosen)]
    if unknown := [name for name in knobs if name not in known]:
        found = f"there is no such knob for {scheduler_of(chosen).words.name}"
        raise impossible(unknown[0], found, f"one of {', '.join(known)}")
    chosen = replace(chosen, **knobs)
    check_seed(seed)
    begin("drawing workloads")
    return generators()[chosen.scheduler].made(chosen, seed)
