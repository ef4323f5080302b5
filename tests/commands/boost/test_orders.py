"""Orders of candidates: how many there are, and priorities that lead to them."""

from collections.abc import Hashable

import pytest

import planner
from planner.commands.boost.kueue.search import Search, count_orders, every_order, priorities_for
from planner.commands.boost.kueue.trial import StateTrial
from planner.solver.deadline import Deadline
from planner.state.kueue import of_kueue
from tests.cluster import PENDING, cohort, pending, queue, running, state_of
from tests.conftest import ROOT


def search_for(*victims: str, borrowing: bool = False, threshold: int | None = None) -> Search:
    """Give two candidates alike and a larger one of another queue, and one of the own queue.

    The 8 GPUs are the preemptor's own or, where it is borrowing, those of the cohort.
    """
    own = 0 if borrowing else 8
    borrow = "LowerPriority" if borrowing else "Never"
    state = state_of(
        cohort("all", nominal=8 - own),
        queue(
            "mine",
            own,
            "all",
            within="LowerPriority",
            reclaim="Any",
            borrow=borrow,
            threshold=threshold,
        ),
        queue("other", 0, "all"),
        running("one", "other", 1, 3, minute=1),
        running("two", "other", 1, 12, minute=2),
        running("large", "other", 4, 4, minute=3),
        running("own", "mine", 2, 9, minute=4),
        pending("mine", 6),
    )
    plan = planner.greedy(state)
    return Search(StateTrial(state, PENDING, plan.assignment, frozenset(victims)), Deadline())


@pytest.mark.parametrize(
    ("victims", "expected"),
    [
        ((), 3),  # of one, two and large, the first two alike; the own queue's stands alone
        (("ns/one",), 6),  # a victim and a spared one are not alike
        (("ns/one", "ns/two"), 3),
    ],
)
def test_orders_are_counted_by_kinds(victims: tuple[str, ...], expected: int) -> None:
    pool = search_for(*victims).pool
    orders = list(every_order(pool))
    assert len(orders) == count_orders(pool) == expected
    kinds = {tuple(one.kind for one in order) for order in orders}
    assert len(kinds) == expected
    assert all(order[-1].key == "ns/own" for order in orders)


def test_only_those_on_the_same_nodes_are_alike() -> None:
    """Four sweeps of one size run on two nodes, the eval on a third."""
    state = of_kueue(planner.read(ROOT / "instances" / "topology" / "needless.yaml"))
    plan = planner.greedy(state)
    pool = Search(StateTrial(state, plan.preemptor, plan.assignment, frozenset()), Deadline()).pool
    alike: dict[Hashable, set[str]] = {}
    for one in pool:
        alike.setdefault(one.kind, set()).add(one.key)
    assert sorted(map(sorted, alike.values())) == [
        ["lab/eval"], ["lab/sweep-1", "lab/sweep-2"], ["lab/sweep-3", "lab/sweep-4"]
    ]  # fmt: skip


def test_priorities_lead_to_their_order() -> None:
    for order in every_order(search_for("ns/one").pool):
        values = priorities_for(order) or {}
        assert len(values) == len(order)
        places = [one.place(values[one.key]) for one in order]
        assert places == sorted(places)
        assert all(one.permits(values[one.key]) for one in order)


def test_bounds_keep_what_the_rules_say() -> None:
    """While borrowing, only those below the preemptor's 10, or the threshold, may be taken."""
    bounds = {one.key: (one.least, one.most) for one in search_for(borrowing=True).pool}
    assert bounds == {
        "ns/one": (None, 9),
        "ns/large": (None, 9),
        "ns/two": (10, None),
        "ns/own": (None, 9),
    }
    of_threshold = search_for(borrowing=True, threshold=3).pool
    bounds = {one.key: (one.least, one.most) for one in of_threshold}
    assert bounds["ns/one"] == (None, 3)
    assert bounds["ns/large"] == bounds["ns/two"] == (4, None)


def test_orders_that_bounds_forbid_have_no_priorities() -> None:
    pool = search_for(borrowing=True).pool
    possible = [order for order in every_order(pool) if priorities_for(order) is not None]
    assert len(possible) == 2
    assert {order[2].key for order in possible} == {"ns/two"}
