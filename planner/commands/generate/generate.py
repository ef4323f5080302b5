"""Named clusters to start from, and the way from a preset, a seed and knobs to a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from planner.commands.generate.knobs import Knobs, Preset, with_knobs
from planner.errors import InputError
from planner.reader import read_objects
from planner.scheduler import Part, schedulers
from planner.stage import begin
from planner.state import AnyState


class Generated(Protocol):
    """What making up clusters asks of a scheduler."""

    KNOBS: type[Knobs]
    """Its knobs."""
    PRESETS: Sequence[Preset]
    """Its named clusters."""
    FOLDER: str
    """The folder in which a state of its own lies as it is read; empty for a file."""

    def made(self, knobs: Knobs, seed: int) -> dict[str, Any]:
        """Return what is printed of a cluster."""
        ...


class _Of(NamedTuple):
    scheduler: str


GENERATED: Final = Part[Generated]("generation")
_KNOWN: Final = tuple(
    (one.words.name, part)
    for one in schedulers()
    if (part := GENERATED.find(_Of(one.id))) is not None
)
RECORDS: Final = tuple((name, part.KNOBS) for name, part in _KNOWN)
"""The name of each scheduler and its knobs."""
PRESETS: Final[dict[str, Preset]] = {one.name: one for _, part in _KNOWN for one in part.PRESETS}
"""The presets by name."""


def find_preset(name: str) -> Preset:
    """Return a preset.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in PRESETS:
        raise InputError("PRESET", f"there is no preset {name!r}", f"one of {', '.join(PRESETS)}")
    return PRESETS[name]


MOST_SEEDS = 2**63


def generate(preset: str = "flat", seed: int = 0, **knobs: object) -> AnyState:
    """Make up a state: the same preset, seed and knobs give the same one, on every machine.

    Parameters
    ----------
    preset
        The name of a cluster to start from; ``planner generate --help`` lists them.
    seed
        Which one of its kind, 0 to 2^63 - 1.
    knobs
        What to change of the preset: fields of the record of knobs that its scheduler has.

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
    chosen = with_knobs(find_preset(preset).knobs, knobs)
    if not 0 <= seed < MOST_SEEDS:
        raise InputError("--seed", f"{seed} is outside the limits", "0 to 2^63 - 1")
    begin("drawing workloads")
    return GENERATED.of(chosen).made(chosen, seed)
