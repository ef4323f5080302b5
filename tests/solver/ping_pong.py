"""What comes after a plan, done by hand: the dump is edited, and Kueue asked for each victim.

Nothing of the product's own idea of "after the plan" is used: victims lose their admission in the
JSON objects, the preemptor gets one, and the dump is read anew.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime
from typing import Any

import planner
from planner.plan.kueue import Plan
from planner.quantity import format_units
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State

Dump = dict[str, Any]
CascadeReplay = dict[str, tuple[str, ...]]
"""Per victim that would preempt again, whom."""


def after(dump: Dump, plan: Plan) -> Dump:
    """Return a dump as it looks once a plan is carried out, at the plan's own clock."""
    state = read_kueue_objects(dump, where="before", now=plan.now)
    reasons = {victim.workload: victim.reason for victim in plan.victims}
    return edited(dump, state, plan.preemptor, plan.assignment, reasons)


def edited(
    dump: Dump, state: State, pending: str, assignment: Assignment, reasons: Mapping[str, str]
) -> Dump:
    """Return a dump in which some have gone, by their reasons, and the pending one is admitted."""
    now = state.now.isoformat()
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, pending)
    dump = deepcopy(dump)
    for item in dump["items"]:
        if item["kind"] != "Workload":
            continue
        key = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        status = item.setdefault("status", {})
        if key in reasons:
            status.pop("admission")
            if "Evicted" not in _true(status):
                set_condition(status, "Evicted", "True", "Preempted", now)
                set_condition(status, "Preempted", "True", reasons[key], now)
            set_condition(status, "QuotaReserved", "False", "Pending", now)
            set_condition(status, "Admitted", "False", "NoReservation", now)
        elif key == pending:
            status["admission"] = admission(snapshot, preemptor, assignment)
            set_condition(status, "QuotaReserved", "True", "QuotaReserved", now)
            set_condition(status, "Admitted", "True", "Admitted", now)
            for kind in ("Evicted", "Preempted"):
                if kind in _true(status):
                    set_condition(status, kind, "False", "QuotaReserved", now)
    return dump


def cascade_replay(dump: Dump, plan: Plan) -> CascadeReplay:
    """Carry a plan out in a dump, and ask for each victim whom Kueue would then preempt."""
    victims = [victim.workload for victim in plan.victims if not victim.evicted]
    return asked(after(dump, plan), plan.now, victims)


def asked(dump: Dump, now: datetime, victims: Iterable[str]) -> CascadeReplay:
    """Ask for some pending workloads of a dump whom Kueue would preempt."""
    state = read_kueue_objects(dump, where="after", now=now)
    targets_of = {}
    for victim in victims:
        found = planner.greedy(state, victim).victims
        targets = tuple(one.workload for one in found if not one.evicted)
        if targets:
            targets_of[victim] = targets
    return targets_of


def admission(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Dump:
    """Return the admission of a workload whose flavors are assigned."""
    assigned = {pods.name: pods for pods in assignment.pod_sets}
    pod_sets = []
    for request in preemptor.pod_sets:
        pods = assigned[request.name]
        count = request.count if pods.count is None else pods.count
        amounts = {**request.scaled(count).totals, "pods": count}
        pod_sets.append(
            {
                "name": request.name,
                "count": count,
                "flavors": {resource: choice.flavor for resource, choice in pods.flavors.items()},
                "resourceUsage": {
                    resource: format_units(amounts[resource], resource) for resource in pods.flavors
                },
            }
        )
    queue = snapshot.queue_name(preemptor.queue)
    return {"clusterQueue": queue, "podSetAssignments": pod_sets}


def _true(status: Dump) -> set[str]:
    return {one["type"] for one in status.get("conditions", []) if one["status"] == "True"}


def set_condition(status: Dump, kind: str, value: str, reason: str, now: str) -> None:
    """Write a condition in the place of the one of its kind."""
    kept = [one for one in status.get("conditions", []) if one["type"] != kind]
    new = {"type": kind, "status": value, "reason": reason, "lastTransitionTime": now}
    status["conditions"] = [*kept, new]
