"""Where a cluster's own words contradict what the planner works out: both are reported.

Kueue writes down what it counts: what a workload asks for, how much is missing, which queues are
active, how much they hold. Where that is not what the planner finds in the same state, something
decides that the state does not show, or that is not modelled.

Source: docs/semantics/kueue-features.md §10, whose rules are named E1 to E36.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final

from planner.coverage import kueue_features as features
from planner.plan import Uncovered
from planner.quantity import QuantityError, format_units, parse_quantity, to_units
from planner.quota.kueue.assignment import Mode
from planner.quota.kueue.devices import Charges
from planner.quota.kueue.preemptor import names_replaced
from planner.quota.kueue.request import Defaults, pod_set_requests
from planner.state.base import Condition
from planner.state.kueue import ClusterQueue, LocalQueue, State, Workload

SHORTAGE: Final = re.compile(
    r"insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), "
    r"(?P<amount>\S+) more needed"
)
"""What Kueue says of a workload that does not fit (rule E19)."""

BEYOND: Final = "> maximum capacity"
"""What Kueue says of a workload that no eviction makes room for (rule E21)."""
PINNED: Final = re.compile(
    r"could not assign (?P<refused>\S+) flavor since the original workload is assigned: "
    r"(?P<flavor>[^\s,;]+)"
)
"""What Kueue says of a flavor that the slice to be replaced does not have (rule E22)."""
NODES_MISSING: Final = re.compile(
    r"topology|supports only TopologyAwareScheduling|does not support TopologyAwareScheduling"
)
RECENT: Final = timedelta(days=1)
"""Evictions that are older may have followed another Configuration."""

WHILE_BORROWING: Final = "reclamation within the cohort while borrowing"


def configuration(state: State) -> Iterator[Uncovered]:
    """Yield E5 and E7: signs of fair sharing, of either kind, in a state without Configuration."""
    if state.configuration_given:
        return
    shares = [f"ClusterQueue {one.name}" for one in state.cluster_queues if one.status.fair_sharing]
    shares += [f"Cohort {one.name}" for one in state.cohorts if one.status.fair_sharing]
    if shares:
        yield features.CONFIGURATION.found(
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
        yield features.ADMISSION_FAIR_SHARING.found(scoped, found, "assumed")


def devices(workload: Workload, charges: Charges) -> Iterator[Uncovered]:
    """Yield E15: claims whose amount neither the state nor Kueue's own record gives for certain."""
    if charges.lacking and not charges.recorded:
        yield features.DEVICES.found([f"Workload {workload.key}"], charges.lacking, "assumed")
    for doubt in charges.doubts:
        yield features.DEVICES.found([f"Workload {workload.key}"], doubt, "assumed")


def stale(workload: Workload) -> Iterator[Uncovered]:
    """Yield E36: a workload that waits has an admission, which Kueue takes over as it is."""
    if workload.status.admission is not None:
        yield features.FLAVORS.found(
            [f"Workload {workload.key}"],
            "it waits, and still has status.admission: Kueue takes its flavors and amounts over "
            "without a look at the quota, which is not replayed: they are assigned anew here",
        )


def requests(state: State, workload: Workload, charges: Charges) -> Iterator[Uncovered]:
    """Yield E1: Kueue's own totals of each podset, against those worked out from the template.

    Where the template's totals could not be worked out, Kueue's own are taken. Where there are
    neither, as a RuntimeClass is not in the state, that is said (E31).
    """
    recorded = {one.name: one.resources for one in workload.status.resource_requests}
    classes = [] if recorded or state.whole else without_overhead(state, workload)
    if classes:
        yield features.REQUESTS.found(
            [f"RuntimeClass {name}" for name in classes],
            f"{workload.key} names RuntimeClass {classes[0]}, which is not in the state, and Kueue "
            "recorded no requests: its overhead is not known, and none is counted",
            "assumed",
        )
    if not recorded or charges.lacking:
        return
    namespace, rules = workload.metadata.namespace, state.configuration.rules
    defaults = Defaults.in_namespace(namespace, state.limit_ranges, state.runtime_classes, rules)
    made = pod_set_requests(workload, state.configuration, defaults, charges.of_pod_set)
    for pods in made:
        if pods.name not in recorded:
            continue
        theirs = {name: to_units(nano, name) for name, nano in recorded[pods.name].items()}
        theirs, ours = _counted(theirs), _counted(pods.totals)
        if theirs == ours:
            continue
        cause = (
            f"status.resourceRequests says {_amounts(theirs)}, its template and the Configuration "
            f"make {_amounts(ours)}: a transformation, a prefix, an overhead, a LimitRange or a "
            "device class is not in the state"
        )
        if charges.recorded:
            cause = f"{cause}; what Kueue recorded is counted"
        yield features.REQUESTS.found(
            [f"podset {pods.name} of {workload.key}"],
            cause,
            "assumed" if charges.recorded else "contradiction",
        )


def without_overhead(state: State, workload: Workload) -> list[str]:
    """Return the RuntimeClasses whose overhead a workload has, and which the state lacks (E31)."""
    known = {"", *(one.metadata.name for one in state.runtime_classes)}
    specs = (pods.template.spec for pods in workload.spec.pod_sets)
    named = (one.runtime_class_name for one in specs if not one.overhead)
    return [*dict.fromkeys(name for name in named if name not in known)]


def _counted(totals: Mapping[str, int]) -> dict[str, int]:
    """Leave out amounts of 0, and pods: their number is added wherever a queue covers them."""
    return {name: units for name, units in totals.items() if units and name != "pods"}


def _amounts(units: Mapping[str, int]) -> str:
    said = [f"{name} {format_units(amount, name)}" for name, amount in sorted(units.items())]
    return ", ".join(said) or "nothing"


def activity(queue: ClusterQueue, why: str | None, flavors: Container[str]) -> Iterator[Uncovered]:
    """Yield E2 and E3: a queue's condition Active differs from what the objects in the state say.

    ``why`` says why the queue is inactive by the objects; ``None`` if it is active. A queue that is
    active by its condition is taken as active if one of its flavors is not among ``flavors``. The
    condition of a queue that is being deleted is as old as the deletion, and tells nothing.
    """
    said = queue.status.condition("Active")
    if said is None or queue.metadata.deletion_timestamp is not None:
        return
    named = [f"ClusterQueue {queue.name}"]
    missing = [name for name in queue.flavor_names if name not in flavors]
    if said.is_true and why is not None:
        found = f"its condition Active is True, and by the objects in the state {why}"
        yield features.QUEUES.found(named, found, "contradiction")
    elif said.is_true and missing:
        found = (
            f"its condition Active is True, and the state has no ResourceFlavor "
            f"{', '.join(missing)}: it is taken for active, and nobody is put there"
        )
        yield features.QUEUES.found(named, found, "assumed")
    elif not said.is_true and why is None:
        found = (
            f"its condition Active is {said.status} ({_reason(said)}), and no object makes it so: "
            "were it inactive, nobody could be admitted in it, and its workloads would be no "
            "candidates"
        )
        yield features.QUEUES.found(named, found, "contradiction")


def topologies(
    queue: ClusterQueue, named: Mapping[str, str], there: Container[str]
) -> Iterator[Uncovered]:
    """Yield E33: the state lacks a Topology of a queue whose pods MultiKueue places elsewhere.

    ``named`` has the topologies of the queue's flavors, ``there`` those in the state. Kueue calls
    such a queue active whether there is a Topology or not, and without it takes no snapshot of it.
    """
    missing = {name: one for name, one in named.items() if one not in there}
    if not missing:
        return
    which = ", ".join(f"{one} of flavor {name}" for name, one in missing.items())
    yield features.QUEUES.found(
        [f"ClusterQueue {queue.name}"],
        f"MultiKueue places its pods, and the state has no Topology {which}: the condition Active "
        "does not tell whether Kueue has it, and it is taken to be there; without it Kueue, since "
        "0.16.9, 0.17.4 and 0.18.0, leaves the queue out, with all who run or wait in it",
        "assumed",
    )


def less_held(state: State, tree: Iterable[ClusterQueue]) -> dict[str, str]:
    """Return E29: the queues that count more than their workloads in the state hold, and what.

    Of what workloads hold beyond the count nothing is said: it may have come since the queue was
    counted.
    """
    counted = {one.name: one.status.reserved for one in tree if one.status.reserved}
    held = state.workloads.totals_in(counted) if counted else {}
    found: dict[str, str] = {}
    for queue, flavors in counted.items():
        for name, one in ((flavor.name, one) for flavor in flavors for one in flavor.resources):
            said, here = to_units(one.total, one.name), held[queue].get((name, one.name), 0)
            if here < said and queue not in found:
                found[queue] = (
                    f"ClusterQueue {queue} says that {format_units(said, one.name)} {one.name} of "
                    f"flavor {name} are reserved, its workloads in the state hold "
                    f"{format_units(here, one.name)}: some are missing, or it has moved"
                )
    return found


def reserved(found: Mapping[str, str]) -> Iterator[Uncovered]:
    """Yield that queues count more than their workloads in the state hold, if any does (E29)."""
    if found:
        objects = [f"ClusterQueue {name}" for name in found]
        yield features.HOLDINGS.found(objects, next(iter(found.values())), "contradiction")


def _reason(said: Condition) -> str:
    """Return the reason and the message of a condition, or of these the one that it has."""
    return ": ".join(filter(None, (said.reason, said.message))) or "no reason given"


def local_queue(local: LocalQueue, queue: ClusterQueue, why: str | None) -> Iterator[Uncovered]:
    """Yield E4: a LocalQueue is inactive by its condition, and active by the objects.

    ``why`` says why its ClusterQueue is inactive by the objects; ``None`` if it is active. Where
    the ClusterQueue's condition says otherwise, that is a contradiction of its own (E2).
    """
    said = local.status.condition("Active")
    own = queue.status.condition("Active")
    inactive = why is not None or (own is not None and not own.is_true)
    # Only where nothing in the state explains it: a stopped queue is inactive by its stopPolicy.
    if said is None or said.status != "False" or local.spec.stop_policy != "None" or inactive:
        return
    yield features.QUEUES.found(
        [f"LocalQueue {local.metadata.namespace}/{local.metadata.name}"],
        f"its condition Active is False ({_reason(said)}), so that Kueue queues none of its "
        f"workloads, and by the state it is open and leads to ClusterQueue {queue.name}, which is "
        "active",
        "contradiction",
    )


def slices(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[Uncovered]:
    """Yield E22: Kueue keeps a slice in the flavors of an old slice that the state lacks."""
    said = {found["flavor"]: found["refused"] for found in PINNED.finditer(why_not(workload))}
    if not said:
        return
    key = names_replaced(workload, state.configuration)
    old = state.workloads.find(key) if key else None
    held = set[str]()
    here = f"it replaces {key}, which is not in the state" if key else "it replaces no slice"
    if old is not None:
        # Older releases look for the old slice in all namespaces (switch 31 of
        # docs/semantics/kueue-releases.md §2).
        own = old.metadata.namespace == workload.metadata.namespace
        if own or not state.configuration.rules.replaces_in_own_namespace:
            # Kueue takes it as replaced only where it holds quota in the same queue.
            replaced = old.admitted_by == queue.name and old.holds_quota
            held = {name for pods in old.assigned if replaced for name in pods.flavors.values()}
        named = ", ".join(sorted(held)) or "nothing"
        here = f"the slice {key}, which it replaces, holds {named} in ClusterQueue {queue.name}"
    for flavor, refused in said.items():
        if flavor not in held:
            yield features.SLICES.found(
                [f"Workload {workload.key}"],
                f"Kueue refused it flavor {refused}, because the slice that it replaces has "
                f"{flavor}, and by this state {here}: the state has moved, or a gate or the slice "
                "is not in it",
                "contradiction",
            )


def nodes(workload: Workload) -> Iterator[Uncovered]:
    """Yield E20: Kueue names a topology as the obstacle, and the state does not show one."""
    said = why_not(workload)
    if NODES_MISSING.search(said):
        yield features.TOPOLOGY.found(
            [f"Workload {workload.key}"], f'Kueue says: "{said}"', "contradiction"
        )


def evictions(state: State) -> Iterator[Uncovered]:
    """Yield E26: the reasons that Kueue gave for recent victims, against the rules of the state."""
    fair = state.configuration.fair_sharing_on
    borrows = any(
        queue.spec.preemption.borrow_within_cohort.policy == "LowerPriority"
        for queue in state.cluster_queues
    )
    by_shares, by_borrowing = [], []
    # A workload with the condition Preempted is never kept as text, but as an object.
    for workload in state.workloads.unusual():
        condition = workload.condition("Preempted")
        if condition is None or not condition.is_true:
            continue
        moment = condition.last_transition_time
        if moment is None or state.now - moment > RECENT:
            continue
        if "Fair Sharing within the cohort" in condition.message and not fair:
            by_shares.append(f"Workload {workload.key}")
        elif WHILE_BORROWING in condition.message and not borrows:
            by_borrowing.append(f"Workload {workload.key}")
    if by_shares:
        found = "Kueue preempted it by fair sharing, which is off in this state"
        yield features.CONFIGURATION.found(by_shares, found, "contradiction")
    if by_borrowing:
        found = "Kueue preempted it for one that borrows, and no ClusterQueue permits that now"
        yield features.POLICIES.found(by_borrowing, found, "contradiction")


def why_not(workload: Workload) -> str:
    """Return what Kueue said when it last did not admit a workload."""
    said = workload.condition("QuotaReserved")
    return said.message if said is not None and said.status == "False" else ""


def tells_shortage(workload: Workload) -> bool:
    """Say whether Kueue's message on a workload names what is missing for it."""
    text = why_not(workload)
    return BEYOND in text or SHORTAGE.search(text) is not None


def shortage(
    workload: Workload, mode: Mode, missing: Mapping[tuple[str, str], int]
) -> Iterator[Uncovered]:
    """Yield E19 and E21: Kueue names another missing amount than the one that is worked out.

    ``missing`` is that, by flavor and resource; Kueue never counts less than 0 as available. Only
    flavor-resources that are requested are compared. Kueue names the amount for one podset and
    those before it: the last amount of a flavor-resource is what is missing for all podsets.
    """
    text = why_not(workload)
    if BEYOND in text and mode != "NoFit":
        yield features.QUOTA.found(
            [f"Workload {workload.key}"],
            f'Kueue said that it can never fit ("{text}"), by this state it can: quotas or cohorts '
            "are others",
            "contradiction",
        )
    said = {(one["flavor"], one["resource"]): one["amount"] for one in SHORTAGE.finditer(text)}
    for (flavor, resource), ours in missing.items():
        amount = said.get((flavor, resource))
        if amount is None:
            continue
        try:
            theirs = to_units(parse_quantity(amount), resource)
        except QuantityError:
            continue  # words of another release
        if theirs != ours:
            yield features.QUOTA.found(
                [f"Workload {workload.key}"],
                f"Kueue said that {amount} more {resource} of flavor {flavor} are needed, by this "
                f"state it is {format_units(ours, resource)}: the state has moved, or something in "
                "it is not modelled",
                "contradiction",
            )
