"""Useless: properties and flags that do not do what they seem to say."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.lint.finding import finding
from planner.commands.lint.record import Example, Finding
from planner.commands.lint.yunikorn.facts import Facts, name
from planner.commands.lint.yunikorn.impossible import MAX_OTHERS, guaranteed, over_guaranteed
from planner.commands.lint.yunikorn.world import (
    Change,
    Object,
    Runs,
    World,
    each_queue,
    without_property,
)
from planner.quota.yunikorn.properties import (
    DEFAULT,
    DISABLED,
    FENCE,
    PREEMPTION_DELAY,
    PREEMPTION_POLICY,
    PRIORITY_OFFSET,
    PRIORITY_POLICY,
    QUOTA_PREEMPTION_DELAY,
    parse_duration,
    read_properties,
)
from planner.quota.yunikorn.queue import Queue

_POLICIES = {
    PREEMPTION_POLICY: {DEFAULT, DISABLED, FENCE},
    PRIORITY_POLICY: {DEFAULT, FENCE},
}


def prefix_of_another(facts: Facts) -> Iterator[Finding]:
    """YL-06: the core tells ancestors by the beginning of the path, as plain text."""
    for leaf in facts.leaves:
        for other in facts.others(leaf):
            if not leaf.guaranteed or not other.guaranteed:
                continue
            if not leaf.path.startswith(other.path):
                continue
            mine, theirs = guaranteed(facts, leaf), guaranteed(facts, other)
            if not mine or not theirs:
                continue
            world = World(facts, leaf, min(mine, theirs), [Runs(other, theirs)])
            told, cured = world.told(), world.told(_renamed(other))
            if told.victims and not cured.victims:
                yield finding(
                    "YL-06",
                    (name(other), name(leaf)),
                    f"The path of {name(leaf)} begins with that of {name(other)}: the core takes "
                    f"{name(other)} for a queue above it, and asks of {name(leaf)} preempt there "
                    "although no more is used than is guaranteed.",
                    f"another name for {name(other)}",
                    world.example(
                        f"asks preempts {', '.join(told.victims)}, which uses what is guaranteed",
                        "with another name it finds nobody to preempt",
                    ),
                )


def unreadable(facts: Facts) -> Iterator[Finding]:
    """YL-07: what cannot be read counts as if it were not there, and nothing says so."""
    for path, config in facts.written.items():
        for key, value in config.properties.items():
            why = _unreadable(key, value)
            leaves = [one for one in facts.leaves if one.path.startswith(path)]
            example = _idle(facts, leaves, without_property(key), f"no {key}") if why else None
            if example is not None:
                yield finding(
                    "YL-07",
                    (name(path),),
                    f'{key} of {name(path)} is "{value}", which is {why}: it counts as absent.',
                    f"a value that is {_EXPECTED[key]}",
                    example,
                )


def opted_out(facts: Facts) -> Iterator[Finding]:
    """YL-08: opting out only changes the order in which victims are looked at."""
    owners = [
        queue
        for queue in facts.leaves
        if not queue.properties.disabled
        and any(one.opted_out for app in queue.applications for one in app.allocations)
    ]
    for queue in owners:
        for leaf in facts.others(queue)[:MAX_OTHERS]:
            mine = guaranteed(facts, leaf)
            if not mine:
                continue
            runs = over_guaranteed(facts, queue, mine, opted_out=True)
            world = World(facts, leaf, mine, runs)
            told, cured = world.told(), world.told(_disabled(queue))
            if told.victims and not cured.victims:
                yield finding(
                    "YL-08",
                    map(name, owners),
                    "Some allocations opted out of preemption (allow-preemption: false). That "
                    "only puts them last: where nobody else will do, they are preempted.",
                    f"preemption.policy: disabled in {name(queue)} protects all of it",
                    world.example(
                        f"asks preempts {', '.join(told.victims)}, which opted out",
                        f"with preemption.policy disabled in {name(queue)} it finds nobody",
                    ),
                )
                return


def quota_delay_alone(facts: Facts) -> Iterator[Finding]:
    """YL-09: quota preemption has a switch for the whole partition."""
    if facts.partition.preemption.quota:
        return
    paths = [
        path for path, one in facts.written.items() if QUOTA_PREEMPTION_DELAY in one.properties
    ]
    if paths:
        words = f"no {QUOTA_PREEMPTION_DELAY}"
        change = without_property(QUOTA_PREEMPTION_DELAY)
        leaves = [one for one in facts.leaves if one.path.startswith(paths[0])]
        example = _idle(facts, leaves, change, words)
        if example is not None:
            yield finding(
                "YL-09",
                map(name, paths),
                f"{QUOTA_PREEMPTION_DELAY} is set, and preemption.quotapreemptionenabled is not "
                f"true in partition {facts.partition.name}: a lowered max preempts nobody.",
                "preemption.quotapreemptionenabled: true",
                example,
            )


_EXPECTED = {
    PREEMPTION_POLICY: "default, disabled or fence",
    PRIORITY_POLICY: "default or fence",
    PREEMPTION_DELAY: "a duration above 0 such as 1m30s",
    QUOTA_PREEMPTION_DELAY: "a duration such as 1m30s",
    PRIORITY_OFFSET: "a whole number of 32 bits",
}


def _unreadable(key: str, value: str) -> str:
    """Say what a property is not; empty if it can be read, or is none of preemption's."""
    if key in _POLICIES and value not in _POLICIES[key]:
        return f"not {_EXPECTED[key]}"
    duration = parse_duration(value)
    if key == PREEMPTION_DELAY and (duration is None or duration <= 0):
        return f"not {_EXPECTED[key]}, so that 30s holds"
    if key == QUOTA_PREEMPTION_DELAY and duration is None:
        return f"not {_EXPECTED[key]}"
    offset = read_properties({PRIORITY_OFFSET: value}).priority_offset
    if key == PRIORITY_OFFSET and not offset and value.strip("+-0"):
        return f"not {_EXPECTED[key]}"
    return ""


def _idle(facts: Facts, leaves: list[Queue], without: Change, words: str) -> Example | None:
    """Find an example in which properties change nothing."""
    for leaf in leaves:
        for other in facts.others(leaf)[:MAX_OTHERS]:
            mine = guaranteed(facts, leaf) or 1
            world = World(facts, leaf, mine, over_guaranteed(facts, other, mine))
            told = world.told()
            if told == world.told(without):
                whom = ", ".join(told.victims) or "nobody"
                shows = f"asks preempts {whom}", f"with {words} it preempts {whom}, too"
                return world.example(*shows)
    return None


def _renamed(queue: Queue) -> Change:
    last = queue.path.rpartition(".")[2]
    another = f"other-{last}"

    def change(value: Object) -> None:
        def rename(one: Object) -> None:
            if one["name"].lower() == last and not one["queues"]:
                one["name"] = another

        each_queue(rename)(value)
        for application in value["applications"]:
            if application["queueName"] == queue.path:
                application["queueName"] = f"{queue.path.rpartition('.')[0]}.{another}"

    return change


def _disabled(queue: Queue) -> Change:
    last = queue.path.rpartition(".")[2]

    def change(one: Object) -> None:
        if one["name"].lower() == last and not one["queues"]:
            one["properties"][PREEMPTION_POLICY] = DISABLED

    return each_queue(change)
