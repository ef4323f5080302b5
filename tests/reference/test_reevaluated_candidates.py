"""Fair sharing with the gate FairSharingReevaluatePreemptionCandidates.

Once a workload of the own queue was removed, candidates that failed the first strategy are put to
it once more: docs/semantics/kueue-releases.md §4; kueue pull request 14128, 8955819b
pkg/scheduler/preemption/preemption.go ``fairPreemptions``.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

import pytest

from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.state.record import AUTO
from tests.cluster import PENDING, Object, cohort, configuration, pending, queue, running, state_of
from tests.conftest import TEST_ALL

GATE = "FairSharingReevaluatePreemptionCandidates"
WITHIN = "FairSharingPreemptWithinNominal"
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
BOTH = (FINAL, INITIAL)
Found = list[tuple[str, str]]


def searched(
    parts: Iterable[list[Object]],
    strategies: Sequence[str],
    gates: Mapping[str, bool],
    release: str = AUTO,
) -> tuple[str, Found]:
    """Return the mode that Kueue finds, and the victims in order, each with its reason."""
    fair = configuration(fairSharing={"preemptionStrategies": strategies}, featureGates=dict(gates))
    state = state_of(fair, *parts, release=release)
    snapshot = take_snapshot(state)
    found = decide(snapshot, find_preemptor(state, snapshot, PENDING))
    targets = [(one.workload.key.removeprefix("ns/"), one.reason) for one in found.targets]
    return found.assignment.mode, targets


def pool(spare: int, own: int, asked: int, *loot: int, priority: int = 5) -> list[list[Object]]:
    """Return a cohort in which a owns ``own``, c lends ``spare``, and b borrows ``loot``.

    In a two workloads of 1 and of lower priority run, and one waits that asks for ``asked``.
    """
    return [
        queue("a", own, "pool", within="LowerPriority", reclaim="Any"),
        queue("b", 0, "pool"),
        queue("c", spare, "pool"),
        *(running(f"a{number}", "a", 1, minute=number) for number in (1, 2)),
        *(running(f"b{number}", "b", size, minute=9 + number) for number, size in enumerate(loot)),
        pending("a", asked, priority),
    ]


OWN = [("a2", "InClusterQueue"), ("a1", "InClusterQueue")]

STILL_BORROWS = pool(2, 3, 4, 1, 1, 1)
"""Of 5 a would borrow 3, b borrows 3: with one less of b, 3 > 2, and nobody passes. Without a1 and
a2 a would borrow 1, and b may lose two: 1 <= 2, then 1 <= 1. Then 4 are free, and none is kept."""

WITHIN_NOMINAL = pool(1, 4, 4, 3)
"""Of 5 a would borrow 2, and without its workload b borrows 0: 2 > 0. Without a1 and a2 a has what
is its own. Then there is room for one more of 1, and a1 is kept."""


@pytest.mark.parametrize(
    ("parts", "strategies", "off", "on"),
    [
        (STILL_BORROWS, [FINAL], [], [*OWN, ("b2", "fair"), ("b1", "fair")]),
        # The second strategy takes one of each queue: 1 < 3, and 3 are free only.
        (STILL_BORROWS, BOTH, [], [*OWN, ("b2", "fair"), ("b1", "fair")]),
        # By their share before: 3 < 3 fails at first, and 1 < 3, 1 < 2 pass later.
        (STILL_BORROWS, [INITIAL], [], [*OWN, ("b2", "fair"), ("b1", "fair")]),
        (WITHIN_NOMINAL, [FINAL], [], [OWN[0], ("b0", "InCohortReclamation")]),
        (WITHIN_NOMINAL, BOTH, [OWN[0], ("b0", "fair")], [OWN[0], ("b0", "InCohortReclamation")]),
        # Without workloads of a that may go nothing has changed: there is no second look.
        (pool(2, 3, 4, 1, 1, 1, priority=0), [FINAL], [], []),
        # Who passes at once needs no second look: of 6 a would borrow 2, b without one 2.
        (pool(3, 3, 3, 1, 1, 1), [FINAL], None, None),
    ],
)
def test_states_told_by_hand(
    parts: list[list[Object]], strategies: Sequence[str], off: Found | None, on: Found | None
) -> None:
    without, with_gate = (searched(parts, strategies, {GATE: gate})[1] for gate in (False, True))
    if off is None or on is None:
        assert without == with_gate != []
    else:
        assert (without, with_gate) == (_in_full(off), _in_full(on))


def _in_full(found: Found) -> Found:
    return [(name, "InCohortFairSharing" if why == "fair" else why) for name, why in found]


def test_within_nominal_is_looked_at_anew_with_its_own_gate_only() -> None:
    """By shares it passes as well: a borrows nothing then, 0 <= 0."""
    found = searched(WITHIN_NOMINAL, [FINAL], {GATE: True, WITHIN: False})[1]
    assert found == [OWN[0], ("b0", "InCohortFairSharing")]


def test_only_a_victim_of_the_own_queue_brings_a_second_look() -> None:
    """Without d1 the cohort of a has the share (4 + 2) / 2, and b could lose one: 3 <= 3.

    With d1 it is 7 / 2, b has 4 and would have 3. But d1 is not of the own queue.
    """
    parts = [
        cohort("root", nominal=9),
        cohort("left", "root", weight="2"),
        cohort("right", "root"),
        *(queue(name, 0, "left", reclaim="LowerPriority") for name in "ad"),
        queue("b", 0, "right"),
        running("d0", "d", 4, 9),
        running("d1", "d", 1),
        *(running(f"b{number}", "b", 1) for number in range(4)),
        pending("a", 2, 5),
    ]
    assert searched(parts, [FINAL], {GATE: True}) == ("Preempt", [])


@pytest.mark.parametrize(
    ("release", "has_it"),
    [("0.18.6", False), ("0.18.7", True), ("0.19.2", False), ("0.19.3", True)],
)
def test_releases_that_have_the_gate(release: str, has_it: bool) -> None:  # noqa: FBT001
    found = searched(STILL_BORROWS, [FINAL], {GATE: True} if has_it else {}, release)[1]
    assert bool(found) == has_it
    assert not searched(STILL_BORROWS, [FINAL], {}, release)[1]  # off unless it is set


class Run(NamedTuple):
    """A workload of one resource; ``minute`` is when it got its quota."""

    name: str
    queue: int
    amount: int
    priority: int
    minute: int


class Flat(NamedTuple):
    """Queues of one cohort, without limits; the first one preempts."""

    nominal: tuple[int, ...]
    weight: tuple[int, ...]
    runs: tuple[Run, ...]
    asked: int
    priority: int
    reclaim: str
    strategies: tuple[str, ...]
    within: bool

    def parts(self) -> list[list[Object]]:
        """Return the objects of a cluster."""
        return [
            *(
                queue(
                    f"q{number}",
                    nominal,
                    "pool",
                    within="LowerPriority",
                    reclaim=self.reclaim,
                    weight=str(weight),
                )
                for number, (nominal, weight) in enumerate(
                    zip(self.nominal, self.weight, strict=True)
                )
            ),
            *(
                running(one.name, f"q{one.queue}", one.amount, one.priority, minute=one.minute)
                for one in self.runs
            ),
            pending("q0", self.asked, self.priority),
        ]


def drawn(random: Random) -> Flat:
    """Return a cohort of up to four queues, which all run what they have and often more."""
    count = random.randint(2, 4)
    nominal = tuple(random.randint(0, 5) if place != 1 else 0 for place in range(count))
    left, runs = sum(nominal), list[Run]()
    while left > 0 and len(runs) < 14:
        amount = min(left, random.choice((1, 1, 1, 2, 3)))
        place, name = random.choice((0, 0, 1, random.randrange(count))), f"w{len(runs):02d}"
        runs.append(Run(name, place, amount, random.choice((-1, 0, 0, 5)), len(runs)))
        left -= amount
    return Flat(
        nominal,
        tuple(random.choice((1, 1, 2, 4)) for _ in range(count)),
        tuple(runs),
        random.randint(1 + sum(nominal) // 3, 1 + sum(nominal)),
        random.choice((1, 6)),
        random.choice(("Any", "LowerPriority")),
        random.choice(((FINAL,), (INITIAL,), BOTH)),
        random.random() < 0.5,
    )


class Searching:
    """The search as the pull request has it, by itself; shares are exact fractions."""

    def __init__(self, flat: Flat) -> None:
        self.flat, self.gone = flat, list[tuple[Run, str]]()
        self.total = sum(flat.nominal)

    def used(self, place: int, *, without: Run | None = None, request: bool = True) -> int:
        """Return what a queue uses now, the request of the first one included."""
        gone = {one.name for one, _ in self.gone} | ({without.name} if without else set())
        runs = (one for one in self.flat.runs if one.queue == place and one.name not in gone)
        return sum(one.amount for one in runs) + (self.flat.asked if request and not place else 0)

    def share(self, place: int, without: Run | None = None) -> Fraction:
        """Return the share of a queue by its weight."""
        borrowed = max(0, self.used(place, without=without) - self.flat.nominal[place])
        return Fraction(borrowed, self.total * self.flat.weight[place])

    def fits(self) -> bool:
        """Say whether the preemptor fits, borrowing what it needs."""
        free = self.total - sum(self.used(n, request=False) for n in range(len(self.flat.nominal)))
        return self.flat.asked <= free

    @staticmethod
    def order(one: Run) -> tuple[bool, int, int]:
        """Return the place among candidates: of other queues first, less important, newer."""
        return not one.queue, one.priority, -one.minute

    def candidates(self) -> list[Run]:
        """Return those who may go, in order."""
        flat, found = self.flat, list[Run]()
        for one in flat.runs:
            lower = one.priority < flat.priority
            borrows = self.used(one.queue, request=False) > flat.nominal[one.queue]
            may = lower if not one.queue else borrows and (lower or flat.reclaim == "Any")
            found += [one] if may else []
        return sorted(found, key=self.order)

    def next_queue(self, left: Mapping[int, list[Run]], pruned: set[int]) -> int | None:
        """Return the queue of the highest share, of equal ones that of the first candidate."""
        for place, some in left.items():
            if not some or (place and self.used(place) <= self.flat.nominal[place]):
                pruned.add(place)
        open_ = [place for place in left if place not in pruned]
        return min(
            open_, key=lambda place: (-self.share(place), self.order(left[place][0])), default=None
        )

    def first(self, candidates: list[Run]) -> tuple[bool, list[Run]]:
        """Run the first strategy; return whether it fits, and who failed."""
        left = {
            n: [one for one in candidates if one.queue == n] for n in range(len(self.flat.nominal))
        }
        pruned, failed = set[int](), list[Run]()
        within = self.flat.within and self.used(0) <= self.flat.nominal[0]
        while (place := self.next_queue(left, pruned)) is not None:
            mine, before = self.share(0), self.share(place)
            while left[place]:
                one = left[place].pop(0)
                after = self.share(place, without=one)
                passes = mine <= after if self.flat.strategies[0] == FINAL else mine < before
                if place and not within and not passes:
                    failed.append(one)
                    continue
                why = "InCohortReclamation" if within else "InCohortFairSharing"
                self.gone.append((one, why if place else "InClusterQueue"))
                if self.fits():
                    return True, []
                break
        return False, failed

    def second(self, failed: list[Run]) -> bool:
        """Take one of each queue whose share is larger now."""
        left = {n: [one for one in failed if one.queue == n] for n in range(len(self.flat.nominal))}
        pruned = set[int]()
        while (place := self.next_queue(left, pruned)) is not None:
            pruned.add(place)
            if self.share(0) < self.share(place):
                self.gone.append((left[place][0], "InCohortFairSharing"))
                if self.fits():
                    return True
        return False

    def found(self, *, gate: bool) -> Found:
        """Return the victims in order, each with its reason."""
        done, failed = self.first(self.candidates())
        if gate and not done and any(not one.queue for one, _ in self.gone):
            done, failed = self.first(failed)
        if not done and len(self.flat.strategies) > 1:
            done = self.second(failed)
        if not done:
            return []
        for place in range(len(self.gone) - 2, -1, -1):
            kept = self.gone[place]
            self.gone[place] = self.gone[-1]
            last = self.gone.pop()
            if not self.fits():
                self.gone[place : place + 1] = [kept]
                self.gone.append(last)
        return [(one.name, why) for one, why in self.gone]


def test_random_cohorts_against_a_second_implementation() -> None:
    random, gained = Random(14128), 0  # noqa: S311 - states, not secrets
    for _ in range(7000 if TEST_ALL else 350):
        flat = drawn(random)
        gates = {GATE: True, WITHIN: flat.within}
        mode, found = searched(flat.parts(), flat.strategies, gates)
        if mode != "Preempt":
            continue
        assert found == Searching(flat).found(gate=True), flat
        _, without = searched(flat.parts(), flat.strategies, gates | {GATE: False})
        assert without == Searching(flat).found(gate=False), flat
        gained += found != without
    assert gained > 5  # states in which the gate matters
