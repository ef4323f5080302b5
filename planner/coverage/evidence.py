"""Where a cluster says another thing than the planner works out: it is told, with both.

Kueue writes down what it counts: what a workload asks for, how much is missing, which queues are
active, how much they hold. Where that is not what the planner finds in the same state, something
decides that the state does not show, or that is not modelled.

Source: docs/semantics/kueue-features.md §10, whose rules are named E1 to E31.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from planner.coverage.features import (
    ADMISSION_FAIR_SHARING,
    CONFIGURATION,
    DEVICES,
    POLICIES,
    QUEUES,
    QUOTA,
    REQUESTS,
    TOPOLOGY,
)
from planner.plan import Plan, Uncovered
from planner.quantity import QuantityError, format_units, parse_quantity, to_units
from planner.quota.devices import Charges
from planner.quota.request import Defaults, pod_set_requests
from planner.state import ClusterQueue, State, Workload

SHORTAGE: Final = re.compile(
    r"insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), "
    r"(?P<amount>\S+) more needed"
)
"""What Kueue says of a workload that does not fit (rule E19)."""

BEYOND: Final = "> maximum capacity"
"""What Kueue says of a workload that no eviction makes room for (rule E21)."""
NODES_MISSING: Final = re.compile(
    r"topology|supports only TopologyAwareScheduling|does not support TopologyAwareScheduling"
)
RECENT: Final = timedelta(days=1)
"""Evictions before that may have followed another Configuration."""

IN_FAIR_SHARING: Final = "Fair Sharing within the cohort"
WHILE_BORROWING: Final = "reclamation within the cohort while borrowing"


def configuration(state: State) -> Iterator[Uncovered]:
    """Yield E5 and E7: fair sharing is published by those only who have it on."""
    if state.configuration_given:
        return
    shares = [f"ClusterQueue {one.name}" for one in state.cluster_queues if one.status.fair_sharing]
    shares += [f"Cohort {one.name}" for one in state.cohorts if one.status.fair_sharing]
    if shares:
        yield CONFIGURATION.found(
            shares,
            "status.fairSharing says that fair sharing is on, and the state has no Configuration: "
            "its default strategies are taken",
            "assumed",
        )
    scoped = [
        f"ClusterQueue {one.name}" for one in state.cluster_queues if one.spec.admission_scope
    ]
    if scoped:
        found = "admissionScope is set, and the state has no Configuration with the weights"
        yield ADMISSION_FAIR_SHARING.found(scoped, found, "assumed")


def devices(workload: Workload, charges: Charges) -> Iterator[Uncovered]:
    """Yield E15: claims whose amount the state does not tell, nor what Kueue wrote down."""
    if charges.lacking and not charges.recorded:
        yield DEVICES.found([f"Workload {workload.key}"], charges.lacking, "assumed")
    for doubt in charges.doubts:
        yield DEVICES.found([f"Workload {workload.key}"], doubt, "assumed")


def requests(state: State, workload: Workload, charges: Charges) -> Iterator[Uncovered]:
    """Yield E1: Kueue's own totals of each podset, against those worked out from the template.

    Where these could not be worked out, Kueue's own are what counts.
    """
    recorded = {one.name: one.resources for one in workload.status.resource_requests}
    if not recorded or charges.recorded:
        return
    namespace = workload.metadata.namespace
    defaults = Defaults.of(namespace, state.limit_ranges, state.runtime_classes)
    made = pod_set_requests(workload, state.configuration, defaults, charges.of_pod_set)
    for pods in made:
        if pods.name not in recorded:
            continue
        theirs = {name: to_units(nano, name) for name, nano in recorded[pods.name].items() if nano}
        ours = {name: units for name, units in pods.totals.items() if units}
        if theirs != ours:
            yield REQUESTS.found(
                [f"podset {pods.name} of {workload.key}"],
                f"status.resourceRequests says {_amounts(theirs)}, its template and the "
                f"Configuration make {_amounts(ours)}: a transformation, a prefix, an overhead, a "
                "LimitRange or a device class is not in the state",
                "contradiction",
            )


def _amounts(units: dict[str, int]) -> str:
    said = [f"{name} {format_units(amount, name)}" for name, amount in sorted(units.items())]
    return ", ".join(said) or "nothing"


def activity(queue: ClusterQueue, why: str | None) -> Iterator[Uncovered]:
    """Yield E2 and E3: whether a queue takes part, by its condition and by the objects there are.

    ``why`` says why it does not by the objects; ``None`` if it does.
    """
    said = queue.status.condition("Active")
    if said is None or said.is_true == (why is None):
        return
    found = f"its condition Active is True, and by the objects in the state {why}"
    if why is None:
        reason = said.reason or said.message or "no reason given"
        found = f"its condition Active is {said.status} ({reason}), and no object makes it so"
    yield QUEUES.found([f"ClusterQueue {queue.name}"], found, "contradiction")


def nodes(workload: Workload) -> Iterator[Uncovered]:
    """Yield E20: Kueue itself speaks of nodes, and the state has no topology that says so."""
    said = _why_not(workload)
    if NODES_MISSING.search(said):
        yield TOPOLOGY.found([f"Workload {workload.key}"], f'Kueue says: "{said}"', "contradiction")


def evictions(state: State) -> Iterator[Uncovered]:
    """Yield E26: the reasons that Kueue gave for recent victims, against the rules of the state."""
    fair = state.configuration.fair_sharing_on
    borrows = any(
        queue.spec.preemption.borrow_within_cohort.policy == "LowerPriority"
        for queue in state.cluster_queues
    )
    by_shares, by_borrowing = [], []
    for workload in state.workloads.unusual():
        condition = workload.condition("Preempted")
        if condition is None or not condition.is_true:
            continue
        if not _is_recent(condition.last_transition_time, state.now):
            continue
        if IN_FAIR_SHARING in condition.message and not fair:
            by_shares.append(f"Workload {workload.key}")
        elif WHILE_BORROWING in condition.message and not borrows:
            by_borrowing.append(f"Workload {workload.key}")
    if by_shares:
        found = "Kueue preempted it by fair sharing, which is off in this state"
        yield CONFIGURATION.found(by_shares, found, "contradiction")
    if by_borrowing:
        found = "Kueue preempted it for one that borrows, and no ClusterQueue permits that now"
        yield POLICIES.found(by_borrowing, found, "contradiction")


def _is_recent(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now - moment <= RECENT


def _why_not(workload: Workload) -> str:
    """Return what Kueue said when it last did not admit a workload."""
    said = workload.condition("QuotaReserved")
    return said.message if said is not None and said.status == "False" else ""


def shortage(workload: Workload, plan: Plan) -> Iterator[Uncovered]:
    """Yield E19 and E21: Kueue says that another amount is missing than a plan works out.

    Only flavor-resources of the plan are compared. Kueue names the amount for one podset, with
    those before it: what it says last of a flavor-resource is what is missing for all.
    """
    text = _why_not(workload)
    if BEYOND in text and plan.assignment.mode != "NoFit":
        yield QUOTA.found(
            [f"Workload {workload.key}"],
            f'Kueue said that it can never fit ("{text}"), by this state it can: quotas or cohorts '
            "are others",
            "contradiction",
        )
    said: dict[tuple[str, str], str] = {}
    for found in SHORTAGE.finditer(text):
        said[found["flavor"], found["resource"]] = found["amount"]
    for demand in plan.demand:
        amount = said.get((demand.flavor, demand.resource))
        if amount is None:
            continue
        try:
            theirs = to_units(parse_quantity(amount), demand.resource)
        except QuantityError:
            continue  # words of another release
        ours = max(0, demand.requested - max(0, demand.available))
        if theirs != ours:
            yield QUOTA.found(
                [f"Workload {workload.key}"],
                f"Kueue said that {amount} more {demand.resource} of flavor {demand.flavor} are "
                f"needed, by this state it is {format_units(ours, demand.resource)}: the state has "
                "moved, or something in it is not modelled",
                "contradiction",
            )


def remarks(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield what a state seems to lack, where nothing says that the answer is another (E8 to E31).

    None of it makes an answer conditional: a dump of one namespace, say, is often all there is.
    """
    # What has no status was never in a cluster, and so has no other Configuration.
    if not state.configuration_given and queue.status.conditions:
        yield (
            "the state has no Configuration of Kueue: fair sharing, feature gates, resource "
            "settings and waitForPodsReady are taken as by default"
        )
    yield from _fewer_pending(state, queue)
    yield from _less_held(state, queue)
    classes = {one.metadata.name for one in state.runtime_classes}
    for pods in workload.spec.pod_sets:
        spec = pods.template.spec
        if spec.runtime_class_name not in {"", *classes} and not spec.overhead:
            yield (
                f"RuntimeClass {spec.runtime_class_name} of {workload.key} is not in the state: "
                "no overhead is counted"
            )
    selector = queue.spec.namespace_selector
    if selector and (selector.match_labels or selector.match_expressions) and not state.namespaces:
        yield (
            f"the state has no namespaces: the namespaceSelector of ClusterQueue {queue.name} is "
            "not looked at"
        )


def _fewer_pending(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E30: a queue counts more pending workloads than there are in the state."""
    if queue.status.pending is None:
        return
    named = {
        (local.metadata.namespace, local.metadata.name)
        for local in state.local_queues
        if local.spec.cluster_queue == queue.name
    }
    here = sum(
        one.is_pending and (one.namespace, one.queue_name) in named
        for one in state.workloads.entries
    )
    if here < queue.status.pending:
        yield (
            f"ClusterQueue {queue.name} says that {queue.status.pending} workloads are pending, "
            f"the state has {here}: who is next is not known"
        )


def _less_held(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E29: a queue says that more is reserved than its workloads in the state hold."""
    if not queue.status.reserved:
        return
    held: dict[tuple[str, str], int] = {}
    for place, units in state.workloads.held_in(queue.name):
        held[place] = held.get(place, 0) + units
    for flavor in queue.status.reserved:
        for one in flavor.resources:
            said, found = to_units(one.total, one.name), held.get((flavor.name, one.name), 0)
            if found < said:
                yield (
                    f"ClusterQueue {queue.name} says that {format_units(said, one.name)} "
                    f"{one.name} of flavor {flavor.name} are reserved, its workloads in the state "
                    f"hold {format_units(found, one.name)}: some are missing, or it has moved"
                )
