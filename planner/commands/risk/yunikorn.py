"""The allocations of YuniKorn, and their shapes asked for once more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from planner.commands.risk.measure import Hypothetical, Running, frequent_first, unused
from planner.quota.yunikorn.cluster import prepare
from planner.solver.start import Given
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import start
from planner.state.yunikorn import Allocation, Application, Ask, Partition, YuniKornState


class _Held(NamedTuple):
    """An allocation with its application and partition."""

    partition: Partition
    application: Application
    allocation: Allocation


def planner(state: YuniKornState, rules: str | None) -> Callable[[str], YuniKornPlanning]:
    """Return what makes an ask ready for planning."""
    return lambda key: start(state, Given(key, rules=rules))


def running(state: YuniKornState) -> Iterator[Running]:
    """Yield every allocation, in the order of the dump."""
    for partition in state.partitions:
        for application in partition.applications:
            for held in application.allocations:
                key, queue = held.allocation_key, application.queue_name
                yield Running(key, held.pod or key, queue, held.priority)


def submitted_again(state: YuniKornState) -> tuple[YuniKornState, list[Hypothetical]]:
    """Ask for every distinct allocation once more, in the application that has it."""
    used = {claim.allocation_key for claim in _claims(state)}
    asks: dict[tuple[str, str], list[Ask]] = {}
    again = []
    trees = {one.name: prepare(state, one.name).tree for one in state.partitions}
    for held, alike in frequent_first((_allocation_shape(one), one) for one in _held(state)):
        like = held.allocation
        key = unused(like.allocation_key, used)
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
    named = "\n".join((state.digest, *keys))
    digest = hashlib.sha256(named.encode()).hexdigest()
    return state.model_copy(update={"digest": digest, "partitions": partitions})
