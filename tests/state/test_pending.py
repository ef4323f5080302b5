"""Who waits in a queue: Kueue looks at nobody whose queue is not there."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import planner
from planner.cli.main import main
from planner.errors import LookupFailed
from tests.cluster import Object, dump_of, pending, queue, running, state_of


def astray(name: str, queue_name: str) -> list[Object]:
    """Return a pending workload ns/NAME with a LocalQueue of any name."""
    (found,) = pending(queue_name, 1)
    return [{**found, "metadata": {**found["metadata"], "name": name}}]


CLUSTER = (
    queue("a", 4, within="LowerPriority"),
    running("run", "a", 4, 0),
    pending("a", 2),
)


def test_a_queue_that_is_misspelt_spoils_nothing_for_the_others() -> None:
    state = state_of(*CLUSTER, astray("lost", "aa"), astray("nowhere", ""))
    assert state.pending == ("ns/pending",)
    assert state.without_queue == ("ns/lost", "ns/nowhere")
    plan = planner.solve(state)
    assert plan.keys == ("ns/run",)
    assert any("does not even look at ns/lost, ns/nowhere" in note for note in plan.notes)
    assert planner.audit(state).summary.failures == 0


def test_who_asks_for_it_is_told_of_the_queue() -> None:
    state = state_of(*CLUSTER, astray("lost", "elsewhere"))
    with pytest.raises(
        LookupFailed, match='LocalQueue "ns/elsewhere", which is not in the dump'
    ) as told:
        planner.solve(state, "ns/lost")
    assert told.value.hint == "the dump has ns/a"


def test_a_local_queue_of_no_cluster_queue_is_none() -> None:
    _, local = queue("b", 1)
    state = state_of(*CLUSTER, [local], astray("lost", "b"))
    assert (state.pending, state.without_queue) == (("ns/pending",), ("ns/lost",))


def test_where_the_dump_has_no_queues_they_are_asked_for() -> None:
    """Nobody would be left: the queues are missing in the dump, not in the cluster."""
    state = state_of([queue("a", 4)[0]], pending("a", 2))
    assert state.pending == state.without_queue == ("ns/pending",)
    with pytest.raises(LookupFailed) as told:
        planner.solve(state)
    assert told.value.hint == "add localqueues to the kinds that kubectl get prints"


def test_all_are_planned_for_and_nothing_failed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(dump_of(*CLUSTER, astray("lost", "aa"))), "utf-8")
    result = CliRunner().invoke(main, ["solve", str(path), "--all"])
    assert result.exit_code == 0
    assert "1 pending: 1 optimal" in result.stderr
