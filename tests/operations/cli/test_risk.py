"""``planner risk``: how often everything that runs would be a victim, in every format."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.operations.report.risk import render
from planner.operations.risk import Risk
from tests.cli.running import BIG, SMALL, answer, call, refused, write
from tests.cluster import dump_of, queue, running
from tests.conftest import YUNIKORN
from tests.told import told

PODS = """\
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: ns, labels: {kueue.x-k8s.io/queue-name: lender}}
spec: {containers: [{name: main, resources: {requests: {gpu: 1}}}]}
---
metadata: {name: two, namespace: ns, labels: {kueue.x-k8s.io/queue-name: lender}}
spec: {containers: [{name: main, resources: {requests: {gpu: 2}}}]}
"""


@pytest.fixture
def pods(tmp_path: Path) -> Path:
    file = tmp_path / "pods.yaml"
    file.write_text(PODS, encoding="utf-8")
    return file


def answered(*args: str | Path) -> Any:
    return answer("risk", "risk", *args)


def test_json(dump: Path) -> None:
    """Kueue takes the four small ones for ``ns/pending``, the plan the big one."""
    value = answered(dump)
    assert [one["preemptor"] for one in value["preemptors"]] == [
        "ns/pending", "ns/small-1-again", "ns/big-again"
    ]  # fmt: skip
    rows = {row["key"]: (row["greedy"], row["optimum"]) for row in value["running"]}
    assert rows == {**dict.fromkeys(SMALL, (1, 0)), BIG: (0, 1)}
    assert value["scheduler"] == "kueue"
    assert value["objective"] == "no-regret"


def test_a_warning_is_no_longer_than_anybody_reads(tmp_path: Path) -> None:
    """Its queue is missing in a namespace of 300,000 characters, which both warnings name."""
    lost = running("lost", "a", 1)
    lost[0]["metadata"]["namespace"] = "blue" * 75_000
    file = write(tmp_path, dump_of(queue("a", 2), lost, running("kept", "a", 1)))
    result = call("risk", file, "--format", "json")
    assert result.exit_code == 4, result.stderr
    warnings = result.stderr.splitlines()
    told(warnings)
    assert max(map(len, warnings)) < 1500


def test_preemptors_from_a_file(dump: Path, pods: Path) -> None:
    """Pods of 1 and 2: Kueue takes the newest small ones, one and two of them."""
    value = answered(dump, "--workload", pods, "--objective", "kueue-like")
    asked = value["preemptors"]
    assert [one["preemptor"] for one in asked] == ["ns/pod-one", "ns/pod-two"]
    assert [(one["origin"], len(one["greedy"])) for one in asked] == [
        ("pending", 1),
        ("pending", 2),
    ]
    rows = {row["key"]: row["greedy"] for row in value["running"]}
    assert rows == {SMALL[3]: 2, SMALL[2]: 1, SMALL[1]: 0, SMALL[0]: 0, BIG: 0}


def test_what_is_no_workload_in_a_file_is_left_out(dump: Path, pods: Path) -> None:
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: code}\n---\n"
    pods.write_text(other + pods.read_text("utf-8"), encoding="utf-8")
    done = call("risk", dump, "--workload", pods)
    assert (done.exit_code, "ns/pod-one" in done.stdout) == (0, True)
    told([line for line in done.stderr.splitlines() if "left out" in line])


def test_a_group_of_pods_in_a_file_is_refused(dump: Path, pods: Path) -> None:
    queued = "kueue.x-k8s.io/queue-name: lender"
    grouped = pods.read_text("utf-8").replace(queued, f"{queued}, kueue.x-k8s.io/pod-group-name: g")
    pods.write_text(grouped, encoding="utf-8")
    told(refused("risk", dump, "--workload", pods))


def test_shapes_and_limit(dump: Path) -> None:
    value = answered(dump, "--shapes", "pending")
    assert len(value["preemptors"]) == 1
    result = call("risk", dump, "--limit", "2", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["beyond_limit"] == 1
    told(result.stderr)
    assert call("risk", dump, env={"PLANNER_RISK_LIMIT": "1"}).stdout.count("\npreemptor ") == 1


def test_no_time(dump: Path) -> None:
    result = call("risk", dump, "--time-limit", "0")
    assert result.exit_code == 5
    assert "unanswered       3" in result.stdout
    told(result.stderr)


def test_one_that_cannot_be_planned_for_is_said(tmp_path: Path) -> None:
    lost = running("lost", "a", 1)
    lost[0]["spec"]["queueName"] = "gone"
    file = write(tmp_path, dump_of(queue("a", 2), lost, running("kept", "a", 1)))
    result = call("risk", file)
    assert result.exit_code == 4
    told(result.stderr)
    told(result.stdout)


def test_yunikorn() -> None:
    value = answered(YUNIKORN, "--laws", "code")
    assert value["scheduler"] == "yunikorn"
    first = value["preemptors"][0]
    assert (first["name"], len(first["greedy"]), len(first["optimum"])) == (
        "serving/ranker-2",
        2,
        1,
    )
    found = Risk.model_validate(value)
    text = render(found, "table", width=100, color=False)
    assert "YuniKorn" in text
    told(text)
    lines = render(found, "plain", width=200, color=False).splitlines()
    assert any("yunikorn=2 plan=1" in line and "name=serving/ranker-2" in line for line in lines)


@pytest.mark.parametrize(
    "options",
    [
        ("--shapes", "some"),
        ("--limit", "0"),
        ("--limit", "many"),
        ("--queue", "ns/lender"),
        ("--laws", "code"),
        ("--workload", "pods.yaml", "--shapes", "all"),
        ("--time-limit", "-1"),
    ],
)
def test_bad_use(
    dump: Path, pods: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(pods.parent)
    told(refused("risk", dump, *options))


@pytest.mark.parametrize(
    "text",
    [
        PODS.replace("name: lender", "name: lendr"),
        PODS.replace("queue-name: lender", "other: lender"),
        PODS.replace("kind: Pod", "kind: Job"),
        PODS.replace("name: two", "name: one"),
        PODS.replace("gpu: 2", "gpu: two"),
        "a: [",
        "just a text",
    ],
)
def test_bad_file(dump: Path, pods: Path, text: str) -> None:
    pods.write_text(text, encoding="utf-8")
    told(refused("risk", dump, "--workload", pods))


def test_yunikorn_has_no_manifests(pods: Path) -> None:
    told(refused("risk", YUNIKORN, "--workload", pods))


def test_nothing_to_ask_about(tmp_path: Path) -> None:
    said = refused("risk", write(tmp_path, dump_of(queue("a", 1))), "--now", "2026-05-01T13:00:00Z")
    told(said)
