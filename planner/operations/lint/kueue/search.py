"""The search for a smallest example: few workloads of chosen sizes, each dump tried by replay.

Sizes are those at which anything can change: a unit, the nominal quota, a unit more than that, and
all that a ClusterQueue could use. Priorities only decide by comparison, so three are enough: lower,
equal and higher. Without an example there is no finding.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, product
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace

from planner.operations.lint.kueue.world import (
    LEAST,
    MOST,
    Change,
    Cure,
    Facts,
    Job,
    Object,
    World,
    read_example,
)
from planner.operations.lint.lint import Example
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.decision import decide
from planner.research.simulate.kueue_world import KueueWorld
from planner.research.simulate.script import Script
from planner.research.simulate.world import Mark

MAX_CYCLES: Final = 60
"""The most cycles to run: a small cluster that has not repeated itself by then will not."""
AT_REST: Final = "nothing moves until something in the cohort changes"


class Decided(NamedTuple):
    """What Kueue decides for a pending workload: the mode, and whom it would evict."""

    mode: str
    targets: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The decision in words, to stand after the name of the workload."""
        if self.targets:
            return f"preempts {', '.join(self.targets)}"
        return "fits at once" if self.mode == "Fit" else "preempts nobody"


def decided(dump: Object, pending: str) -> Decided:
    """Replay Kueue's decision for a pending workload of a dump."""
    _, snapshot, preemptor = read_example(dump, pending)
    found = decide(snapshot, preemptor)
    return Decided(found.assignment.mode, tuple(one.workload.key for one in found.search.targets))


def loop(dump: object) -> tuple[str, ...]:
    """Return the events that lead into a round of evictions, and the round; empty without a round.

    A round leads from a state of the cluster back to it, with an eviction on the way: the victim is
    admitted again, and the round repeats for ever. Victims give their quota back after a second.
    Once nothing moves any more, all compete again, as if something else in the cohort had changed.
    """
    world = KueueWorld(read_kueue_objects(dump, where="example"), Script(), decide)
    trees = sorted(set(map(world.snapshot(0).tree.root, world.queues)))
    events: list[str] = []
    seen: dict[tuple[Mark, ...], int] = {}
    rested: set[tuple[Mark, ...]] = set()
    at_s = last_eviction = 0
    for _ in range(MAX_CYCLES):
        world.happen(at_s)
        ran, moved = world.cycle(at_s)
        moves = [one for one in ran if one.kind in {"admitted", "preempted"}]
        for by, some in groupby(moves, key=lambda one: one.by or one.workload):
            evicts = [one.workload for one in some if one.by]
            events.append(f"{by} preempts {', '.join(evicts)}" if evicts else f"{by} is admitted")
            last_eviction = len(events) if evicts else last_eviction
        later_s = at_s + 1 if moved else world.next_s()
        # The state of every cohort tree, as a simulation compares states.
        standing = tuple(world.mark(tree, at_s) for tree in trees)
        parked = any(one.parked for one in world.queues.values())
        if later_s is None and (standing in rested or not parked):
            break
        since = seen.setdefault(standing, len(events))
        if last_eviction > since:
            return (*events, f"and so on from step {since + 1}")
        if later_s is None:
            rested.add(standing)
            events.append(AT_REST)
            for tree in trees:
                world.wake(tree, at_s)
        at_s = at_s + 1 if later_s is None else later_s
    return ()


ASKS: Final = "asks"
RUNS: Final = "runs"
MAX_OTHERS: Final = 4
"""The most other ClusterQueues that an example is tried with."""
MAX_SIMILAR: Final = 3
"""The most ClusterQueues of a group that are tried."""
FEW: Final = 6
"""The fewest pairs of workloads to compare before a setting is said to change nothing."""
_TIMES: Final = ((2, 2), (2, 0), (0, 0))
"""Minutes when the first of two workloads began to run, and was created; the second has 1."""
_CREATED: Final = 10
"""Running workloads are created later than who asks: equal priorities do not protect them."""

Item = TypeVar("Item")
Grid = Iterator[tuple[tuple[Job, ...], Job]]
"""The workloads that run, and the one that asks for room."""


def worlds(facts: Facts, queue: int, others: Iterable[int]) -> Iterator[tuple[World, int]]:
    """Yield small worlds of a ClusterQueue and another one, each with the number of the latter.

    There is a world for each flavor-resource of both, and the same with lenders added. Those others
    that can borrow come first.
    """

    def stays(other: int) -> bool:
        return not facts.anywhere(facts.can_borrow, other)

    for other in sorted(others, key=stays)[:MAX_OTHERS]:
        for fr in sorted({*facts.frs(queue)}.intersection(facts.frs(other))):
            if facts.is_bounded(queue, fr) and facts.is_bounded(other, fr):
                world: World | None = World(facts, tuple(dict.fromkeys((queue, other))), fr)
                while world is not None and len(world.queues) <= MAX_OTHERS:
                    yield world, other
                    world = world.and_lender()


def sizes(world: World, queue: int) -> list[int]:
    """Return the amounts at which anything can change for a ClusterQueue, the smallest first."""
    nominal, unit, most = world.facts.nominal(queue, world.fr), world.unit, world.most(queue)
    return sorted({n for n in (unit, nominal, nominal + unit, most) if 0 < n <= most})


def inside(priority: int) -> int:
    """Return a priority, or the nearest to it that others are above and below."""
    return min(max(priority, LEAST + 1), MOST - 1)


def _tries(asks: Job, differences: Iterable[int]) -> list[Job]:
    """Return a workload with each priority so much higher than its own that there is."""
    priorities = (asks.priority + more for more in differences)
    return [replace(asks, priority=one) for one in priorities if LEAST <= one <= MOST]


def grid(world: World, asks: int, runs: int, priority: int = 0, *, beyond: bool = False) -> Grid:
    """Yield a workload that runs in one ClusterQueue and one that asks in another, smallest first.

    ``beyond`` leaves out requests within the nominal quota.
    """
    nominal = world.facts.nominal(asks, world.fr) if beyond else 0
    for running, asked in sorted(product(sizes(world, runs), sizes(world, asks)), key=sum):
        if asked > nominal:
            yield (
                (Job(RUNS, runs, running, priority, minute=_CREATED),),
                Job(ASKS, asks, asked, priority, running=False),
            )


def denied(
    world: World,
    jobs: Grid,
    cure: Cure,
    *,
    differences: Sequence[int] = (-1, 0, 1),
    helps: Callable[[Decided], bool] = lambda cured: bool(cured.targets),
) -> Example | None:
    """Find a workload that neither preempts nor fits at any priority, but would after a cure.

    ``cure`` is what helps; ``differences`` are how much higher the priorities to try are than that
    of the workloads that run.
    """
    for runs, asks in jobs:
        tries = _tries(asks, differences)
        answers = [decided(world.dump((*runs, one)), one.key) for one in tries]
        if any(one.targets or one.mode == "Fit" for one in answers):
            continue
        for one in reversed(tries):
            cured = decided(world.dump((*runs, one), cure.change), one.key)
            if helps(cured):
                always = ", whatever its priority" if len(tries) > 1 else ""
                shows = (
                    f"{one.key} finds nobody to preempt{always}",
                    f"with {cure.words} it {cured.in_words}",
                )
                return Example(state=world.dump((*runs, one)), pending=one.key, shows=shows)
    return None


def idle(world: World, jobs: Grid, off: Cure) -> Example | None:
    """Find an example in which a setting changes nothing, if it changes nothing in any tried.

    In it the asking workload does not fit. One in which it preempts somebody all the same is
    preferred, and looked for until ``FEW`` pairs are compared.
    """
    shown: list[Example] = []
    for number, (runs, asks) in enumerate(jobs):
        if shown and number >= FEW:
            break
        for one in _tries(asks, (1, 0, -1)):
            dump = world.dump((*runs, one))
            found = decided(dump, one.key)
            if found != decided(world.dump((*runs, one), off.change), one.key):
                return None
            if found.mode != "Fit":
                shows = (
                    f"{one.key} {found.in_words}",
                    f"with {off.words} it {found.in_words}, too",
                )
                example = Example(state=dump, pending=one.key, shows=shows)
                shown.insert(0 if found.targets else len(shown), example)
    return shown[0] if shown else None


def rivals(world: World, borrower: int, lender: int) -> Iterator[tuple[Job, ...]]:
    """Yield two workloads that run in the lending ClusterQueue, and one that asks in the other.

    The asking workload evicts both, the first before the second because its priority is lower. The
    first then takes back what its ClusterQueue is entitled to, and lets the second follow.
    """
    facts = world.facts
    low = inside(min(0, facts.threshold(borrower, 0)))
    most = world.most(lender)
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
