"""Named clusters to start from, and the way from a preset, a seed and knobs to a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.commands.generate.knobs import Knobs, KueueKnobs, YuniKornKnobs, with_knobs
from planner.commands.generate.kueue.draw import lay_out
from planner.commands.generate.kueue.objects import objects_of
from planner.commands.generate.yunikorn.draw import lay_out as lay_out_yunikorn
from planner.commands.generate.yunikorn.dump import state_dump
from planner.errors import InputError
from planner.reader import read_objects
from planner.state import AnyState


@dataclass(frozen=True, slots=True)
class Preset:
    """A name, what it is in a line, and its knobs."""

    name: str
    summary: str
    knobs: Knobs


_ALL: Final = (
    Preset("flat", "one cohort of six queues", KueueKnobs()),
    Preset(
        "small",
        "three queues, a dozen workloads: few enough to try all victim sets",
        KueueKnobs(queues=3, workloads=12, victims=2, gangs=0),
    ),
    Preset("no-cohort", "queues by themselves", KueueKnobs(queues=3, depth=0, workloads=60)),
    Preset(
        "hierarchical",
        "cohorts three levels deep, with limits",
        KueueKnobs(queues=12, depth=3, workloads=240, limits=40, borrowers=60),
    ),
    Preset(
        "borrowing",
        "the preemptor must borrow",
        KueueKnobs(beyond=50, limits=20, borrowers=60),
    ),
    Preset(
        "fair",
        "fair sharing with weights, and a pool that belongs to nobody",
        KueueKnobs(fair=True, pool=20, weights=40),
    ),
    Preset(
        "fair-hierarchical",
        "fair sharing in cohorts three levels deep",
        KueueKnobs(queues=12, depth=3, workloads=240, fair=True, pool=10, weights=40),
    ),
    Preset(
        "many-flavors",
        "five flavors, all of them full",
        KueueKnobs(flavors=5, workloads=200),
    ),
    Preset(
        "hard",
        "Kueue evicts many of a sweep where one job would do",
        KueueKnobs(victims=6, hard=100),
    ),
    Preset(
        "kueue-baseline",
        "Kueue's scalability test: 5 cohorts of 6 queues, 15,000 workloads",
        KueueKnobs(
            queues=30,
            cohorts=5,
            workloads=15_000,
            shapes="kueue-baseline",
            borrow="Never",
            victims=12,
        ),
    ),
    Preset(
        "kueue-large-scale",
        "the large one: 10 cohorts of 100 queues, 50,000 workloads",
        KueueKnobs(
            queues=1000,
            cohorts=10,
            workloads=50_000,
            shapes="kueue-large-scale",
            borrow="Never",
            victims=12,
        ),
    ),
    Preset(
        "large",
        "30 queues three levels deep, 10,000 workloads, no two alike",
        KueueKnobs(queues=30, depth=3, workloads=10_000, shapes="distinct", victims=12),
    ),
    Preset(
        "huge",
        "1,000 queues in 10 cohorts, 100,000 workloads, no two alike",
        KueueKnobs(
            queues=1000, cohorts=10, depth=2, workloads=100_000, shapes="distinct", victims=12
        ),
    ),
    Preset("yunikorn", "eight nodes, six leaf queues on two levels", YuniKornKnobs()),
    Preset(
        "yunikorn-small",
        "two nodes, three leaf queues",
        YuniKornKnobs(queues=3, depth=1, nodes=2, cores=16),
    ),
    Preset(
        "yunikorn-hierarchical",
        "queues three levels deep with fences, offsets and maxima",
        YuniKornKnobs(queues=12, depth=3, nodes=16, fences=30, offsets=40, maxima=40),
    ),
    Preset(
        "yunikorn-hard",
        "YuniKorn evicts many small pods where one would do",
        YuniKornKnobs(victims=6, hard=100, count_pods=False),
    ),
    Preset(
        "yunikorn-large",
        "200 nodes, 40 leaf queues, thousands of pods",
        YuniKornKnobs(queues=40, depth=3, branches=3, nodes=200, cores=64),
    ),
)

PRESETS: Final[dict[str, Preset]] = {preset.name: preset for preset in _ALL}
"""The presets by name.

``kueue-baseline`` and ``kueue-large-scale`` have the cohorts, queues, requests, priorities,
policies and numbers of kueue test/performance/scheduler/configs/{baseline,large-scale}/
generator.yaml (cc13fff8, f6517b0c). There workloads come and go and 20 cores are the quota of a
queue; here all of them run in one moment, so that quotas are what is in use.
"""


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
