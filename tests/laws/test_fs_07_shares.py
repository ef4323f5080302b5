"""FS-07: the preemptor's side is no more unfair than the victim's.

All shares are computed by hand: what a side uses beyond its quota, the preemptor's request
counted, over what the cohort above could lend. With one resource and one cohort the divisor is
the same for all, so amounts can be compared directly.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.admitted import admitted_fairly
from tests.cluster import (
    Object,
    cohort,
    fair_sharing,
    pending,
    problem_of,
    queue,
    running,
    state_of,
)

FINAL = ("LessThanOrEqualToFinalShare",)
INITIAL = ("LessThanInitialShare",)
BOTH = (*FINAL, *INITIAL)

Sets = set[frozenset[str]]


def sets(*texts: str) -> Sets:
    """Return victim sets, each written as the names of its workloads: ``sets("b1 b2", "c1")``."""
    return {frozenset(f"ns/{name}" for name in text.split()) for text in texts}


def admitted(parts: Iterable[Object], without: Iterable[str] = ()) -> Sets:
    problem, *_ = problem_of(state_of(parts))
    return admitted_fairly(problem, without=set(without))


def flat(
    strategies: Iterable[str],
    request: int,
    weight: str | None = None,
    their_weight: str | None = None,
) -> list[Object]:
    """Return a cohort of 8 of which queue b uses 4 + 2, and queue a asks for some."""
    return [
        *cohort("org", nominal=8),
        *queue("a", 0, "org", reclaim="Any", weight=weight),
        *queue("b", 0, "org", weight=their_weight),
        *running("b1", "b", 4),
        *running("b2", "b", 2),
        *pending("a", request),
        *fair_sharing(*strategies),
    ]


@pytest.mark.parametrize(
    ("strategies", "permitted"),
    [
        (FINAL, sets("b2")),  # 3 <= 4, but not <= 2 without b1
        (INITIAL, sets("b1", "b2", "b1 b2")),  # 3 < 6; b2 first, then 3 < 4
        (BOTH, sets("b1", "b2", "b1 b2")),
        ((), sets("b1", "b2", "b1 b2")),  # both are the default
    ],
)
def test_each_strategy_forbids_and_permits(strategies: tuple[str, ...], permitted: Sets) -> None:
    assert admitted(flat(strategies, 3)) == permitted
    assert admitted(flat(strategies, 3), without={"FS-07"}) == sets("b1", "b2", "b1 b2")


@pytest.mark.parametrize(
    ("strategies", "permitted"),
    [(FINAL, sets("b1")), (INITIAL, set()), (BOTH, sets("b1"))],
)
def test_equal_shares_satisfy_the_final_share_only(
    strategies: tuple[str, ...], permitted: Sets
) -> None:
    """Both shares are 4 of 8, that of b by its cores: they stay when b1 goes, which has none."""
    parts = [
        *cohort("org", nominal={"gpu": 8, "cpu": 8}),
        *queue("a", {"gpu": 0, "cpu": 0}, "org", reclaim="Any"),
        *queue("b", {"gpu": 0, "cpu": 0}, "org"),
        *queue("c", 0, "org"),
        *running("b1", "b", {"gpu": 2}),
        *running("b2", "b", {"cpu": 4}),
        *running("c1", "c", 4),
        *pending("a", 4),
        *fair_sharing(*strategies),
    ]
    assert admitted(parts) == permitted
    assert admitted(parts, without={"FS-07"}) == sets("b1", "c1", "b1 c1")


@pytest.mark.parametrize(
    ("mine", "theirs", "final", "initial"),
    [
        # a would have 4; b has 6, 4 without b2, 2 without b1, each divided by the weight.
        ("1", "1", sets("b2"), sets("b1", "b2")),
        ("2", "2", sets("b2"), sets("b1", "b2")),
        ("2", "1", sets("b1", "b2"), sets("b1", "b2", "b1 b2")),  # 2
        ("1", "2", set(), set()),  # 3, 2 and 1 of b
        ("500m", "1", set(), set()),  # 8
        ("1", "500m", sets("b1", "b2"), sets("b1", "b2", "b1 b2")),  # 12, 8 and 4 of b
        ("0", "1", set(), set()),  # without limit
        ("1", "0", sets("b1", "b2"), sets("b1", "b2", "b1 b2")),  # b without limit, then 0
        ("0", "0", sets("b2"), sets("b1", "b2")),  # compared without weights
    ],
)
def test_weights_divide_shares(mine: str, theirs: str, final: Sets, initial: Sets) -> None:
    assert admitted(flat(FINAL, 4, mine, theirs)) == final
    assert admitted(flat(INITIAL, 4, mine, theirs)) == initial
    assert admitted(flat(BOTH, 4, mine, theirs)) == final | initial


def test_weights_of_one_third_tie_as_they_should() -> None:
    """Weight 0.3 on both sides: the same division on both, so 4 is still not above 4."""
    assert admitted(flat(FINAL, 4, "300m", "300m")) == sets("b2")


@pytest.mark.parametrize(
    ("lendable", "strategies", "permitted"),
    [
        # b2 goes last: b then borrows a core of which nothing could be lent, at ratio 0.
        (0, FINAL, sets("b1", "b2", "b1 b2")),
        (0, INITIAL, sets("b1", "b2")),
        (1, INITIAL, sets("b1", "b2", "b1 b2")),  # one core could be: the ratio is above 0
    ],
)
def test_a_share_is_zero_while_borrowing_if_nothing_can_be_lent(
    lendable: int, strategies: tuple[str, ...], permitted: Sets
) -> None:
    """Queue a borrows nothing: its share is 0, and 0 < 0 does not hold."""
    parts = [
        *cohort("org", nominal={"gpu": 0, "cpu": lendable}),
        *queue("a", 4, "org", reclaim="Any"),
        *queue("b", {"gpu": 2, "cpu": 0}, "org"),
        *running("b1", "b", {"gpu": 2}),
        *running("b2", "b", {"gpu": 2, "cpu": 1}),
        *pending("a", 4),
        *fair_sharing(*strategies, within_nominal=False),
    ]
    assert admitted(parts) == permitted
    assert admitted(parts, without={"FS-07"}) == sets("b1", "b2", "b1 b2")


def departments(strategies: Iterable[str]) -> list[Object]:
    """Return 12 in two departments: left has a (wants 3) and d (4 + 1), right has b (2 + 4)."""
    return [
        *cohort("root", nominal=12),
        *cohort("left", "root"),
        *cohort("right", "root"),
        *queue("a", 0, "left", reclaim="Any"),
        *queue("d", 0, "left"),
        *queue("b", 0, "right"),
        *running("d1", "d", 4),
        *running("d2", "d", 1),
        *running("b1", "b", 2),
        *running("b2", "b", 4),
        *pending("a", 3),
        *fair_sharing(*strategies),
    ]


@pytest.mark.parametrize(
    ("strategies", "permitted"),
    [
        # Within left, a has 3 and d 5. Left as a whole has 8, 4 without d1, right has 6.
        (INITIAL, sets("d1", "d1 d2", "d1 b1", "d1 b2", "d1 d2 b1", "d1 d2 b2", "d1 d2 b1 b2")),
        # d1 leaves d 1, below 3; d2 leaves it 4, but frees 1 of the 2 that are missing, and left
        # with 7 is above right.
        (FINAL, set()),
    ],
)
def test_sides_are_compared_below_the_lowest_common_ancestor(
    strategies: tuple[str, ...], permitted: Sets
) -> None:
    """b1 alone would do were a itself compared, 3 against 4; but left has 8 against 6.

    Nearer victims go first: once d1 is gone, left has 4 and b may give.
    """
    assert admitted(departments(strategies)) == permitted
    dropped = admitted(departments(strategies), without={"FS-07"})
    assert sets("b1", "b2", "b1 b2", "d1 b1 b2") <= dropped


def test_own_victims_go_first_and_lower_the_own_share() -> None:
    """Queue a has 2 and wants 3: 5 are above what is left of b, 3 without its own are not."""
    parts = [
        *cohort("org", nominal=8),
        *queue("a", 0, "org", within="LowerPriority", reclaim="Any"),
        *queue("b", 0, "org"),
        *running("mine", "a", 2),
        *running("b1", "b", 4),
        *running("b2", "b", 2),
        *pending("a", 3),
        *fair_sharing(*FINAL),
    ]
    assert admitted(parts) == sets("mine b2")
    assert sets("b1", "mine b1") <= admitted(parts, without={"FS-07"})


@pytest.mark.parametrize(
    ("gate", "nominal", "strategies", "permitted"),
    [
        (True, 2, INITIAL, sets("b1", "b2", "b1 b2")),
        (True, 2, FINAL, sets("b1", "b2", "b1 b2")),
        (False, 2, INITIAL, sets("b1", "b2")),
        (False, 2, FINAL, set()),
        (True, 1, INITIAL, sets("b1", "b2")),  # 2 are not within a quota of 1
        (True, 1, FINAL, set()),
    ],
)
def test_within_nominal_quota_shares_do_not_matter(
    nominal: int, strategies: tuple[str, ...], permitted: Sets, *, gate: bool
) -> None:
    """Queue a asks for 2 gpus; the 6 of 8 cores it borrows give it a share of 750.

    b has 1000 with its 4 of 4 gpus, 500 without b1.
    """
    parts = [
        *cohort("org", nominal={"gpu": 4 - nominal, "cpu": 8}),
        *queue("a", {"gpu": nominal, "cpu": 0}, "org", reclaim="Any"),
        *queue("b", 0, "org"),
        *running("mine", "a", {"cpu": 6}),
        *running("b1", "b", 2),
        *running("b2", "b", 2),
        *pending("a", 2),
        *fair_sharing(*strategies, within_nominal=gate),
    ]
    assert admitted(parts) == permitted
    assert admitted(parts, without={"FS-07"}) == sets("b1", "b2", "b1 b2")


def test_the_worst_resource_decides() -> None:
    """With gpu 2 of 8 and cpu 6 of 8, b has a share of 750, a with 4 of 8 gpus has 500.

    Without b1 it has 4 of 8 cores, which 500 may just meet; without b2 only 250.
    """
    parts = [
        *cohort("org", nominal={"gpu": 8, "cpu": 8}),
        *queue("a", {"gpu": 0, "cpu": 0}, "org", reclaim="Any"),
        *queue("b", {"gpu": 0, "cpu": 0}, "org"),
        *queue("c", 0, "org"),
        *running("b1", "b", {"gpu": 1, "cpu": 2}),
        *running("b2", "b", {"gpu": 1, "cpu": 4}),
        *running("c1", "c", 3),
        *pending("a", 4),
        *fair_sharing(*FINAL),
    ]
    assert sets("b1") <= admitted(parts)
    assert not admitted(parts) & sets("b2", "b1 b2")
    assert sets("b2", "b1 b2") <= admitted(parts, without={"FS-07"})
