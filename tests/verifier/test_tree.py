"""A forged tree is refused: places, quotas, limits, usage before and after (CT-05)."""

from typing import Any

import pytest

from planner import api
from planner.plan.kueue import Plan, QuotaNode
from planner.verifier.kueue.certificate import check_facts
from planner.verifier.kueue.plan import match_plan
from tests.cluster import PENDING
from tests.solver.test_quota_tree import STATE


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
    ("plan", "said"),
    [
        (forged("mine", name="nowhere"), "nothing is known of ClusterQueue nowhere"),
        (forged("left", kind="ClusterQueue"), "nothing is known of ClusterQueue left"),
        (forged("mine", parent="root"), "parent of ClusterQueue mine is left, not root"),
        (forged("root", parent="left"), "parent of Cohort root cannot be recomputed, not left"),
        (
            forged("mine", use={"resource": "tpu"}),
            "nothing is known of tpu in flavor default of ClusterQueue mine",
        ),
        (forged("mine", use={"nominal": 7}), "nominal quota of gpu in flavor default of "),
        (forged("left", use={"quota": 8}), "quota of gpu in flavor default of Cohort left is 4"),
        (forged("other", use={"borrowing_limit": None}), "borrowing limit of gpu"),
        (forged("mine", use={"lending_limit": 3}), "lending limit of gpu"),
        (forged("other", use={"before": 4}), "usage of gpu in flavor default of "),
        (forged("other", use={"after": 5}), "usage after the plan of gpu in flavor default of "),
        (forged("root", use={"after": 2}), "Cohort root is 7, not 2"),
    ],
)
def test_a_forged_tree_is_refused(plan: Plan, said: str) -> None:
    assert said in refusal(plan)
