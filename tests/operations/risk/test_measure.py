"""How often each workload is a victim: by hand, and each preemptor solved by itself."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner.commands.whatif.edit import read_submissions
from planner.commands.whatif.kueue_hypothetical import add_workloads
from planner.errors import InputError, LookupFailed
from planner.operations.risk import Question, Risk, risk
from planner.plan import Uncovered
from planner.reader import read_objects
from planner.reader.yaml_text import parse_yaml
from planner.state import parse_time
from planner.state.kueue import State
from tests.cli.running import BIG, SMALL, cluster
from tests.cluster import NOW, cohort, dump_of, pending, queue, running, state_of
from tests.conftest import QUICKSTART, ROOT, TEST_ALL, YUNIKORN, some
from tests.told import told
from tests.yunikorn.building import read_yunikorn

REGRESSIONS = sorted((ROOT / "instances" / "regressions").glob("kueue-*.yaml"))
FAIR = sorted((ROOT / "instances" / "fair-sharing").glob("*.yaml"))
TOPOLOGY = sorted((ROOT / "instances" / "topology").glob("*.yaml"))


def small() -> State:
    found = read_objects(cluster(), where="test", now=NOW)
    assert isinstance(found, State)
    return found


def counts(answer: Risk) -> dict[str, tuple[int, int]]:
    return {row.key: (row.greedy, row.optimum) for row in answer.running}


def test_by_hand() -> None:
    """``ns/pending`` wants 4 back; what runs cannot come again: its queue may not reclaim.

    Kueue takes the newest four for it, the plan one that has just written a checkpoint.
    """
    answer = risk(small())
    assert [(one.preemptor, one.status, len(one.greedy), len(one.optimum), one.alike)
            for one in answer.preemptors] == [
        ("ns/pending", "optimal", 4, 1, 1),
        ("ns/small-1-again", "infeasible", 0, 0, 4),
        ("ns/big-again", "infeasible", 0, 0, 1),
    ]  # fmt: skip
    assert counts(answer) == {**dict.fromkeys(SMALL, (1, 0)), BIG: (0, 1)}
    assert [row.key for row in answer.running] == [*SMALL, BIG]  # the most exposed first
    shares = {row.key: (row.greedy_share, row.optimum_share) for row in answer.running}
    assert shares[BIG] == (0.0, 0.333333)  # of three preemptors, to six digits
    assert shares[SMALL[0]] == (0.333333, 0.0)
    assert answer.is_proved
    assert (answer.beyond_limit, answer.unanswered, answer.skipped) == (0, 0, ())


def test_one_may_push_out_its_like() -> None:
    """A full queue: the shape of 5 may take what is below it, that of 1 nobody."""
    state = state_of(
        queue("a", 3, within="LowerPriority"),
        running("low", "a", 1, 1),
        running("mid", "a", 1, 3),
        running("high", "a", 1, 5),
    )
    answer = risk(state)
    assert [(one.like, one.greedy, one.optimum) for one in answer.preemptors] == [
        ("ns/low", (), ()),
        ("ns/mid", ("ns/low",), ("ns/low",)),
        ("ns/high", ("ns/low",), ("ns/low",)),
    ]
    assert counts(answer) == {"ns/low": (2, 2), "ns/mid": (0, 0), "ns/high": (0, 0)}


def test_limit_takes_the_first() -> None:
    answer = risk(small(), Question(limit=1))
    assert [one.preemptor for one in answer.preemptors] == ["ns/pending"]
    assert (answer.beyond_limit, answer.unanswered) == (2, 0)
    assert answer.running[0].greedy_share == 1
    assert answer.is_proved


def test_no_time_at_all() -> None:
    answer = risk(small(), Question(time_limit=0))
    assert (answer.preemptors, answer.unanswered) == ((), 3)
    assert {row.greedy for row in answer.running} == {0}
    assert not answer.is_proved


def test_named_preemptors_only() -> None:
    assert [one.preemptor for one in risk(small(), Question(["ns/pending"])).preemptors] == [
        "ns/pending"
    ]
    with pytest.raises(LookupFailed) as caught:
        risk(small(), Question(["ns/nobody"]))
    told(caught.value)


def test_those_of_a_file(tmp_path: Path) -> None:
    """Three pods of different size, one after the other, to a queue that wants 8 back."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "ns", "labels": {"kueue.x-k8s.io/queue-name": "lender"}},
    }
    pods = [
        {**pod, "metadata": {**pod["metadata"], "name": f"p{size}"},  # type: ignore[dict-item]
         "spec": {"containers": [{"resources": {"requests": {"gpu": size}}}]}}
        for size in (1, 5, 9)
    ]  # fmt: skip
    file = tmp_path / "pods.yaml"
    file.write_text(yaml.safe_dump_all(pods), encoding="utf-8")
    state, keys = add_workloads(small(), read_submissions(file))
    answer = risk(state, Question(keys, "min-count"))
    assert [(one.preemptor, one.status, len(one.greedy), len(one.optimum))
            for one in answer.preemptors] == [
        ("ns/pod-p1", "optimal", 1, 1),
        ("ns/pod-p5", "optimal", 2, 2),  # 4 + 1: Kueue gives back the small ones it did not need
        ("ns/pod-p9", "infeasible", 0, 0),  # the cohort has 8
    ]  # fmt: skip


def test_one_that_cannot_be_planned_for_stops_nobody() -> None:
    lost = running("lost", "a", 1)
    lost[0]["spec"]["queueName"] = "gone"
    state = state_of(queue("a", 2), lost, pending("a", 1))
    answer = risk(state)
    assert [one.preemptor for one in answer.preemptors] == ["ns/pending"]
    (skipped,) = answer.skipped
    assert skipped.preemptor == "ns/lost-again"
    told(skipped.reason)
    assert not answer.is_proved
    with pytest.raises(InputError, match="ns/gone"):
        risk(state, Question(shapes="running"))


def test_amounts_that_wrap_around_in_an_older_release() -> None:
    value = dump_of(
        queue("q", 2**63 - 1, within="LowerPriority"), running("x", "q", 2), pending("q", 3)
    )
    assert risk(read_objects(value, where="test", now=NOW), Question(shapes="pending")).is_proved
    with pytest.raises(planner.PlannerError) as caught:
        risk(
            read_objects(value, where="test", now=NOW, release="0.17.8"), Question(shapes="pending")
        )
    told(caught.value)


@pytest.mark.parametrize(
    ("shapes", "said"), [("all", "pending or runs"), ("pending", "is pending"), ("running", "runs")]
)
def test_nobody_comes(shapes: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"nothing {said}" if shapes != "all" else said):
        risk(state_of(queue("a", 2), cohort("c")), Question(shapes=shapes))


@pytest.mark.parametrize(
    "wrong",
    [{"shapes": "some"}, {"limit": 0}, {"time_limit": -1}, {"time_limit": float("nan")},
     {"rules": "design"}, {"objective": "nonesuch"}],
)  # fmt: skip
def test_arguments_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        risk(small(), Question(**wrong))


def test_progress_is_told_before_each() -> None:
    heard: list[tuple[int, int, str]] = []
    risk(small(), progress=lambda *news: heard.append(news))
    assert heard == [
        (0, 3, "ns/pending"), (1, 3, "ns/small-1-again"), (2, 3, "ns/big-again")
    ]  # fmt: skip


def alone(dump: dict[str, Any], like: str | None, key: str, now: str) -> State:
    """Return the dump with the workload submitted once more, written as kubectl would."""
    dump = copy.deepcopy(dump)
    if like is not None:
        one = next(
            item for item in dump["items"] if item["kind"] == "Workload"
            and f"{item['metadata'].get('namespace', 'default')}/{item['metadata']['name']}" == like
        )  # fmt: skip
        again = copy.deepcopy(one)
        again["metadata"] = {
            "name": key.partition("/")[2],
            "namespace": key.partition("/")[0],
            "creationTimestamp": now,
            "annotations": again["metadata"].get("annotations", {}),
        }
        del again["status"]
        dump["items"].append(again)
    found = read_objects(dump, where="test", now=now)
    assert isinstance(found, State)
    return found


def loaded(path: Path) -> dict[str, Any]:
    """Return all objects of a dump, of however many documents, as one List."""
    text = path.read_text("utf-8")
    documents: list[Any] = (
        [json.loads(text)] if path.suffix == ".json" else parse_yaml(text, "test")
    )
    items = [item for one in documents if one for item in one.get("items", [one])]
    return {"apiVersion": "v1", "kind": "List", "items": items}


LIMIT = 12 if TEST_ALL else 4


@pytest.mark.parametrize(
    "path", some([QUICKSTART, *REGRESSIONS, *FAIR, *TOPOLOGY], 2), ids=lambda path: path.stem
)
def test_equals_each_solved_by_itself(path: Path) -> None:
    dump = loaded(path)
    state = read_objects(dump, where="test")
    assert isinstance(state, State)
    now = state.now.isoformat().replace("+00:00", "Z")
    assert parse_time(now) == state.now
    answer = risk(state, Question(limit=LIMIT))
    greedy: dict[str, int] = {}
    optimum: dict[str, int] = {}
    missing: set[Uncovered] = set()
    for one in answer.preemptors:
        plan = planner.solve(alone(dump, one.like, one.preemptor, now), one.preemptor)
        assert plan.greedy is not None
        assert (one.status, one.optimum) == (plan.status, plan.keys)
        missing.update(plan.coverage)
        assert (one.greedy_status, one.greedy) == (plan.greedy.status, plan.greedy.keys)
        for found, keys in ((greedy, one.greedy), (optimum, one.optimum)):
            for key in keys:
                found[key] = found.get(key, 0) + 1
    assert counts(answer) == {
        row.key: (greedy.get(row.key, 0), optimum.get(row.key, 0)) for row in answer.running
    }
    assert set(answer.coverage) == missing
    assert {row.key for row in answer.running} == {
        workload.key for workload in state.workloads if workload.holds_quota
    }


def test_yunikorn_equals_each_solved_by_itself(tmp_path: Path) -> None:
    state = read_yunikorn(YUNIKORN)
    shutil.copytree(YUNIKORN, tmp_path, dirs_exist_ok=True)
    answer = risk(state)
    assert answer.scheduler == "yunikorn"
    for one in some(answer.preemptors, 3):
        ask_again(tmp_path / "statedump.json", one.like, one.preemptor)
        plan = planner.solve(planner.read(tmp_path), one.preemptor)
        assert plan.greedy is not None
        assert (one.status, one.optimum) == (plan.status, plan.keys)
        assert one.greedy == plan.greedy.keys
    total = sum(len(one.greedy) for one in answer.preemptors)
    assert sum(row.greedy for row in answer.running) == total > 0
    first = answer.preemptors[0]
    assert (first.name, first.origin) == ("serving/ranker-2", "pending")


def ask_again(file: Path, like: str | None, key: str) -> None:
    """Write an ask like an allocation, made a day ago, into a copy of the state dump."""
    value = json.loads((YUNIKORN / "statedump.json").read_text("utf-8"))
    for application in value["applications"]:
        for allocation in application.get("allocations") or ():
            if allocation["allocationKey"] == like:
                again = {
                    "allocationKey": key,
                    "resource": allocation.get("resource") or allocation.get("resourcePerAlloc"),
                    "priority": allocation["priority"],
                    "requestTime": value["timestamp"] - 86_400 * 10**9,
                }
                application["requests"] = [*(application.get("requests") or ()), again]
    file.write_text(json.dumps(value), "utf-8")
