"""Plans for a queue of YuniKorn above its max: true ones are accepted, forged ones refused."""

import pytest

import planner
from planner.errors import InputError
from planner.plan import AnyPlan
from planner.state import AnyState
from tests.commands.check.test_forged import refused
from tests.commands.check.test_said import changed, lowered
from tests.told import told
from tests.yunikorn.building import above_max, state_of

QUEUE = "root.research"


def with_victims(plan: AnyPlan, victims: object) -> AnyPlan:
    return plan.model_copy(update={"victims": victims, "outside_rules": ()})


def test_the_plan_and_what_the_core_does() -> None:
    state, plan = lowered()
    assert (plan.status, plan.keys, plan.preemptor) == ("optimal", ("other",), QUEUE)
    assert plan.greedy is not None
    assert plan.greedy.keys == ("large",)
    (said,) = plan.greedy.outside_rules
    told(said)
    found = planner.check(state, plan)
    assert (found.accepted, found.asked.rules) == (True, "yunikorn-lowered-quota")
    assert all(claim.certified for claim in found.claims)


def test_another_victim_leaves_the_queue_below_its_guaranteed() -> None:
    """It is what the core does, with all that is true of it."""
    state, plan = lowered()
    assert plan.greedy is not None
    assert "YK-02" in refused(planner.check(state, with_victims(plan, plan.greedy.victims)))


def test_nobody_is_too_few() -> None:
    state, plan = lowered()
    assert "YK-13" in refused(planner.check(state, with_victims(plan, ())))


def test_a_victim_of_another_name_is_nobody() -> None:
    state, plan = lowered()
    assert "YK-14" in refused(
        planner.check(state, changed(plan, ("victims", 0, "allocation"), "x"))
    )


@pytest.mark.parametrize(("field", "law"), [("value", "CT-01"), ("bound", "CT-02")])
def test_a_level_is_worth_what_it_is(field: str, law: str) -> None:
    state, plan = lowered()
    assert plan.certificate is not None
    terms = [level.term for level in plan.certificate.levels]
    place = ("certificate", "levels", terms.index("workloads"), field)
    assert law in refused(planner.check(state, changed(plan, place, 0)))


def infeasible() -> tuple[AnyState, AnyPlan]:
    """To a max of 2 none but all could bring it, and 10 of memory are guaranteed to it."""
    state = state_of(above_max(most=2))
    return state, planner.solve(state, quota=QUEUE, certify=True)


def test_that_there_is_no_plan_is_proved() -> None:
    state, plan = infeasible()
    assert plan.status == "infeasible"
    told(plan.explanation)
    assert planner.check(state, plan).accepted


def test_that_there_is_no_plan_is_not_believed_where_there_is_one() -> None:
    state, _ = lowered()
    _, none = infeasible()
    forged = none.model_copy(update={"queues": (), "greedy": None})
    assert refused(planner.check(state, forged)) == {"infeasible"}


def test_a_plan_for_another_queue() -> None:
    state, plan = lowered()
    forged = plan.model_copy(update={"preemptor": "root.batch"})
    assert {"YK-14", "CT-05"} <= refused(planner.check(state, forged))


def test_a_plan_by_the_rules_for_an_ask() -> None:
    state, plan = lowered()
    forged = plan.model_copy(update={"rules": "yunikorn-design"})
    with pytest.raises(InputError) as caught:
        planner.check(state, forged)
    told(caught.value)
