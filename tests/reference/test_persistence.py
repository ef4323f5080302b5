"""Who preempts again whoever else goes, held against Kueue's next choice for every set of victims.

The choice is replayed for each set by itself, which recorded answers decide.
"""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Final

import numpy as np
import pytest

from planner.errors import PlannerError
from planner.objective.profiles import PROFILES
from planner.reader.kueue import read_kueue_objects
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from tests.cluster import PENDING, cohort, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.oracle.random_queueing import queueing_state
from tests.oracle.random_states import NOW
from tests.oracle.random_states import PENDING as INCOMING
from tests.restless import restless_state

RELEASES: Final = ("main", "main", "main", "main", "0.18.0", "0.17.0", "0.16.0", "0.15.0")
STATES = int(os.environ.get("PLANNER_FUZZ") or (3000 if TEST_ALL else 40))


def planned(seed: int, kind: str) -> Planning | None:
    """Return the planning of a random state; none if it is not of those that are planned."""
    if kind == "queueing":
        objects = queueing_state(seed, most=7).objects
        state, key = read_kueue_objects(objects, where=f"seed {seed}", now=NOW), INCOMING
    else:
        release = RELEASES[seed % len(RELEASES)]
        state, key = restless_state(seed, fair=kind == "fair", release=release), PENDING
    try:
        planning = start(state, Given(key))
    except PlannerError:
        return None
    assert isinstance(planning, Planning)
    planning.set_objective(PROFILES["stable"])
    return planning


def contradicted(planning: Planning, seen: Counter[str]) -> Iterator[str]:
    """Say of which sets the scheduler says that a victim is calm, and the bounds that it is not."""
    replay, workloads = planning.cascade_replay, planning.problem.workloads
    places = planning.candidates.nonzero()[0].tolist()
    spared = {at: known for at in places if (known := replay.spared(at))}
    seen["victims"] += len(places)
    seen["certain"] += len(spared)
    for gone in chain.from_iterable(combinations(places, n + 1) for n in range(len(places))):
        again = {one.victim for one in replay.cascades(gone)}
        for at in spared.keys() & {*gone}:
            enough = all(
                int(np.sum(replay.holding[name][[*gone]])) >= least
                for name, least in spared[at].items()
            )
            preempts = workloads[at].key in again
            seen["room" if enough else "no room"] += 1
            if not enough and not preempts:
                yield f"{workloads[at].key} of {[workloads[i].key for i in gone]}"


@pytest.mark.parametrize("kind", ["queueing", "classical", "fair"])
def test_a_victim_that_is_certain_to_preempt_does(kind: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(STATES):
        planning = planned(seed, kind)
        if planning is not None:
            found = [*contradicted(planning, seen)]
            assert not found, (seed, found)
    assert seen["certain"] > STATES // 20, seen
    assert min(seen["room"], seen["no room"]) > STATES // 10, seen


@pytest.mark.parametrize(("lent", "certain"), [(4, True), (2, False)])
def test_who_may_reclaim_for_its_cohort_takes_any_priority_though_its_queue_borrows(
    *, lent: int, certain: bool
) -> None:
    # The queue a must borrow 1 for the victim, of its sibling b: as long as left as a whole is
    # within its quota, right has to give back what it uses beyond its own, to any priority.
    state = state_of(
        *(cohort("org"), cohort("left", "org"), cohort("right", "org")),
        queue("a", {"gpu": 2}, "left", reclaim="Any"),
        queue("b", {"gpu": lent}, "left", reclaim="Any"),
        queue("c", {"gpu": 2}, "right"),
        running("stays", "a", {"gpu": 1}, 5),
        running("goes", "a", {"gpu": 2}, 0),
        running("other", "c", {"gpu": lent + 1}, 5),
        pending("b", {"gpu": 2}, 5),
    )
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    planning.set_objective(PROFILES["stable"])
    at = planning.keys.index("ns/goes")
    assert bool(planning.cascade_replay.spared(at)) == certain
    assert planning.cascade_replay.count([at]) == certain
