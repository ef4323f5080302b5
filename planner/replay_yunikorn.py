"""Recorded answers of YuniKorn against the reference, line by line.

Compared are whether preemption is triggered, the node, and the victims in order; for quota
preemption the amount, its shares and the victims of every application; for the arithmetic its
values; for a flow its steps and the cluster at the end (yunikorn-semantics.md, section 14).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, islice
from typing import Any, Final

from planner.errors import LookupFailed, SchemaError
from planner.reader.yunikorn import read_yunikorn_objects
from planner.reference.yunikorn.cluster import Cluster, find_ask, prepare
from planner.reference.yunikorn.decision import decide
from planner.reference.yunikorn.flow import run_flow
from planner.reference.yunikorn.quota import preempt_quota
from planner.reference.yunikorn.resource import without_zeros
from planner.reference.yunikorn.snapshot import (
    AskReference,
    Level,
    preemptable,
    remaining_guaranteed,
)
from planner.replay import Comparison, first_difference
from planner.state.yunikorn import YuniKornState

MAX_ORDERS: Final = 1000
"""How many orders are tried of allocations that have no order in the core."""

Answer = dict[str, Any]
Line = Mapping[str, Any]
Ties = Mapping[str, int]


def replay_yunikorn_line(line: Line, where: str = "line") -> Comparison:
    """Decide a recorded instance of YuniKorn anew, and compare.

    Where the core itself is not deterministic, any recorded outcome is right. They are a sample,
    and so is our answer: a line without a match is decided again with other orders of the
    allocations.

    Raises
    ------
    InputError
        If the line is not a recorded instance, or its state cannot be read.
    """
    name = line.get("id")
    if not isinstance(name, str) or "expect" not in line:
        raise SchemaError(where, 'has no "id" or no "expect"', "a recorded instance of YuniKorn")
    mode = line.get("mode")
    if mode in _ARITHMETIC:
        difference = first_difference(*_ARITHMETIC[mode](line), "expect")
    elif mode == "flow":
        difference = _flow_difference(line, _state_of(line, where))
    else:
        answer = _quota_answer if mode == "quota" else _ask_answer
        difference = _decided_difference(line, prepare(_state_of(line, where)), answer)
    return Comparison(name, "different" if difference else "equal", difference)


def _state_of(line: Line, where: str) -> YuniKornState:
    given = {part: value for part, value in line.items() if part != "expect"}
    return read_yunikorn_objects(given, where=where, digest=str(line["id"]))


def _decided_difference(
    line: Line, cluster: Cluster, answer: Callable[[Line, Cluster, Ties], Answer]
) -> str:
    """Return the first difference of a decision; empty if it is one of the recorded outcomes."""
    expected = line["expect"]
    difference = _difference_from(expected, answer(line, cluster, {}))
    if not difference or expected.get("canonicalUnique", True):
        return difference
    for ties in islice(_orders(cluster), MAX_ORDERS):
        if not _difference_from(expected, answer(line, cluster, ties)):
            return ""
    return f"none of the recorded outcomes, in {MAX_ORDERS} orders: {difference}"


def _difference_from(expected: Answer, found: Answer) -> str:
    """Compare with the recorded answer, or with each outcome where there are several."""
    wanted: Iterable[Answer] = [expected]
    if not expected.get("canonicalUnique", True):
        outcomes = expected.get("canonicalOutcomes") or [], expected.get("outcomes") or []
        wanted = [one for some in outcomes for one in some] or wanted
    differences = []
    for one in wanted:
        parts = (part for part in found if part in one)
        differences.append(
            next(filter(None, (first_difference(one[p], found[p], p) for p in parts)), "")
        )
    return differences[0] if all(differences) else ""


def _orders(cluster: Cluster) -> Iterator[Ties]:
    """Yield ranks for all allocations: first reversed, then at random, the same in every run."""
    keys = [
        allocation.allocation_key
        for application in cluster.partition.applications
        for allocation in application.allocations
    ]
    keys.reverse()
    yield {key: rank for rank, key in enumerate(keys)}
    shuffler = random.Random(0)  # noqa: S311 - orders to try, not secrets
    while True:
        shuffler.shuffle(keys)
        yield {key: rank for rank, key in enumerate(keys)}


def _ask_answer(line: Line, cluster: Cluster, ties: Ties) -> Answer:
    """Decide for the ask of a line."""
    named = line["ask"]
    asking = find_ask(cluster, named["allocationKey"], named["applicationID"])
    decision = decide(cluster, asking, ties=ties)
    return {
        "triggered": decision.triggered,
        "node": decision.node,
        "victims": list(decision.victim_keys),
    }


def _quota_answer(line: Line, cluster: Cluster, ties: Ties) -> Answer:
    """Decide for the queue of a line; the victims of all applications are recorded by key."""
    path = cluster.x.quota_queue
    queue = cluster.tree.by_path.get(path or "")
    if queue is None:
        raise LookupFailed(str(line["id"]), f'there is no queue "{path}"')
    found = preempt_quota(queue, ties)
    by_app: dict[str, list[str]] = {}
    for victim in found.victims:
        by_app.setdefault(victim.application_id, []).append(victim.key)
    return {
        "triggered": bool(found.victims),
        "node": None,
        "victims": sorted(victim.key for victim in found.victims),
        "quota": {
            "acquired": found.acquired,
            "preemptable": found.amount,
            "shares": found.shares,
            "byApp": by_app,
        },
    }


def _flow_difference(line: Line, state: YuniKornState) -> str:
    """Compare the steps of a flow, and the cluster at its end."""
    options = state.x.flow
    if options is None:
        raise SchemaError(str(line["id"]), 'has no "x.flow"', "how the flow runs")
    flow = run_flow(state, recreate=options.recreate, max_steps=options.max_steps)
    found = {
        "steps": [
            {"ask": s.ask, "kind": s.kind, "node": s.node, "victims": list(s.victims)}
            for s in flow.steps
        ],
        "finalUsage": {path: without_zeros(usage) for path, usage in flow.usage.items()},
        "pending": flow.pending,
    }
    return first_difference(line["expect"]["flow"], found, "flow")


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
    return _told_apart(recorded), _told_apart(found)


def _arithmetic_chain(line: Line) -> tuple[object, object]:
    """Return the recorded and the found value at the end of a chain of queues."""
    levels = [
        _level(one, AskReference(one["askRef"], one["askGuaranteed"]) if "askRef" in one else None)
        for one in line["chain"]
    ]
    function = remaining_guaranteed if line["kind"] == "remaining" else preemptable
    return _told_apart(line["expect"]), _told_apart(function(levels))


def _level(queue: Answer, ask: AskReference | None) -> Level:
    amounts = (queue["guaranteed"], queue["allocated"], queue["preempting"])
    return Level(queue["path"], *amounts, ask)


def _told_apart(value: object) -> object:
    """Mark nothing and empty, which are not the same in this arithmetic."""
    if isinstance(value, dict):
        return {key: _told_apart(one) for key, one in value.items()} or "empty"
    if isinstance(value, tuple):
        return [_told_apart(one) for one in value]
    return "nothing" if value is None else value


_ARITHMETIC: Final = {"arith": _arithmetic, "arith-chain": _arithmetic_chain}
