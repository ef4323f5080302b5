"""The judgement of precedence as a whole: orders, words, and what is said at its bound."""

from functools import cache
from typing import Any

import pytest

from planner import api
from planner.plan.kueue import Plan, QuotaNode
from planner.research.strict.laws import beside
from planner.research.strict.verifier import judge_strictly
from planner.state.kueue import State
from planner.verifier.kueue.certificate import check_facts
from planner.verifier.kueue.plan import match_plan
from tests.cluster import PENDING, cohort, fair_sharing, pending, queue, running, state_of
from tests.solver.test_quota_tree import STATE
from tests.told import told
from tests.verifier.cases import BY_SHARE, OWN, fair_plan, plan_of


@pytest.fixture
def fair() -> State:
    """Let queue high have the higher share; each victim of 2 GPUs makes room for half of it."""
    return state_of(
        cohort("org", nominal=14),
        queue("mine", 2, "org", reclaim="LowerPriority"),
        queue("high", 2, "org"),
        queue("low", 2, "org"),
        *[running(f"high{i}", "high", 2) for i in range(6)],
        *[running(f"low{i}", "low", 2) for i in range(4)],
        pending("mine", 4, 10),
        fair_sharing(),
    )


def test_an_order_shows_that_it_is_legal(fair: State) -> None:
    found = judge_strictly(match_plan(fair, fair_plan(fair, *pairs("high0", "high1"))))
    assert found.legal is True
    assert sorted(found.order) == ["ns/high0", "ns/high1"]
    assert [verdict.law for verdict in found.verdicts] == [law.id for law in beside("kueue-fair")]


def test_words_say_whose_turn_it_was(fair: State) -> None:
    found = judge_strictly(match_plan(fair, fair_plan(fair, *pairs("low0", "high0"))))
    assert found.legal is False
    assert found.order == ()
    (broken,) = [verdict for verdict in found.verdicts if not verdict.holds]
    told(broken.detail)


def test_nobody_is_in_nobodys_way(fair: State) -> None:
    assert judge_strictly(match_plan(fair, fair_plan(fair, borrowing=None))).legal is True


@pytest.mark.parametrize("names", [("high0", "high1"), ("low0", "low1")])
def test_at_its_bound_nothing_is_decided(fair: State, names: tuple[str, ...]) -> None:
    found = judge_strictly(match_plan(fair, fair_plan(fair, *pairs(*names))), most=1)
    assert found.legal is not True
    if found.legal is None:
        assert found.verdicts == ()


def test_classical_at_its_bound() -> None:
    state = state_of(
        queue("mine", 8, within="LowerPriority"),
        *[running(f"own{i}", "mine", 2) for i in range(4)],
        pending("mine", 8, 10),
    )
    plan = plan_of(state, *((f"own{i}", OWN) for i in range(4)))
    assert judge_strictly(match_plan(state, plan), most=2).legal is None
    assert judge_strictly(match_plan(state, plan)).legal is True


def pairs(*names: str) -> list[tuple[str, str]]:
    return [(name, BY_SHARE) for name in names]


@cache
def honest() -> Plan:
    plan = api.solve(STATE, PENDING)
    assert isinstance(plan, Plan)
    return plan


def forged(node_name: str, *, use: dict[str, Any] | None = None, **fields: Any) -> Plan:
    """Return the plan with other facts of one node, or of what it uses."""

    def changed(node: QuotaNode) -> QuotaNode:
        if node.name != node_name:
            return node
        uses = tuple(one.model_copy(update=use) for one in node.uses) if use else node.uses
        return node.model_copy(update={"uses": uses, **fields})

    plan = honest()
    return plan.model_copy(update={"tree": tuple(map(changed, plan.tree))})


def refusal(plan: Plan) -> str:
    """Return what is wrong with the facts of a plan, empty if nothing is."""
    verdict = check_facts(match_plan(STATE, plan), plan)
    return "" if verdict.holds else verdict.detail


def test_an_honest_tree_is_accepted() -> None:
    assert honest().tree
    assert refusal(honest()) == ""


@pytest.mark.parametrize(
    "plan",
    [
        forged("mine", name="nowhere"),
        forged("left", kind="ClusterQueue"),
        forged("mine", parent="root"),
        forged("root", parent="left"),
        forged("mine", use={"resource": "tpu"}),
        forged("mine", use={"nominal": 7}),
        forged("left", use={"quota": 8}),
        forged("other", use={"borrowing_limit": None}),
        forged("mine", use={"lending_limit": 3}),
        forged("other", use={"before": 4}),
        forged("other", use={"after": 5}),
        forged("root", use={"after": 2}),
    ],
)
def test_a_forged_tree_is_refused(plan: Plan) -> None:
    told(refusal(plan))
