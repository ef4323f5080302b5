"""FS-06: other queues and cohorts give only while they borrow, in whichever resource."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from planner.quota.kueue.holders import Admitted
from planner.verifier.kueue import fair_sharing as laws
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
from tests.laws.cases import KEPT, OVER_QUOTA, OWN_PATH, one_queue
from tests.laws.judges import OWN, RECLAIM, Case, broken_fairly, fair_detail, fairly, judge, sets
from tests.told import told
from tests.verifier.cases import fair_plan


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


def sized(*sizes: int) -> list[Object]:
    """Return a queue of nominal quota 4 that holds workloads x, y, z of the given sizes."""
    return [*one_queue(*sizes), *fair_sharing()]


CASES = [
    # Who is within the quota of its own queue does not break this law alone, but FS-05, too.
    *(fairly(case) for case in OVER_QUOTA if case.name != "all that a queue uses counts"),
    # Without b1, b uses 2 of its 2 gpus; whether it borrows a core decides about b2.
    Case("borrowing what nobody contests is borrowing", cores(0), permits=sets("b1 b2")),
    Case("using what it has is not", cores(2), forbids=sets("b1 b2")),
    Case(
        "so is borrowing another flavor",
        with_spare_flavor([*sized(4, 2), *running("other", "b", 1, flavor=SPARE)]),
        permits=sets("x y"),
    ),
    Case(
        "usage of a flavor that no quota names is no borrowing",
        [*sized(4, 2), *running("other", "b", 1, flavor="t4")],
        permits=sets("x"),
        forbids=sets("x y"),
    ),
    # Queue b says nothing of cpu, so what it uses of it does not count for its share.
    Case("usage without a quota entry is no borrowing", cores(None), legal=sets("b1", "b2")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-06", case)


@pytest.mark.parametrize(
    ("parts", "order"),
    [
        (sized(1, 5), ["x", "y"]),
        ([*KEPT, *fair_sharing()], ["big", "r"]),
        ([*OWN_PATH, *fair_sharing()], ["own", "l"]),
    ],
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
    assert broken_fairly(sized(2, 2, 2), *taken) == ["FS-06"]
    told(fair_detail("FS-06", sized(2, 2, 2), *taken))


def test_usage_beyond_64_bits_is_left_to_the_replay() -> None:
    """Sums saturate: y must go after x, for nothing at all is left behind it."""
    state = state_of(sized(5, 2**63 - 1))
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

    monkeypatch.setattr(laws, "arrange", arrange)
    found = broken_fairly(sized(1, 5), ("x", RECLAIM), ("y", RECLAIM))
    assert found == ([] if last == "y" else ["FS-06"])
