"""What docs/explanation/complexity.md proves, number by number on small sizes."""

import random
from collections.abc import Sequence
from itertools import combinations, product

import pytest

import planner
from planner.plan.kueue import Plan
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.subsets import subsets

Sets = Sequence[frozenset[int]]


def fewest(state: State) -> Plan:
    return planner.solve(state, PENDING, "min-count")


def vectors(numbers: Sequence[int], size: int, total: int) -> State:
    """Theorem 1: as many victims as ``size`` iff so many of the numbers add up to ``total``."""
    most = max(numbers) + 1
    nominal = {"cpu": sum(numbers), "gpu": most * len(numbers) - sum(numbers)}
    parts = [
        running(f"w{i}", "q", {"cpu": one, "gpu": most - one}) for i, one in enumerate(numbers)
    ]
    asked = {"cpu": total, "gpu": size * most - total}
    return state_of(queue("q", nominal, within="LowerPriority"), *parts, pending("q", asked))


def cover(universe: int, sets: Sets) -> State:
    """Theorem 2: the fewest victims are the fewest sets that cover the universe."""
    held = {f"r{e}": sum(e in one for one in sets) for e in range(universe)}
    parts = [
        running(f"w{i}", "q", dict.fromkeys((f"r{e}" for e in sorted(one)), 1))
        for i, one in enumerate(sets)
    ]
    asked = dict.fromkeys(held, 1)
    return state_of(queue("q", held, within="LowerPriority"), *parts, pending("q", asked))


def one_side(numbers: Sequence[int], total: int) -> State:
    """Theorem 3: a legal set exists iff some of the numbers add up to ``total``."""
    large = max(numbers) + 1
    mine, side = total + large, large + sum(numbers) - total - 1
    return state_of(
        queue("q", mine, "c", reclaim="LowerPriority"),
        queue("side", side, "c"),
        queue("kept", 0, "c"),
        running("large", "side", large, minute=1),
        *(running(f"w{i}", "side", one, minute=2 + i) for i, one in enumerate(numbers)),
        running("kept", "kept", large - 1, priority=100),
        pending("q", mine),
    )


def crowd(small: int) -> State:
    """Proposition 7: one workload would do, and the scheduler takes all the small ones."""
    return state_of(
        queue("q", 2 * small, within="LowerPriority"),
        running("large", "q", small, minute=1),
        *(running(f"small-{i}", "q", 1, minute=2 + i) for i in range(small)),
        pending("q", small),
    )


@pytest.mark.parametrize("numbers", [(1, 2, 3, 5), (2, 2, 3, 3), (1, 1, 4, 4)])
def test_two_resources(numbers: tuple[int, ...]) -> None:
    """Theorem 1, for every total between the least and the largest sum of two of them."""
    for total in range(2 * min(numbers), 2 * max(numbers) + 1):
        possible = any(sum(pair) == total for pair in combinations(numbers, 2))
        plan = fewest(vectors(numbers, 2, total))
        # Fewer than two never do: in both resources together two times the same must go.
        assert (plan.status == "optimal" and len(plan.victims) == 2) == possible
        assert plan.status == "infeasible" or len(plan.victims) >= 2


COVERS: list[Sets] = [
    [frozenset({0, 1}), frozenset({1, 2}), frozenset({2, 3}), frozenset({0, 3})],
    [frozenset({0, 1, 2}), frozenset({0, 3}), frozenset({1, 4}), frozenset({2, 5}), frozenset({3})],
    [frozenset({0, 1, 2, 3}), frozenset({0, 1, 4}), frozenset({2, 3, 5}), frozenset({4, 5})],
]


@pytest.mark.parametrize("sets", COVERS)
def test_many_resources(sets: Sets) -> None:
    """Theorem 2."""
    universe = frozenset().union(*sets)
    chosen = (
        size
        for size in range(len(sets) + 1)
        if any(universe.issubset(frozenset().union(*some)) for some in combinations(sets, size))
    )
    least = next(chosen, None)
    plan = fewest(cover(len(universe), sets))
    assert (len(plan.victims) if plan.status == "optimal" else None) == least


@pytest.mark.parametrize("numbers", [(2, 3), (3, 5, 6), (2, 2, 5, 7), (4, 6, 6)])
def test_the_last_victim(numbers: tuple[int, ...]) -> None:
    """Theorems 3 and 4: the table of sums gives the same."""
    sums = {sum(some) for some in subsets(numbers)}
    for total in range(1, sum(numbers) + 1):
        plan = fewest(one_side(numbers, total))
        assert plan.status == ("optimal" if total in sums else "infeasible")
        if total in sums:
            gone = [each.usage[0].units for each in plan.victims]
            assert max(gone) == max(numbers) + 1
            assert sum(gone) == total + max(numbers) + 1
        assert most_freed([max(numbers) + 1, *numbers], total + 1) == (
            max(one for one in sums if one <= total) + max(numbers) + 1
        )


def most_freed(usages: Sequence[int], excess: int) -> int:
    """Theorem 4: the most that one queue beside the preemptor's can give, by a table of sums."""
    best = 0
    for last, usage in enumerate(usages):
        before = {0}
        for each in (*usages[:last], *usages[last + 1 :]):
            before |= {one + each for one in before if one + each < excess}
        best = max(best, usage + max(before))
    return best


def test_greedy_finds_nobody() -> None:
    """Kueue takes the newest first, and is then not over its quota where the large one runs."""
    state = one_side((3, 2), 3)
    assert planner.greedy(state, PENDING).victims == ()
    assert sorted(fewest(state).keys) == ["ns/large", "ns/w0"]


@pytest.mark.parametrize("seed", range(12))
def test_greedy_finds_some_where_all_may_go(seed: int) -> None:
    """Proposition 6: one resource, a flat cohort, and nobody beyond reach."""
    draw = random.Random(seed)  # noqa: S311
    parts, spare = [], 0
    for name in "abc":
        held = [draw.randint(1, 6) for _ in range(draw.randint(1, 4))]
        nominal = draw.randint(0, sum(held))
        spare += nominal - sum(held)
        parts += [*queue(name, nominal, "c")]
        for i, one in enumerate(held):
            parts += running(f"{name}{i}", name, one, minute=draw.randint(1, 29))
    asked = draw.randint(1, 9) - spare
    mine = queue("q", asked, "c", reclaim="LowerPriority")
    state = state_of(mine, parts, pending("q", asked))
    assert planner.greedy(state, PENDING).victims


@pytest.mark.parametrize("usages", [(1, 1, 3), (1, 2, 3), (2, 2, 3), (3, 1, 2)])
def test_one_resource_without_cohort(usages: tuple[int, ...]) -> None:
    """Proposition 5: the largest first is best, whatever is asked for."""
    total = sum(usages)
    for asked in range(1, total + 1):
        parts = [running(f"w{i}", "q", one, minute=i) for i, one in enumerate(usages)]
        state = state_of(queue("q", total, within="LowerPriority"), *parts, pending("q", asked))
        largest = sorted(usages, reverse=True)
        least = next(size for size in range(1, 4) if sum(largest[:size]) >= asked)
        assert len(fewest(state).victims) == least


@pytest.mark.parametrize("small", [2, 5, 12])
def test_the_ratio_grows(small: int) -> None:
    state = crowd(small)
    assert len(planner.greedy(state, PENDING).victims) == small
    assert fewest(state).keys == ("ns/large",)


def test_the_ratio_grows_no_faster() -> None:
    """Proposition 7: no state of four is worse than three against one, and some are as bad."""
    worst = 0.0
    for usages in product((1, 2, 3), repeat=4):
        parts = [running(f"w{i}", "q", one, minute=i) for i, one in enumerate(usages)]
        full = queue("q", sum(usages), within="LowerPriority")
        for asked in range(1, sum(usages) + 1, 2):
            state = state_of(full, *parts, pending("q", asked))
            greedy = len(planner.greedy(state, PENDING).victims)
            largest = sorted(usages, reverse=True)
            least = next(size for size in range(1, 5) if sum(largest[:size]) >= asked)
            worst = max(worst, greedy / least)
    assert worst == 3
