"""Small random states full of victims that would preempt again: all quota is in use.

Up to seven workloads in two to four queues, in cohorts of up to three levels with limits, under
classical preemption and under fair sharing by every choice of strategies. Amounts are a few units.
"""

import random
from typing import Final

from planner.state.kueue import State
from tests.cluster import Object, cohort, configuration, pending, queue, running, state_of

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
STRATEGIES: Final = ((), (), (FINAL,), (INITIAL,))
QUEUES: Final = "abcd"


def restless_state(seed: int, *, fair: bool, release: str = "main") -> State:
    """Return the state of a seed; its pending workload is ``ns/pending``."""
    chance = random.Random(f"restless/{seed}")  # noqa: S311 - test data
    resources = ("gpu", "cpu")[: chance.choice((1, 1, 2))]

    def amounts(least: int, most: int) -> dict[str, int]:
        return {resource: chance.randint(least, most) for resource in resources}

    def limit() -> dict[str, int] | None:
        return amounts(0, 4) if chance.random() < 0.15 else None

    def weight() -> str | None:
        return chance.choice((None, None, "1", "2", "0.3", "0")) if fair else None

    parts: list[list[Object]] = [cohort("org", nominal=amounts(0, 2), weight=weight())]
    cohorts = ["org"]
    for name in ("left", "right", "low")[: chance.randint(0, 3)]:
        above = "left" if name == "low" else "org"
        limits = {"borrowing": limit(), "lending": limit()}
        parts.append(cohort(name, above, nominal=amounts(0, 1), weight=weight(), **limits))
        cohorts.append(name)
    names = QUEUES[: chance.randint(2, len(QUEUES))]
    for name in names:
        borrow = chance.choice(("Never", "LowerPriority"))
        parts.append(
            queue(
                name,
                amounts(1, 4),
                chance.choice(cohorts),
                borrowing=limit(),
                lending=limit(),
                within=chance.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
                reclaim=chance.choice(("Any", "Any", "Any", "LowerPriority", "Never")),
                borrow=borrow,
                threshold=chance.choice((None, 0, 1)) if borrow != "Never" else None,
                weight=weight(),
            )
        )
    for number in range(chance.randint(4, 7)):
        held = chance.choice(names), amounts(1, 3), chance.choice((0, 0, 1, 2))
        minute, created = chance.randint(0, 9), chance.randint(0, 9)
        goes = chance.random() < 0.03
        parts.append(
            running(
                f"w{number}",
                *held,
                minute=minute,
                created=created,
                evicted=goes and number % 2 == 0,
                deleted=goes and number % 2 == 1,
            )
        )
    parts.append(pending("a", amounts(1, 4), 3))
    if fair:
        gate = release == "main" and chance.random() < 0.5
        strategies = list(chance.choice(STRATEGIES))
        gates = {"FairSharingPreemptWithinNominal": True} if gate else {}
        fair_sharing = {"preemptionStrategies": strategies}
        parts.append(configuration(fairSharing=fair_sharing, featureGates=gates))
    return state_of(*parts, release=release)
