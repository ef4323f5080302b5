"""What is not modelled in a state of YuniKorn, as far as it concerns an ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.coverage.answer import Covering, features_of
from planner.plan import AnyPlan, Uncovered
from planner.quota.yunikorn.cluster import Asking, Cluster, prepare
from planner.quota.yunikorn.held_back import ATTEMPTS, PARENT, PLACEHOLDER, passed_over
from planner.quota.yunikorn.limits import ACCEPTED, ANYBODY, QUEUE_IS_FULL, USER_QUOTA
from planner.quota.yunikorn.queue import Queue, build_queues, walk
from planner.quota.yunikorn.resource import added_up, fits_loose, gt_zero, minus_known
from planner.state.clock import SECOND, parse_duration, to_nanoseconds
from planner.state.yunikorn import (
    ROOT,
    Application,
    Ask,
    InForce,
    Limit,
    Partition,
    YuniKornState,
    by_path,
)
from planner.state.yunikorn_pods import CLAIMS
from planner.state.yunikorn_release import OLDEST, V1_8, V1_9, is_1_6_0, release_of

FEATURES: Final = features_of(
    "yunikorn",
    """
user-limits | exact | limits of users and groups
    docs/semantics/yunikorn-features.md §18: the core passes over an ask if its user or group
    would have more than it may have; queues.yaml alone does not say what is in force
predicates | left out | the shim's predicates
    docs/semantics/yunikorn-features.md §22: selectors, affinities, taints, ports and spread
    decide, too, where the pod may run, which pods and nodes beside the dump tell; so do volumes
placeholders | exact | placeholders of gangs
    docs/semantics/yunikorn-features.md §20: an ask of a gang takes the place of a placeholder
    of its group, and preempts nobody
running-applications | exact | limits on running applications
    docs/semantics/yunikorn-features.md §19: the core passes over an application that may not
    start yet, and all its asks
back-off | exact | back-off of applications
    docs/semantics/yunikorn-features.md §21: the core passes over an application, or its later
    asks, while it backs off
parent-queues | exact | asks in parent queues
    docs/semantics/yunikorn-features.md §24: the core looks at asks in leaves only
release | exact | rules of older releases
    docs/semantics/yunikorn-features.md §25: up to 1.8 other full queues are fences, and up to
    1.7 other queues are over their guaranteed; 1.6.0, and how 1.8 frees a lowered quota, are not
    reproduced
nodes | evidence | the nodes of the cluster
    docs/semantics/yunikorn.md §14: a node that the dump lacks may have room, or victims, and
    counts for what the root may have
in-force | evidence | what the core made of properties
    docs/semantics/yunikorn.md §16: it is held against queues.yaml: up to 1.8 queues lose what
    they inherit when that changes
""",
)
LIMITS, PREDICATES, PLACEHOLDERS, RUNNING, BACKOFF, PARENTS, RELEASE, NODES, IN_FORCE = FEATURES

_PASSED_OVER: Final = {PARENT: PARENTS, PLACEHOLDER: PLACEHOLDERS, USER_QUOTA: LIMITS}

SETTLE_LIMITS: Final = (
    "planner snapshot --yunikorn asks for /ws/v1/partition/{}/usage/users and /groups, which say it"
)
"""What settles which limits hold."""


class YuniKornCoverage(Covering[AnyPlan]):
    """The coverage of one state of YuniKorn, for all asks that wait in it."""

    def __init__(self, state: YuniKornState) -> None:
        self._state = state
        self._asks = {
            ask.allocation_key: (partition, application, ask)
            for partition in state.partitions
            for application, ask in partition.asks
        }
        self._clusters: dict[str, Cluster] = {}
        self._others: dict[str, Sequence[tuple[str, str]]] = {}

    def unmodelled(self, pending: str) -> tuple[Uncovered, ...]:
        """Return what may decide about an ask or a queue, by its key, and is not modelled."""
        there = self._asks.get(pending)
        if there is None:  # a queue: of the maximum of the root nodes decide
            lacking = self._state.partitions if pending == ROOT else ()
            nobody = Ask(allocation_key=pending)
            absent = (one for partition in lacking for one in _absent_nodes(partition, nobody))
            return (*absent, *_of_lowered(self._state, pending))
        found = [*_of_ask(self._state, self._cluster(there[0]), *there[1:])]
        partition, _, ask = there
        other = [] if ask.required_node else self._otherwise(partition)
        if other:
            objects = [f"queue {path}" for path, _ in other]
            found.append(IN_FORCE.found(objects, other[0][1], "contradiction"))
        return tuple(found)

    def everything(self) -> tuple[Uncovered, ...]:
        """Return what is not modelled for any ask, of those to come in queues with limits, too.

        Where pods come and go nobody knows what the predicates look at, nor whose turn it is.
        """
        found = dict.fromkeys(one for key in self._asks for one in self.unmodelled(key))
        found |= dict.fromkeys(self._waiting())
        limited = [
            f"queue {path}"
            for partition in self._state.partitions
            for path, queue in by_path(partition.root)
            if queue.limits
        ]
        asks = (ask for _, _, ask in self._asks.values())
        bound = [f"pod {ask.pod or ask.allocation_key}" for ask in asks if ask.x.placement]
        some = (LIMITS, limited, "has limits"), (PREDICATES, bound, "goes by where other pods are")
        whole = [one.found(named, f"{named[0]} {said}") for one, named, said in some if named]
        known = {one.feature for one in whole}
        return (*whole, *(one for one in found if one.feature not in known))

    def _waiting(self) -> Iterator[Uncovered]:
        """Yield what holds asks back now, which plans know, and nobody later."""
        for partition, application, ask in self._asks.values():
            cluster = self._cluster(partition)
            objects = [f"application {application.application_id}"]
            asking = Asking(ask, application, cluster.tree.leaf_of(application))
            if why := passed_over(cluster, asking):
                yield _PASSED_OVER.get(why, RUNNING).found(objects, why)
            elif why := _backoff(self._state.now, asking.leaf, application, ask):
                yield BACKOFF.found(objects, why)

    def _cluster(self, partition: Partition) -> Cluster:
        if partition.name not in self._clusters:
            self._clusters[partition.name] = prepare(self._state, partition.name)
        return self._clusters[partition.name]

    def _otherwise(self, partition: Partition) -> Sequence[tuple[str, str]]:
        """Return the queues of which a dump says another thing than queues.yaml, and what."""
        if partition.name not in self._others:
            known = partition.in_force
            self._others[partition.name] = [
                (one.path, f"in the dump {said} ({one.path})")
                for one in (walk(build_queues(partition.root)) if known else ())
                if one.path in known and (said := _differing(known[one.path], one))
            ]
        return self._others[partition.name]


def _differing(said: InForce, queue: Queue) -> str:
    """Return the first field in which what a dump says is not what a queue's properties mean."""
    means = queue.properties
    pairs: list[tuple[str, object, object]] = [
        ("preemptionEnabled", said.preemption_enabled, not means.disabled),
        ("isPreemptionFence", said.is_preemption_fence, means.preemption_fence),
        ("isPriorityFence", said.is_priority_fence, means.priority_fence),
        ("priorityOffset", said.priority_offset, means.priority_offset),
    ]
    delay = parse_duration(said.preemption_delay)
    if queue.is_leaf and delay is not None:
        here, there = (f"{each / SECOND:g} s" for each in (delay, means.delay))
        pairs.append(("preemptionDelay", here, there))
    differing = (f"{name} is {a}, by queues.yaml {b}" for name, a, b in pairs if a != b)
    return next(differing, "").replace("True", "true").replace("False", "false")


def _of_lowered(state: YuniKornState, path: str) -> Iterator[Uncovered]:
    if V1_8 <= release_of(state.release) < V1_9:
        said = "1.8 splits what a queue has to free, and takes victims, otherwise than 1.9"
        yield RELEASE.found([f"queue {path}"], said, "assumed")


def _of_ask(
    state: YuniKornState, cluster: Cluster, application: Application, ask: Ask
) -> Iterator[Uncovered]:
    limited = dict(_limited(state, cluster, application, ask))
    if limited:
        objects = [f"queue {name}" for name in limited]
        yield LIMITS.found(objects, next(iter(limited.values())), "assumed")
    demand = cluster.demand(ask)
    if demand is not None and demand.unknown is not None:
        objects = [f"allocation {demand.unknown}"]
        yield PREDICATES.found(objects, f"no pod beside the dump is that of {demand.unknown}")
    if binding := [one for one in ask.x.placement if demand is None or one in CLAIMS]:
        fields = ", ".join(binding)
        yield PREDICATES.found([f"pod {ask.pod or ask.allocation_key}"], f"it has {fields}")
    yield from _absent_nodes(cluster.partition, ask)
    yield from _placeholders(application, ask)
    leaf = cluster.tree.leaf_of(application)
    if cluster.release < OLDEST:
        yield RELEASE.found([f"YuniKorn {state.release}"], "rules before 1.6 are others", "assumed")
    elif is_1_6_0(state.release):
        said = "it also takes who is being preempted already, and tries required nodes otherwise"
        yield RELEASE.found(["YuniKorn 1.6.0"], said, "assumed")
    elif cluster.release < V1_8 and leaf.properties.fair:
        said = f"ten asks of {leaf.path} are tried in a cycle, and who is first goes by fairness"
        if sum(len(one.requests) for one in leaf.applications) > ATTEMPTS:
            yield RELEASE.found([f"queue {leaf.path}"], said, "assumed")
    # Where no queue object says which applications were given something to start, one with
    # placeholders may count or not: after a restart it does not.
    stranger = application.model_copy(update={"application_id": ""})
    starts = application.application_state == ACCEPTED and not cluster.partition.queue_states
    if starts and (path := cluster.limits.full_queue(stranger)):
        objects = [f"application {application.application_id}"]
        yield RUNNING.found(objects, f"{QUEUE_IS_FULL} ({path}), as far as it is known", "assumed")


def _limited(
    state: YuniKornState, cluster: Cluster, application: Application, ask: Ask
) -> Iterator[tuple[str, str]]:
    """Yield the queues whose limits of users and groups may keep an ask waiting, each with why.

    Which group the core counts an application to depends on when it came, and which limits hold, on
    the changes of queues.yaml since: the usage endpoints say both.

    Source: docs/semantics/yunikorn-features.md §18.
    """
    partition, user = cluster.partition, application.user
    if partition.usage is not None and user:
        return
    for name, limits in reversed([*cluster.limits.configured(application.queue_name)]):
        if not user:
            yield name, f"{name} has limits, and the dump does not say whose the application is"
        # The core counts what users have in a queue of any partition.
        elif len(state.partitions) > 1:
            yield name, f"{name} has limits, and queues of its path may be in another partition"
        for limit in limits:
            if found := _by_file(_inside(partition, name), limit, application, ask):
                yield name, f"{found} in {name}: {SETTLE_LIMITS.format(partition.name)}"


def _by_file(
    inside: Sequence[Application], limit: Limit, application: Application, ask: Ask
) -> str:
    """Say why a limit of queues.yaml may keep an ask waiting; ``inside`` is what is in its queue.

    All that anybody with a group has there is held against the limit of any group of this
    application's.
    """
    user, groups = application.user, {*application.groups, ANYBODY}
    mine = not {user, ANYBODY}.isdisjoint(limit.users)
    shared = bool(application.groups) and not groups.isdisjoint(limit.groups)
    if not (mine or shared):
        return ""
    counted = [one for one in inside if one.user == user or (shared and one.groups)]
    used = added_up(held.resource for one in counted for held in one.allocations)
    most = limit.maxresources if gt_zero(limit.maxresources) else None
    if not fits_loose(minus_known(most, used), ask.resource):
        return f"{user} may not have so much more"
    starts = application.application_state == ACCEPTED and not application.allocations
    if starts and 0 < limit.maxapplications < len(counted):
        return f"{user} may have as many applications as may run"
    return ""


def _inside(partition: Partition, name: str) -> list[Application]:
    """Return the applications of a queue, given by its path, and of the queues below it."""
    return [
        one for one in partition.applications if f"{one.queue_name.lower()}.".startswith(f"{name}.")
    ]


def _absent_nodes(partition: Partition, ask: Ask) -> Iterator[Uncovered]:
    """Yield the nodes that the dump lacks: those with allocations, or the one that is required.

    Any of the former counts for every ask, also for one with a required node: the root may have
    what all nodes have together (docs/semantics/yunikorn.md §2).
    """
    absent = {*partition.absent_nodes} - {node.node_id for node in partition.nodes}
    held = (each for one in partition.applications for each in one.allocations)
    there = dict.fromkeys(each.node_id for each in held if each.node_id in absent)
    if there:
        found = f"the dump lacks {next(iter(there))}, on which allocations are"
        yield NODES.found([f"node {name}" for name in there], found, "assumed")
    elif ask.required_node in absent:
        found = f"the dump lacks {ask.required_node}, which the ask requires"
        yield NODES.found([f"node {ask.required_node}"], found, "assumed")


def _placeholders(application: Application, ask: Ask) -> Iterator[Uncovered]:
    """Yield that the core's own count of placeholders is not in the dump, by which it goes."""
    group = "" if ask.placeholder or application.task_groups else ask.task_group_name
    claims = (*application.allocations, *application.requests)
    held = [one for one in claims if group and one.placeholder and one.task_group_name == group]
    if held:
        objects = [f"placeholder {one.allocation_key}" for one in held]
        yield PLACEHOLDERS.found(
            objects, f"{len(held)} placeholders of its group are left", "assumed"
        )


def _backoff(now: int, leaf: Queue, application: Application, ask: Ask) -> str:
    """Return why the core may pass over an ask since others of its application fit nowhere."""
    deadline = application.backoff_deadline
    if deadline is not None and to_nanoseconds(deadline) > now:
        return f"it waits until {deadline.isoformat()}"
    most = leaf.properties.backoff
    mine = (-ask.priority, ask.request_time)
    before = sum((-one.priority, one.request_time) < mine for one in application.requests)
    if 0 < most <= before:
        come = "1 ask comes" if before == 1 else f"{before} asks come"
        return f"{come} before it, and after {most} that fit nowhere it waits"
    return ""
