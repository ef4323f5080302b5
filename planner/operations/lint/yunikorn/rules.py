"""What queues.yaml makes impossible or pointless, a function for each kind of finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from planner.operations.lint.lint import Example, Finding, finding, first
from planner.operations.lint.yunikorn.world import (
    ASKS,
    Change,
    Facts,
    Object,
    Runs,
    World,
    each_queue,
    name,
    of_leaf,
    without_property,
)
from planner.quantity import plural
from planner.quota.yunikorn.limits import ANYBODY
from planner.quota.yunikorn.queue import (
    FENCE,
    PREEMPTION_DELAY,
    QUOTA_PREEMPTION_DELAY,
    Queue,
    read_properties,
    walk,
)
from planner.state.clock import parse_duration
from planner.state.yunikorn import (
    DEFAULT,
    DISABLED,
    PREEMPTION_POLICY,
    PRIORITY_OFFSET,
    PRIORITY_POLICY,
    QueueResources,
    TaskGroup,
    format_yunikorn_quantity,
)

MAX_OTHERS = 4


def nothing_guaranteed(facts: Facts) -> Iterator[Finding]:
    """YL-01: an ask preempts only within what is guaranteed to its queue."""
    if not facts.partition.preemption.enabled:
        return
    leaves = [leaf for leaf in facts.leaves if not facts.guarantees(leaf)]
    yield from first(
        finding(
            "YL-01",
            map(name, leaves),
            denied(facts, leaf, _guarantee_all, "all of it guaranteed to its queue"),
            leaf=name(leaf),
        )
        for leaf in leaves
    )


def switched_off(facts: Facts) -> Iterator[Finding]:
    """YL-02: without preemption, guaranteed resources come back only when others finish."""
    if facts.partition.preemption.enabled:
        return

    def switch_on(value: Object) -> None:
        for partition in value["queues"]["partitions"]:
            partition["preemption"]["enabled"] = True

    leaves = [leaf for leaf in facts.leaves if facts.guarantees(leaf)]
    yield from first(
        finding(
            "YL-02",
            (f"partition/{facts.partition.name}", *map(name, leaves)),
            denied(facts, leaf, switch_on, "preemption.enabled: true"),
            partition=facts.partition.name,
        )
        for leaf in leaves
    )


def fenced_in(facts: Facts) -> Iterator[Finding]:
    """YL-03: nobody is preempted beyond a fence, in a disabled queue, or in the ask's own queue."""
    for leaf in facts.leaves:
        if not facts.guarantees(leaf) or not facts.others(leaf):
            continue
        fence = next(
            queue
            for queue in reversed(leaf.lineage)
            if queue.properties.preemption_fence or queue.parent is None
        )
        inside = [one for one in walk(fence) if one.is_leaf and one is not leaf]
        if any(not one.properties.disabled for one in inside):
            continue
        who, mine, whom = "no other leaf is", name(leaf), "it"
        if inside:
            who = "all other leaves are disabled"
        why = f"Asks of {mine} preempt below {name(fence)} only, and {who} there"
        if not inside and fence.parent is None:
            why, whom = "All other leaves are disabled", mine
        yield from finding(
            "YL-03",
            map(name, (leaf, fence)),
            denied(facts, leaf, without_property(PREEMPTION_POLICY), "no preemption.policy"),
            why=why,
            whom=whom,
            fence=name(fence),
        )


def guaranteed_beyond_max(facts: Facts) -> Iterator[Finding]:
    """YL-04: a queue at its maximum is a fence around itself, whatever is guaranteed to it."""
    for leaf in facts.leaves:
        limit, own = leaf.effective_max or {}, leaf.guaranteed or {}
        tree_max = facts.cluster.tree.root.max or {}
        over = [t for t, n in own.items() if t in limit and limit[t] < n]
        written = [t for t in over if limit[t] != tree_max.get(t)]
        if facts.type not in written:
            continue
        unit, worlds = _unit(facts), list[World]()
        no_max = each_queue(lambda queue: queue.get("resources", {}).update(max={}))
        for other in facts.others(leaf)[:MAX_OTHERS]:
            runs = [Runs(leaf, limit[facts.type]), *over_guaranteed(facts, other, unit)]
            worlds.append(World(facts, leaf, unit, [one for one in runs if one.amount]))
        given, most = (amount_of(facts, one[facts.type]) for one in (own, limit))
        yield from finding(
            "YL-04",
            (name(leaf),),
            _shown(worlds, no_max, "no max"),
            leaf=name(leaf),
            given=given,
            most=most,
            type=facts.type,
        )


def beyond_nodes(facts: Facts) -> Iterator[Finding]:
    """YL-05: where the nodes have less than is guaranteed, the queue that comes last waits."""
    capacity = (facts.cluster.tree.root.max or {}).get(facts.type, 0)
    leaves = [leaf for leaf in facts.leaves if guaranteed(facts, leaf)]
    total = sum(guaranteed(facts, leaf) for leaf in leaves)
    if not facts.partition.nodes or total <= capacity:
        return

    def with_all(value: Object) -> None:
        (node,) = value["nodes"][0]["nodesInfo"]
        node["capacity"] = dict.fromkeys(node["capacity"], total)

    runs, left = [], capacity
    for leaf in leaves:
        amount = min(left, guaranteed(facts, leaf))
        left -= amount
        if amount:
            runs.append(Runs(leaf, amount))
        if amount < guaranteed(facts, leaf):
            world = World(facts, leaf, min(_unit(facts), guaranteed(facts, leaf) - amount), runs)
            yield from finding(
                "YL-05",
                map(name, leaves),
                _shown([world], with_all, "nodes that have it all"),
                total=amount_of(facts, total),
                type=facts.type,
                capacity=amount_of(facts, capacity),
                leaf=name(leaf),
            )
            return


def denied(facts: Facts, leaf: Queue, cure: Change, words: str) -> Example | None:
    """Find an example in which an ask of a leaf preempts nobody, but would after a cure."""
    worlds = (
        World(facts, leaf, amount, over_guaranteed(facts, other, amount))
        for other in facts.others(leaf)[:MAX_OTHERS]
        for amount in dict.fromkeys((_unit(facts), guaranteed(facts, leaf)))
        if amount
    )
    return _shown(worlds, cure, words)


def over_guaranteed(
    facts: Facts, queue: Queue, amount: int, *, opted_out: bool = False
) -> list[Runs]:
    """Return allocations that use ``amount`` more than is guaranteed to a leaf, in one by itself.

    A victim has to fit into what is left of the guaranteed of the ask's queue.
    """
    inside = guaranteed(facts, queue)
    parts = (inside, amount) if inside else (amount,)
    return [Runs(queue, part, opted_out) for part in parts]


def _shown(worlds: Iterable[World], cure: Change, words: str) -> Example | None:
    """Return the first world in which the ask neither preempts nor finds room, unless cured."""
    for world in worlds:
        before, cured = world.decided(), world.decided(cure)
        if not (before.fits or before.victims) and (cured.victims or cured.fits):
            does = f"preempts {', '.join(cured.victims)}" if cured.victims else "finds room at once"
            return world.example("asks finds nobody to preempt", f"with {words} it {does}")
    return None


def guaranteed(facts: Facts, leaf: Queue) -> int:
    """Return what is guaranteed to a leaf of the type that examples are made of."""
    return (leaf.guaranteed or {}).get(facts.type, 0)


def amount_of(facts: Facts, units: int) -> str:
    """Return an amount of the type that examples are made of, as queues.yaml writes it."""
    return format_yunikorn_quantity(units, facts.type)


def _unit(facts: Facts) -> int:
    amounts = (guaranteed(facts, leaf) for leaf in facts.leaves)
    least = min(filter(None, amounts), default=1)
    return 1000 if facts.type == "vcore" and least >= 1000 else 1  # noqa: PLR2004 - one core


def _guarantee_all(value: Object) -> None:
    application = value["applications"][-1]
    (asked,) = application["requests"]
    amounts = {name: f"{n}m" if name == "vcore" else n for name, n in asked["resource"].items()}
    resources = {"guaranteed": amounts, "max": {}}
    of_leaf(application["queueName"], lambda queue: queue.update(resources=resources))(value)


_POLICIES = {PREEMPTION_POLICY: {DEFAULT, DISABLED, FENCE}, PRIORITY_POLICY: {DEFAULT, FENCE}}


def prefix_of_another(facts: Facts) -> Iterator[Finding]:
    """YL-06: the core takes a queue for an ancestor if its path, as text, begins the other's."""
    for leaf in facts.leaves:
        for other in facts.others(leaf):
            mine, theirs = guaranteed(facts, leaf), guaranteed(facts, other)
            if not mine or not theirs or not leaf.path.startswith(other.path):
                continue
            world = World(facts, leaf, min(mine, theirs), [Runs(other, theirs)])
            before, cured = world.decided(), world.decided(_renamed(other))
            if before.victims and not cured.victims:
                yield from finding(
                    "YL-06",
                    (name(other), name(leaf)),
                    world.example(
                        f"asks preempts {', '.join(before.victims)}, which uses what is guaranteed",
                        "with another name it finds nobody to preempt",
                    ),
                    leaf=name(leaf),
                    other=name(other),
                )


def unreadable(facts: Facts) -> Iterator[Finding]:
    """YL-07: a property that cannot be read counts as absent, and nothing says so."""
    for path, config in facts.written.items():
        for key, value in config.properties.items():
            if why := _unreadable(key, value):
                queue, example, expected = name(path), _idle(facts, path, key), _EXPECTED[key]
                words = {"key": key, "value": value, "why": why, "expected": expected}
                yield from finding("YL-07", (queue,), example, queue=queue, **words)


def opted_out(facts: Facts) -> Iterator[Finding]:
    """YL-08: opting out only changes the order in which victims are looked at."""
    off = {PREEMPTION_POLICY: DISABLED}
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
            world = World(facts, leaf, mine, over_guaranteed(facts, queue, mine, opted_out=True))
            disable = of_leaf(queue.path, lambda one: one["properties"].update(off))
            before, cured = world.decided(), world.decided(disable)
            if before.victims and not cured.victims:
                yield from finding(
                    "YL-08",
                    map(name, owners),
                    world.example(
                        f"asks preempts {', '.join(before.victims)}, which opted out",
                        f"with preemption.policy disabled in {name(queue)} it finds nobody",
                    ),
                    queue=name(queue),
                )
                return


def quota_delay_alone(facts: Facts) -> Iterator[Finding]:
    """YL-09: quota preemption has a switch for the whole partition."""
    if facts.partition.preemption.quota:
        return
    key = QUOTA_PREEMPTION_DELAY
    paths = [path for path, one in facts.written.items() if key in one.properties]
    if paths:
        example, partition = _idle(facts, paths[0], key), facts.partition.name
        yield from finding("YL-09", map(name, paths), example, key=key, partition=partition)


def never_preempts(facts: Facts) -> Iterator[Finding]:
    """YL-10: an ask that is more than is guaranteed to its queue, or in a parent, preempts nobody.

    However little is used there, and whatever its priority.
    """
    found: dict[tuple[Queue, int], list[str]] = {}
    for application, ask in facts.partition.asks:
        leaf, wanted = facts.cluster.tree.leaf_of(application), ask.resource.get(facts.type, 0)
        if wanted and facts.guarantees(leaf) and not ask.required_node:
            found.setdefault((leaf, wanted), []).append(f"ask/{ask.pod or ask.allocation_key}")
    for (leaf, wanted), asks in found.items():
        cure: Change = _guarantee_all
        hint, said = "guaranteed resources", "more than is guaranteed to it"
        if not leaf.is_leaf:
            cure = of_leaf(leaf.path, lambda one: one.update(parent=False))
            hint, said = "a leaf for it", "and the core looks at asks in leaves only"
        others = [one for one in facts.others(leaf) if leaf not in one.lineage][:MAX_OTHERS]
        worlds = (World(facts, leaf, wanted, over_guaranteed(facts, one, wanted)) for one in others)
        yield from finding(
            "YL-10",
            (name(leaf), *asks),
            _shown(worlds, cure, hint),
            asks=plural(len(asks), "ask"),
            amount=amount_of(facts, wanted),
            type=facts.type,
            leaf=name(leaf),
            said=said,
            hint=hint,
        )


def waits_for_ever(facts: Facts) -> Iterator[Finding]:
    """YL-11: the core counts placeholders that are not there, and asks of the gang wait for them.

    A placeholder whose pod was deleted before it ran stays in the count.
    """
    for application in facts.partition.applications:
        claims = (*application.allocations, *application.requests)
        there = {one.task_group_name for one in claims if one.placeholder}
        for group in application.task_groups:
            lost = group.task_group_name not in there and group.waiting > 0
            asks = [
                ask
                for ask in application.requests
                if lost and ask.task_group_name == group.task_group_name
            ]
            wanted = max((ask.resource.get(facts.type, 0) for ask in asks), default=0)
            if not wanted:
                continue
            leaf = facts.cluster.tree.leaf_of(application)

            def of_a_gang(value: Object, group: TaskGroup = group, wanted: int = wanted) -> None:
                counts = group.model_dump(mode="json", by_alias=True, include=_COUNTS)
                value["applications"][-1]["placeholderData"] = [counts]
                value["applications"][-1]["requests"][0]["taskGroupName"] = group.task_group_name
                value["nodes"][0]["nodesInfo"][0]["capacity"][facts.type] += wanted

            def timed_out(value: Object) -> None:
                (counts,) = value["applications"][-1]["placeholderData"]
                counts["timedout"] = counts["count"]

            yield from finding(
                "YL-11",
                (name(leaf), *(f"ask/{ask.pod or ask.allocation_key}" for ask in asks)),
                _shown([World(facts, leaf, wanted, (), (of_a_gang,))], timed_out, "none left"),
                placeholders=plural(group.waiting, "placeholder"),
                group=group,
                application=application,
                asks=plural(len(asks), "ask"),
            )


def restart_changes(facts: Facts) -> Iterator[Finding]:
    """YL-12: the limit of a user or group that is in force is not that of queues.yaml.

    A change of the file may leave limits behind, or take some along: a restart reads them anew.
    """
    usage = facts.partition.usage
    users = [("user", one.user_name, one) for one in usage.users] if usage else []
    groups = [("group", one.group_name, one) for one in usage.groups] if usage else []
    for kind, who, tracked in (*users, *groups):
        for path, row in (tracked.queues.by_path if tracked.queues else {}).items():
            limits = facts.written[path].limits if path in facts.written else ()
            named = [one for one in limits if who in getattr(one, f"{kind}s")]
            named += [one for one in limits if kind == "user" and ANYBODY in one.users]
            written = named[0].maxresources.get(facts.type, 0) if named else 0
            told = row.max_resources.get(facts.type, 0)
            below = (one for one in facts.leaves if f"{one.path}.".startswith(f"{path}."))
            leaf = next(below, None)
            if told == written or leaf is None:
                continue
            given = _limited(facts, path, (kind, who), (told, written))
            world = World(facts, leaf, min(filter(None, (told, written))) + 1, (), (given,))
            now, then = world.decided(), world.decided(lambda value: value.pop("x"))
            shows = ("is passed over", "finds room at once")
            does = f"asks {shows[now.fits]}", f"after a restart it {shows[then.fits]}"
            force, file = (amount_of(facts, one) if one else "no limit" for one in (told, written))
            yield from finding(
                "YL-12",
                (name(path), f"{kind}/{who}"),
                world.example(*does) if now.fits != then.fits else None,
                kind=kind,
                who=who,
                queue=name(path),
                force=force,
                type=facts.type,
                file=file,
            )


def _limited(facts: Facts, path: str, whom: tuple[str, str], amounts: tuple[int, int]) -> Change:
    """Return what gives a user or group one limit in force, another in queues.yaml, and room."""
    (kind, who), (told, written) = whom, amounts

    def change(value: Object) -> None:
        asks = value["applications"][-1]
        (asked,) = asks["requests"]
        value["nodes"][0]["nodesInfo"][0]["capacity"] = dict(asked["resource"])
        limit = {f"{kind}s": [who], "maxresources": {facts.type: amount_of(facts, written)}}
        of_leaf(path, lambda one: one.update(limits=[limit] if written else []))(value)
        rows = {"queuePath": path, "maxResources": {facts.type: told}}
        if kind == "user":
            asks |= {"user": who}
            usage: Object = {"users": [{"userName": who, "queues": rows}]}
        else:
            asks |= {"user": ASKS, "groups": [who]}
            users = [{"userName": ASKS, "groups": {asks["applicationID"]: who}}]
            usage = {"users": users, "groups": [{"groupName": who, "queues": rows}]}
        value["x"] = {"usage": usage}

    return change


def cpu_for_vcore(facts: Facts) -> Iterator[Finding]:
    """YL-13: what Kubernetes calls cpu is vcore to YuniKorn, and nobody asks for cpu.

    A type that is not guaranteed bounds no ask, and what nobody uses is never over its guaranteed.
    """
    if any(_CPU in node.capacity for node in facts.partition.nodes):
        return
    found = {
        path: config.resources
        for path, config in facts.written.items()
        if _CPU in {**config.resources.guaranteed, **config.resources.max}
    }
    yield from first(
        finding(
            "YL-13",
            map(name, found),
            _without_cores(replace(facts, type=_VCORE), path, written),
            queue=name(path),
            fields=" and ".join(
                field for field in ("guaranteed", "max") if _CPU in getattr(written, field)
            ),
        )
        for path, written in found.items()
    )


def _without_cores(facts: Facts, path: str, written: QueueResources) -> Example | None:
    """Find an example in which an amount of cpu changes nothing, and the same of vcore does."""

    def given(field: str, resource: str, cores: int) -> Change:
        amounts = {field: {resource: str(cores)}}
        return of_leaf(path, lambda one: one.update(resources=amounts))

    for leaf in (one for one in facts.leaves if f"{one.path}.".startswith(f"{path}.")):
        if limit := written.max.get(_CPU):
            asked = (limit + 1) * _CORE

            def room(value: Object, asked: int = asked) -> None:
                value["nodes"][0]["nodesInfo"][0]["capacity"] = {_VCORE: asked}

            world = World(facts, leaf, asked, (), (room, given("max", _CPU, limit)))
            if world.decided().fits and not world.decided(given("max", _VCORE, limit)).fits:
                return world.example("asks fits at once", "with max of vcore it does not")
        cores = written.guaranteed.get(_CPU, 0)
        for other in facts.others(leaf)[:MAX_OTHERS] if cores else ():
            asked = (cores + 1) * _CORE
            few = given("guaranteed", _CPU, cores)
            world = World(facts, leaf, asked, [Runs(other, asked)], (few,))
            preempted = world.decided().victims
            if preempted and not world.decided(given("guaranteed", _VCORE, cores)).victims:
                return world.example(
                    f"asks preempts {', '.join(preempted)}",
                    "with guaranteed vcore it is more than is guaranteed, and preempts nobody",
                )
    return None


_CPU = "cpu"
_VCORE = "vcore"
_CORE = 1000
"""Milli-cores in a core."""
_COUNTS = {"task_group_name", "count", "replaced", "timed_out"}
_ZERO = re.compile("[+-]?0+")
_EXPECTED = {
    PREEMPTION_POLICY: "default, disabled or fence",
    PRIORITY_POLICY: "default or fence",
    PREEMPTION_DELAY: "a duration above 0 such as 1m30s",
    QUOTA_PREEMPTION_DELAY: "a duration such as 1m30s",
    PRIORITY_OFFSET: "a whole number of 32 bits",
}


def _unreadable(key: str, value: str) -> str:
    """Say why a property cannot be read; empty if it can, or is not one of preemption."""
    if key in _POLICIES and value.lower() not in {"", *_POLICIES[key]}:  # none is the default
        return f"not {_EXPECTED[key]}"
    duration = parse_duration(value)
    if key == PREEMPTION_DELAY and (duration is None or duration <= 0):
        return f"not {_EXPECTED[key]}, so that 30s holds"
    if key == QUOTA_PREEMPTION_DELAY and duration is None:
        return f"not {_EXPECTED[key]}"
    offset = read_properties({PRIORITY_OFFSET: value}).priority_offset
    if key == PRIORITY_OFFSET and not offset and not _ZERO.fullmatch(value):
        return f"not {_EXPECTED[key]}"
    return ""


def _idle(facts: Facts, path: str, key: str) -> Example | None:
    """Find an example in which a property changes nothing, for a leaf at or below a path."""
    for leaf in (one for one in facts.leaves if f"{one.path}.".startswith(f"{path}.")):
        for other in facts.others(leaf)[:MAX_OTHERS]:
            mine = guaranteed(facts, leaf) or 1
            world = World(facts, leaf, mine, over_guaranteed(facts, other, mine))
            before = world.decided()
            if before == world.decided(without_property(key)):
                whom = ", ".join(before.victims) or "nobody"
                shows = f"asks preempts {whom}", f"with no {key} it preempts {whom}, too"
                return world.example(*shows)
    return None


def _renamed(queue: Queue) -> Change:
    above, _, last = queue.path.rpartition(".")
    another = f"other-{last}"

    def change(value: Object) -> None:
        of_leaf(queue.path, lambda one: one.update(name=another))(value)
        for application in value["applications"]:
            if application["queueName"] == queue.path:
                application["queueName"] = f"{above}.{another}"

    return change
