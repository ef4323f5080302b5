"""From a preset, a seed and knobs to a state, or to what kubectl would print of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.commands.generate.knobs import KueueKnobs, with_knobs
from planner.commands.generate.kueue.draw import lay_out
from planner.commands.generate.kueue.objects import objects_of
from planner.commands.generate.presets import find_preset
from planner.commands.generate.yunikorn.draw import lay_out as lay_out_yunikorn
from planner.commands.generate.yunikorn.dump import state_dump
from planner.errors import InputError
from planner.reader import read_objects
from planner.state import AnyState

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
        What to change of the preset: fields of `KueueKnobs` or `YuniKornKnobs`, whichever
        scheduler it is of.

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
    if isinstance(chosen, KueueKnobs):
        return objects_of(lay_out(chosen, seed), seed)
    return state_dump(lay_out_yunikorn(chosen, seed), seed)
