"""FS-06: other queues and cohorts give only while they borrow, in whichever resource."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from planner.quota.snapshot import Admitted
from planner.verifier.kueue import fair_removal
from planner.verifier.kueue.plan import match_plan, verify_plan
from tests.cluster import (
    SPARE,
    Object,
    cohort,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
    with_spare_flavor,
)
from tests.laws.judges import OWN, RECLAIM, Case, broken_fairly, judge, sets, told_fairly
from tests.verifier.cases import fair_plan


def entitled(*more: Object, spare: int = 9) -> list[Object]:
    """Return a tree in which the preemptor asks for its nominal quota: no shares are compared."""
    return [
        *cohort("org", nominal=spare),
        *queue("a", 1, "org", within="LowerPriority", reclaim="Any"),
        *more,
        *pending("a", 1),
        *fair_sharing(),
    ]


def one_queue(*sizes: int) -> list[Object]:
    """Return a queue of nominal quota 4 that holds workloads x, y, z of the given sizes."""
    held = (running(name, "b", size) for name, size in zip("xyz", sizes, strict=False))
    return entitled(*queue("b", 4, "org"), *(one for each in held for one in each))


def cores(quota: int | None) -> list[Object]:
    """Return a queue that uses its 2 gpus twice over, and 2 cores."""
    mine = 2 if quota is None else {"gpu": 2, "cpu": quota}
    return [
        *cohort("org", nominal={"gpu": 0, "cpu": 2}),
        *queue("a", 4, "org", reclaim="Any"),
        *queue("b", mine, "org"),
        *running("b1", "b", {"gpu": 2, "cpu": 1}),
        *running("b2", "b", {"gpu": 2, "cpu": 1}),
        *pending("a", 4),
        *fair_sharing(),
    ]


def nested(*more: Object) -> list[Object]:
    """Return two queues below a department; both use 2 of 1."""
    return [
        *cohort("root"),
        *cohort("right", "root"),
        *queue("a", 4, "root", reclaim="Any"),
        *queue("b", 1, "right"),
        *queue("c", 1, "right"),
        *running("b1", "b", 2),
        *running("c1", "c", 2),
        *more,
        *pending("a", 3),
        *fair_sharing(),
    ]


def department(middle: int) -> list[Object]:
    """Return a department with some quota of its own, both of whose queues use 2 of 1."""
    return entitled(
        *cohort("middle", "org", nominal=middle),
        *queue("left", 1, "middle"),
        *queue("right", 1, "middle"),
        *running("l", "left", 2),
        *running("r", "right", 2),
    )


KEPT = entitled(
    *cohort("middle", "org", nominal=1),
    *queue("left", 3, "middle", lending=0),
    *queue("right", 1, "middle"),
    *running("big", "left", 4),
    *running("r", "right", 3),
)
OWN_PATH = [
    *cohort("org", nominal=9),
    *cohort("ours", "org", nominal=9),
    *queue("a", 2, "ours", within="LowerPriority", reclaim="Any"),
    *queue("left", 1, "org"),
    *running("own", "a", 1),
    *running("l", "left", 2),
    *pending("a", 1),
    *fair_sharing(),
]
CASES = [
    Case(
        # Queue b uses 5 of 3: after one of 2 it is within its quota, so a second may not follow.
        "a queue gives up what it borrowed and one more step",
        [
            *cohort("org"),
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 3, "org"),
            *running("b1", "b", 2),
            *running("b2", "b", 2),
            *running("b3", "b", 1),
            *pending("a", 4),
            *fair_sharing(),
        ],
        legal=sets("b1", "b2", "b1 b3", "b2 b3"),  # b3 first: 4 of 3 is still borrowing
        without=sets("b1", "b2", "b1 b3", "b2 b3", "b1 b2", "b1 b2 b3"),
    ),
    Case("the last victim may bring the queue far below", one_queue(5), permits=sets("x")),
    Case("it goes last", one_queue(5, 1), permits=sets("x y")),
    Case(
        "a queue that borrows no more is forbidden",
        one_queue(4, 2),
        permits=sets("x", "y"),
        forbids=sets("x y"),
    ),
    # Without b1, b uses 2 of its 2 gpus; whether it borrows a core decides about b2.
    Case("borrowing what nobody contests is borrowing", cores(0), permits=sets("b1 b2")),
    Case("using what it has is not", cores(2), forbids=sets("b1 b2")),
    Case(
        "so is borrowing another flavor",
        with_spare_flavor([*one_queue(4, 2), *running("other", "b", 1, flavor=SPARE)]),
        permits=sets("x y"),
    ),
    Case(
        "usage of a flavor that no quota names is no borrowing",
        [*one_queue(4, 2), *running("other", "b", 1, flavor="t4")],
        permits=sets("x"),
        forbids=sets("x y"),
    ),
    # Queue b says nothing of cpu, so what it uses of it does not count for its share.
    Case("usage without a quota entry is no borrowing", cores(None), legal=sets("b1", "b2")),
    Case(
        # Department right is within its 6, so its borrowing queue is safe; d's is not.
        "cohorts between must borrow too",
        [
            *cohort("root"),
            *cohort("left", "root"),
            *cohort("right", "root"),
            *queue("a", 2, "left", reclaim="Any"),
            *queue("b", 1, "right"),
            *queue("c", 5, "right"),
            *queue("d", 0, "left"),
            *running("b1", "b", 3),
            *running("c1", "c", 3),
            *running("d1", "d", 2),
            *pending("a", 2),
            *fair_sharing(),
        ],
        legal=sets("d1"),
        forbids=sets("b1"),
    ),
    Case("a department over its quota", department(1), permits=sets("l"), forbids=sets("l r")),
    Case("a department at its quota", department(2), forbids=sets("l", "l r")),
    Case("last victims are nested along the tree", nested(), forbids=sets("b1 c1")),
    Case(
        "a department that still borrows gives a second",
        nested(*running("c2", "c", 1)),
        permits=sets("b1 c1"),
    ),
    # Left lends none of its 3, so with nothing but big's 4 there, middle uses 1 of its 2.
    Case("what is kept decides who can be last", KEPT, permits=sets("big r")),
    Case("own victims and the own path are never asked", OWN_PATH, permits=sets("own l")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-06", case)


@pytest.mark.parametrize(
    ("parts", "order"),
    [(one_queue(1, 5), ["x", "y"]), (KEPT, ["big", "r"]), (OWN_PATH, ["own", "l"])],
)
def test_the_order_is_found_whatever_the_plan_says(parts: list[Object], order: list[str]) -> None:
    state = state_of(parts)
    for names in permutations(order):
        taken = [(name, OWN if name == "own" else RECLAIM) for name in names]
        verification = verify_plan(state, fair_plan(state, *taken))
        assert verification.accepted
        assert verification.removal_order == tuple(f"ns/{name}" for name in order)


def test_every_choice_of_the_last_victim_is_tried_and_named() -> None:
    taken = [(name, RECLAIM) for name in "xyz"]
    assert broken_fairly(one_queue(2, 2, 2), *taken) == ["FS-06"]
    assert told_fairly("FS-06", one_queue(2, 2, 2), *taken) == (
        "before its last victim goes, whichever of them that is, ClusterQueue b is not over "
        "its quota (uses 2 gpu in flavor default of nominal quota 4), so Kueue would not "
        "take ns/x, ns/y, ns/z"
    )


def test_usage_beyond_64_bits_is_left_to_the_replay() -> None:
    """Sums saturate: y must go after x, for nothing at all is left behind it."""
    state = state_of(one_queue(5, 2**63 - 1))
    for order in permutations("xy"):
        plan = fair_plan(state, *((name, RECLAIM) for name in order))
        assert verify_plan(state, plan).removal_order == ("ns/x", "ns/y")
        case = match_plan(state, plan)
        assert case.obstacle(sorted(case.victims, key=lambda v: v.key, reverse=True))


@pytest.mark.parametrize("last", ["x", "y"])
def test_the_replay_has_the_last_word(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1 and 5 with quota 4, the 5 must go last; an order put together wrongly is noticed."""

    def arrange(_: object, victims: Sequence[Admitted], __: object) -> list[Admitted]:
        return sorted(victims, key=lambda victim: victim.key == f"ns/{last}")

    monkeypatch.setattr(fair_removal, "arrange", arrange)
    found = broken_fairly(one_queue(1, 5), ("x", RECLAIM), ("y", RECLAIM))
    assert found == ([] if last == "y" else ["FS-06"])
