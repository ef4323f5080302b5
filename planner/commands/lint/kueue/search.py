"""The search for a smallest example: few workloads of telling sizes, each dump tried by replay.

Sizes are those at which anything can change: a unit, the nominal quota, a unit more, and all that
a ClusterQueue could use. Priorities only decide by comparison, so below, equal and above stand
for all there are. No example, no finding.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeVar

from planner.commands.lint.kueue.facts import Facts
from planner.commands.lint.kueue.trial import Told, decided, loop
from planner.commands.lint.kueue.world import Change, Job, World
from planner.commands.lint.record import Example

ASKS: Final = "asks"
RUNS: Final = "runs"
BOOST: Final = "1000"
MAX_OTHERS: Final = 4
"""Other ClusterQueues that an example is tried with."""
MAX_ALIKE: Final = 3
"""ClusterQueues of a group that are tried before it is given up."""
FEW: Final = 6
"""Pairs of workloads that are compared at least, where a setting is to change nothing."""
_TIMES: Final = ((2, 2), (2, 0), (0, 0))
"""Since when the first of two runs, and when it was made: the second of them is of minute 1."""
_CREATED: Final = 10
"""What runs is created later than what asks, so that equal priorities do not protect it."""

Item = TypeVar("Item")
Grid = Iterator[tuple[tuple[Job, ...], Job]]
"""What runs, and who asks."""
Helps = Callable[[Told], bool]


def worlds(facts: Facts, queue: int, others: Iterable[int]) -> Iterator[tuple[World, int]]:
    """Yield small worlds of a ClusterQueue and one of some others, for each resource of both.

    Those that can borrow come first.
    """

    def stays(other: int) -> bool:
        return not any(facts.can_borrow(other, fr) for fr in facts.frs(other))

    for other in sorted(others, key=stays)[:MAX_OTHERS]:
        for fr in sorted({*facts.frs(queue)}.intersection(facts.frs(other))):
            if facts.is_bounded(queue, fr) and facts.is_bounded(other, fr):
                world: World | None = World(facts, tuple(dict.fromkeys((queue, other))), fr)
                while world is not None and len(world.queues) <= MAX_OTHERS:
                    yield world, other
                    world = world.and_lender()


def sizes(world: World, queue: int) -> list[int]:
    """Return the amounts at which anything can change for a ClusterQueue, the smallest first."""
    # The world has fewer queues than the cluster: what it could use there may be out of reach.
    nominal, unit = world.facts.nominal(queue, world.fr), world.unit
    most = min(world.facts.most(queue, world.fr), _total(world))
    return sorted({n for n in (unit, nominal, nominal + unit, most) if 0 < n <= most})


def _total(world: World) -> int:
    """Return all quota of the world, its cohorts included."""
    tree = world.facts.snapshot.tree
    nodes = {node for queue in world.queues for node in tree.path(queue)}
    return sum(tree.nominal(node, world.fr) for node in nodes)


def grid(world: World, asks: int, runs: int, priority: int = 0, *, beyond: bool = False) -> Grid:
    """Yield what runs in one ClusterQueue and what asks in another, the smallest first.

    ``beyond`` leaves out what asks for no more than its nominal quota.
    """
    nominal = world.facts.nominal(asks, world.fr) if beyond else 0
    pairs = [
        (running, asked)
        for running, asked in product(sizes(world, runs), sizes(world, asks))
        if asked > nominal
    ]
    for running, asked in sorted(pairs, key=sum):
        yield (
            (Job(RUNS, runs, running, priority, minute=_CREATED),),
            Job(ASKS, asks, asked, priority, running=False),
        )


def alone(world: World, queue: int) -> Grid:
    """Yield one that asks where nothing runs."""
    yield (), Job(ASKS, queue, world.unit, running=False)


def boosted(jobs: Grid) -> Grid:
    """Yield the same with a priority boost for whoever asks."""
    for runs, asks in jobs:
        yield runs, replace(asks, boost=BOOST)


def preempts(told: Told) -> bool:
    """Say whether somebody would be evicted."""
    return bool(told.targets)


def fits(told: Told) -> bool:
    """Say whether it fits with nobody evicted."""
    return told.mode == "Fit"


def denied(  # noqa: PLR0913 - what an example is made of
    world: World,
    jobs: Grid,
    cure: Change,
    words: str,
    *,
    differences: Sequence[int] = (-1, 0, 1),
    helps: Helps = preempts,
) -> Example | None:
    """Find who preempts nobody and does not fit, whatever its priority, but would after a cure.

    Parameters
    ----------
    cure, words
        The change that helps, and what it is, to go on "with".
    differences
        What the priority of the one that asks is more than that of what runs.
    """
    for runs, asks in jobs:
        tries = [replace(asks, priority=asks.priority + more) for more in differences]
        answers = [decided(world.dump((*runs, one)), one.key) for one in tries]
        if any(told.targets or told.mode == "Fit" for told in answers):
            continue
        for one in reversed(tries):
            cured = decided(world.dump((*runs, one), cure), one.key)
            if helps(cured):
                does = f"preempts {', '.join(cured.targets)}" if cured.targets else "fits at once"
                return Example(
                    state=world.dump((*runs, one)),
                    pending=one.key,
                    shows=(
                        f"{one.key} finds nobody to preempt"
                        + (", whatever its priority" if len(tries) > 1 else ""),
                        f"with {words} it {does}",
                    ),
                )
    return None


def idle(world: World, jobs: Grid, without: Change, words: str) -> Example | None:
    """Find an example in which a setting changes nothing, if it changes nothing in any before.

    It is one that does not fit: first of all one in which somebody is preempted all the same,
    looked for a little longer.
    """
    shown: list[Example] = []
    for number, (runs, asks) in enumerate(jobs):
        if shown and number >= FEW:
            break
        for more in (1, 0, -1):
            one = replace(asks, priority=asks.priority + more)
            told = decided(world.dump((*runs, one)), one.key)
            if told != decided(world.dump((*runs, one), without), one.key):
                return None
            if told.mode != "Fit":
                example = _unchanged(world, (*runs, one), told, words)
                shown.insert(0 if told.targets else len(shown), example)
    return shown[0] if shown else None


def _unchanged(world: World, jobs: tuple[Job, ...], told: Told, words: str) -> Example:
    whom, key = ", ".join(told.targets) or "nobody", jobs[-1].key
    shows = (f"{key} preempts {whom}", f"with {words} it preempts {whom}, too")
    return Example(state=world.dump(jobs), pending=key, shows=shows)


def rivals(world: World, borrower: int, lender: int) -> Iterator[tuple[Job, ...]]:
    """Yield two that run in the lending ClusterQueue, and one that asks in the borrowing one.

    The two go together for the one, the first one before the second because its priority is lower.
    It comes back to what its ClusterQueue is entitled to, and lets the second follow.
    """
    facts = world.facts
    low = min(0, facts.threshold(borrower, 0))
    most = min(facts.most(lender, world.fr), _total(world))
    nominal = facts.nominal(lender, world.fr)
    small = [size for size in dict.fromkeys((world.unit, nominal)) if 0 < size < most]
    for first, asked in product(small, sizes(world, borrower)[:-3:-1]):
        for (minute, created), rest in product(_TIMES, dict.fromkeys((most - first, nominal))):
            if rest > 0 and first + rest <= most:
                yield (
                    Job("first", lender, first, low - 1, minute=minute, created=created),
                    Job("second", lender, rest, low, minute=1),
                    Job(ASKS, borrower, asked, low + 1, running=False),
                )


def ping_pong(world: World, jobs: tuple[Job, ...], cure: Change) -> Example | None:
    """Return an example if workloads evict each other for ever, and do not once cured."""
    shows = loop(world.dump(jobs))
    if not shows or loop(world.dump(jobs, cure)):
        return None
    return Example(state=world.dump(jobs), pending=jobs[-1].key, shows=shows)


def in_turn(sources: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """Yield the first of every source, then the second of every source, and so on."""
    waiting = deque(sources)
    while waiting:
        source = waiting.popleft()
        for item in source:
            yield item
            waiting.append(source)
            break
