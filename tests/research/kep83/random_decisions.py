"""Small random decisions by KEP-83's rules, made so that about every other one has answers.

Numbers are tiny on purpose: usage meets quotas exactly again and again, which is where a rule and
its neighbour differ. Most cohorts are flat, as in the KEP; some are trees, with lending limits.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Final

from planner.objective.annotation import PREFIX
from planner.quota.kueue.assignment import read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.research.kep83.options import Kep83
from tests.cluster import FLAVOR, PENDING, Object, cohort, pending, queue, running, state_of
from tests.research.kep83.cases import Decision

RESOURCES: Final = ("gpu", "cards")
WITHIN: Final = ("Never", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority")
RECLAIM: Final = ("Never", "LowerPriority", "Any", "Any")
COHORT: Final = (None, None, None, "Never", "ReclaimFromLowerPriority", "ReclaimFromAny")
BORROWING: Final = "LowerPriority"
QUEUE: Final = (None, None, "Never", "LowerPriority")
CRITERIA: Final = (
    *("ByLowestPriority", "ByLowestRuntime", "ByLongestRuntime"),
    "ByLowestDisruptionCost",
)
WAITS: Final = (0, 0, 0, 0, 30, 60)


def random_decision(seed: int, workloads: int, most: int = 3) -> Decision:
    """Draw a decision; ``workloads`` hold quota at most, and ``most`` is the largest min of others.

    The preemptor has waited for 30 s by the condition that Kueue writes, or was never attempted.
    """
    chance = random.Random(seed)  # noqa: S311 - a test wants the same numbers again
    resources = RESOURCES[: chance.choice((1, 1, 2))]
    waited = chance.choice((0, 30))
    cost = {f"ns/w{index}": chance.randint(0, 2) for index in range(workloads)}
    held = _workloads(chance, resources, cost)
    state = state_of(*_tree(chance, resources, most), _incoming(chance, resources, waited), *held)
    state = state.model_copy(update={"whole": True})  # of a queue that is not there nothing counts
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    modes = ["Preempt", *(chance.choice(("Preempt", "Preempt", "Fit")) for _ in resources[1:])]
    flavors = {r: {"flavor": FLAVOR, "mode": m} for r, m in zip(resources, modes, strict=True)}
    options = {
        "cohort": BORROWING if chance.random() < 0.3 else chance.choice(COHORT),
        "queue": chance.choice(QUEUE),
        "order": tuple(chance.sample(CRITERIA, chance.randint(0, len(CRITERIA)))),
        "wait": chance.choice(WAITS),
    }
    return Decision(
        state,
        snapshot,
        preemptor,
        read_assignment({"main": flavors}, preemptor),
        Kep83.model_validate(options),
        waited,
        cost,
    )


def _tree(chance: random.Random, resources: tuple[str, ...], most: int) -> Iterator[list[Object]]:
    """Yield queue a, which the preemptor waits for, and one to three others."""
    nested = chance.random() < 0.2
    yield cohort("org", nominal=_amounts(chance, resources, 0, 2) if nested else None)
    yield cohort("team", "org")
    for name in "abcd"[: chance.randint(2, 4)]:
        mine = name == "a"
        borrows, lends = (chance.random() < share for share in (0.2, 0.3 if nested else 0))
        yield queue(
            name,
            _amounts(chance, resources, 2 if mine else 0, 4 if mine else most),
            chance.choice(("org", "team")) if nested else "org",
            within=chance.choice(WITHIN) if mine else "Never",
            reclaim=chance.choice(RECLAIM) if mine else "Never",
            stop="Hold" if not mine and chance.random() < 0.05 else "None",
            borrowing=_amounts(chance, resources, 0, 3) if borrows else None,
            lending=_amounts(chance, resources, 0, 3) if lends else None,
        )
    yield queue("elsewhere", 1)


def _incoming(chance: random.Random, resources: tuple[str, ...], waited: int) -> list[Object]:
    (incoming,) = pending("a", _amounts(chance, resources, 1, 3), chance.randint(1, 2))
    if waited:
        since = {"type": "QuotaReserved", "status": "False"}
        incoming["status"] = {"conditions": [{**since, "lastTransitionTime": SINCE}]}
    return [incoming]


def _workloads(
    chance: random.Random, resources: tuple[str, ...], cost: Mapping[str, int]
) -> Iterator[list[Object]]:
    for key in list(cost)[: chance.randint(3, len(cost))]:
        held = {r: chance.randint(0 if i else 1, 4) for i, r in enumerate(resources)}
        if chance.random() < 0.1:
            held.pop(resources[-1])
        yield running(
            key.removeprefix("ns/"),
            chance.choice(("a", "b", "b", "b", "c", "c", "d", "elsewhere")),
            held,
            chance.randint(0, 2),
            minute=chance.randint(0, 3),
            evicted=chance.random() < 0.1,
            annotations={f"{PREFIX}milestones": f"0s:{cost[key]}"},
        )


def _amounts(
    chance: random.Random, resources: tuple[str, ...], least: int, most: int
) -> dict[str, int]:
    return {resource: chance.randint(least, most) for resource in resources}


SINCE: Final = "2026-05-01T12:59:30Z"
"""30 seconds before the clock of these clusters."""
