"""KQ-07: other queues and cohorts give only while they are over their quota."""

from itertools import permutations

import pytest

from planner.verifier.kueue.plan import match_plan, verify_plan
from tests.cluster import Object, state_of
from tests.laws.cases import KEPT, NESTED, OVER_QUOTA, OWN_PATH, one_queue
from tests.laws.judges import OWN, RECLAIM, Case, broken, detail, judge
from tests.told import told
from tests.verifier.cases import plan_of


@pytest.mark.parametrize("case", OVER_QUOTA, ids=str)
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
    told(detail("KQ-07", state, *taken))
    everybody = [(name, RECLAIM) for name in ("big", "small", "r")]
    told(detail("KQ-07", state_of(NESTED), *everybody))
