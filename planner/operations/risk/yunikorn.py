"""The allocations of YuniKorn, and their shapes asked for once more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from planner.operations.risk.measure import Hypothetical, Running, frequent_first, unused
from planner.quota.yunikorn.cluster import prepare
from planner.state.yunikorn import Allocation, Application, Ask, Partition, YuniKornState


def running(state: YuniKornState) -> Iterator[Running]:
    """Yield every allocation, in the order of the dump."""
    for _, application, held in _allocations(state):
        key, queue = held.allocation_key, application.queue_name
        yield Running(key, held.pod or key, queue, held.priority)


def _allocations(state: YuniKornState) -> Iterator[tuple[Partition, Application, Allocation]]:
    for partition in state.partitions:
        for application in partition.applications:
            for held in application.allocations:
                yield partition, application, held


def submitted_again(state: YuniKornState) -> tuple[YuniKornState, list[Hypothetical]]:
    """Ask for every distinct allocation once more, in the application that has it."""
    used = {
        claim.allocation_key
        for partition in state.partitions
        for application in partition.applications
        for claim in (*application.requests, *application.allocations)
    }
    shapes = []
    for partition, application, one in _allocations(state):
        if not (one.required_node or one.placeholder):
            queue, amounts = application.queue_name.lower(), sorted(one.resource.items())
            own = one.priority, tuple(amounts), one.x.allow_preempt_other
            shapes.append(((partition.name, queue, own), (partition, application, one)))
    asks: dict[tuple[str, str], list[Ask]] = {}
    again = []
    trees = {one.name: prepare(state, one.name).tree for one in state.partitions}
    for (partition, application, like), alike in frequent_first(shapes):
        key = unused(like.allocation_key, used)
        delay = trees[partition.name].leaf_of(application).properties.delay
        ask = Ask(
            allocation_key=key,
            resource=like.resource,
            priority=like.priority,
            request_time=state.now - delay,
            x=like.x,
        )
        asks.setdefault((partition.name, application.application_id), []).append(ask)
        name = like.pod or like.allocation_key
        again.append(Hypothetical(key, name, like.allocation_key, alike))

    def with_more(partition: Partition) -> Partition:
        some = list(partition.applications)
        for place, one in enumerate(some):
            if more := asks.get((partition.name, one.application_id)):
                some[place] = one.model_copy(update={"requests": (*one.requests, *more)})
        return partition.model_copy(update={"applications": tuple(some)})

    keys = (ask.allocation_key for more in asks.values() for ask in more)
    digest = hashlib.sha256("\n".join((state.digest, *keys)).encode()).hexdigest()
    partitions = tuple(map(with_more, state.partitions))
    return state.model_copy(update={"digest": digest, "partitions": partitions}), again
