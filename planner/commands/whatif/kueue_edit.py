"""Edits of a state of Kueue, written as ``OBJECT.FIELD=VALUE``, and what they could set.

========================================================= =====================================
``clusterqueue/NAME.preemption.withinClusterQueue``       Never, LowerPriority,
                                                          LowerOrNewerEqualPriority
``clusterqueue/NAME.preemption.reclaimWithinCohort``      Never, LowerPriority, Any
``clusterqueue/NAME.preemption.borrowWithinCohort.policy`` Never, LowerPriority
``clusterqueue/NAME.preemption.borrowWithinCohort.maxPriorityThreshold``
                                                          a whole number, or ``none``
``clusterqueue/NAME.quota.FLAVOR/RESOURCE.nominal``       a quantity
``clusterqueue/NAME.quota.FLAVOR/RESOURCE.borrowingLimit`` a quantity, or ``none``: no limit
``clusterqueue/NAME.quota.FLAVOR/RESOURCE.lendingLimit``  likewise
``clusterqueue/NAME.fairSharing.weight``                  a quantity
``clusterqueue/NAME.queueingStrategy``                    StrictFIFO, BestEffortFIFO
``clusterqueue/NAME.flavorFungibility.whenCanBorrow``, ``.whenCanPreempt``
                                                          MayStopSearch, TryNextFlavor
``clusterqueue/NAME.flavorFungibility.preference``        BorrowingOverPreemption,
                                                          PreemptionOverBorrowing, or ``none``
``clusterqueue/NAME.stopPolicy``                          None, Hold, HoldAndDrain
``clusterqueue/NAME.cohortName``                          a name, or ``none``: no cohort
``cohort/NAME.quota...``, ``cohort/NAME.fairSharing.weight``  as for a ClusterQueue
``localqueue/NAMESPACE/NAME.stopPolicy``                  None, Hold, HoldAndDrain
``resourceflavor/NAME.topologyName``                      the name of a Topology, or ``none``
``workload/NAMESPACE/NAME.priority``                      a whole number
``workload/NAMESPACE/NAME.podSets.PODSET.count``          a whole number
``workload/NAMESPACE/NAME.podSets.PODSET.topologyRequest.required``, ``.preferred``
                                                          a level of a topology, or ``none``
``configuration.featureGates.GATE``                       true or false
``configuration.fairSharing.enable``                      true or false
``node/NAME.unschedulable``                               true or false
``node/NAME.allocatable.RESOURCE``                        a quantity
``node/NAME.labels.KEY``                                  a text, or ``none``: without the label
``node/NAME.taints.KEY``                                  NoSchedule, NoExecute or
                                                          PreferNoSchedule; or ``none``
``node/NEW.like``                                         the name of a node: one more like it
========================================================= =====================================

Nodes matter where a flavor has a topology. Only what the dump has can be edited: an object that is
there, and a quota that it has. But a node can be added that is like another, with nobody on it. The
taint that Kubernetes gives a node while it is unschedulable comes and goes with that. After an edit
all workloads compete that were tried in vain before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from planner.commands.whatif.edit import (
    ABSENT,
    Editable,
    Place,
    Settable,
    Setting,
    Waiting,
    changed,
    own_name,
    replaced,
)
from planner.quantity import format_quantity, format_units, from_units, to_quota
from planner.reader.complaint import checked
from planner.reader.kueue_release import on_unmet
from planner.state.base import Schema
from planner.state.kueue import State
from planner.state.kueue_configuration import FEATURE_GATES, Configuration, FairSharing
from planner.state.kueue_topology import HOST, NodeStatus
from planner.state.kueue_workload import Workload
from planner.state.pods import Taint
from planner.state.queues import ClusterQueue, Cohort

NODE_FIELDS: Final = ("unschedulable", "allocatable.RESOURCE", "labels.KEY", "taints.KEY", "like")
CORDONED: Final = "node.kubernetes.io/unschedulable"
"""The taint that Kubernetes gives a node while it is unschedulable."""
_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule")
EXAMPLE: Final = "clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority"
_PREEMPTION: Final = ("spec", "preemption")
_BORROW: Final = (*_PREEMPTION, "borrow_within_cohort")
_NEVER, _LOWER = "Never", "LowerPriority"
Field = tuple[Place, tuple[str, ...]]
"""Where a field stands, and all values that it can have; none where it is a number or a name."""
QUOTA: Final[Mapping[str, tuple[str, str]]] = {
    "nominal": ("nominalQuota", "Nominal quota"),
    "borrowingLimit": ("borrowingLimit", "Borrowing limit"),
    "lendingLimit": ("lendingLimit", "Lending limit"),
}
"""The field of each quota, and what it is in words."""
_WALK: Final = (("spec", "flavor_fungibility"), ("MayStopSearch", "TryNextFlavor"))
_WEIGHT: Final[Field] = (("spec", "fair_sharing"), "weight"), ()
_STOP: Final[Field] = (("spec",), "stopPolicy"), ("None", "Hold", "HoldAndDrain")
OBJECTS: Final[Mapping[str, tuple[str, str, Mapping[str, Field]]]] = {
    "cohort": ("Cohort", "cohorts", {"fairSharing.weight": _WEIGHT}),
    "clusterqueue": (
        "ClusterQueue",
        "cluster_queues",
        {
            "preemption.withinClusterQueue": (
                (_PREEMPTION, "withinClusterQueue"),
                (_NEVER, _LOWER, "LowerOrNewerEqualPriority"),
            ),
            "preemption.reclaimWithinCohort": (
                (_PREEMPTION, "reclaimWithinCohort"),
                (_NEVER, _LOWER, "Any"),
            ),
            "preemption.borrowWithinCohort.policy": ((_BORROW, "policy"), (_NEVER, _LOWER)),
            "preemption.borrowWithinCohort.maxPriorityThreshold": (
                (_BORROW, "maxPriorityThreshold"),
                (),
            ),
            "fairSharing.weight": _WEIGHT,
            "flavorFungibility.whenCanBorrow": ((_WALK[0], "whenCanBorrow"), _WALK[1]),
            "flavorFungibility.whenCanPreempt": ((_WALK[0], "whenCanPreempt"), _WALK[1]),
            "flavorFungibility.preference": (
                (_WALK[0], "preference"),
                ("BorrowingOverPreemption", "PreemptionOverBorrowing", ABSENT),
            ),
            "queueingStrategy": (
                (("spec",), "queueingStrategy"),
                ("StrictFIFO", "BestEffortFIFO"),
            ),
            "stopPolicy": _STOP,
            "cohortName": ((("spec",), "cohortName"), ()),
        },
    ),
    "localqueue": ("LocalQueue", "local_queues", {"stopPolicy": _STOP}),
    "resourceflavor": (
        "ResourceFlavor",
        "resource_flavors",
        {"topologyName": ((("spec",), "topologyName"), ())},
    ),
    "workload": ("Workload", "workloads", {"priority": ((("spec",), "priority"), ())}),
}
"""Of each kind its name, where a state has its objects, and the fields that all of them have."""
KINDS: Final = (*OBJECTS, "node", "configuration")


def edited(state: State, setting: Setting) -> State:
    """Return the state with one value set, as `Editing` says."""

    def untried(workload: Workload) -> Workload:
        kept = (one for one in workload.status.conditions if one.type != "QuotaReserved")
        return changed(workload, ("status", "conditions"), lambda _: tuple(kept))

    # Kueue tries again, after a change, what it tried in vain before.
    tried = {one.key for one in state.workloads.pending() if one.was_tried}
    if tried:
        state = state.model_copy(update={"workloads": state.workloads.edited(tried, untried)})
    kind, _, rest = setting.target.partition("/")
    if kind.partition(".")[0] == "configuration":
        return _with_configuration(state, setting)
    if kind == "node":
        return _with_node(state, rest, setting)
    if kind not in OBJECTS:
        raise setting.unknown("kind to edit", kind, KINDS)
    return _with_field(state, kind, rest, setting)


def _with_field(state: State, kind: str, rest: str, setting: Setting) -> State:
    """Set a field of the object of a kind whose name ``rest`` begins with."""
    (what, objects, fields), some = OBJECTS[kind], state.workloads
    places = {name: place for name, (place, _) in fields.items()}
    if kind == "workload":
        names = some.keys
    else:
        names = [one.key if kind == "localqueue" else one.name for one in getattr(state, objects)]
    namespace, meant = "", rest
    if kind in {"workload", "localqueue"}:
        namespace, slash, meant = rest.rpartition("/")
        namespace += slash
    name, path = setting.split(what, rest, names, namespace + meant.partition(".")[0])
    subject, known, field = f"{what} {name}", [*places], "field"
    if kind == "workload":
        places = {**places, **dict(_of_pod_sets(some.find(name)))}
        known = [*places]
    elif kind in {"clusterqueue", "cohort"}:
        known += [f"quota.FLAVOR/RESOURCE.{limit}" for limit in QUOTA]
        if path.startswith("quota."):
            places = dict(_of_quotas(getattr(state, objects)[names.index(name)]))
            known, field = [*places], f"quota of {subject}"
    if path not in places:
        raise setting.unknown(field, path, known)
    steps, last = places[path]
    if kind != "workload":
        return replaced(state, (objects, names.index(name), *steps), last, setting, subject)
    more = some.edited({name}, lambda one: replaced(one, steps, last, setting, subject))
    return state.model_copy(update={"workloads": more})


def _of_pod_sets(workload: Workload | None) -> Iterator[tuple[str, Place]]:
    """Yield the fields of the podsets of a workload, each with its place."""
    for n, pods in enumerate(workload.spec.pod_sets if workload else ()):
        own = ("spec", "pod_sets", n)
        yield f"podSets.{pods.name}.count", (own, "count")
        for field in ("required", "preferred") if pods.topology_request else ():
            name = f"podSets.{pods.name}.topologyRequest.{field}"
            yield name, ((*own, "topology_request"), field)


def _of_quotas(owner: ClusterQueue | Cohort) -> Mapping[str, Place]:
    """Return the quotas of a ClusterQueue or Cohort, each with its place."""
    return {
        f"quota.{flavor.name}/{quota.name}.{limit}": (
            ("spec", "resource_groups", g, "flavors", f, "resources", q),
            field,
        )
        for g, group in enumerate(owner.spec.resource_groups)
        for f, flavor in enumerate(group.flavors)
        for q, quota in enumerate(flavor.resources)
        for limit, (field, _) in QUOTA.items()
    }


def _with_another_node(state: State, names: Sequence[str], name: str, setting: Setting) -> State:
    """Return the state with one node more, like the one that the value names."""
    if setting.value not in names:
        raise setting.unknown("Node", setting.value, names)
    if not name:
        raise setting.refused("the new node has no name", "node/NEW.like=NAME")
    model = state.nodes[names.index(setting.value)]
    labels = dict(model.metadata.labels)
    if HOST in labels:
        labels[HOST] = name
    metadata = model.metadata.model_copy(update={"name": name, "uid": "", "labels": labels})
    more = model.model_copy(update={"metadata": metadata})
    return state.model_copy(update={"nodes": (*state.nodes, more)})


def _with_node(state: State, rest: str, setting: Setting) -> State:
    names = [node.metadata.name for node in state.nodes]
    new = rest.removesuffix(".like")
    if new not in {rest, *names}:
        return _with_another_node(state, names, new, setting)
    name, path = setting.split("Node", rest, names, rest.partition(".")[0])
    node, subject, value = ("nodes", names.index(name)), f"Node {name}", setting.value
    field, _, key = path.partition(".")
    match field:
        case "unschedulable" if not key:
            state = replaced(state, (*node, "spec"), field, setting, subject)
            cordoned = state.nodes[node[1]].spec.unschedulable
            return _with_taint(state, node, CORDONED, "NoSchedule" if cordoned else None)
        case "allocatable" if key:
            given = {"allocatable": {key: value}}
            more = checked(NodeStatus, given, setting.where, (), subject).allocatable
            return changed(state, (*node, "status", "allocatable"), lambda now: {**now, **more})
        case "labels" if key:
            own = {} if value == ABSENT else {key: value}
            return changed(
                state,
                (*node, "metadata", "labels"),
                lambda now: {name: text for name, text in now.items() if name != key} | own,
            )
        case "taints" if key:
            if value not in {*_EFFECTS, ABSENT}:
                found = f'"{value}" is no effect of a taint'
                raise setting.refused(found, ", ".join((*_EFFECTS, ABSENT)))
            return _with_taint(state, node, key, None if value == ABSENT else value)
    raise setting.unknown("field", path, NODE_FIELDS)


def _with_taint(state: State, node: tuple[str, int], key: str, effect: str | None) -> State:
    """Return the state in which a node has one taint of a key, or none without an effect."""
    taints = () if effect is None else (Taint(key=key, effect=effect),)
    return changed(
        state,
        (*node, "spec", "taints"),
        lambda now: (*(one for one in now if one.key != key), *taints),
    )


def _with_configuration(state: State, setting: Setting) -> State:
    """Set a field of the Configuration; what is noted of gates that need others is as after it."""
    before = state.configuration
    after = _configuration(before, setting)
    old, new = (on_unmet(one.release, one.feature_gates) for one in (before, after))
    kept = [note for note in state.notes if note not in old]
    return state.model_copy(update={"configuration": after, "notes": (*kept, *new)})


def _configuration(configuration: Configuration, setting: Setting) -> Configuration:
    path = setting.target.removeprefix("configuration").lstrip("./")
    if path == "fairSharing.enable":
        sharing = configuration.fair_sharing or FairSharing(enable=False)
        switched = replaced(sharing, (), "enable", setting, "Configuration")
        return configuration.model_copy(update={"fair_sharing": switched})
    name = path.removeprefix("featureGates.")
    if name == path or name not in FEATURE_GATES:
        known = ["fairSharing.enable", *(f"featureGates.{gate}" for gate in FEATURE_GATES)]
        raise setting.unknown("field of the Configuration", path, known)
    if setting.value not in {"true", "false"}:
        raise setting.refused(f'feature gate {name}: "{setting.value}" is no switch', "true, false")
    for _, reason in configuration.release.refusals({name: setting.value == "true"}):
        release = configuration.release.name
        raise setting.refused(f"feature gate {name} {reason}: in Kueue {release}", "another one")
    gates = {**configuration.feature_gates, name: setting.value == "true"}
    return configuration.model_copy(update={"feature_gates": gates})


def waiting(state: State, pending: Collection[str]) -> Iterator[Waiting]:
    """Yield the pending workloads, each with its ClusterQueue, or else its LocalQueue."""
    wanted = set(pending)
    led = {
        (one.metadata.namespace, one.metadata.name): one.spec.cluster_queue
        for one in state.local_queues
    }
    for one in map(state.workloads.find, filter(wanted.__contains__, state.workloads.keys)):
        if one is not None:
            queue = led.get((one.namespace, one.queue_name), one.queue_name)
            yield Waiting(key=one.key, name=one.key, queue=queue, priority=one.priority)


def queues(state: State) -> Iterator[Editable]:
    """Yield the Cohorts that are objects, the ClusterQueues, the LocalQueues, then the flavors."""
    for kind, (what, objects, fields) in OBJECTS.items():
        for one in () if kind == "workload" else getattr(state, objects):
            name = one.key if kind == "localqueue" else one.name
            quotas = _quotas(kind, one) if isinstance(one, ClusterQueue | Cohort) else ()
            own = _fields(f"{kind}/{name}", what, one, fields)
            yield Editable(kind=what, name=name, settings=(*quotas, *own))


def _fields(target: str, what: str, one: Schema, fields: Mapping[str, Field]) -> Iterator[Settable]:
    """Yield the fields of an object, each with its value."""
    for name, ((steps, field), choices) in fields.items():
        part = one
        for step in steps:
            part = getattr(part, str(step))
        value = getattr(part, own_name(type(part), field))
        shown = format_quantity(value) if field == "weight" else str(value)
        group, point, label = name.partition(".")
        yield Settable(
            target=f"{target}.{name}",
            group=group[0].upper() + group[1:] if point else what,
            label=label or name,
            value=ABSENT if value in {None, ""} else shown,
            choices=choices,
        )


def workloads(state: State) -> Iterator[Editable]:
    """Yield the pending workloads, then those that hold quota."""
    columns = state.workloads.columns
    for chosen in (columns.is_pending, columns.holds_quota & ~columns.is_pending):
        pairs = zip(columns.key[chosen], columns.priority[chosen].tolist(), strict=True)
        for key, priority in pairs:
            yield Editable.of_priority("Workload", key, key, priority)


def _quotas(kind: str, owner: ClusterQueue | Cohort) -> Iterator[Settable]:
    for flavor, quota in owner.spec.quotas:
        values = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
        for (limit, (_, label)), nano in zip(QUOTA.items(), values, strict=True):
            yield Settable(
                target=f"{kind}/{owner.name}.quota.{flavor}/{quota.name}.{limit}",
                group=f"{quota.name} in flavor {flavor}",
                label=label,
                value=ABSENT if nano is None else written(nano, quota.name),
            )


def written(nano: int, resource: str) -> str:
    """Return a quota as people write it, such as ``1536Gi``, if that text is exact."""
    units = to_quota(nano, resource)
    exact = from_units(units, resource) == nano
    return format_units(units, resource) if exact else format_quantity(nano)
