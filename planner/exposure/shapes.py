"""The preemptors of a state: everything pending, and the shapes of what runs submitted once more.

The rule, the same every time:

1. Everything that is pending, as it is, in the order of the dump.
2. Each distinct shape of what runs, submitted once more beside it, at the clock of the state:
   the most frequent shape first, then in the order of the dump. A shape is a queue, an effective
   priority, and everything about the pods that decides where they fit. Priorities are not varied:
   what came before at one priority comes again at that priority.

For Kueue the new workload waits in the LocalQueue of the old one. For YuniKorn the new ask belongs
to the same application and has just waited out the preemption delay of its queue; allocations that
need one node (DaemonSets) and placeholders are no shapes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

from planner.exposure.record import Origin
from planner.quota.holding import effective_priority
from planner.quota.yunikorn.cluster import prepare
from planner.scenario.hypothetical import fresh, with_workloads
from planner.solver.start import pending_workloads
from planner.state import AnyState, State, Workload, YuniKornState
from planner.state.workload import PodSet
from planner.state.yunikorn import Allocation, Application, Ask, Partition

Shapes = Literal["pending", "running", "all"]
"""Which preemptors: what is pending, what runs submitted once more, or both."""
SHAPES: Final[tuple[Shapes, ...]] = get_args(Shapes)

AGAIN: Final = "-again"
_NAMES: Final = {"__all__": {"name"}}
_NO_SHAPE: Final[Any] = {
    "name": True,
    "template": {
        "spec": {"containers": _NAMES, "init_containers": _NAMES, "termination_grace_s": True}
    },
}
"""Fields of a podset that decide nothing about where it fits."""

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Hypothetical:
    """A preemptor by its key in the state, and where it comes from.

    ``name`` is what people call the one it is like; empty for what is pending itself.
    """

    key: str
    name: str = ""
    origin: Origin = "pending"
    like: str | None = None
    alike: int = 1


class _Held(NamedTuple):
    """An allocation with its application and partition."""

    partition: Partition
    application: Application
    allocation: Allocation


def preemptors(state: AnyState, shapes: Shapes) -> tuple[AnyState, list[Hypothetical]]:
    """Return the state with every preemptor pending in it, and the preemptors in their order.

    What only waits holds nothing: the new ones do not change each other's answers.
    """
    waiting = [Hypothetical(key) for key in pending_workloads(state)]
    if shapes == "pending":
        return state, waiting
    if isinstance(state, YuniKornState):
        found, again = _asked_again(state)
        return found, again if shapes == "running" else waiting + again
    changed, again = _submitted_again(state)
    return changed, again if shapes == "running" else waiting + again


def _frequent_first(things: Iterable[tuple[object, Thing]]) -> list[tuple[Thing, int]]:
    """Return the first thing of each shape and how many have it, the most frequent first."""
    counts: Counter[object] = Counter()
    first: dict[object, Thing] = {}
    for shape, thing in things:
        counts[shape] += 1
        first.setdefault(shape, thing)
    ranked = sorted(first, key=counts.__getitem__, reverse=True)  # stable: else as in the dump
    return [(first[shape], counts[shape]) for shape in ranked]


def _unused(name: str, used: Collection[str]) -> str:
    name += AGAIN
    while name in used:
        name += AGAIN
    return name


def _submitted_again(state: State) -> tuple[State, list[Hypothetical]]:
    """Submit every distinct workload that holds quota once more."""
    running = (workload for workload in state.workloads if workload.holds_quota)
    used = {workload.key for workload in state.workloads}
    made: list[Workload] = []
    again = []
    for like, alike in _frequent_first((_workload_shape(state, one), one) for one in running):
        key = _unused(like.key, used)
        used.add(key)
        namespace, _, name = key.partition("/")
        made.append(fresh(state, like, namespace, like.spec.queue_name, name))
        again.append(Hypothetical(key, like.key, "running", like.key, alike))
    return with_workloads(state, made), again


def _workload_shape(state: State, workload: Workload) -> object:
    return (
        workload.metadata.namespace,
        workload.spec.queue_name,
        effective_priority(workload, state.configuration),
        tuple(map(_pods_shape, workload.spec.pod_sets)),
    )


def _pods_shape(pods: PodSet) -> str:
    return pods.model_dump_json(exclude=_NO_SHAPE)


def _asked_again(state: YuniKornState) -> tuple[YuniKornState, list[Hypothetical]]:
    """Ask for every distinct allocation once more, in the application that has it."""
    used = {claim.allocation_key for claim in _claims(state)}
    asks: dict[tuple[str, str], list[Ask]] = {}
    again = []
    trees = {one.name: prepare(state, one.name).tree for one in state.partitions}
    for held, alike in _frequent_first((_allocation_shape(one), one) for one in _held(state)):
        like = held.allocation
        key = _unused(like.allocation_key, used)
        used.add(key)
        delay = trees[held.partition.name].leaf_of(held.application).properties.delay
        owner = (held.partition.name, held.application.application_id)
        asks.setdefault(owner, []).append(_ask(like, key, state.now - delay))
        name = like.pod or like.allocation_key
        again.append(Hypothetical(key, name, "running", like.allocation_key, alike))
    return _with_asks(state, asks), again


def _claims(state: YuniKornState) -> Iterator[Ask | Allocation]:
    for partition in state.partitions:
        for application in partition.applications:
            yield from application.requests
            yield from application.allocations


def _held(state: YuniKornState) -> Iterator[_Held]:
    for partition in state.partitions:
        for application in partition.applications:
            for allocation in application.allocations:
                if not (allocation.required_node or allocation.placeholder):
                    yield _Held(partition, application, allocation)


def _allocation_shape(held: _Held) -> object:
    allocation = held.allocation
    return (
        held.partition.name,
        held.application.queue_name.lower(),
        allocation.priority,
        tuple(sorted(allocation.resource.items())),
        allocation.x.allow_preempt_other,
    )


def _ask(like: Allocation, key: str, request_time: int) -> Ask:
    return Ask(
        allocationKey=key,
        resource=like.resource,
        priority=like.priority,
        requestTime=request_time,
        x=like.x,
    )


def _with_asks(state: YuniKornState, asks: dict[tuple[str, str], list[Ask]]) -> YuniKornState:
    """Return the state with more asks, under a digest of its own."""

    def application(partition: Partition, one: Application) -> Application:
        more = asks.get((partition.name, one.application_id), [])
        return one.model_copy(update={"requests": (*one.requests, *more)}) if more else one

    partitions = tuple(
        each.model_copy(
            update={"applications": tuple(application(each, one) for one in each.applications)}
        )
        for each in state.partitions
    )
    keys = [ask.allocation_key for more in asks.values() for ask in more]
    told = "\n".join((state.digest, *keys))
    digest = hashlib.sha256(told.encode()).hexdigest()
    return state.model_copy(update={"digest": digest, "partitions": partitions})
