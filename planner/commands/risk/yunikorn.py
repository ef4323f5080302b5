"""The allocations of YuniKorn, and their shapes asked for once more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from planner.commands.risk.measure import Hypothetical, Running, frequent_first, unused
from planner.quota.yunikorn.cluster import prepare
from planner.solver.start import Given
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import start
from planner.state.yunikorn import Application, Ask, Partition, YuniKornState


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
    used = {
        claim.allocation_key
        for partition in state.partitions
        for application in partition.applications
        for claim in (*application.requests, *application.allocations)
    }
    shapes = []
    for partition in state.partitions:
        for application in partition.applications:
            for one in application.allocations:
                if not (one.required_node or one.placeholder):
                    queue, amounts = application.queue_name.lower(), sorted(one.resource.items())
                    own = one.priority, tuple(amounts), one.x.allow_preempt_other
                    shapes.append(((partition.name, queue, own), (partition, application, one)))
    asks: dict[tuple[str, str], list[Ask]] = {}
    again = []
    trees = {one.name: prepare(state, one.name).tree for one in state.partitions}
    for (partition, application, like), alike in frequent_first(shapes):
        key = unused(like.allocation_key, used)
        used.add(key)
        delay = trees[partition.name].leaf_of(application).properties.delay
        owner = (partition.name, application.application_id)
        asks.setdefault(owner, []).append(
            Ask(
                allocation_key=key,
                resource=like.resource,
                priority=like.priority,
                request_time=state.now - delay,
                x=like.x,
            )
        )
        name = like.pod or like.allocation_key
        again.append(Hypothetical(key, name, "running", like.allocation_key, alike))
    return _with_asks(state, asks), again


def _with_asks(state: YuniKornState, asks: dict[tuple[str, str], list[Ask]]) -> YuniKornState:

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
