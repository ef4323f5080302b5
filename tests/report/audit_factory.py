"""Audits built by hand: two states, three cases, one failure."""

from typing import Any

from planner.commands.audit import Case
from planner.commands.audit.record import Audit, Gap, Judgement, Ratio, Summary, Verdicts
from planner.commands.study.record import Failure
from planner.plan import Shown

GPU = "nvidia.com/gpu"


def make_judgement(count: int = 1, **changes: object) -> Judgement:
    """Return a proved optimum with some victims, under no-regret."""
    facts: dict[str, object] = {
        "objective": "no-regret",
        "status": "optimal",
        "victims": tuple(f"ns/best-{number}" for number in range(count)),
        "terms": {"workloads": count, "lost_work": 0, "restart_cost": 0},
        "gaps": {"workloads": 3 - count, "lost_work": 7200, "restart_cost": 1800},
        "best": False,
    }
    return Judgement.model_validate({**facts, **changes})


def make_case(**changes: object) -> Case:
    """Return a case in which Kueue takes three where one would do, and none of its own."""
    facts: dict[str, object] = {
        "state": "states/one.json",
        "pending": "ns/wants",
        "rules": "kueue-classical",
        "status": "feasible",
        "turn": "held",
        "victims": ("ns/a", "ns/b", "ns/c"),
        "terms": {"workloads": 3, "lost_work": 7200, "restart_cost": 1800},
        "irredundant": False,
        "needless": ("ns/c",),
        "smallest": False,
        "fewest": 1,
        "judgements": (make_judgement(), make_judgement(objective="kube-like")),
        "ratios": (Ratio(flavor="h200", resource=GPU, requested=4, greedy=12, optimum=4),),
        "findings": ("redundant", "disruption"),
        "proved": True,
    }
    return Case.model_validate({**facts, **changes})


def make_audit(**changes: object) -> Audit:
    """Return an audit of a case with findings, one without, one without a plan, and a failure."""
    fine = make_case(
        state="states/two.json",
        turn="next",
        needless=(),
        findings=(),
        victims=("ns/a",),
        judgements=(
            make_judgement(gaps={"workloads": 0, "lost_work": 0, "restart_cost": 0}, best=True),
            make_judgement(objective="kube-like", gaps={"workloads": 0}, best=True),
        ),
        ratios=(Ratio(flavor="h200", resource=GPU, requested=4, greedy=4, optimum=4),),
    )
    none: dict[str, Any] = {
        "status": "infeasible",
        "victims": (),
        "terms": {},
        "gaps": {},
        "best": None,
    }
    nothing = make_case(
        pending="ns/hopeless",
        turn="next",
        status="infeasible",
        victims=(),
        needless=(),
        findings=(),
        ratios=(),
        judgements=(make_judgement(**none), make_judgement(**none, objective="kube-like")),
    )
    facts: dict[str, object] = {
        "objectives": ("no-regret", "kube-like"),
        "summary": make_summary(),
        "cases": (make_case(), fine, nothing),
        "failures": (Failure(state="states/bad.json", detail="is no JSON\nhint: look at it"),),
    }
    return Audit.model_validate({**facts, **changes})


def make_summary(**changes: object) -> Summary:
    """Return the totals of that audit."""
    counts = {"proved": 3, "judged": 2, "best": 1, "not_best": 1}
    shown = Shown(zero=2, one_row=5, multipliers=4, tree=1)
    gap = Gap(
        objective="no-regret",
        term="workloads",
        title="workloads evicted",
        unit="workloads",
        compared=2,
        more=1,
        less=0,
        total=2,
        greedy_total=4,
        worst=2,
        worst_case="states/one.json: ns/wants",
    )
    facts: dict[str, object] = {
        "states": 3,
        "cases": 3,
        "with_victims": 2,
        "fewer": 1,
        "infeasible": 1,
        "clean": 2,
        "unproved": 0,
        "failures": 1,
        "findings": {"disruption": 1, "redundant": 1},
        "verdicts": [
            Verdicts.model_validate({"objective": one, **counts, "shown": shown})
            for one in ("no-regret", "kube-like")
        ],
        "gaps": (gap,),
    }
    return Summary.model_validate({**facts, **changes})
