"""Large states of one shape: ten queues that share a cohort and use all of it."""

import random
from functools import cache
from typing import TypedDict

from planner.state.kueue import State
from tests.cluster import Object, cohort, fair_sharing, pending, queue, running, state_of

SIZES = (100, 1_000, 10_000)
QUEUES = 10


class Policies(TypedDict):
    """The preemption policies of a queue."""

    within: str
    reclaim: str
    borrow: str


@cache
def large(count: int, *, fair: bool) -> State:
    """Return so many running workloads that use all there is, and a pending one.

    Half of the queues use more than their quota, half use less; the preemptor's queue would
    borrow a fortieth of the whole, half as much as each of those.
    """
    chance = random.Random(count)  # noqa: S311 - test data
    used = [0] * QUEUES
    parts: list[Object] = [*cohort("org")]
    for number in range(count):
        gpus = chance.choice([1, 1, 1, 2, 4, 8])
        place = chance.randrange(QUEUES)
        used[place] += gpus
        minute, priority = chance.randint(0, 59), chance.choice([0, 0, 5, 20])
        parts += running(f"w{number}", f"q{place}", gpus, priority, minute=minute)
    words: Policies = {"within": "LowerPriority", "reclaim": "Any", "borrow": "LowerPriority"}
    left = sum(used)
    for place, amount in enumerate(used):
        quota = amount * 3 // 2 if place < QUEUES // 2 else amount // 2
        quota = min(quota, left)
        left -= quota
        parts += queue(f"q{place}", quota, "org", **words)
    parts += queue("late", left, "org", **words)
    parts += pending("late", left + sum(used) // 40)
    return state_of(parts, fair_sharing() if fair else ())
