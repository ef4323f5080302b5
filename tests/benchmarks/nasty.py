"""States that are hard for solvers: how much processor time a plan takes once its time is up.

    python -m tests.benchmarks.nasty --states 100 --limit 2

Each state is solved in a process of its own. Printed are, for each kind of state, how many plans
were optimal, and the largest and the median processor time after the limit, in seconds.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from statistics import median
from typing import Final, NamedTuple

import planner
from planner.state import AnyState
from tests.benchmarks.clusters import Form, cluster
from tests.benchmarks.test_places import racks
from tests.cluster import Object, pending, queue, running
from tests.cluster import state_of as made_of
from tests.kueue_state import read_objects

RESOURCES: Final = ("cpu", "memory", "nvidia.com/gpu", "a/b", "c/d", "e/f")
PENDING: Final = 40
"""Workloads that wait in a joint state."""

lender = partial(queue, cohort="c", within="LowerPriority", reclaim="Any")
OVER_S: Final = 1.0
"""Seconds of processor time that a plan may take once its time is up."""


def knapsack(chance: random.Random) -> AnyState:
    """Return a queue whose workloads hold no two equal amounts of several resources."""
    names = RESOURCES[: chance.randint(2, len(RESOURCES))]
    held = [
        {name: chance.randint(500_000, 1_000_000) for name in names}
        for _ in range(chance.randint(60, 200))
    ]
    total = {name: sum(each[name] for each in held) for name in names}
    parts = [running(f"w{i}", "a", each, minute=i % 60) for i, each in enumerate(held)]
    wanted = {name: amount // 2 for name, amount in total.items()}
    return made_of(queue("a", total, within="LowerPriority"), *parts, pending("a", wanted))


def ties(chance: random.Random) -> AnyState:
    """Return queues that borrow, with hundreds of workloads of a few sizes, begun together."""
    sizes, number = [chance.randint(1, 4) for _ in range(3)], chance.randint(10, 30)
    held = [[chance.choice(sizes) for _ in range(20)] for _ in range(number)]
    owned = sum(map(sum, held))
    parts: list[Iterable[Object]] = [lender("a", owned)]
    for q, amounts in enumerate(held):
        parts.append(queue(f"q{q}", 0, cohort="c"))
        parts += [running(f"w{q}-{i}", f"q{q}", n) for i, n in enumerate(amounts)]
    return made_of(*parts, pending("a", owned // 3 + 1))


def deep(chance: random.Random) -> AnyState:
    """Return four levels of cohorts, with workloads of which no two are alike."""
    form = Form(
        chance.randint(300, 1500),
        queues=chance.randint(10, 40),
        depth=4,
        shapes="distinct",
        victims=chance.randint(30, 120),
        fair=chance.random() < 0.5,
        seed=chance.randrange(2**31),
    )
    return read_objects(cluster(form), where=form.name)


def domains(chance: random.Random) -> AnyState:
    """Return full racks, where pods have to find places."""
    return racks(chance.randint(100, 700), chance.choice(("rack", "preferred", "slices")))


def joint(chance: random.Random) -> AnyState:
    """Return a full cohort in which forty wait at once."""
    number = chance.randint(4, 10)
    held = [chance.randint(1, 9) for _ in range(chance.randint(60, 150))]
    parts: list[Iterable[Object]] = [queue("z", 0, cohort="c")]
    parts += [lender(f"q{q}", sum(held) // number) for q in range(number)]
    parts += [running(f"w{i}", "z", n, minute=i % 60) for i, n in enumerate(held)]
    for i in range(PENDING):
        wanted = pending(f"q{chance.randrange(number)}", chance.randint(1, 9))
        wanted[0]["metadata"]["name"] = f"pending-{i}"
        parts.append(wanted)
    return made_of(*parts)


KINDS: Final[dict[str, Callable[[random.Random], AnyState]]] = {
    each.__name__: each for each in (knapsack, ties, deep, domains, joint)
}
OBJECTIVES: Final = ("no-regret", "exact-fit", "fair", "min-lost-work")


class Taken(NamedTuple):
    """What came of a state, and the seconds of processor time that were taken after the limit."""

    kind: str
    seed: int
    status: str
    over_s: float


def solve(kind: str, seed: int, limit: float) -> Taken:
    """Plan for one state, and look at the processor's clock when its time is up, and at the end."""
    chance = random.Random(f"{kind}/{seed}")  # noqa: S311 - test data
    state, at_limit = KINDS[kind](chance), list[float]()
    clock = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    clock.daemon = True
    clock.start()
    if kind == joint.__name__:
        status = planner.solve_joint(state, time_limit=limit).status
    else:
        objective = OBJECTIVES[seed % len(OBJECTIVES)]
        status = planner.solve(state, objective=objective, time_limit=limit).status
    over = time.process_time() - at_limit[0] if at_limit else 0.0
    return Taken(kind, seed, status, round(over, 3))


def each_apart(states: int, limit: float) -> Iterator[Taken]:
    """Plan for states of all kinds in turn, each in a process of its own, which ends with it."""
    kinds = [*KINDS]
    for number in range(states):
        asked = [kinds[number % len(kinds)], str(number // len(kinds)), str(limit)]
        words = [sys.executable, "-m", "tests.benchmarks.nasty", "--one", *asked]
        run = subprocess.run(words, capture_output=True, text=True, check=True)
        yield Taken(*json.loads(run.stdout.splitlines()[-1]))


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table, or with ``--one`` a line of JSON about one state."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        kind, seed, limit = given.one
        say(json.dumps(solve(kind, int(seed), float(limit))))
        return
    found = []
    for taken in each_apart(given.states, given.limit):
        found.append(taken)
        if taken.over_s > OVER_S:
            say(f"{taken.kind} {taken.seed}: {taken.over_s} s over, {taken.status}")
    for kind in KINDS:
        mine = [each for each in found if each.kind == kind]
        over = [each.over_s for each in mine]
        best = sum(each.status == "optimal" for each in mine)
        say(f"{kind:9} {best:3} of {len(mine):3} optimal, over: {max(over)} s, {median(over)} s")


if __name__ == "__main__":
    main()
