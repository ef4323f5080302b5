"""KQ-07: other queues and cohorts give only while they are over their quota."""

from __future__ import annotations

from itertools import permutations

import pytest

from planner.verifier.kueue.plan import match_plan, verify_plan
from tests.cluster import Object, cohort, pending, queue, running, state_of
from tests.laws.judges import OWN, RECLAIM, Case, broken, detail, judge, sets
from tests.verifier.cases import plan_of


def one_queue(*sizes: int, nominal: int = 4) -> list[Object]:
    """Return a queue b that holds workloads x, y, z of the given sizes, and room enough."""
    return [
        *cohort("org", nominal=sum(sizes) - nominal),
        *queue("a", 2, "org", within="LowerPriority", reclaim="Any"),
        *queue("b", nominal, "org"),
        *(
            one
            for name, size in zip("xyz", sizes, strict=False)
            for one in running(name, "b", size)
        ),
        *pending("a", 1),
    ]


def department(*more: Object, middle: int = 0, spare: int = 9) -> list[Object]:
    """Return a department between the root and the queues in ``more``."""
    return [
        *cohort("org", nominal=spare),
        *cohort("middle", "org", nominal=middle),
        *queue("a", 1, "org", within="LowerPriority", reclaim="Any"),
        *more,
        *pending("a", 1),
    ]


def two_queues(middle: int) -> list[Object]:
    """Return a department over two queues, each over its own quota by one workload."""
    queues = [*queue("left", 1, "middle"), *queue("right", 1, "middle")]
    held = [*running("l", "left", 2), *running("r", "right", 2)]
    return department(*queues, *held, middle=middle, spare=4)


def nested(*more: Object, asked: int) -> list[Object]:
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
        *pending("a", asked),
    ]


def keeps(lending: int | None) -> list[Object]:
    """Return a department that uses 6 of 5, or with lending limit 1 sees 2 + 2 of 1 + 2."""
    queues = [*queue("left", 3, "middle", lending=lending), *queue("right", 2, "middle")]
    return department(*queues, *running("l", "left", 4), *running("r", "right", 2))


KEPT = department(
    *queue("left", 3, "middle", lending=0),
    *queue("right", 1, "middle"),
    *running("big", "left", 4),
    *running("r", "right", 3),
    middle=1,
)
NESTED = department(
    *queue("left", 3, "middle"),
    *queue("right", 1, "middle"),
    *running("big", "left", 4),
    *running("small", "left", 1),
    *running("r", "right", 2),
)
OWN_PATH = [
    *cohort("org", nominal=9),
    *cohort("ours", "org", nominal=9),
    *queue("a", 1, "ours", within="LowerPriority", reclaim="Any"),
    *queue("left", 1, "org"),
    *running("own", "a", 1),
    *running("l", "left", 2),
    *pending("a", 1),
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
        ],
        legal=sets("b1", "b2", "b1 b3", "b2 b3"),  # b3 first: 4 of 3 is still over quota then
        forbids=sets("b1 b2"),
    ),
    Case("the last victim may bring the queue far below", one_queue(5), permits=sets("x")),
    Case(
        # Quota 4, usage 6: whichever goes first, no more than 4 is left for the other.
        "a queue at its quota is forbidden",
        one_queue(4, 2),
        permits=sets("x", "y"),
        forbids=sets("x y"),
    ),
    Case("over its quota by the first, it gives the other", one_queue(5, 1), permits=sets("x y")),
    Case(
        # Department right is within its 6, so its borrowing queue is safe; dropping it is not.
        "cohorts between must be over their subtree quota too",
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
        ],
        victims="d1",
    ),
    # The department uses 4, then 2: it has 1 + 1 of its queues, and some of its own.
    Case("a cohort over its quota", two_queues(1), permits=sets("l"), forbids=sets("l r")),
    Case("a cohort at its quota", two_queues(2), forbids=sets("l")),
    Case(
        # Both queues of department right may give one, but the department only one of the two.
        "last victims are nested along the tree",
        nested(asked=3),
        legal=sets("b1", "c1"),
    ),
    Case(
        # With one more unit in use, the second removal still finds the department over quota.
        "a department that is still over quota gives another",
        nested(*running("c2", "c", 1), asked=2),
        permits=sets("b1 c1"),
    ),
    Case(
        # Middle has quota 4 and uses 7: 4, 1 and 2 may go two at a time, but not all of them.
        "the last victim of a cohort is the last of a queue too",
        NESTED,
        permits=sets("r small", "big small", "big r"),
        forbids=sets("big small r"),
    ),
    # With lending limit 1 left keeps 2 of its 3: middle sees 2 of the 4 it uses.
    Case("all that a queue uses counts", keeps(None), permits=sets("l"), forbids=sets("r")),
    Case("what a queue keeps does not", keeps(1), permits=sets("l")),
    Case(
        # gpu is within quota, cpu is not: 2 of 0, then 1 of 0.
        "one contested resource over quota is enough",
        [
            *cohort("org"),
            *queue("a", {"gpu": 2, "cpu": 2}, "org", reclaim="Any"),
            *queue("b", {"gpu": 4, "cpu": 0}, "org"),
            *running("b1", "b", {"gpu": 2, "cpu": 1}),
            *running("b2", "b", {"gpu": 2, "cpu": 1}),
            *pending("a", {"gpu": 2, "cpu": 2}),
        ],
        permits=sets("b1 b2"),
    ),
    Case(
        "own victims are unconditional",
        [
            *cohort("org"),
            *queue("a", 4, "org", within="LowerPriority", reclaim="Any"),
            *queue("b", 4, "org"),
            *running("own", "a", 2),
            *running("too", "a", 1),
            *pending("a", 4),
        ],
        permits=sets("own too"),
    ),
    # The root is within its quota all the time, and so is the preemptor's own cohort.
    Case("common ancestor and own path are never asked", OWN_PATH, permits=sets("own l")),
    Case("what is kept decides who can be last", KEPT, permits=sets("big r")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-07", case)


@pytest.mark.parametrize(
    ("parts", "order"),
    [
        # Of 1, 3 and 2 with quota 4, the 3 must go last: 6, 5, 3 would end too early.
        (one_queue(1, 3, 2), ["x", "y"]),
        # Left lends none of its 3, so with nothing but big's 4 there, middle uses 1 of its 2.
        # With nothing but r there it uses 3: r must be the last.
        (KEPT, ["big", "r"]),
        (OWN_PATH, ["own", "l"]),
    ],
)
def test_the_order_is_found_whatever_the_plan_says(parts: list[Object], order: list[str]) -> None:
    state = state_of(parts)
    for names in permutations(order):
        plan = plan_of(state, *((name, OWN if name == "own" else RECLAIM) for name in names))
        verification = verify_plan(state, plan)
        assert verification.accepted
        assert verification.removal_order == tuple(f"ns/{name}" for name in order)
        assert [v.key for v in match_plan(state, plan).removal.order] == list(
            verification.removal_order
        )


def test_every_choice_of_the_last_victim_is_tried_and_named() -> None:
    state = state_of(one_queue(2, 2, 2))
    taken = [(name, RECLAIM) for name in "xyz"]
    assert broken(state, *taken) == ["KQ-07"]
    assert detail("KQ-07", state, *taken) == (
        "before its last victim goes, whichever of them that is, ClusterQueue b is not over "
        "its quota (uses 2 gpu in flavor default of nominal quota 4), so Kueue would not "
        "take ns/x, ns/y, ns/z"
    )
    everybody = [(name, RECLAIM) for name in ("big", "small", "r")]
    assert "Cohort middle is not over its quota" in detail("KQ-07", state_of(NESTED), *everybody)
