"""The steps on the way to a decision, as the real core took them."""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import Asking, Cluster, find_ask, is_usable, prepare
from planner.quota.yunikorn.snapshot import Snapshot, preemptable
from planner.reference.yunikorn.candidates import find_candidates, find_fence, in_order
from planner.reference.yunikorn.decision import can_help, plan_node, score_of
from tests.yunikorn.building import state_of
from tests.yunikorn.recorded import NAMES, Line, lines

TRACED = [name for name in NAMES if name in {"generic", "fenced", "priority", "optout", "corner"}]


def traced(name: str) -> list[tuple[Line, Cluster, Asking]]:
    """Return the instances of a file that have a trace, made ready."""
    found = []
    for line in lines(name, step=4):
        if line["expect"].get("trace") and line["expect"]["deterministic"]:
            cluster = prepare(state_of({k: v for k, v in line.items() if k != "expect"}))
            found.append((line, cluster, find_ask(cluster, line["ask"]["allocationKey"])))
    return found


@pytest.mark.parametrize("name", TRACED)
def test_fence_candidates_and_guaranteed(name: str) -> None:
    for line, cluster, asking in traced(name):
        trace = line["expect"]["trace"]
        fence = find_fence(asking.leaf, asking.ask)
        assert fence.root.path == trace["fence"], line["id"]
        by_queue: dict[str, list[str]] = {}
        for candidate in find_candidates(asking.leaf, asking.ask, fence):
            by_queue.setdefault(candidate.queue.path, []).append(candidate.key)
        wanted = {path: sorted(keys) for path, keys in (trace.get("candidates") or {}).items()}
        assert {path: sorted(keys) for path, keys in by_queue.items()} == wanted, line["id"]
        snapshot = Snapshot(asking.leaf, asking.ask.resource)
        for path, rest in (trace.get("remainingGuaranteed") or {}).items():
            assert snapshot.remaining(cluster.tree.by_path[path]) == rest, line["id"]
        for path, amount in (trace.get("preemptable") or {}).items():
            assert preemptable(snapshot.levels(cluster.tree.by_path[path])) == amount, line["id"]


@pytest.mark.parametrize("name", TRACED)
def test_plans_of_the_nodes(name: str) -> None:
    for line, cluster, asking in traced(name):
        recorded: list[dict[str, Any]] = line["expect"]["trace"].get("plans") or []
        # The trace is of one run: allocations of equal age stand there in the order of that run.
        ties: dict[str, int] = {
            key: rank for row in recorded for rank, key in enumerate(row["order"] or ())
        }
        fence = find_fence(asking.leaf, asking.ask)
        candidates = in_order(find_candidates(asking.leaf, asking.ask, fence), ties)
        snapshot = Snapshot(asking.leaf, asking.ask.resource)
        assert not recorded or can_help(snapshot, candidates)
        for row in recorded:
            room = cluster.node(row["node"])
            assert room is not None
            group = [one for one in candidates if one.allocation.node_id == row["node"]]
            plan = plan_node(snapshot, room, group)
            assert is_usable(cluster, room, asking.ask)
            assert [one.key for one in group] == (row["order"] or []), line["id"]
            if plan is not None and row.get("victims") is not None:
                assert plan.index == row["index"], line["id"]
                assert [one.key for one in plan.victims] == row["victims"], line["id"]
            if plan is not None and row.get("checked"):
                assert score_of(plan, plan.index) == row["score"], line["id"]
