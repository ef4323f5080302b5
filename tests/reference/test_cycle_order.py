"""Scheduling cycles: the order of processing, without and with fair sharing.

docs/semantics/kueue.md §7.3. Everybody fits, so that only the order shows.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster import Object, cohort, configuration, queue, running
from tests.reference.cycles import ran, waits

POOL = cohort("all", nominal=8)
A, B = queue("a", 0, "all"), queue("b", 0, "all")


def order(*parts: list[Object], fair: bool = False, **gates: bool) -> list[str]:
    """Return the names of the heads in the order of processing."""
    switches: dict[str, Any] = {"featureGates": gates}
    if fair:
        switches["fairSharing"] = {}
    cycle = ran(configuration(**switches), *parts)
    assert {entry.outcome for entry in cycle.entries} == {"admitted"}
    return [entry.preemptor.workload.metadata.name for entry in cycle.entries]


def test_who_does_not_borrow_comes_first() -> None:
    parts = POOL, A, queue("own", 1, "all")
    high = waits("high", "a", priority=9)
    assert order(*parts, high, waits("low", "own", minute=9)) == ["low", "high"]


def test_a_nearer_cohort_comes_first() -> None:
    """The head of ``near`` borrows from its own cohort, that of a from the one above."""
    parts = POOL, cohort("below", "all", nominal=1), A, queue("near", 0, "below")
    high = waits("high", "a", priority=9)
    assert order(*parts, high, waits("low", "near")) == ["low", "high"]


def test_then_the_higher_priority_then_the_earlier() -> None:
    older, high = waits("older", "a", minute=1), waits("high", "b", priority=1, minute=2)
    assert order(POOL, A, B, older, high) == ["high", "older"]
    assert order(POOL, A, B, older, waits("newer", "b", minute=2)) == ["older", "newer"]
    assert order(POOL, B, A, older, waits("newer", "b", minute=2)) == ["older", "newer"]


def test_priority_is_left_out_by_a_gate() -> None:
    parts = POOL, A, B, waits("older", "a", minute=1), waits("high", "b", priority=1, minute=2)
    assert order(*parts, PrioritySortingWithinCohort=False) == ["older", "high"]
    assert order(*parts, fair=True, PrioritySortingWithinCohort=False) == ["older", "high"]
    assert order(*parts, fair=True) == ["high", "older"]


def test_the_lower_share_comes_first() -> None:
    parts = POOL, A, B, running("r", "a", 2)
    heads = waits("high", "a", priority=9), waits("low", "b", minute=9)
    assert order(*parts, *heads) == ["high", "low"]
    assert order(*parts, *heads, fair=True) == ["low", "high"]


def test_the_own_usage_counts() -> None:
    heads = waits("much", "a", 3, minute=1), waits("little", "b", 2, minute=2)
    assert order(POOL, A, B, *heads, fair=True) == ["little", "much"]


def test_the_weight_counts() -> None:
    """Three of eight at weight 4 are a smaller share than two at weight 1."""
    heavy = queue("a", 0, "all", weight="4")
    heads = waits("much", "a", 3, minute=2), waits("little", "b", 2, minute=1)
    assert order(POOL, heavy, B, *heads, fair=True) == ["much", "little"]


def test_of_equal_shares_the_earlier_comes_first() -> None:
    heads = waits("newer", "a", minute=2), waits("older", "b", minute=1)
    assert order(POOL, A, B, *heads, fair=True) == ["older", "newer"]


@pytest.mark.parametrize(
    ("gate", "expected"), [(True, ["owner", "guest"]), (False, ["guest", "owner"])]
)
def test_who_does_not_borrow_what_it_asks_for_comes_first(
    gate: bool,  # noqa: FBT001
    expected: list[str],
) -> None:
    """The owner's queue borrows 4 of 8 CPUs, but asks for a GPU of its own; the guest borrows one.

    Its share is 4/8; that of the guest 1/9: there are 8 GPUs in the cohort and one in the queue.
    """
    pool = cohort("all", nominal={"gpu": 8, "cpu": 8})
    owns = queue("a", {"gpu": 1, "cpu": 0}, "all")
    parts = pool, owns, queue("b", {"gpu": 0}, "all"), running("r", "a", {"cpu": 4})
    heads = waits("owner", "a", {"gpu": 1}, minute=2), waits("guest", "b", {"gpu": 1}, minute=1)
    gates = {"FairSharingPrioritizeNonBorrowing": gate}
    assert order(*parts, *heads, fair=True, **gates) == expected


def test_a_zero_of_what_is_borrowed_does_not_count() -> None:
    pool = cohort("all", nominal={"gpu": 8, "cpu": 8})
    owns = queue("a", {"gpu": 1, "cpu": 0}, "all")
    parts = pool, owns, queue("b", {"gpu": 0}, "all"), running("r", "a", {"cpu": 4})
    owner = waits("owner", "a", {"gpu": 1, "cpu": 0}, minute=2)
    assert order(*parts, owner, waits("guest", "b", {"gpu": 1}), fair=True) == ["owner", "guest"]


LEFT, RIGHT = cohort("left", "all"), cohort("right", "all")
FOUR = [
    *(queue(name, 0, "left") for name in ("l1", "l2")),
    *(queue(name, 0, "right") for name in ("r1", "r2")),
]


def test_between_cohorts_their_shares_count() -> None:
    """Queue l2 has nothing, but its cohort has more than the other, whose r1 has one already."""
    held = running("r", "l1", 3), running("s", "r1", 1)
    heads = waits("left", "l2", minute=1), waits("right", "r1", minute=2)
    assert order(POOL, LEFT, RIGHT, *FOUR, *held, *heads, fair=True) == ["right", "left"]


def test_within_a_cohort_the_shares_of_its_queues_count() -> None:
    held = running("r", "l1", 3)
    heads = waits("poor", "l2", minute=2), waits("rich", "l1", minute=1)
    assert order(POOL, LEFT, RIGHT, *FOUR, held, *heads, fair=True) == ["poor", "rich"]


def test_shares_are_computed_anew_for_every_place() -> None:
    """After l1 its cohort has one more than the other: r1 is next, though l2 is earlier."""
    heads = [waits(name, name, minute=i) for i, name in enumerate(("l1", "l2", "r1", "r2"))]
    expected = ["l1", "r1", "l2", "r2"]
    assert order(POOL, LEFT, RIGHT, *FOUR, *heads, fair=True) == expected


def test_trees_do_not_compete() -> None:
    """Whoever has the first queue of the dump is served before any other tree."""
    alone = queue("alone", 4)
    heads = waits("late", "alone", minute=9), waits("one", "a"), waits("two", "b", minute=1)
    assert order(alone, POOL, A, B, *heads, fair=True) == ["late", "one", "two"]
    assert order(POOL, A, alone, B, *heads, fair=True) == ["one", "late", "two"]
