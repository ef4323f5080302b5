"""FS-07: the preemptor's side is no more unfair than the victim's.

All shares are computed by hand: what a side uses beyond its quota, the preemptor's request
counted, over what the cohort above could lend. With one resource and one cohort the divisor is
the same for all, so amounts can be compared directly.
"""

from collections.abc import Callable
from itertools import permutations

import pytest

from planner.quota.kueue.tree import Share
from planner.verifier.kueue.plan import verify_plan
from planner.verifier.kueue.setting import say_shares
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
from tests.laws.judges import (
    BY_SHARE,
    OWN,
    RECLAIM,
    Case,
    Sets,
    broken_fairly,
    fair_detail,
    judge,
    sets,
)
from tests.told import told
from tests.verifier.cases import fair_plan

FINAL = ("LessThanOrEqualToFinalShare",)
INITIAL = ("LessThanInitialShare",)
BOTH = (*FINAL, *INITIAL)
NAMED = {FINAL: "final", INITIAL: "initial", BOTH: "both", (): "the default"}
ALL = sets("b1", "b2", "b1 b2")


def flat(
    strategies: tuple[str, ...],
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


def busy(
    *sizes: int,
    strategies: tuple[str, ...] = BOTH,
    mine: str = "1",
    theirs: str = "1",
    request: int = 2,
) -> list[Object]:
    """Return a queue with nominal 2, all used, next to one with workloads x, y, z of sizes.

    8 can be lent, so 1 too much is a share of 125 at weight 1.
    """
    held = (running(name, "b", size) for name, size in zip("xyz", sizes, strict=False))
    return [
        *cohort("org", nominal=4),
        *queue("a", 2, "org", within="LowerPriority", reclaim="Any", weight=mine),
        *queue("b", 2, "org", weight=theirs),
        *running("own", "a", 2),
        *(one for each in held for one in each),
        *pending("a", request),
        *fair_sharing(*strategies),
    ]


def equal(strategies: tuple[str, ...]) -> list[Object]:
    """Both shares are 4 of 8, that of b by its cores: they stay when b1 goes, which has none."""
    return [
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


def nothing_lendable(strategies: tuple[str, ...], lendable: int) -> list[Object]:
    """Queue a borrows nothing: its share is 0, and 0 < 0 does not hold."""
    return [
        *cohort("org", nominal={"gpu": 0, "cpu": lendable}),
        *queue("a", 4, "org", reclaim="Any"),
        *queue("b", {"gpu": 2, "cpu": 0}, "org"),
        *running("b1", "b", {"gpu": 2}),
        *running("b2", "b", {"gpu": 2, "cpu": 1}),
        *pending("a", 4),
        *fair_sharing(*strategies, within_nominal=False),
    ]


def kept_back(strategies: tuple[str, ...]) -> list[Object]:
    """Queue a lends nothing and nobody else has quota: b borrows, at ratio 0."""
    return [
        *cohort("org"),
        *queue("a", 4, "org", lending=0, within="LowerPriority", reclaim="Any"),
        *queue("b", 0, "org"),
        *running("b1", "b", 2),
        *pending("a", 4),
        *fair_sharing(*strategies, within_nominal=False),
    ]


def departments(strategies: tuple[str, ...]) -> list[Object]:
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


def hierarchy(*sizes: int) -> list[Object]:
    """Return 12 in two cohorts: the preemptor's, with sister queue s (3 + 3), and one with b."""
    return [
        *cohort("org", nominal=12),
        *cohort("ours", "org"),
        *cohort("theirs", "org"),
        *queue("a", 0, "ours", within="LowerPriority", reclaim="Any"),
        *queue("s", 0, "ours"),
        *queue("b", 0, "theirs"),
        *running("s1", "s", 3),
        *running("s2", "s", 3),
        *(running(f"b{i}", "b", size)[0] for i, size in enumerate(sizes, 1)),
        *pending("a", 2),
        *fair_sharing(*FINAL),
    ]


def beyond(gate: bool, nominal: int, strategies: tuple[str, ...]) -> list[Object]:  # noqa: FBT001
    """Queue a asks for 2 gpus; the 6 of 8 cores it borrows give it a share of 750.

    b has 1000 with its 4 of 4 gpus, 500 without b1.
    """
    return [
        *cohort("org", nominal={"gpu": 4 - nominal, "cpu": 8}),
        *queue("a", {"gpu": nominal, "cpu": 0}, "org", reclaim="Any"),
        *queue("b", 0, "org"),
        *running("mine", "a", {"cpu": 6}),
        *running("b1", "b", 2),
        *running("b2", "b", 2),
        *pending("a", 2),
        *fair_sharing(*strategies, within_nominal=gate),
    ]


def entitled(*, gate: bool, nominal: int = 2) -> list[Object]:
    """Return two cohorts, of which the preemptor's has the higher share, but not its queue."""
    return [
        *cohort("org", nominal=4),
        *cohort("ours", "org"),
        *cohort("theirs", "org"),
        *queue("a", nominal, "ours", within="LowerPriority", reclaim="Any"),
        *queue("s", 0, "ours"),
        *queue("b", 2, "theirs"),
        *running("s1", "s", 2 + nominal),
        *running("b1", "b", 2),
        *running("b2", "b", 2),
        *pending("a", 2),
        *fair_sharing(within_nominal=gate),
    ]


def unlent(lending: int | None, kept: int) -> list[Object]:
    """Without a limit theirs has subtree quota 4, with it 0: either way 1 too many is left."""
    return [
        *cohort("org", nominal=4),
        *cohort("ours", "org"),
        *cohort("theirs", "org"),
        *queue("a", 0, "ours", within="LowerPriority", reclaim="Any"),
        *queue("b", 4, "theirs", lending=lending),
        *running("b1", "b", 1),
        *running("b2", "b", kept),
        *pending("a", 1),
        *fair_sharing(*FINAL),
    ]


def one_order() -> list[Object]:
    """Who borrows until the last victim forces two to be last, but shares would need one.

    Left borrows only while two is there (it holds the other flavor, of which left has no quota);
    but then theirs has 1 too many before its last victim goes, and a will have 1. Only with one
    as the last, theirs would have 2.
    """
    (two,) = running("two", "left", 0)
    more = {"name": "more", "flavors": {"gpu": SPARE}, "resourceUsage": {"gpu": 1}, "count": 1}
    two["status"]["admission"]["podSetAssignments"].append(more)
    two["spec"]["podSets"].append({**two["spec"]["podSets"][0], "name": "more"})
    return with_spare_flavor(
        [
            *cohort("org", nominal=2),
            *cohort("theirs", "org"),
            *queue("a", 1, "org", within="LowerPriority", reclaim="Any"),
            *queue("left", 3, "theirs"),
            *queue("right", 0, "theirs"),
            *running("one", "left", 3),
            two,
            *running("small", "left", 1),
            *running("stays", "right", 2),
            *pending("a", 2),
            *fair_sharing(*INITIAL),
        ]
    )


def every(
    what: str, make: Callable[[tuple[str, ...]], list[Object]], *rows: tuple[tuple[str, ...], Sets]
) -> list[Case]:
    """Return a case for each configuration of strategies, with all sets that it permits."""
    return [
        Case(f"{what}: {NAMED[strategies]}", make(strategies), legal=legal)
        for strategies, legal in rows
    ]


def only_x(what: str, *, permitted: bool, parts: list[Object], tie: bool = False) -> Case:
    """Return a case that asks about x alone."""
    x, nobody = sets("x"), sets()
    permits, forbids = (x, nobody) if permitted else (nobody, nobody if tie else x)
    return Case(what, parts, permits=permits, forbids=forbids, tie=tie)


CASES = [
    *(
        Case(f"flat: {NAMED[strategies]}", flat(strategies, 3), legal=legal, without=ALL)
        for strategies, legal in (
            (FINAL, sets("b2")),  # 3 <= 4, but not <= 2 without b1
            (INITIAL, ALL),  # 3 < 6; b2 first, then 3 < 4
            (BOTH, ALL),
            ((), ALL),  # both are the default
        )
    ),
    *every(
        "equal shares satisfy the final share only",
        equal,
        (FINAL, sets("b1")),
        (INITIAL, sets()),
        (BOTH, sets("b1")),
    ),
    *(
        Case(f"weights {mine} and {theirs}: {NAMED[strategies]}", parts, legal=legal)
        for mine, theirs, final, initial in (
            # a would have 4; b has 6, 4 without b2, 2 without b1, each divided by the weight.
            ("1", "1", sets("b2"), sets("b1", "b2")),
            ("2", "2", sets("b2"), sets("b1", "b2")),
            ("2", "1", sets("b1", "b2"), ALL),  # 2
            ("1", "2", sets(), sets()),  # 3, 2 and 1 of b
            ("500m", "1", sets(), sets()),  # 8
            ("1", "500m", sets("b1", "b2"), ALL),  # 12, 8 and 4 of b
            ("0", "1", sets(), sets()),  # without limit
            ("1", "0", sets("b1", "b2"), ALL),  # b without limit, then 0
            ("0", "0", sets("b2"), sets("b1", "b2")),  # compared without weights
            # The same division on both sides: 4 is still not above 4.
            ("300m", "300m", sets("b2"), sets("b1", "b2")),
        )
        for strategies, legal in ((FINAL, final), (INITIAL, initial), (BOTH, final | initial))
        for parts in [flat(strategies, 4, mine, theirs)]
    ),
    # a will have 250; b has 500 before x goes, or 250 as a will.
    only_x("250 left is fair", permitted=True, parts=busy(2, 4, strategies=FINAL)),
    only_x("125 left is not", permitted=False, parts=busy(3, 3, strategies=FINAL)),
    only_x("500 before is more", permitted=True, parts=busy(3, 3, strategies=INITIAL)),
    only_x("either will do", permitted=True, parts=busy(3, 3)),
    only_x("250 before is no reason", permitted=False, parts=busy(2, 2, strategies=INITIAL)),
    only_x("neither will do", permitted=False, parts=busy(2, 2)),
    *(
        only_x(
            f"busy, weights {mine} and {theirs}: {NAMED[strategies]}",
            permitted=permitted,
            parts=busy(3, 3, mine=mine, theirs=theirs, strategies=strategies),
            tie=(mine, theirs, strategies) == ("1", "2", INITIAL),
        )
        for mine, theirs, strategies, permitted in (
            # Unweighted, a will have 250, b 500 before x (3) goes, and 125 after.
            ("2", "1", FINAL, True),  # 125 <= 125
            ("1", "2", INITIAL, False),  # 250 < 250
            ("1", "1.9", INITIAL, True),
            ("0", "1", BOTH, False),  # infinite against finite
            ("1", "0", BOTH, True),  # finite against infinite
            ("0", "0", INITIAL, True),  # ratios decide: 250 < 500
            ("0", "0", FINAL, False),  # 250 <= 125
        )
    ),
    # A queue of weight 0 has no share once it borrows nothing.
    only_x("0 left of infinity", permitted=False, parts=busy(4, 2, theirs="0", strategies=FINAL)),
    only_x("infinity", permitted=True, parts=busy(4, 2, theirs="0", strategies=INITIAL)),
    Case(
        # b borrows with either of x (3) and y (6) left, but above 375, and only at 500, with y.
        "the last victim is chosen for its share",
        busy(3, 6, strategies=INITIAL, request=3),
        permits=sets("x y"),
    ),
    Case(
        "no last victim has share enough",
        busy(3, 6, strategies=INITIAL, request=4),
        forbids=sets("x y"),
    ),
    Case("own victims lower the own share", busy(3, 1), forbids=sets("x"), permits=sets("own x")),
    # b2 goes last: b then borrows a core of which nothing could be lent, at ratio 0.
    *(
        Case(f"{lendable} lendable: {NAMED[strategies]}", parts, legal=legal, without=ALL)
        for lendable, strategies, legal in (
            (0, FINAL, ALL),
            (0, INITIAL, sets("b1", "b2")),
            (1, INITIAL, ALL),  # one core could be: the ratio is above 0
        )
        for parts in [nothing_lendable(strategies, lendable)]
    ),
    *every(
        "nothing lendable is a share of 0",
        kept_back,
        (FINAL, sets("b1")),
        (BOTH, sets("b1")),
        (INITIAL, sets()),
    ),
    Case(
        # b1 alone would do were a itself compared, 3 against 4; but left has 8 against 6. Nearer
        # victims go first: once d1 is gone, left has 4 and b may give. In left, a has 3 and d 5.
        "compared below the lowest common ancestor: initial",
        departments(INITIAL),
        legal=sets("d1", "d1 d2", "d1 b1", "d1 b2", "d1 d2 b1", "d1 d2 b2", "d1 d2 b1 b2"),
        forbids=sets("b1", "b2", "b1 b2"),
    ),
    Case(
        # d1 leaves d 1, below 3; d2 leaves it 4, but frees 1 of the 2 that are missing, and left
        # with 7 is above right.
        "compared below the lowest common ancestor: final",
        departments(FINAL),
        legal=sets(),
        forbids=sets("b1", "b2", "b1 b2", "d1 b1 b2"),
    ),
    # a will have 2 and b keeps 3, but cohort ours will have 8 and theirs 3.
    Case("its cohort has too much", hierarchy(3, 3), forbids=sets("b1"), permits=sets("s1")),
    # Without s1, ours will have 5: what theirs keeps is enough only then.
    Case("until a sister gives", hierarchy(1, 5), forbids=sets("b1 b2"), permits=sets("b1 s1")),
    Case(
        # a has 2 and wants 3: 5 are above what is left of b, 3 without its own are not.
        "own victims go first and lower the own share",
        [
            *cohort("org", nominal=8),
            *queue("a", 0, "org", within="LowerPriority", reclaim="Any"),
            *queue("b", 0, "org"),
            *running("mine", "a", 2),
            *running("b1", "b", 4),
            *running("b2", "b", 2),
            *pending("a", 3),
            *fair_sharing(*FINAL),
        ],
        legal=sets("mine b2"),
        forbids=sets("b1", "mine b1"),
    ),
    *(
        Case(f"gate {gate}, quota {nominal}: {NAMED[strategies]}", parts, legal=legal, without=ALL)
        for gate, nominal, strategies, legal in (
            (True, 2, INITIAL, ALL),
            (True, 2, FINAL, ALL),
            (False, 2, INITIAL, sets("b1", "b2")),
            (False, 2, FINAL, sets()),
            (True, 1, INITIAL, sets("b1", "b2")),  # 2 are not within a quota of 1
            (True, 1, FINAL, sets()),
        )
        for parts in [beyond(gate, nominal, strategies)]
    ),
    Case("within nominal quota", entitled(gate=True), permits=sets("b1")),
    Case("the gate is off", entitled(gate=False), forbids=sets("b1")),
    Case("beyond nominal quota", entitled(gate=True, nominal=1), forbids=sets("b1")),
    Case(
        # With gpu 2 of 8 and cpu 6 of 8, b has a share of 750, a with 4 of 8 gpus has 500.
        # Without b1 it has 4 of 8 cores, which 500 may just meet; without b2 only 250.
        "the worst resource decides",
        [
            *cohort("org", nominal={"gpu": 8, "cpu": 8}),
            *queue("a", {"gpu": 0, "cpu": 0}, "org", reclaim="Any"),
            *queue("b", {"gpu": 0, "cpu": 0}, "org"),
            *queue("c", 0, "org"),
            *running("b1", "b", {"gpu": 1, "cpu": 2}),
            *running("b2", "b", {"gpu": 1, "cpu": 4}),
            *running("c1", "c", 3),
            *pending("a", 4),
            *fair_sharing(*FINAL),
        ],
        permits=sets("b1"),
        forbids=sets("b2", "b1 b2"),
    ),
    # b lends nothing of its 4: theirs is seen with 2 of the 6 it uses, and ours has 2.
    Case("lends all it can", unlent(None, 5), permits=sets("b1")),
    Case("lends nothing", unlent(0, 5), permits=sets("b1")),
    Case("lends nothing, and 1 less is left", unlent(0, 4), forbids=sets("b1")),
    Case(
        "both laws must hold in one order",
        one_order(),
        permits=sets("one"),
        forbids=sets("one two small"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-07", case)


@pytest.mark.parametrize(
    ("parts", "order"),
    [
        (busy(3, 6, strategies=INITIAL, request=3), ["x", "y"]),
        (busy(3, 1), ["own", "x"]),
        (hierarchy(1, 5), ["s1", "b1"]),
    ],
)
def test_the_order_is_found_whatever_the_plan_says(parts: list[Object], order: list[str]) -> None:
    state = state_of(parts)
    for names in permutations(order):
        taken = [(name, OWN if name == "own" else BY_SHARE) for name in names]
        verification = verify_plan(state, fair_plan(state, *taken))
        assert verification.accepted
        assert verification.removal_order == tuple(f"ns/{name}" for name in order)


def test_what_is_in_the_way_is_told_with_names_and_shares() -> None:
    told(fair_detail("FS-07", busy(2, 2), ("x", BY_SHARE)))
    unlimited = busy(1, 1, 2, theirs="0", mine="0", strategies=INITIAL)
    told(fair_detail("FS-07", unlimited, ("x", BY_SHARE), ("y", BY_SHARE)))
    taken = [(name, BY_SHARE) for name in ("one", "two", "small")]
    told(fair_detail("FS-07", one_order(), *taken))


def test_shares_that_differ_never_look_alike() -> None:
    third, more = Share(1000 / 3, 1.0, borrowing=True), Share(333.3333, 1.0, borrowing=True)
    assert say_shares(third, third, Share(0.0, 0.0, borrowing=True)) == ["333.333", "333.333", "0"]
    assert say_shares(third, more, more) == ["333.3333333333333", "333.3333", "333.3333"]


def test_the_verifier_refuses_a_tie_of_different_weights() -> None:
    """Without its weight b has 500, with it 250, as a has: 250 < 250 does not hold."""
    parts = busy(3, 3, theirs="2", strategies=INITIAL)
    assert broken_fairly(parts, ("x", BY_SHARE)) == ["FS-07"]


@pytest.mark.parametrize("reason", [OWN, RECLAIM, ""])
def test_the_reason_is_fair_sharing(reason: str) -> None:
    assert broken_fairly(busy(2, 4), ("x", reason)) == ["FS-07"]


def test_within_nominal_quota_it_is_reclamation() -> None:
    assert not broken_fairly(entitled(gate=True), ("b1", RECLAIM))
    assert broken_fairly(entitled(gate=True), ("b1", BY_SHARE)) == ["FS-07"]
    for parts in (entitled(gate=False), entitled(gate=True, nominal=1)):
        assert broken_fairly(parts, ("b1", BY_SHARE)) == ["FS-07"]
        detail = fair_detail("FS-07", parts, ("b1", RECLAIM))
        told(detail)


def test_within_nominal_quota_is_judged_before_the_first_removal() -> None:
    """Without its own victim the queue would stay within nominal quota, and have no share."""
    assert broken_fairly(busy(3, 1), ("own", OWN), ("x", RECLAIM)) == ["FS-07"]
    assert not broken_fairly(busy(3, 1), ("own", OWN), ("x", BY_SHARE))
