"""Plans by KEP-83's rules: what they say, and that nobody can say anything else."""

from typing import Any

import pytest
from pydantic import ValidationError

import planner
from planner.plan.kueue import Plan
from planner.research.kep83.laws import LAWS
from planner.research.kep83.options import Kep83
from planner.state.kueue import State
from planner.verifier.kueue.plan import verify_plan
from tests.cluster import PENDING, cohort, fair_sharing, pending, queue, running, state_of
from tests.told import told


def state() -> State:
    """Queue a wants 3 of its 4 and holds 2; queue b uses 6 of 4, of 10 there are 2 in all."""
    return state_of(
        cohort("org"),
        queue("a", 4, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 4, "org"),
        running("a1", "a", 2, 1),
        running("b1", "b", 2, 20, minute=1),
        running("b2", "b", 2, 5, minute=2),
        running("b3", "b", 2, 5, minute=3),
        pending("a", 3),
    )


def test_a_plan_says_its_rules_and_is_proved_and_verified() -> None:
    """a1 must go, or queue a exceeds its 4; with it 2 are free, so one of b's goes, too."""
    plan = planner.solve(state(), PENDING, "min-count", rules="kep83")
    assert (plan.status, plan.rules, plan.borrowing) == ("optimal", "kep83", False)
    assert plan.rule_options == "kep83"
    assert {(victim.workload, victim.reason) for victim in plan.victims} == {
        ("ns/b3", "InCohortReclamation"),
        ("ns/a1", "InClusterQueue"),
    }
    assert plan.certificate is not None
    assert [verdict.law for verdict in plan.certificate.verdicts] == [law.id for law in LAWS]
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert plan.greedy is not None
    told(plan.greedy.explanation)


def broken(**changes: Any) -> list[str]:
    """Return the laws that the plan of the state breaks after some changes to it."""
    plan = planner.solve(state(), PENDING, "min-count", rules="kep83")
    said = {**plan.model_dump(by_alias=False), **changes, "greedy": None, "certificate": None}
    verdicts = verify_plan(state(), Plan.model_validate(said)).verdicts
    return [verdict.law for verdict in verdicts if not verdict.holds]


def victim(name: str, **changes: Any) -> dict[str, Any]:
    """Return a victim of the plan of the state with some changes."""
    plan = planner.solve(state(), PENDING, "min-count", rules="kep83")
    found = next(one for one in plan.victims if one.workload == f"ns/{name}")
    return {**found.model_dump(), **changes}


def test_changed_plans_break_their_laws() -> None:
    own, other = victim("a1"), victim("b3")
    assert broken() == []
    assert broken(victims=(own,)) == ["K83-01"]
    assert broken(victims=(other,)) == ["K83-01", "K83-02"]
    assert broken(victims=(own, other, other)) == ["K83-03"]
    assert broken(victims=(own, {**other, "workload": "ns/nobody"})) == ["K83-01", "K83-03"]
    assert broken(victims=({**own, "reason": "InCohortReclamation"}, other)) == ["K83-04"]
    assert broken(victims=(own, {**other, "reason": "InClusterQueue"})) == ["K83-05"]
    assert broken(borrowing=True) == ["K83-02"]
    assert broken(borrowing=None) == ["K83-02"]


@pytest.mark.parametrize(
    ("options", "laws_broken"),
    [
        ({"queue": "Never"}, ["K83-04"]),
        ({"cohort": "Never"}, ["K83-05"]),
        ({"cohort": "LowerPriority"}, ["K83-02", "K83-05"]),  # borrowing and reason are others
        ({"wait": 1}, ["K83-08"]),
        ({"order": ("ByLongestRuntime",)}, []),  # an order is no law
    ],
)
def test_other_options_permit_other_plans(options: dict[str, Any], laws_broken: list[str]) -> None:
    assert broken(rule_options=Kep83.model_validate(options).text) == laws_broken


def test_options_stand_in_plans_by_these_rules_only() -> None:
    plan = planner.solve(state(), PENDING, rules="kep83").model_dump(by_alias=False)
    for wrong in ({"rules": "kueue-classical"}, {"rule_options": ""}):
        with pytest.raises(ValidationError) as caught:
            Plan.model_validate({**plan, "greedy": None, **wrong})
        told(caught.value)


def test_a_tree_of_one_row_is_told_with_the_candidates_of_these_rules() -> None:
    plan = planner.solve(state(), PENDING, "min-count", rules="kep83")
    assert plan.certificate is not None
    first, *_ = plan.certificate.levels
    assert (first.term, first.bound) == ("victims", 2)  # 3 missing, at most 2 each
    told(first.says)


def test_why_there_is_no_plan() -> None:
    def explanation(text: str) -> str:
        plan = planner.solve(state(), PENDING, rules=text)
        assert plan.status == "infeasible"
        return plan.explanation

    told(explanation("kep83:wait=60"))
    told(explanation("kep83:cohort=Never,queue=Never"))
    large = state_of(queue("a", 2, within="LowerPriority"), running("a1", "a", 2), pending("a", 3))
    plan = planner.solve(large, PENDING, rules="kep83")
    assert plan.status == "infeasible"
    told(plan.explanation)


@pytest.mark.parametrize(("asks", "keys"), [(3, ("ns/a1",)), (5, ())])
def test_a_plan_is_checked_on_the_state_that_it_was_made_for(
    asks: int, keys: tuple[str, ...]
) -> None:
    """Fair sharing came later: shares would count the memory, whose usage is beyond 64 bits."""
    quota, most = {"gpu": 4, "memory": 1}, 2**63 - 1
    given = state_of(
        fair_sharing(),
        queue("a", quota, "org", within="LowerPriority", reclaim="Any"),
        queue("b", quota, "org"),
        running("a1", "a", {"gpu": 4, "memory": most}),
        running("b1", "b", {"gpu": 4, "memory": most}),
        pending("a", {"gpu": asks}, 1),
    )
    plan = planner.solve(given, PENDING, rules="kep83")
    assert (plan.status, plan.keys) == ("optimal" if keys else "infeasible", keys)
    found = planner.check(given, plan, rules="kep83")
    assert all(verdict.holds for verdict in found.verdicts)
    assert found.accepted or keys  # amounts as large as these are beyond trees


def test_nothing_needs_to_go() -> None:
    """It borrows what is free, as step 0 permits: no law binds a plan that evicts nobody."""
    roomy = state_of(queue("a", 1, "org"), queue("b", 3, "org"), pending("a", 3))
    plan = planner.solve(roomy, PENDING, rules="kep83:wait=60")
    assert (plan.status, plan.keys) == ("optimal", ())
    assert planner.verify(roomy, plan).accepted
    told(planner.greedy(roomy, PENDING, rules="kep83").explanation)
