"""Edits of a state of Kueue, written as ``OBJECT.FIELD=VALUE``.

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

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import ValidationError

from planner.commands.whatif.edit import ABSENT, Place, Setting, replaced
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.state.base import KubernetesObject
from planner.state.kueue import HOST, ClusterQueue, Cohort, Configuration, Node, State, Workload
from planner.state.kueue_configuration import FEATURE_GATES, FairSharing
from planner.state.kueue_topology import NodeStatus
from planner.state.pods import Taint
from planner.state.queues import ResourceGroup

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
        more = _like(state, rest.removesuffix(_LIKE), setting, names)
        return state.model_copy(update={"nodes": (*state.nodes, more)})
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        raise setting.unknown("Node", rest.partition(".")[0], names)
    name = max(fitting, key=len)
    place = names.index(name)
    changed = _changed(state.nodes[place], rest.removeprefix(f"{name}."), setting)
    nodes = (*state.nodes[:place], changed, *state.nodes[place + 1 :])
    return state.model_copy(update={"nodes": nodes})


def _like(state: State, name: str, setting: Setting, names: list[str]) -> Node:
    if setting.value not in names:
        raise setting.unknown("Node", setting.value, names)
    if not name:
        raise setting.refused("the new node has no name", "node/NEW.like=NAME")
    model = state.nodes[names.index(setting.value)]
    labels = dict(model.metadata.labels)
    if HOST in labels:
        labels[HOST] = name
    metadata = model.metadata.model_copy(update={"name": name, "uid": "", "labels": labels})
    return model.model_copy(update={"metadata": metadata})


def _changed(node: Node, path: str, setting: Setting) -> Node:
    field, _, key = path.partition(".")
    match field:
        case "unschedulable" if not key:
            return replaced(node, ("spec",), field, setting, f"Node {node.metadata.name}")
        case "allocatable" if key:
            return _with_allocatable(node, key, setting)
        case "labels" if key:
            labels = _labelled(node.metadata.labels, key, setting.value)
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


def _with_allocatable(node: Node, resource: str, setting: Setting) -> Node:
    given: dict[str, object] = {"allocatable": {resource: setting.value}}
    try:
        read = NodeStatus.model_validate(given)
    except ValidationError as error:
        item = Item(setting.where, (), given)
        subject = f"Node {node.metadata.name}"
        raise schema_error(item, subject, error, error.error_count()) from None
    amounts = {**node.status.allocatable, **read.allocatable}
    status = node.status.model_copy(update={"allocatable": amounts})
    return node.model_copy(update={"status": status})


def _labelled(labels: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    kept = {name: text for name, text in labels.items() if name != key}
    return kept if value == ABSENT else {**kept, key: value}


EXAMPLE: Final = "clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority"
_WEIGHT: Final[Mapping[str, Place]] = {"fairSharing.weight": (("spec", "fair_sharing"), "weight")}
_POLICIES: Final[Mapping[str, Place]] = {
    f"preemption.{path}": (("spec", "preemption", *steps), field)
    for path, steps, field in (
        ("withinClusterQueue", (), "withinClusterQueue"),
        ("reclaimWithinCohort", (), "reclaimWithinCohort"),
        ("borrowWithinCohort.policy", ("borrow_within_cohort",), "policy"),
        (
            "borrowWithinCohort.maxPriorityThreshold",
            ("borrow_within_cohort",),
            "maxPriorityThreshold",
        ),
    )
}
QUOTA: Final[Mapping[str, str]] = {
    "nominal": "nominalQuota",
    "borrowingLimit": "borrowingLimit",
    "lendingLimit": "lendingLimit",
}
_ANY_QUOTA: Final = tuple(f"quota.FLAVOR/RESOURCE.{limit}" for limit in QUOTA)
KINDS: Final = ("clusterqueue", "cohort", "workload", "node", "configuration")

Edited = TypeVar("Edited", bound=KubernetesObject)
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
            queues = _in_place(
                state.cluster_queues, lambda one: one.name, _queue, "ClusterQueue", rest, setting
            )
            return state.model_copy(update={"cluster_queues": queues})
        case "cohort":
            cohorts = _in_place(
                state.cohorts, lambda one: one.name, _cohort, "Cohort", rest, setting
            )
            return state.model_copy(update={"cohorts": cohorts})
        case "workload":
            key = _meant(state.workloads.keys, "Workload", rest, setting)
            path = rest.removeprefix(f"{key}.")
            changed = state.workloads.edited({key}, lambda one: _workload(one, path, setting))
            return state.model_copy(update={"workloads": changed})
        case "node":
            return with_node(state, rest, setting)
    raise setting.unknown("kind to edit", kind, KINDS)


def _in_place(  # noqa: PLR0913, PLR0917 - what is told apart here is told apart nowhere else
    objects: tuple[Edited, ...],
    key: Callable[[Edited], str],
    change: Callable[[Edited, str, Setting], Edited],
    kind: str,
    rest: str,
    setting: Setting,
) -> tuple[Edited, ...]:
    """Edit the object whose name ``rest`` begins with."""
    names = [key(one) for one in objects]
    name = _meant(names, kind, rest, setting)
    position = names.index(name)
    changed = change(objects[position], rest.removeprefix(f"{name}."), setting)
    return (*objects[:position], changed, *objects[position + 1 :])


def _meant(names: Sequence[str], kind: str, rest: str, setting: Setting) -> str:
    """Return the name that ``rest`` begins with; names may hold points themselves."""
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        namespace, slash, tail = rest.rpartition("/") if kind == "Workload" else ("", "", rest)
        raise setting.unknown(kind, namespace + slash + tail.partition(".")[0], names)
    return max(fitting, key=len)


def _queue(queue: ClusterQueue, path: str, setting: Setting) -> ClusterQueue:
    return _owner(queue, f"ClusterQueue {queue.name}", path, setting, {**_POLICIES, **_WEIGHT})


def _cohort(cohort: Cohort, path: str, setting: Setting) -> Cohort:
    return _owner(cohort, f"Cohort {cohort.name}", path, setting, _WEIGHT)


def _workload(workload: Workload, path: str, setting: Setting) -> Workload:
    if path != "priority":
        raise setting.unknown("field", path, ["priority"])
    return replaced(workload, ("spec",), "priority", setting, f"Workload {workload.key}")


def _owner(
    owner: Owner, subject: str, path: str, setting: Setting, fields: Mapping[str, Place]
) -> Owner:
    """Set a field of what has quota."""
    if path.startswith("quota."):
        groups = _groups(owner.spec.resource_groups, subject, path, setting)
        spec = owner.spec.model_copy(update={"resource_groups": groups})
        return owner.model_copy(update={"spec": spec})
    if path not in fields:
        raise setting.unknown("field", path, [*fields, *_ANY_QUOTA])
    steps, field = fields[path]
    return replaced(owner, steps, field, setting, subject)


def _groups(
    groups: Sequence[ResourceGroup], subject: str, path: str, setting: Setting
) -> tuple[ResourceGroup, ...]:
    """Set one of the quotas of a ClusterQueue or Cohort."""
    places = {
        f"quota.{flavor.name}/{quota.name}.{limit}": (g, f, q, field)
        for g, group in enumerate(groups)
        for f, flavor in enumerate(group.flavors)
        for q, quota in enumerate(flavor.resources)
        for limit, field in QUOTA.items()
    }
    if path not in places:
        raise setting.unknown(f"quota of {subject}", path, list(places))
    g, f, q, field = places[path]
    group, flavor = groups[g], groups[g].flavors[f]
    quota = replaced(flavor.resources[q], (), field, setting, subject)
    flavor = flavor.model_copy(update={"resources": _put(flavor.resources, q, quota)})
    group = group.model_copy(update={"flavors": _put(group.flavors, f, flavor)})
    return _put(groups, g, group)


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
    reason = configuration.release.refusal(name, value=setting.value == "true")
    if reason:
        release = configuration.release.name
        raise setting.refused(f"feature gate {name} {reason}: in Kueue {release}", "another one")
    gates = {**configuration.feature_gates, name: setting.value == "true"}
    return configuration.model_copy(update={"feature_gates": gates})
