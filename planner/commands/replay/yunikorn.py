"""Recorded answers of YuniKorn against the reference, line by line.

Compared are whether preemption is triggered, the node, and the victims in order; for quota
preemption the amount, its shares and the victims of every application; for the arithmetic its
values; for a flow its steps and the cluster at the end (docs/semantics/yunikorn.md §14).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Final

from planner.commands.replay.comparison import (
    MAX_ORDERS,
    Answer,
    Comparison,
    Recorded,
    difference_from_all,
    first_difference,
    part_of,
    rows_of,
)
from planner.errors import InputError, LookupFailed, SchemaError
from planner.quota.yunikorn.cluster import Cluster, find_ask, prepare
from planner.quota.yunikorn.queue import AskReference, Level, preemptable, remaining_guaranteed
from planner.quota.yunikorn.resource import without_zeros
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reader.yunikorn_queues import changed
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.cycle import Event, run_cycles
from planner.reference.yunikorn.decision import CoreHangs, decide
from planner.reference.yunikorn.flow import run_flow
from planner.reference.yunikorn.outlook import course_of, orders, without_order
from planner.reference.yunikorn.quota import (
    CorePanics,
    QuotaTimes,
    preempt_due,
    preempt_quota,
)
from planner.state.clock import SECOND
from planner.state.yunikorn import DRAINING, FlowOptions, YuniKornState
from planner.state.yunikorn_release import release_of
from planner.state.yunikorn_usage import QueueState

Line = Mapping[str, Any]
Ties = Mapping[str, int]
PANIC: Final = "runtime error: invalid memory address or nil pointer dereference"
"""What is recorded where the core panics."""
Answering = tuple[Cluster, Callable[[Ties], Answer]]
"""A partition, and what is decided there if allocations without an order have these ranks."""


def is_yunikorn_line(line: Line) -> bool:
    """Say whether a recorded line is one of YuniKorn's: it has no list of Kueue's objects."""
    return "state" not in line and any(key in line for key in ("queues", "arith", "chain"))


def recorded_of_yunikorn(line: Line, where: str) -> Recorded | None:
    """Read a recorded line; ``None`` if it is another scheduler's, or a state dump.

    A dump has neither an id nor an ask.

    Raises ``InputError`` if the line cannot be used, or is about arithmetic, not about an ask.
    """
    if "state" not in line and line.get("mode") in _ARITHMETIC:
        raise InputError(where, f"has no ask to plan for: it is of mode {line['mode']}")
    if not is_yunikorn_line(line) or not {"id", "ask"} & line.keys():
        return None
    ask = line.get("ask")
    key = ask.get("allocationKey") if isinstance(ask, dict) else None
    return Recorded(state_of_yunikorn(line, where), key if isinstance(key, str) else None)


def replay_yunikorn_line(line: Line, where: str = "line") -> Comparison | None:
    """Decide a recorded instance of YuniKorn anew, and compare; ``None`` for any other line.

    Where the core itself is not deterministic, any recorded outcome is right. The recorded outcomes
    are a sample, and so is our answer: a line without a match is decided again with other orders
    of the allocations.

    Raises ``InputError`` if the line is not a recorded instance, or its state cannot be read.
    """
    if not is_yunikorn_line(line):
        return None
    name = part_of(line, "id", str, where)
    mode = line.get("mode")
    if isinstance(mode, str) and mode in _ARITHMETIC:
        try:
            values = _ARITHMETIC[mode](line)
        except (AttributeError, KeyError, TypeError, ValueError):  # it was not validated before
            raise SchemaError(where, f'is not an instance of mode "{mode}"') from None
        difference = first_difference(*values, "expect")
    else:
        difference = _difference(line, part_of(line, "expect", dict, where), where)
    return Comparison(name, "different" if difference else "equal", difference)


def _difference(line: Line, expected: Answer, where: str) -> str:
    """Return the first difference of a decision, cycles or a flow; empty if there is none."""
    state, mode = state_of_yunikorn(line, where), line.get("mode")
    if mode == "flow":
        options = state.x.flow or FlowOptions()
        flow = run_flow(state, recreate=options.recreate, max_steps=options.max_steps)
        found = {
            "steps": [
                {"ask": s.ask, "kind": s.kind, "node": s.node, "victims": list(s.victims)}
                for s in flow.steps
            ],
            "finalUsage": {path: without_zeros(usage) for path, usage in flow.usage.items()},
            "pending": flow.pending,
        }
        return first_difference(part_of(expected, "flow", dict, where), found, "flow")
    of_mode = _MODES.get(mode, _of_ask) if isinstance(mode, str) else _of_ask
    cluster, answer = of_mode(line, expected, state, where)
    return _decided_difference(expected, where, cluster, answer)


def _of_quota(line: Line, expected: Answer, state: YuniKornState, where: str) -> Answering:
    """Return what quota preemption does to one queue."""
    del line, expected
    path = state.x.quota_queue or ""
    clusters = (prepare(state, one.name) for one in state.partitions)
    cluster = next((one for one in clusters if path in one.tree.by_path), None)
    if cluster is None:
        raise LookupFailed(where, f'there is no queue "{state.x.quota_queue}"')
    queue = cluster.tree.by_path[path]

    def replayed(ties: Ties) -> Answer:
        found = preempt_quota(queue, ties, cluster.release)
        return {
            "triggered": bool(found.victims),
            "node": None,
            "victims": sorted(victim.key for victim in found.victims),
            "quota": {
                "acquired": found.acquired,
                "preemptable": found.amount,
                "shares": found.shares,
                "byApp": _by_application(found.victims),
            },
            "panic": None,
        }

    return cluster, or_panic(replayed)


def _of_due(line: Line, expected: Answer, state: YuniKornState, where: str) -> Answering:
    """Return what one pass over the queues does whose time has passed."""
    del line, expected, where
    cluster = prepare(state)
    return cluster, or_panic(lambda ties: _passed(cluster, state.x.quota_due, ties))


def _of_timing(line: Line, expected: Answer, state: YuniKornState, where: str) -> Answering:
    """Return when quota preemption starts, from file to file, and what one pass does then.

    Queues in use that a file lacks drain, with the time that they had.
    """
    del line, expected
    if not state.x.steps or state.x.steps[0].queues is None:
        raise SchemaError(f"{where}: x.steps", "does not begin with a queues.yaml")
    clusters, partition, now = list[Cluster](), state.partitions[0], state.now
    config, release = state.x.steps[0].queues, release_of(state.release)
    in_use = {one.queue_name.lower() for one in partition.applications}
    drains = dict.fromkeys(in_use, QueueState(status=DRAINING))
    for step in state.x.steps:
        now += step.after * SECOND
        if step.queues is not None:
            known = state.x.model_copy(update={"queues_before": config, "queue_state": drains})
            config = changed(step.queues, known, release)
            first_part = config.partitions[0]
            update = {"root": first_part.queues[0], "preemption": first_part.preemption}
            partition = partition.model_copy(update=update)
        clusters.append(prepare(state.model_copy(update={"partitions": (partition,), "now": now})))
    first = clusters[0]
    times = QuotaTimes(first.tree.root, enabled=first.partition.preemption.quota, now=first.now)
    starts: list[dict[str, float]] = []
    for step, cluster in zip(state.x.steps, clusters, strict=True):
        if step.queues is not None and cluster is not first:
            times.change(cluster.tree.root, cluster.now)
        left = {path: (start - cluster.now) / SECOND for path, start in times.starts.items()}
        starts.append(left)
    last = clusters[-1]
    due = [path for path, start in times.starts.items() if start <= last.now]

    def replayed(ties: Ties) -> Answer:
        return {**_passed(last, due, ties), "starts": starts}

    return last, or_panic(replayed)


def _passed(cluster: Cluster, due: Collection[str], ties: Ties) -> Answer:
    found = preempt_due(cluster.tree.root, due, ties, cluster.release)
    done = sorted(found, key=lambda one: one[0].path)
    victims = [victim for _, one in done for victim in one.victims]
    return {
        "processed": [{"queue": queue.path, "preemptable": one.amount} for queue, one in done],
        "triggered": bool(victims),
        "victims": sorted(victim.key for victim in victims),
        "byApp": _by_application(victims),
        "panic": None,
    }


def or_panic(answer: Callable[[Ties], Answer]) -> Callable[[Ties], Answer]:
    """Return an answer that says so where the core panics."""

    def guarded(ties: Ties) -> Answer:
        try:
            return answer(ties)
        except CorePanics:
            return {"panic": PANIC, "triggered": False, "victims": []}

    return guarded


def _by_application(victims: Iterable[Candidate]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for victim in victims:
        found.setdefault(victim.application_id, []).append(victim.key)
    return found


def _of_cycles(line: Line, expected: Answer, state: YuniKornState, where: str) -> Answering:
    """Return what whole cycles do until nothing moves."""
    del line, expected, where
    return prepare(state), lambda ties: {"events": _events(run_cycles(state, ties=ties))}


def _of_ask(line: Line, expected: Answer, state: YuniKornState, where: str) -> Answering:
    """Return what becomes of an ask: in whole cycles, where these were recorded, or at once."""
    named = part_of(line, "ask", dict, where)
    key = part_of(named, "allocationKey", str, where)
    application = named.get("applicationID")
    if application is not None:
        part_of(named, "applicationID", str, where)
    cluster = prepare(state, _partition_of(state, key, application))
    asking = find_ask(cluster, key, application)

    def in_cycles(ties: Ties) -> Answer:
        try:
            events = run_cycles(state, cluster.partition.name, key, ties)
        except CoreHangs:
            return {"hangs": True, "outcome": "hangs"}
        return _became(cluster, events, key)

    def at_once(ties: Ties) -> Answer:
        found = decide(cluster, asking, ties=ties)
        return {"triggered": found.triggered, "node": found.node, "victims": [*found.victim_keys]}

    return cluster, in_cycles if expected.keys() & {"outcome", "hangs"} else at_once


def _events(events: Sequence[Event]) -> list[Answer]:
    """Return what cycles did in the form in which it is recorded; idle ones are left out."""
    return [
        {
            "cycle": number,
            "pass": one.source,
            "result": one.result,
            "ask": one.ask,
            "node": one.node,
            "reserved": one.reserved,
            "unreserved": one.unreserved,
            "triggered": one.triggered,
            "released": [{"allocationKey": key, "type": kind} for key, kind in one.released],
        }
        for number, one in enumerate(events, start=1)
        if not one.is_idle
    ]


def _became(cluster: Cluster, events: Sequence[Event], key: str) -> Answer:
    """Return what became of an ask in the last of some cycles, and all that these did."""
    found = course_of(cluster, events, key)
    preempts, placed = found.outcome == "preempts", found.outcome in {"allocated", "replaces"}
    return {
        "outcome": found.outcome,
        "triggered": preempts,
        "node": found.node if preempts else None,
        "victims": [*found.victims],
        "on": found.node if placed else None,
        "replaces": found.replaces,
        "hangs": False,
        "events": _events(events),
    }


def _partition_of(state: YuniKornState, key: str, application: str | None) -> str | None:
    """Return the partition in which an ask waits; ``None`` if there is no such ask."""
    return next(
        (
            partition.name
            for partition in state.partitions
            for owner, ask in partition.asks
            if ask.allocation_key == key and application in {None, owner.application_id}
        ),
        None,
    )


def state_of_yunikorn(line: Line, where: str = "line") -> YuniKornState:
    """Read the state of a recorded line; InputError if the state cannot be used."""
    given = {part: value for part, value in line.items() if part != "expect"}
    return read_yunikorn_objects(given, where=where, digest=part_of(line, "id", str, where))


def _decided_difference(
    expected: Answer, where: str, cluster: Cluster, answer: Callable[[Ties], Answer]
) -> str:
    """Return the first difference of a decision; empty if it is one of the recorded outcomes."""
    # Of cycles three runs were canonical, too few to show that allocations tie.
    in_cycles = "events" in expected or "outcome" in expected
    if expected.get("canonicalUnique", True) and not (in_cycles and expected.get("outcomes")):
        return difference_from_all([expected], answer({}))
    recorded = (rows_of(expected, name, where) for name in ("canonicalOutcomes", "outcomes"))
    outcomes = [*chain.from_iterable(recorded)] or [expected]
    difference = difference_from_all(outcomes, answer({}))
    tried = chain(map(_as_taken, outcomes), islice(orders(without_order(cluster)), MAX_ORDERS))
    if not difference or any(not difference_from_all(outcomes, answer(ties)) for ties in tried):
        return ""
    return f"none of the recorded outcomes, in {MAX_ORDERS} orders: {difference}"


def _as_taken(outcome: Answer) -> Ties:
    """Return ranks by which the victims of a quota tie in the order in which they were taken."""
    by_app = outcome.get("byApp") or (outcome.get("quota") or {}).get("byApp") or {}
    keys = [key for keys in by_app.values() for key in keys]
    return {key: rank - len(keys) for rank, key in enumerate(keys)}


def _arithmetic(line: Line) -> tuple[object, object]:
    """Return the recorded and the found values of every queue of a tree."""
    queues = {queue["path"]: queue for queue in line["arith"]["queues"]}
    leaf = line["arith"].get("askQueue")
    ask = AskReference(leaf, queues[leaf]["guaranteed"]) if leaf else None
    found = {}
    for path in queues:
        steps = accumulate(path.split("."), lambda above, name: f"{above}.{name}")
        levels = [_level(queues[step], ask if i else None) for i, step in enumerate(steps)]
        found[path] = (remaining_guaranteed(levels), preemptable(levels))
    recorded = {
        one["path"]: (one["remainingGuaranteed"], one["preemptable"])
        for one in line["expect"]["arith"]
    }
    return _marked(recorded), _marked(found)


def _arithmetic_chain(line: Line) -> tuple[object, object]:
    levels = [
        _level(one, AskReference(one["askRef"], one["askGuaranteed"]) if "askRef" in one else None)
        for one in line["chain"]
    ]
    function = remaining_guaranteed if line["kind"] == "remaining" else preemptable
    return _marked(line["expect"]), _marked(function(levels))


def _level(queue: Answer, ask: AskReference | None) -> Level:
    amounts = (queue["guaranteed"], queue["allocated"], queue["preempting"])
    return Level(queue["path"], *amounts, ask)


def _marked(value: object) -> object:
    """Mark missing and empty amounts, which are not the same in this arithmetic."""
    if isinstance(value, dict):
        return {key: _marked(one) for key, one in value.items()} or "empty"
    if isinstance(value, tuple):
        return [_marked(one) for one in value]
    return "nothing" if value is None else value


_MODES: Final = {
    "quota": _of_quota,
    "quota-cycle": _of_due,
    "quota-timing": _of_timing,
    "cycle": _of_cycles,
}
_ARITHMETIC: Final = {"arith": _arithmetic, "arith-chain": _arithmetic_chain}
