"""Hand-made plans, a line each, of the clusters of ``tests.cluster``.

``broken`` says which laws a plan breaks. A test of a law asserts that exactly this law is broken
in the forbidden case and none in the permitted one: it fails if the check is dropped, and if it
is too strict.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from planner.plan import Verdict
from planner.plan.kueue import Plan, Victim
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.state.kueue import State
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.fair_sharing import FairCase, FairSetting
from planner.verifier.kueue.plan import verify_case, verify_plan
from planner.verifier.kueue.setting import Setting
from tests.cluster import FLAVOR, PENDING, preempt

Json = dict[str, Any]

OWN = "InClusterQueue"
RECLAIM = "InCohortReclamation"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
BY_SHARE = "InCohortFairSharing"


def assigned(mode: str = "Preempt", flavor: str = FLAVOR) -> Assignment:
    """Assign a flavor to the preemptor's GPUs."""
    choice = {"flavor": flavor, "mode": mode}
    pods = {"name": "main", "count": 1, "flavors": {"gpu": choice}}
    return Assignment.model_validate({"mode": mode, "podSets": [pods]})


def plan_of(
    state: State,
    *taken: tuple[str, str] | Victim,
    borrowing: bool | None = True,
    assignment: Assignment | None = None,
    **fields: Any,
) -> Plan:
    """Make a plan for the pending workload; it takes workloads, given as (name, reason)."""
    (preemptor,) = (w for w in state.workloads if w.key == PENDING)
    made: Json = {
        "algorithm": "optimum",
        "objective": "min-count",
        "status": "feasible",
        "explanation": "",
        "preemptor": PENDING,
        "cluster_queue": preemptor.spec.queue_name,
        "priority": preemptor.spec.priority or 0,
        "now": state.now,
        "assignment": assignment or all_assigned(state),
        "borrowing": borrowing,
        "victims": tuple(
            item if isinstance(item, Victim) else victim_of(state, *item) for item in taken
        ),
    }
    return Plan(**{**made, **fields})


def all_assigned(state: State, mode: str = "Preempt") -> Assignment:
    """Assign the only flavor to all that the pending workload of a ``tests.cluster`` asks for."""
    flavors = {name: {**one, "mode": mode} for name, one in preempt(state)["main"].items()}
    pods = {"name": "main", "count": 1, "flavors": flavors}
    return Assignment.model_validate({"mode": mode, "podSets": [pods]})


def fair_plan(state: State, *taken: tuple[str, str] | Victim, **fields: Any) -> Plan:
    """Make a plan by the rules of fair sharing."""
    return plan_of(state, *taken, **{"rules": "kueue-fair", **fields})


def victim_of(state: State, name: str, reason: str) -> Victim:
    """Describe a victim as the state does, if it knows it."""
    key = name if "/" in name else f"ns/{name}"
    workload = next((w for w in state.workloads if w.key == key), None)
    admission = workload.status.admission if workload else None
    return Victim(
        workload=key,
        cluster_queue=admission.cluster_queue if admission else "nowhere",
        reason=reason,
        priority=(workload.spec.priority or 0) if workload else 0,
        position=1,
        age_s=0,
        evicted=workload.is_true("Evicted") if workload else False,
        usage=(),
        costs={},
    )


def verdicts(state: State, plan: Plan) -> dict[str, Verdict]:
    """Return the verdict of every law."""
    return {verdict.law: verdict for verdict in verify_plan(state, plan).verdicts}


def broken(state: State, plan: Plan) -> Sequence[str]:
    """Return the ids of the laws a plan breaks."""
    return [law for law, verdict in verdicts(state, plan).items() if not verdict.holds]


def case_of(where: Setting, victims: Iterable[Admitted], *, borrowing: bool = True) -> Case:
    """Return victims in an attempt as the verifier judges them, with the reasons of the rules."""
    taken = tuple(victims)
    if isinstance(where, FairSetting):
        return FairCase(where, borrowing, taken, tuple(map(where.reason, taken)))
    reasons = (where.variant(one).reason if where.in_tree(one.queue) else "" for one in taken)
    return Case(where, borrowing, taken, tuple(reasons))


def accepts(where: Setting, victims: Iterable[Admitted], *, borrowing: bool = True) -> bool:
    """Say whether the verifier accepts victims in an attempt."""
    return verify_case(case_of(where, victims, borrowing=borrowing)).accepted
