"""Recorded answers of the real core, and the steps to them; PLANNER_TEST_ALL=1 takes all steps."""

from copy import deepcopy
from typing import Any

import pytest

from planner.commands.replay import Comparison, replay_line
from planner.commands.replay.yunikorn import _of_timing, state_of_yunikorn
from planner.errors import InputError
from planner.quota.yunikorn.cluster import Asking, Cluster, find_ask, is_usable, prepare
from planner.quota.yunikorn.queue import Snapshot, preemptable
from planner.reference.yunikorn.candidates import find_candidates, find_fence, in_order
from planner.reference.yunikorn.decision import can_help, decide, plan_node, score_of
from tests.conftest import ROOT
from tests.told import told
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)
from tests.yunikorn.recorded import FEATURES, FOLDER, NAMES, Line, lines, step, texts

GPU = {"gpu": 1}
WITH_CONDITIONS = [
    name for name in NAMES if name in {"generic", "fenced", "priority", "multi-node", "corner"}
]
PRECONDITIONS = {
    "preemptionEnabled": "preemption_enabled",
    "allowPreemptOther": "allow_preempt_other",
    "notTriggered": "not_triggered",
    "noRequiredNode": "no_required_node",
    "delayPassed": "delay_passed",
    "checkIntervalPassed": "check_interval_passed",
    "fitsHeadroom": "fits_headroom",
    "allocatableNow": "allocatable_now",
    "nodesTried": "nodes_tried",
    "attempted": "attempted",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_reproduced(name: str) -> None:
    """In ordinary runs every third, of files that have many."""
    found = [replay_line(line) for line in lines(name, step(name, 3))]
    assert found
    assert [one for one in found if one.outcome != "equal"] == []


@pytest.mark.usefixtures("conformance")
def test_the_readme_counts_them() -> None:
    count = sum(len(texts(path)) for path in (*FOLDER.rglob("*.gz"), *FEATURES.rglob("*.gz")))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{count:,} of YuniKorn, and none differs" in " ".join(text.split())


@pytest.mark.parametrize("name", WITH_CONDITIONS)
def test_preconditions_and_the_choice_without_a_callback(name: str) -> None:
    for line in lines(name, step=4):
        expected = line["expect"]
        cluster = prepare(state_of({k: v for k, v in line.items() if k != "expect"}))
        asking = find_ask(cluster, line["ask"]["allocationKey"])
        decision = decide(cluster, asking, callback=False)
        assert decision.conditions is not None
        found = {key: getattr(decision.conditions, n) for key, n in PRECONDITIONS.items()}
        assert found == {key: expected["preconditions"][key] for key in PRECONDITIONS}
        alone = expected["noPlugin"]
        if alone["deterministic"]:
            answer = (decision.triggered, decision.node, list(decision.victim_keys))
            assert answer == (alone["triggered"], alone["node"], alone["victims"]), line["id"]


def recorded(*victims: str, **more: Any) -> Line:
    """Return a recorded line: the newest of two goes."""
    value = two_queues(allocation("old", GPU, 9), allocation("new", GPU, 1), size=2)
    named = {"applicationID": "asks", "allocationKey": "ask"}
    expect = {"triggered": True, "node": "n1", "victims": list(victims), **more}
    return {"id": "one", **value, "ask": named, "expect": expect}


def test_an_instance_that_is_reproduced() -> None:
    assert replay_line(recorded("new")) == Comparison("one", "equal")


@pytest.mark.parametrize(
    ("part", "value"), [("triggered", False), ("node", "n2"), ("victims", ["new", "old"])]
)
def test_every_tampering_is_found(part: str, value: object) -> None:
    comparison = replay_line(recorded("new", **{part: value} if part != "victims" else {}))
    if part == "victims":
        comparison = replay_line(recorded("new", "old"))
    assert comparison.outcome == "different"
    assert comparison.detail.startswith(part)


@pytest.mark.parametrize("key", ["old", "new"])
def test_any_order_of_tied_allocations_is_right(key: str) -> None:
    outcome = {"triggered": True, "node": "n1", "victims": [key]}
    line = recorded("none", canonicalUnique=False, outcomes=[outcome], canonicalOutcomes=[outcome])
    for one in line["applications"][0]["allocations"]:
        one["allocationTime"] = 5
    assert replay_line(line).outcome == "equal"
    line["expect"]["canonicalOutcomes"] = line["expect"]["outcomes"] = [outcome | {"node": "n2"}]
    told(replay_line(line).detail)


def tampered(name: str, *path: str | int) -> Line:
    """Return the first line of a file with one recorded number raised."""
    line = deepcopy(next(lines(name, step=1)))
    at: Any = line["expect"]
    for place in path[:-1]:
        at = at[place]
    at[path[-1]] = (at[path[-1]] or 0) + 1
    return line


@pytest.mark.skipif("examples" not in NAMES, reason="no recorded answers")
def test_tampered_flow_is_found() -> None:
    line = tampered("examples", "flow", "finalUsage", "root", "memory")
    assert replay_line(line).detail.startswith("flow.finalUsage.root.memory")


@pytest.mark.skipif("arith" not in NAMES, reason="no recorded answers")
def test_tampered_arithmetic_is_found() -> None:
    line = deepcopy(next(lines("arith", step=1)))
    line["expect"]["arith"][0]["preemptable"] = {"memory": -1}
    assert replay_line(line).detail.startswith("expect.root[1]")


def test_nothing_and_empty_differ_in_arithmetic() -> None:
    chain = [{"path": "root", "guaranteed": None, "allocated": None, "preempting": None}]
    line: Line = {"id": "a", "mode": "arith-chain", "kind": "remaining", "chain": chain}
    assert replay_line({**line, "expect": None}).outcome == "equal"
    assert replay_line({**line, "expect": {}}).outcome == "different"


def quota_line(by_app: dict[str, list[str]]) -> Line:
    """Return a line of quota preemption: one of two must go."""
    value = two_queues(size=2)
    value["queues"]["partitions"][0]["queues"][0]["queues"] = [queue("a", max=GPU)]
    running = (allocation("x", GPU, 7200), allocation("y", GPU, 1))
    value["applications"] = [application("1", "root.a", *running)]
    quota = {"acquired": True, "preemptable": GPU, "byApp": by_app}
    expect = {"triggered": True, "node": None, "victims": ["y"], "quota": quota}
    return {"id": "q", "mode": "quota", **value, "x": {"quotaQueue": "root.a"}, "expect": expect}


def test_quota() -> None:
    assert replay_line(quota_line({"1": ["y"]})).outcome == "equal"
    assert replay_line(quota_line({"1": ["x"]})).detail.startswith("quota.byApp.1[0]")


def behind_another_partition(line: Line) -> Line:
    """Return a recorded line whose partition comes second, behind one without any queue."""
    first = {"name": "first", "queues": [{"name": "root"}]}
    return {**line, "queues": {"partitions": [first, *line["queues"]["partitions"]]}}


def test_an_ask_is_found_in_its_partition() -> None:
    assert replay_line(behind_another_partition(recorded("new"))).outcome == "equal"
    assert replay_line(behind_another_partition(quota_line({"1": ["y"]}))).outcome == "equal"


@pytest.mark.parametrize("part", ["id", "expect", "now", "nodes", "ask"])
def test_a_line_that_is_no_recorded_instance(part: str) -> None:
    line = recorded("new")
    line[part] = 3.5
    if part == "expect":
        del line[part]
    with pytest.raises(InputError):
        replay_line(line, "file.jsonl: line 1")


@pytest.mark.parametrize("part", ["outcomes", "canonicalOutcomes"])
@pytest.mark.parametrize("value", [1, [1]])
def test_outcomes_that_are_none(part: str, value: object) -> None:
    line = recorded("new")
    line["expect"] |= {"canonicalUnique": False, part: value}
    with pytest.raises(InputError, match=f"line 1: expect.{part}: is not a list of objects"):
        replay_line(line, "file.jsonl: line 1")


def test_arithmetic_of_texts() -> None:
    chain = [{"path": "root", "guaranteed": GPU, "allocated": "text", "preempting": None}]
    line: Line = {"id": "a", "mode": "arith-chain", "kind": "remaining", "chain": chain}
    with pytest.raises(InputError, match='is not an instance of mode "arith-chain"'):
        replay_line({**line, "expect": None}, "file.jsonl: line 1")


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


def timed(*files: tuple[int, list[Json], str], due: bool = False, path: str = "root.a") -> Json:
    """Replay queues.yaml after queues.yaml: the seconds before each, its queues, root's delay."""
    steps = []
    for after, queues, delay in files:
        root = queue("root", *queues, quota_preemption_delay=delay)
        partition = {"queues": [root], "preemption": {"quotapreemptionenabled": True}}
        steps.append({"after": after, "queues": {"partitions": [partition]}})
    steps += [{"after": 60}] if due else []
    held = application("runs", path, allocation("old", GPU, 9_000), allocation("new", GPU))
    value = cluster_value(files[0][1], [node("n1", GPU)], [held])
    line = {"id": "one", **value, "mode": "quota-timing", "x": {"steps": steps}}
    return _of_timing(line, {}, state_of_yunikorn(line), "test")[1]({})


@pytest.mark.parametrize(
    ("delay", "left"), [("", {}), ("100s", {"root": 90.0}), ("60s", {"root": 50.0})]
)
def test_a_file_changes_the_time_of_the_root(delay: str, left: dict[str, float]) -> None:
    """Source: yunikorn-core be3bb487, scheduler/partition.go (updatePartitionDetails)."""
    found = timed((0, [queue("a")], "60s"), (10, [queue("a")], delay))
    assert found["starts"] == [{"root": 60.0}, left]


@pytest.mark.parametrize(("last", "victims"), [(0, []), (1, ["new"])])
def test_a_queue_that_drains_comes_down_in_its_time(last: int, victims: list[str]) -> None:
    lowered = queue("a", max=GPU, quota_preemption_delay="50s")
    found = timed((0, [lowered, queue("b")], ""), (10, [queue("b")], ""), due=bool(last))
    assert found["starts"][:2] == [{"root.a": 50.0}, {"root.a": 40.0}]
    assert found["victims"] == victims


def test_below_a_leaf_no_quota_is_looked_at() -> None:
    """Source: yunikorn-core be3bb487, scheduler/objects/queue.go (TryQuotaPreemption)."""
    lowered = queue("a", queue("b", max=GPU, quota_preemption_delay="50s"))
    for after, victims in ((lowered | {"parent": True, "queues": []}, ["new"]), (queue("a"), [])):
        found = timed((0, [lowered], ""), (10, [after], ""), due=True, path="root.a.b")
        assert found["victims"] == victims
