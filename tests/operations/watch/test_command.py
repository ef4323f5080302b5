"""The command: dumps one after the other, a cluster behind the real kubectl, and figures."""

import json
import re
import shutil
import sys
import urllib.request
from pathlib import Path

import pytest

from planner.cli.value import address
from planner.operations.kubectl import kueue_dump
from planner.operations.watch.endpoint import serve
from planner.operations.watch.record import (
    CONNECTED,
    EXCESS,
    METRICS,
    Figures,
    Measured,
    Preemption,
    Watched,
)
from planner.solver.start import AnyPlanning, Given, start
from planner.state import AnyState
from tests.cli.running import SMALL, call, cluster, refused
from tests.cluster import Object
from tests.conftest import ROOT
from tests.operations.kubectl.served import NEEDED, served, versioned
from tests.published import validator
from tests.stand_in import CONFIGURATION, MANAGER
from tests.told import told

real_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
PAGE = ROOT.joinpath("docs", "how-to", "watch" + ".md")
DASHBOARD = PAGE.with_name("watch-dashboard.json")
TAKEN = "preemption-planner.io/taken-at"


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Give two dumps, between which Kueue preempted."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    before, after = cluster(), cluster()
    for one in after["items"]:
        if one["kind"] == "Workload" and f"ns/{one['metadata']['name']}" in SMALL:
            text = "Preempted to accommodate a workload (UID: uid-pending, JobUID: j) due to x"
            said = {"status": "True", "reason": "x", "message": text}
            said["lastTransitionTime"] = "2026-05-01T13:00:07Z"
            one["status"]["conditions"] += [
                {"type": kind, **said} for kind in ("Evicted", "Preempted")
            ]
    for name, dump, minute in (("1", before, 0), ("2", after, 1)):
        dump["metadata"] = {"annotations": {TAKEN: f"2026-05-01T13:0{minute}:00Z"}}
        (folder / f"{name}.json").write_text(json.dumps(dump), encoding="utf-8")
    return folder


def test_lines_follow_their_schema(dumps: Path) -> None:
    done = call("watch", dumps, "--format", "jsonl")
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for one in lines:
        validator("watch").validate(one)
    assert [one["kind"] for one in lines] == ["decision", "preemption"]
    assert lines[1]["outcome"] == "equal"


def test_lines_to_read(dumps: Path) -> None:
    decision, preemption = call("watch", dumps).stdout.splitlines()
    assert "evicts=ns/small-1" in decision
    assert "fewest=1" in decision
    assert "instead=ns/big" in decision
    assert "outcome=equal" in preemption


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_dumps_of_a_folder_come_in_the_order_of_their_numbers(dumps: Path, suffix: str) -> None:
    printed = call("watch", dumps).stdout
    for name, number in (("2", "10"), ("1", "2")):
        dump = json.loads(Path(dumps, f"{name}.json").read_text("utf-8"))
        Path(dumps, f"{name}.json").unlink()
        Path(dumps, f"dump-{number}{suffix}").write_text(json.dumps(dump), encoding="utf-8")
    assert call("watch", dumps).stdout == printed


def test_no_decision_waits_for_long_trees(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Given] = []

    def noted(state: AnyState, given: Given) -> AnyPlanning:
        asked.append(given)
        return start(state, given)

    monkeypatch.setattr("planner.commands.audit.judge.start", noted)
    assert call("watch", dumps).exit_code == 0
    assert {one.certify for one in asked} == {"brief"}


def test_what_does_not_go_together(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for option in ("--record", "--context", "--namespace", "--interval", "--resync", "--for"):
        done = call("watch", dumps, option, "7")
        assert (done.exit_code, f"{option} is for a cluster" in done.stderr) == (2, True)
    with monkeypatch.context() as environment:
        environment.setenv("PLANNER_WATCH_RECORD", str(dumps / "x"))
        told(call("watch", dumps).stderr)
    for option in ("--interval", "--resync"):  # it would look, or read everything, all the time
        told(call("watch", option, "0").stderr)
    for text in ("9100", ":x", ":70000", ":-1"):
        assert call("watch", dumps, "--metrics", text).exit_code == 2
    assert address(":9100") == ("127.0.0.1", 9100)
    assert address("[::]:1") == ("::", 1)


def test_without_the_library(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    told(refused("watch", dumps, "--metrics", ":0"))


def counted(dumps: Path) -> Figures:
    figures = Figures()
    for line in call("watch", dumps, "--format", "jsonl").stdout.splitlines():
        figures.count(Watched.model_validate_json(line).root)
    return figures


def test_figures(dumps: Path) -> None:
    values = {metric.name: value for (metric, _), value in counted(dumps).values.items()}
    assert values["preemption_planner_evictions_total"] == 4
    assert values["preemption_planner_needless_victims_total"] == 0
    lost, excess = (
        values[f"preemption_planner_{one}_gpu_hours_total"] for one in ("lost", "excess")
    )
    assert lost > excess > 0


@pytest.mark.parametrize(("least_s", "saved_h"), [(1800, 0.5), (3600, 0), (9000, 0)])
def test_nothing_is_saved_where_the_optimum_loses_more(least_s: int, saved_h: float) -> None:
    """A level before lost work, such as priority, may make it lose more; a counter only grows."""
    facts: dict[str, object] = {"victims": ("ns/a",), "status": "optimal", "seconds": 0}
    measured = Measured.model_validate(facts | {"lost_s": 3600, "least_lost_s": least_s})
    happened: dict[str, object] = {"at": "2026-05-01T13:00:00Z", "preemptor": "ns/p", "queue": "q"}
    happened |= {"outcome": "equal", "evicted": ("ns/a",), "measured": measured}
    figures = Figures()
    figures.count(Preemption.model_validate(happened))
    assert figures.values[EXCESS, ("q",)] == saved_h


def test_figures_are_served(dumps: Path) -> None:
    pytest.importorskip("prometheus_client")
    port = serve(counted(dumps), "127.0.0.1", 0)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        text = page.read().decode()
    assert 'preemption_planner_preemptions_total{outcome="equal",queue="lender"} 1.0' in text
    assert f"{CONNECTED.name} 0.0" in text
    assert {metric.name for metric in METRICS} <= set(
        re.findall(r"^(preemption_\w+)", text, re.MULTILINE)
    )


@pytest.mark.parametrize("file", [PAGE, DASHBOARD], ids=lambda one: one.name)
def test_page_and_dashboard_have_all_figures_by_their_names(file: Path) -> None:
    named = set(re.findall(r"preemption_planner_\w+", file.read_text("utf-8")))
    assert named == {metric.name for metric in METRICS}


def test_dashboard_is_one() -> None:
    value: Object = json.loads(DASHBOARD.read_text("utf-8"))
    assert len({panel["id"] for panel in value["panels"]}) == len(value["panels"])
    assert all(target["expr"] for panel in value["panels"] for target in panel["targets"])


@real_kubectl
def test_the_real_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    items = versioned([*cluster()["items"], CONFIGURATION, MANAGER])
    monkeypatch.setattr(kueue_dump, "RESOURCES", NEEDED)
    with served(items, tmp_path) as config:
        done = call("watch", "--kubeconfig", config, "--for", "0.1", "--interval", "0.1")
    assert done.exit_code == 0, done.stderr
    note, decision = done.stdout.splitlines()
    assert "read: 6 workloads" in note
    assert "fewest=1" in decision
