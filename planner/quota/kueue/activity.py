"""Which queues and cohorts take part: inactive queues, implicit cohorts, cycles of parents.

Source: docs/semantics/kueue.md §2 and docs/semantics/kueue-features.md §1.3; kueue ff69552e
pkg/cache/scheduler/clusterqueue.go ``updateQueueStatus``, ``updateWithAdmissionChecks`` and
pkg/cache/hierarchy/cycle.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from planner.errors import UnsupportedError
from planner.state.kueue import ClusterQueue, ResourceFlavor, State
from planner.state.queues import AdmissionCheck, Cohort

_DEEPEST = 200
"""The most cohorts on one path: only a hostile dump would nest them deeper."""

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
PROVISIONING: Final = "kueue.x-k8s.io/provisioning-request"
DRAIN: Final = "HoldAndDrain"
"""The stopPolicy by which workloads that hold quota are evicted, too."""
TERMINATING: Final = "Terminating"
_BY_NAME: Final = {
    "FlavorNotFound": "its flavor {} does not exist as a ResourceFlavor",
    "AdmissionCheckNotFound": "its admission check {} does not exist",
    "AdmissionCheckInactive": "its admission check {} is not active",
    "MultipleMultiKueueAdmissionChecks": "it has more than one admission check of MultiKueue: {}",
    "MultiKueueAdmissionCheckAppliedPerFlavor": (
        "its admission check of MultiKueue {} is not for all of its flavors"
    ),
}
"""Hindrances that name flavors or checks, by Kueue's codes."""
_ADD_FLAVORS: Final = "add resourceflavors to the kinds that kubectl get prints"


class Hindrance(NamedTuple):
    """A reason for which a ClusterQueue is inactive: Kueue's code, and a text of the planner.

    The code is empty where Kueue has none: Kueue then leaves the queue out without a reason.
    """

    code: str
    text: str


class Activity(NamedTuple):
    """Which ClusterQueues and cohorts take part in scheduling.

    ``parents`` maps every cohort, with or without an object, to its parent ("" for none);
    ``looping`` are the cohorts that lead into a cycle of parents; ``hindrances`` has the reasons
    for which a ClusterQueue is inactive, in Kueue's order: the condition Active shows the first.
    """

    parents: Mapping[str, str]
    looping: frozenset[str]
    hindrances: Mapping[str, tuple[Hindrance, ...]]

    @property
    def inactive(self) -> Mapping[str, str]:
        """The inactive ClusterQueues by name, each with its reasons in words."""
        return {name: "; ".join(one.text for one in some) for name, some in self.hindrances.items()}

    def root_of(self, queue: ClusterQueue) -> str:
        """Return the root cohort above a ClusterQueue; empty where the queue stands alone."""
        name = queue.spec.cohort_name
        if not name or name in self.looping:
            return ""
        # This loop ends: a cohort that leads into a cycle has returned above.
        while self.parents[name]:
            name = self.parents[name]
        return name

    def tree_of(
        self, queue: ClusterQueue, queues: Iterable[ClusterQueue]
    ) -> Sequence[ClusterQueue]:
        """Return the ClusterQueues that share a root with ``queue``, and ``queue`` itself."""
        root = self.root_of(queue)
        roots: dict[str, str] = {}  # by cohort: thousands of queues share a few
        for one in queues:
            if one.spec.cohort_name not in roots:
                roots[one.spec.cohort_name] = self.root_of(one)
        return [
            one
            for one in queues
            if (root and roots[one.spec.cohort_name] == root) or one.name == queue.name
        ]

    @classmethod
    def in_state(cls, state: State, *, placing: bool = False) -> Activity:
        """Find out which queues and cohorts take part; ``placing`` says that topologies count."""
        gate = state.configuration.gate
        parents = {one.name: one.spec.parent_name for one in cohorts_of(state)}
        # Cohorts need no object: a cohort that is only named has no quota and no parent.
        named = [cq.spec.cohort_name for cq in state.cluster_queues] + list(parents.values())
        parents |= {name: "" for name in named if name and name not in parents}
        looping = frozenset(name for name in parents if _leads_into_cycle(name, parents))
        flavors = {flavor.name: flavor for flavor in state.resource_flavors}
        topologies = {topology.name for topology in state.topologies}
        placing = placing and gate("TopologyAwareScheduling")
        checks = {check.metadata.name: check for check in state.admission_checks}
        one_kind = state.configuration.rules.takes_one_kind_of_check
        hindrances = {}
        for cq in state.cluster_queues:
            found = [*_hindrances(cq, flavors, checks, one_kind=one_kind)]
            if cq.spec.cohort_name in looping:
                text = f'its cohort "{cq.spec.cohort_name}" is in a cycle of parents'
                found.insert(0, Hindrance("", text))
            if placing:
                found += _without_topology(cq, flavors, checks, topologies)
            if found:
                hindrances[cq.name] = tuple(found)
        return cls(parents, looping, hindrances)


def cohorts_of(state: State) -> Sequence[Cohort]:
    """Return the Cohort objects that Kueue reads: none where HierarchicalCohorts is off."""
    return state.cohorts if state.configuration.gate("HierarchicalCohorts") else ()


def _leads_into_cycle(name: str, parents: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        # Walks up and down the tree are recursive elsewhere: this bounds their depth.
        if len(seen) > _DEEPEST:
            raise UnsupportedError(f"Cohort {name}", f"has more than {_DEEPEST} cohorts below it")
        name = parents[name]
    return bool(name)


def _hindrances(
    cq: ClusterQueue,
    flavors: Mapping[str, ResourceFlavor],
    checks: Mapping[str, AdmissionCheck],
    *,
    one_kind: bool,
) -> Iterator[Hindrance]:
    """Yield the reasons for which a ClusterQueue is inactive, in the order in which Kueue has them.

    Where Kueue calls the queue active, a missing flavor or check is missing from the dump only.
    ``one_kind`` says that checks of MultiKueue and of ProvisioningRequest exclude each other.
    """
    said = cq.status.condition("Active")
    # A dump without the time of deletion may still have the condition that Kueue set.
    terminates = said is not None and said.status == "False" and said.reason == TERMINATING
    if terminates or cq.metadata.deletion_timestamp is not None:
        yield Hindrance(TERMINATING, "it is being deleted")
        return  # beside a deletion no other reason is given
    if cq.spec.stop_policy != "None":
        yield Hindrance("Stopped", f"its stopPolicy is {cq.spec.stop_policy}")
    trusted = cq.status.is_active
    missing = [] if trusted else [name for name in cq.flavor_names if name not in flavors]
    more = "" if flavors else f", as there is none: {_ADD_FLAVORS}"
    for hindrance in _by_name("FlavorNotFound", missing):
        yield hindrance._replace(text=f"{hindrance.text}{more}")
    if cq.check_rules:
        yield from _of_checks(cq, checks, trusted=trusted, one_kind=one_kind)


def _of_checks(
    cq: ClusterQueue, checks: Mapping[str, AdmissionCheck], *, trusted: bool, one_kind: bool
) -> Iterator[Hindrance]:
    """Yield the reasons that admission checks give."""
    rules = {rule.name: rule for rule in cq.check_rules}
    there = {name: checks[name] for name in rules if name in checks}
    multi = sorted(name for name, one in there.items() if one.spec.controller == MULTIKUEUE)
    # An absent list and an empty one both mean all flavors (§1.3).
    every = set(cq.flavor_names)
    some = [name for name in multi if rules[name].on_flavors and {*rules[name].on_flavors} != every]
    unknown = [] if trusted else sorted(rules.keys() - there.keys())
    yield from _by_name("AdmissionCheckNotFound", unknown)
    off = sorted(name for name, check in there.items() if not check.status.is_active)
    yield from _by_name("AdmissionCheckInactive", off)
    yield from _by_name("MultipleMultiKueueAdmissionChecks", multi if len(multi) > 1 else [])
    yield from _by_name("MultiKueueAdmissionCheckAppliedPerFlavor", some)
    if one_kind and multi and any(one.spec.controller == PROVISIONING for one in there.values()):
        text = "it has admission checks of both MultiKueue and ProvisioningRequest"
        yield Hindrance("MultiKueueWithProvisioningRequest", text)


def _by_name(code: str, names: Sequence[str]) -> Iterator[Hindrance]:
    """Yield the hindrance that names some flavors or checks, unless there are none."""
    if names:
        yield Hindrance(code, _BY_NAME[code].format(", ".join(f'"{name}"' for name in names)))


def leaves_it_to_workers(cq: ClusterQueue, checks: Mapping[str, AdmissionCheck]) -> bool:
    """Say whether a ClusterQueue hands workloads to other clusters, which place the pods."""
    named = (checks.get(rule.name) for rule in cq.check_rules)
    return any(check is not None and check.spec.controller == MULTIKUEUE for check in named)


def _without_topology(
    cq: ClusterQueue,
    flavors: Mapping[str, ResourceFlavor],
    checks: Mapping[str, AdmissionCheck],
    topologies: set[str],
) -> Iterator[Hindrance]:
    """Yield missing topologies; none if Kueue calls the queue active, and so has them itself."""
    if leaves_it_to_workers(cq, checks) or cq.status.is_active:
        return
    for name in cq.flavor_names:
        wanted = flavors[name].spec.topology_name if name in flavors else ""
        if wanted and wanted not in topologies:
            text = f'the Topology "{wanted}" of its flavor {name} does not exist'
            yield Hindrance("TopologyNotFound", text)


def notes_on(state: State, activity: Activity) -> tuple[str, ...]:
    """Return notes on what is tolerated as in Kueue, and may surprise a reader of the plan."""
    lacking = activity.parents.keys() - {cohort.name for cohort in state.cohorts}
    unread = activity.parents.keys() - lacking - {cohort.name for cohort in cohorts_of(state)}
    off = "that Kueue does not read, as the gate HierarchicalCohorts is off,"
    implicit = [
        f"cohorts {why} count as ones without quota or parent: {', '.join(sorted(names))}"
        for why, names in (("without a Cohort object", lacking), (off, unread))
        if names
    ]
    cycles = [
        f'cohort "{name}" is in a cycle of parents: left out' for name in sorted(activity.looping)
    ]
    drained = {one.name for one in state.cluster_queues if one.spec.stop_policy == DRAIN}
    queues = [
        f"ClusterQueue {name} is inactive: {reason}; its workloads are no candidates"
        f"{', and Kueue evicts them in time' if name in drained else ''}"
        for name, reason in activity.inactive.items()
    ]
    asked = {rule.name for cq in state.cluster_queues for rule in cq.check_rules}
    # A dump is of one cluster, where MultiKueue has others.
    clusters = [
        f"admission check {check.metadata.name} is of MultiKueue: victims in worker clusters are "
        "out of reach, this is one cluster"
        for check in state.admission_checks
        if check.spec.controller == MULTIKUEUE and check.metadata.name in asked
    ]
    drains = "Kueue evicts its workloads in time; until then they hold quota and are candidates"
    local = [
        f"LocalQueue {one.key} has stopPolicy {one.spec.stop_policy}: {drains}"
        for one in state.local_queues
        if one.spec.stop_policy == DRAIN and one.spec.cluster_queue not in activity.inactive
    ]
    return (*state.notes, *implicit, *cycles, *queues, *local, *clusters)
