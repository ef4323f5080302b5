"""Plans built by hand, so that every corner of a report can be shown without a solver."""

import math
from datetime import UTC, datetime

from planner.laws import RULE_SETS
from planner.plan import Certificate, Level, Verdict
from planner.plan.kueue import Amount, Demand, NodeShare, Plan, QuotaNode, QuotaUse, Victim
from planner.plan.proof import ByRows, Tree
from planner.quantity import format_units
from planner.quota.kueue.assignment import Assignment, FlavorChoice, PodSetFlavors

NOW = datetime(2026, 3, 8, 21, 6, tzinfo=UTC)
GPU = "nvidia.com/gpu"


def make_victim(name: str, *, gpus: int = 4, age_s: int = 720, **changes: object) -> Victim:
    """Return a victim of team-b that holds 4 GPUs for twelve minutes, or what changes say."""
    facts: dict[str, object] = {
        "workload": name,
        "cluster_queue": "team-b",
        "reason": "InCohortReclamation",
        "priority": 10,
        "position": 1,
        "age_s": age_s,
        "evicted": False,
        "usage": (
            Amount(flavor="h200", resource=GPU, units=gpus, quantity=str(gpus)),
            Amount(flavor="h200", resource="cpu", units=8000, quantity="8"),
        ),
        "costs": {
            "last_resort": 0,
            "workloads": 1,
            "priority_weight": 2,
            "lost_work": gpus * age_s,
            "restart_cost": gpus * 60,
            "cost": 1,
        },
    }
    return Victim.model_validate({**facts, **changes})


def make_demand(resource: str = GPU, requested: int = 8, **changes: object) -> Demand:
    """Return a demand for 8 GPUs of which 3 are free."""
    facts: dict[str, object] = {
        "flavor": "h200",
        "resource": resource,
        "requested": requested,
        "available": 3,
        "shortfall": 5,
        "contested": True,
        "quantity": format_units(requested, resource),
    }
    return Demand.model_validate({**facts, **changes})


def make_plan(**changes: object) -> Plan:
    """Return a proved plan with two victims, beside a greedy one with three."""
    victims = (
        make_victim("team-b/sweep-17", position=2),
        make_victim(
            "team-a/notebook-3",
            cluster_queue="team-a",
            reason="InClusterQueue",
            priority=20,
            position=7,
            age_s=7500,
        ),
    )
    facts: dict[str, object] = {
        **_common(),
        "algorithm": "optimum",
        "status": "optimal",
        "explanation": "Evicting 2 workloads lets team-a/train-llm start.",
        "borrowing": False,
        "victims": victims,
        "terms": _terms(victims),
        "tree": make_tree(),
        "certificate": make_certificate(),
        "greedy": make_greedy(),
    }
    return Plan.model_validate({**facts, **changes})


def make_greedy(**changes: object) -> Plan:
    """Return the scheduler's own plan: three victims, one of them in the optimum too."""
    victims = (
        make_victim("team-b/sweep-17", position=2),
        make_victim("team-b/sweep-12", position=3, gpus=1, age_s=90),
        make_victim("team-b/sweep-13", position=4, gpus=1, age_s=31 * 3600),
    )
    facts: dict[str, object] = {
        **_common(),
        "algorithm": "kueue",
        "status": "feasible",
        "explanation": "",
        "borrowing": False,
        "victims": victims,
        "terms": _terms(victims),
    }
    return Plan.model_validate({**facts, **changes})


OUTSIDE = "FS-07 the preemptor's side is no more unfair than the victim's: 200 is not below 100"


def make_fair(**changes: object) -> Plan:
    """Return a plan under fair sharing, with the shares it changes."""
    shares = (
        NodeShare(
            name="team-b",
            kind="ClusterQueue",
            weight=0,
            before=math.inf,
            with_preemptor=math.inf,
            after=0,
        ),
        NodeShare(
            name="research", kind="Cohort", weight=1.5, before=250, with_preemptor=375.5, after=125
        ),
    )
    facts: dict[str, object] = {
        "rules": "kueue-fair",
        "borrowing": True,
        "victims": (make_victim("team-b/sweep-17", reason="InCohortFairSharing"),),
        "shares": shares,
        "greedy": make_greedy(rules="kueue-fair", outside_rules=(OUTSIDE,)),
    }
    return make_plan(**{**facts, **changes})


def make_infeasible(**changes: object) -> Plan:
    """Return the answer that nobody can be evicted for the preemptor."""
    greedy = make_greedy(status="infeasible", victims=(), terms={}, borrowing=None)
    explanation = (
        "No legal victim set lets team-a/train-llm in: 8 nvidia.com/gpu in flavor h200 are asked "
        "for, 3 are available, and the 2 candidates hold 4 together."
    )
    facts: dict[str, object] = {
        "status": "infeasible",
        "explanation": explanation,
        "victims": (),
        "terms": {},
        "borrowing": None,
        "certificate": make_certificate(
            levels=(),
            trees=(Tree(claim="infeasible", steps=(ByRows(rows={"better": 1}),)),),
            ties=None,
            verdicts=(),
        ),
        "greedy": greedy,
    }
    return make_plan(**{**facts, **changes})


def make_node(name: str, gpus: tuple[int, int, int, int], **changes: object) -> QuotaNode:
    """Return a ClusterQueue of ``research``: nominal, quota, usage before and after, in GPUs."""
    nominal, quota, before, after = gpus
    use: dict[str, object] = {
        "flavor": "h200",
        "nominal": nominal,
        "quota": quota,
        "borrowing_limit": None,
        "lending_limit": None,
        "before": before,
        "after": after,
    }
    facts: dict[str, object] = {
        "name": name,
        "kind": "ClusterQueue",
        "parent": "research",
        "touched": True,
        "hidden": 0,
        "uses": (
            QuotaUse.model_validate({**use, "resource": GPU}),
            QuotaUse.model_validate({**use, "resource": "cpu", "borrowing_limit": 8}),
        ),
    }
    return QuotaNode.model_validate({**facts, **changes})


def make_tree() -> tuple[QuotaNode, ...]:
    """Return the cohort of team-a and team-b, with another queue that is not touched."""
    return (
        make_node("research", (0, 16, 13, 13), kind="Cohort", parent=None, hidden=2),
        make_node("team-a", (8, 8, 4, 8)),
        make_node("team-b", (4, 4, 9, 5)),
        make_node("team-c", (4, 4, 0, 0), touched=False),
    )


def make_certificate(**changes: object) -> Certificate:
    """Return a certificate in which every level is closed and every law holds."""
    levels = (
        ("last_resort", "last-resort victims", "workloads", 0),
        ("highest_priority", "highest victim priority", "rank", 2),
        ("workloads", "workloads evicted", "workloads", 2),
        ("priority_weight", "priority weight", "weight", 6),
        ("lost_work+restart_cost", "lost work and restart cost", "accelerator-seconds", 33360),
        ("excess_freed", "freed beyond the need", "1/32000 accelerator", 96000),
        ("queues", "queues touched", "queues", 2),
    )
    short = f"{GPU} in flavor h200 at queue/team-a"
    says = {
        "workloads": f"5 {GPU} in flavor h200 must be freed: the least possible is 2 "
        "(workloads evicted)",
        "priority_weight": f"a better set would have to reach 1 x 5 ({short}) + 1 x -1 "
        "(highest_priority <= 2) + 2 x -2 (priority_weight <= 5) = 0, and none reaches more than "
        "-1: the least possible is 6 (priority weight)",
    }
    rows = {
        "workloads": {short: 1, "better": 4},
        "priority_weight": {short: 1, "highest_priority <= 2": 1, "better": 2},
    }
    facts: dict[str, object] = {
        "digest": "3f786850e387550fdab836ed7e6dc881de23001b6f5b1cc0d2a4f2b0fef4b8a9",
        "levels": tuple(
            Level(
                term=term,
                title=title,
                unit=unit,
                value=value,
                bound=value,
                proof="certified",
                says=says.get(term, ""),
            )
            for term, title, unit, value in levels
        ),
        "trees": tuple(
            Tree(claim=term, steps=(ByRows(rows=rows.get(term, {"better": 1})),))
            for term, *_ in levels
        ),
        "ties": "certified",
        "verdicts": tuple(
            Verdict(law=law.id, title=law.title, holds=True, detail="")
            for law in RULE_SETS["kueue-classical"]
        ),
        "removal_order": ("team-b/sweep-17", "team-a/notebook-3"),
        "solver": "CP-SAT 9.15.6755",
        "seed": 0,
        "wall_time_s": 0.412,
    }
    return Certificate.model_validate({**facts, **changes})


def _common() -> dict[str, object]:
    flavors = {
        "cpu": FlavorChoice(flavor="h200", mode="Fit"),
        GPU: FlavorChoice(flavor="h200", mode="Preempt"),
    }
    return {
        "objective": "no-regret",
        "preemptor": "team-a/train-llm",
        "cluster_queue": "team-a",
        "priority": 100,
        "now": NOW,
        "assignment": Assignment(
            mode="Preempt", pod_sets=(PodSetFlavors(name="main", count=1, flavors=flavors),)
        ),
        "demand": (
            make_demand("cpu", 64000, available=120000, shortfall=0, contested=False),
            make_demand(),
        ),
    }


def _terms(victims: tuple[Victim, ...]) -> dict[str, int]:
    sums = {
        term: sum(victim.costs.get(term, 0) for victim in victims)
        for term in ("last_resort", "workloads", "priority_weight", "lost_work", "restart_cost")
    }
    return {
        "last_resort": sums["last_resort"],
        "highest_priority": 2,
        "workloads": sums["workloads"],
        "priority_weight": sums["priority_weight"],
        "lost_work": sums["lost_work"],
        "restart_cost": sums["restart_cost"],
        "excess_freed": 96000,
        "queues": len({victim.cluster_queue for victim in victims}),
        "victims": len(victims),
        "cost": len(victims),
    }
