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
``cohort/NAME.quota...``, ``cohort/NAME.fairSharing.weight``  as for a ClusterQueue
``workload/NAMESPACE/NAME.priority``                      a whole number
``configuration.featureGates.GATE``                       true or false
``configuration.fairSharing.enable``                      true or false
``node/NAME.unschedulable``                               true or false
``node/NAME.allocatable.RESOURCE``                        a quantity
``node/NAME.labels.KEY``                                  a text, or ``none``: without the label
``node/NAME.taints.KEY``                                  NoSchedule, NoExecute or
                                                          PreferNoSchedule; or ``none``
``node/NEW.like``                                         the name of a node: one more like it
========================================================= =====================================

Nodes decide where a flavor has a topology. Only what the dump has can be edited: an object that is
there, and a quota it has already; but a node may be one more like another, with nobody on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from planner.commands.whatif.edit import (
    ABSENT,
    Editable,
    Place,
    Settable,
    Setting,
    Waiting,
    replaced,
)
from planner.quantity import format_quantity, format_units, from_units, to_quota
from planner.reader.complaint import checked
from planner.state.kueue import State
from planner.state.kueue_configuration import FEATURE_GATES, Configuration, FairSharing
from planner.state.kueue_topology import HOST, Node, NodeStatus
from planner.state.kueue_workload import Workload
from planner.state.pods import Taint
from planner.state.queues import ClusterQueue, Cohort, ResourceGroup

FIELDS: Final = ("unschedulable", "allocatable.RESOURCE", "labels.KEY", "taints.KEY", "like")
_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_LIKE: Final = ".like"


def with_node(state: State, rest: str, setting: Setting) -> State:
    """Return the state with a node changed, or one more; ``rest`` is the target behind ``node/``.

    Raises
    ------
    SchemaError
        If there is no such node or field, or it cannot have the value.
    """
    names = [node.metadata.name for node in state.nodes]
    if rest.endswith(_LIKE) and rest.removesuffix(_LIKE) not in names:
        name = rest.removesuffix(_LIKE)
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
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        raise setting.unknown("Node", rest.partition(".")[0], names)
    name = max(fitting, key=len)
    place = names.index(name)
    changed = _changed(state.nodes[place], rest.removeprefix(f"{name}."), setting)
    return state.model_copy(update={"nodes": _put(state.nodes, place, changed)})


def _changed(node: Node, path: str, setting: Setting) -> Node:
    field, _, key = path.partition(".")
    match field:
        case "unschedulable" if not key:
            return replaced(node, ("spec",), field, setting, f"Node {node.metadata.name}")
        case "allocatable" if key:
            given = {"allocatable": {key: setting.value}}
            read = checked(NodeStatus, given, setting.where, (), f"Node {node.metadata.name}")
            amounts = {**node.status.allocatable, **read.allocatable}
            status = node.status.model_copy(update={"allocatable": amounts})
            return node.model_copy(update={"status": status})
        case "labels" if key:
            labels = {name: text for name, text in node.metadata.labels.items() if name != key}
            if setting.value != ABSENT:
                labels[key] = setting.value
            metadata = node.metadata.model_copy(update={"labels": labels})
            return node.model_copy(update={"metadata": metadata})
        case "taints" if key:
            if setting.value not in {*_EFFECTS, ABSENT}:
                found = f'"{setting.value}" is no effect of a taint'
                raise setting.refused(found, ", ".join((*_EFFECTS, ABSENT)))
            taints = tuple(one for one in node.spec.taints if one.key != key)
            if setting.value != ABSENT:
                taints += (Taint(key=key, effect=setting.value),)
            spec = node.spec.model_copy(update={"taints": taints})
            return node.model_copy(update={"spec": spec})
    raise setting.unknown("field", path, FIELDS)


EXAMPLE: Final = "clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority"
_WEIGHT: Final[Mapping[str, Place]] = {"fairSharing.weight": (("spec", "fair_sharing"), "weight")}
_PREEMPTION: Final = ("spec", "preemption")
_BORROW: Final = (*_PREEMPTION, "borrow_within_cohort")
_POLICIES: Final[Mapping[str, Place]] = {
    "preemption.withinClusterQueue": (_PREEMPTION, "withinClusterQueue"),
    "preemption.reclaimWithinCohort": (_PREEMPTION, "reclaimWithinCohort"),
    "preemption.borrowWithinCohort.policy": (_BORROW, "policy"),
    "preemption.borrowWithinCohort.maxPriorityThreshold": (_BORROW, "maxPriorityThreshold"),
}
QUOTA: Final[Mapping[str, str]] = {
    "nominal": "nominalQuota",
    "borrowingLimit": "borrowingLimit",
    "lendingLimit": "lendingLimit",
}
_ANY_QUOTA: Final = tuple(f"quota.FLAVOR/RESOURCE.{limit}" for limit in QUOTA)
KINDS: Final = ("clusterqueue", "cohort", "workload", "node", "configuration")

Owner = TypeVar("Owner", ClusterQueue, Cohort)


def edited(state: State, setting: Setting) -> State:
    """Return the state with one value set.

    Raises
    ------
    SchemaError
        If the setting names what is not in the state, or gives a value that cannot be.
    """
    kind, _, rest = setting.target.partition("/")
    if kind.partition(".")[0] == "configuration":
        found = _configuration(state.configuration, setting)
        return state.model_copy(update={"configuration": found})
    match kind:
        case "clusterqueue":
            fields = {**_POLICIES, **_WEIGHT}
            queues = _in_place(state.cluster_queues, "ClusterQueue", fields, rest, setting)
            return state.model_copy(update={"cluster_queues": queues})
        case "cohort":
            cohorts = _in_place(state.cohorts, "Cohort", _WEIGHT, rest, setting)
            return state.model_copy(update={"cohorts": cohorts})
        case "workload":
            key = _meant(state.workloads.keys, "Workload", rest, setting)
            path = rest.removeprefix(f"{key}.")
            changed = state.workloads.edited({key}, lambda one: _workload(one, path, setting))
            return state.model_copy(update={"workloads": changed})
        case "node":
            return with_node(state, rest, setting)
    raise setting.unknown("kind to edit", kind, KINDS)


def _in_place(
    objects: tuple[Owner, ...], kind: str, fields: Mapping[str, Place], rest: str, setting: Setting
) -> tuple[Owner, ...]:
    """Set a field of the object that has quota and whose name ``rest`` begins with."""
    names = [one.name for one in objects]
    name = _meant(names, kind, rest, setting)
    path, subject, position = rest.removeprefix(f"{name}."), f"{kind} {name}", names.index(name)
    owner = objects[position]
    if path.startswith("quota."):
        places = {
            f"quota.{flavor.name}/{quota.name}.{limit}": (g, f, q, field)
            for g, group in enumerate(owner.spec.resource_groups)
            for f, flavor in enumerate(group.flavors)
            for q, quota in enumerate(flavor.resources)
            for limit, field in QUOTA.items()
        }
        if path not in places:
            raise setting.unknown(f"quota of {subject}", path, list(places))
        g, f, q, field = places[path]
        group, flavor = owner.spec.resource_groups[g], owner.spec.resource_groups[g].flavors[f]
        quota = replaced(flavor.resources[q], (), field, setting, subject)
        flavor = flavor.model_copy(update={"resources": _put(flavor.resources, q, quota)})
        group = group.model_copy(update={"flavors": _put(group.flavors, f, flavor)})
        groups = _put(owner.spec.resource_groups, g, group)
        spec = owner.spec.model_copy(update={"resource_groups": groups})
        return _put(objects, position, owner.model_copy(update={"spec": spec}))
    if path not in fields:
        raise setting.unknown("field", path, [*fields, *_ANY_QUOTA])
    steps, field = fields[path]
    return _put(objects, position, replaced(owner, steps, field, setting, subject))


def _meant(names: Sequence[str], kind: str, rest: str, setting: Setting) -> str:
    """Return the name that ``rest`` begins with; names may hold points themselves."""
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        namespace, slash, tail = rest.rpartition("/") if kind == "Workload" else ("", "", rest)
        raise setting.unknown(kind, namespace + slash + tail.partition(".")[0], names)
    return max(fitting, key=len)


def _workload(workload: Workload, path: str, setting: Setting) -> Workload:
    if path != "priority":
        raise setting.unknown("field", path, ["priority"])
    return replaced(workload, ("spec",), "priority", setting, f"Workload {workload.key}")


Thing = TypeVar("Thing")


def _put(things: Sequence[Thing], position: int, thing: Thing) -> tuple[Thing, ...]:
    return (*things[:position], thing, *things[position + 1 :])


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


PREEMPTION: Final = "Preemption"
LABELS: Final = {
    "nominal": "Nominal quota",
    "borrowingLimit": "Borrowing limit",
    "lendingLimit": "Lending limit",
}
_NEVER, _LOWER = "Never", "LowerPriority"
POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    "withinClusterQueue": (_NEVER, _LOWER, "LowerOrNewerEqualPriority"),
    "reclaimWithinCohort": (_NEVER, _LOWER, "Any"),
    "borrowWithinCohort.policy": (_NEVER, _LOWER),
}


def waiting(state: State, pending: Collection[str]) -> Iterator[Waiting]:
    """Yield the pending workloads, each with its ClusterQueue, or else its LocalQueue."""
    wanted = set(pending)
    led = {
        (one.metadata.namespace, one.metadata.name): one.spec.cluster_queue
        for one in state.local_queues
    }
    for one in state.workloads.entries:
        if one.key in wanted:
            queue = led.get((one.namespace, one.queue_name), one.queue_name)
            yield Waiting(key=one.key, name=one.key, queue=queue, priority=one.priority)


def queues(state: State) -> Iterator[Editable]:
    """Yield the Cohorts that are objects, then the ClusterQueues."""
    for cohort in state.cohorts:
        yield Editable(kind="Cohort", name=cohort.name, settings=tuple(_quotas("cohort", cohort)))
    for queue in state.cluster_queues:
        found = (*_quotas("clusterqueue", queue), *_policies(queue))
        yield Editable(kind="ClusterQueue", name=queue.name, settings=found)


def workloads(state: State) -> Iterator[Editable]:
    """Yield the pending workloads, then those that hold quota."""
    entries = state.workloads.entries
    for one in (
        *(one for one in entries if one.is_pending),
        *(one for one in entries if one.holds_quota and not one.is_pending),
    ):
        priority = Settable(
            target=f"workload/{one.key}.priority",
            group="",
            label="Priority",
            value=str(one.priority),
        )
        yield Editable(kind="Workload", name=one.key, settings=(priority,))


def _quotas(kind: str, owner: ClusterQueue | Cohort) -> Iterator[Settable]:
    groups: tuple[ResourceGroup, ...] = owner.spec.resource_groups
    for flavor in (flavor for group in groups for flavor in group.flavors):
        for quota in flavor.resources:
            values = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
            for limit, nano in zip(QUOTA, values, strict=True):
                yield Settable(
                    target=f"{kind}/{owner.name}.quota.{flavor.name}/{quota.name}.{limit}",
                    group=f"{quota.name} in flavor {flavor.name}",
                    label=LABELS[limit],
                    value=ABSENT if nano is None else written(nano, quota.name),
                )


def written(nano: int, resource: str) -> str:
    """Return a quota as people write it, such as ``1536Gi``, if that is exactly what it is."""
    units = to_quota(nano, resource)
    exact = from_units(units, resource) == nano
    return format_units(units, resource) if exact else format_quantity(nano)


def _policies(queue: ClusterQueue) -> Iterator[Settable]:
    rules = queue.spec.preemption
    threshold = rules.borrow_within_cohort.max_priority_threshold
    values = (
        rules.within_cluster_queue,
        rules.reclaim_within_cohort,
        rules.borrow_within_cohort.policy,
    )
    target = f"clusterqueue/{queue.name}.preemption"
    for (name, choices), value in zip(POLICIES.items(), values, strict=True):
        yield Settable(
            target=f"{target}.{name}", group=PREEMPTION, label=name, value=value, choices=choices
        )
    name = "borrowWithinCohort.maxPriorityThreshold"
    highest = ABSENT if threshold is None else str(threshold)
    yield Settable(target=f"{target}.{name}", group=PREEMPTION, label=name, value=highest)
