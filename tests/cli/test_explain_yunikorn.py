"""``planner explain`` on clusters of YuniKorn: questions and answers in every format."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import answer, call, cluster, refused, write
from tests.conftest import ROOT, YUNIKORN
from tests.told import told
from tests.yunikorn.building import two_queues

ZOO = ROOT / "instances" / "regressions"
FENCED = ZOO / "yunikorn-2131-behind-the-fence"


def explained(*args: str | Path, code: int = 0) -> Any:
    """Return an answer as JSON that obeys its schema."""
    return answer("explanation", "explain", *args, code=code)


def victim() -> str:
    """Return the pod of the only victim of the bundled cluster."""
    (allocation,) = explained(YUNIKORN)["allocations"]
    pod: str = allocation["pod"]
    return pod


def test_plan() -> None:
    value = explained(YUNIKORN)
    assert (value["scheduler"], value["question"]) == ("yunikorn", "why-this-plan")
    (allocation,) = value["allocations"]
    assert value["victims"] == [allocation["allocation"]]
    assert value["node"] == allocation["node"]
    assert allocation["necessary"] is True
    assert allocation["law"]["law"] == "YK-05"
    assert value["pods"] == {allocation["allocation"]: allocation["pod"]}
    assert value["optima"]["count"] == 1


def test_why_this_victim_by_pod_and_by_key() -> None:
    pod = victim()
    value = explained(YUNIKORN, "--victim", pod)
    (allocation,) = value["allocations"]
    assert value["question"] == "why-this-victim"
    assert value["alternative"]["condition"] == "sparing"
    assert value["alternative"]["fewer"] == [allocation["allocation"]]
    assert value == explained(YUNIKORN, "--victim", allocation["allocation"])


def test_why_nothing_and_the_change_that_helps() -> None:
    value = explained(FENCED, code=3)
    assert value["question"] == "why-nothing"
    assert [law["law"] for law in value["clash"]["laws"]] == ["YK-07", "YK-08"]
    edits = [change["edit"] for change in value["clash"]["changes"]]
    assert edits == ["queue/root.tenant-a.preemption.policy=default"]
    assert call("whatif", FENCED, "--set", edits[0]).exit_code == 0


@pytest.mark.parametrize("style", ["table", "plain"])
def test_other_formats_name_pods(style: str) -> None:
    pod = victim()
    shown = call("explain", YUNIKORN, "--format", style, env={"COLUMNS": "200"}).stdout
    assert pod in shown
    assert "serving/ranker-2" in shown
    assert "root.serving" in shown
    shown = call("explain", YUNIKORN, "--victim", pod, "--format", style).stdout
    assert "YK-05" in shown
    assert "workloads" in shown


def test_table_of_a_victim_and_what_sparing_it_costs() -> None:
    shown = call("explain", YUNIKORN, "--victim", victim(), "--format", "table").stdout
    for words in ("Why this victim", "YuniKorn, laws as designed", "Sparing", "Necessary"):
        assert words in shown


def test_plain_lines_of_nothing() -> None:
    lines = call("explain", FENCED, "--format", "plain").stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("clash ")] == ["YK-07", "YK-08"]
    assert any(line.startswith("short            node/node-a/vcore ") for line in lines)
    told(lines)


def test_table_of_nothing() -> None:
    shown = call("explain", FENCED, "--format", "table", env={"COLUMNS": "160"}).stdout
    assert "Why nothing" in shown
    assert "preemption.policy" in shown
    told(shown)


def test_laws_and_costs(tmp_path: Path) -> None:
    """Of two equal ones the price decides."""
    running = [
        {"allocationKey": f"run-{i}", "resource": {"gpu": 1}, "nodeId": "n1", "priority": "0"}
        for i in range(1, 5)
    ]
    dump = write(tmp_path, two_queues(*running))
    prices = write(tmp_path, {"run-1": 9, "run-2": 9, "run-4": 9}, "costs.json")
    options = ("--objective", "min-cost", "--costs", prices, "--laws", "code")
    value = explained(dump, *options, "--victim", "run-3")
    assert value["rules"] == "yunikorn-code"
    assert value["victims"] == ["run-3"]
    (cost,) = [t for t in value["alternative"]["terms"] if t["term"] == "cost"]
    assert (cost["plan"], cost["other"]) == (1, 9)
    bad = write(tmp_path, {"run-9": 1}, "costs.json")
    said = refused("explain", dump, "--objective", "min-cost", "--costs", bad)
    told(said)


@pytest.mark.parametrize(
    "options",
    [
        ("--victim", "nobody"),
        ("--victim", "sessions-hourly-exec-9"),
        ("--pending", "nobody"),
        ("--pending", "ranker-2"),
        ("--message", "Preempted workload a/b (UID: c) in ClusterQueue d"),
        ("--assignment", "flavors.json"),
    ],
)
def test_bad_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"main": {"gpu": {"flavor": "default"}}}, "flavors.json")
    error = refused("explain", YUNIKORN, *options)
    told(error)
    assert "Traceback" not in error


def test_laws_mean_nothing_for_kueue(tmp_path: Path) -> None:
    said = refused("explain", write(tmp_path, cluster()), "--laws", "code")
    told(said)
    said = refused("explain", write(tmp_path, cluster()), "--quota", "root.a")
    told(said)


def test_no_time_proves_nothing() -> None:
    value = explained(YUNIKORN, "--time-limit", "0", code=4)
    assert value["status"] == "feasible"
    assert value["optima"] is None
    assert all(one["necessary"] is None for one in value["allocations"])
