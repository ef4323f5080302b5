"""The verifier of YuniKorn plans: law by law, without a solver.

case.py     a plan matched with the state, and a legal order of removals, constructed backwards and
            replayed; YuniKorn's objects in words
laws.py     one check per law, YK-01 to YK-14; the fence of an ask, priorities as compared below
            it, and why the ask cannot have a node
facts.py    what a plan claims: values, bounds, order of removals, and facts of the state
"""

from __future__ import annotations

from planner.laws import RULE_SETS
from planner.laws.yunikorn import YK_MAY_PREEMPT
from planner.plan import Verification
from planner.plan.yunikorn import YuniKornPlan
from planner.quota.yunikorn.cluster import Cluster
from planner.state.yunikorn import YuniKornState
from planner.verifier.wording import judge
from planner.verifier.yunikorn.case import YuniKornCase, match_yunikorn, rules_fault
from planner.verifier.yunikorn.laws import CHECKS

__all__ = ["match_yunikorn", "verify_yunikorn_case", "verify_yunikorn_plan"]


def verify_yunikorn_plan(
    state: YuniKornState, plan: YuniKornPlan, *, cluster: Cluster | None = None
) -> Verification:
    """Judge a plan by every law of its rule set, in the order of the registry.

    It is accepted if all laws hold. A plan that was proved infeasible or not found claims no
    victims, so there is nothing to judge: it is accepted, without verdicts, if it names neither
    victims nor a node. A plan by the rules of another kind of ask breaks YK-11, victims or not.

    ``cluster`` is the plan's partition made ready, to save the time of doing so. Raises
    ``LookupFailed`` if the state has no such partition, or the plan's preemptor is not one of its
    asks, or of its queues.
    """
    case = match_yunikorn(state, plan, cluster)
    if plan.claim in {"infeasible", "unknown"}:
        wrong = rules_fault(case.asking, plan.rules)
        verdicts = (judge(YK_MAY_PREEMPT, [wrong], ""),) if wrong else ()
        # A node alone is a claim, too: the core can reserve one with nobody preempted
        # (docs/semantics/yunikorn.md §10).
        claims_nothing = not plan.victims and plan.node is None
        return Verification(accepted=claims_nothing and not wrong, verdicts=verdicts)
    return verify_yunikorn_case(case)


def verify_yunikorn_case(case: YuniKornCase) -> Verification:
    """Judge a case by every law of its rule set."""
    verdicts = tuple(CHECKS[law.id](case) for law in RULE_SETS[case.rules])
    return Verification(
        accepted=all(verdict.holds for verdict in verdicts),
        verdicts=verdicts,
        removal_order=tuple(victim.key for victim in case.removal.order),
    )
