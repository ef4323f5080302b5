"""The command, its manifests, and the fail-safe, which needs no planner."""

import copy
import json
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.operations.cli import kueue_steer
from planner.operations.kubectl import kueue_dump
from planner.operations.kubectl.watch import Streams, WatchEvent
from planner.operations.steer.kueue.loop import Cluster
from planner.operations.steer.kueue.marks import BLOCKED, GATE
from planner.operations.steer.record import SteerFigures, Steering
from planner.operations.watch.endpoint import serve
from tests.cli.running import call, environment
from tests.cluster import Object
from tests.conftest import ROOT
from tests.operations.kubectl.served import NEEDED, served, versioned
from tests.operations.steer.test_one_preemptor import blocked
from tests.operations.steer.world import World, gated, workload
from tests.published import validator
from tests.told import told

real_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
DEPLOYED = ROOT / "deploy" / "steer" / "steer.yaml"
MIN_LOST = ("--objective", "min-lost-work")
GUIDE = ROOT.joinpath("docs", "how-to", "steer" + ".md")


def manifests(*version: str) -> list[Object]:
    done = call("steer", "--manifests", *version)
    assert done.exit_code == 0, done.stderr
    return [*yaml.safe_load_all(done.stdout)]


def test_what_is_printed_is_what_is_deployed() -> None:
    assert call("steer", "--manifests").stdout == DEPLOYED.read_text("utf-8")
    for version in ("v1", "v1beta1", "v1alpha1"):
        policies = [one for one in manifests(version) if "MutatingAdmission" in one["kind"]]
        assert [one["apiVersion"] for one in policies] == [
            f"admissionregistration.k8s.io/{version}"
        ] * 2
    assert call("steer", "--manifests", "v2").exit_code == 2


def test_the_set_up_is_json_where_that_is_asked_for() -> None:
    done = call("steer", "--manifests", "v1beta1", "--format", "jsonl")
    assert [*map(json.loads, done.stdout.splitlines())] == manifests("v1beta1")


def test_the_set_up_has_names_of_its_own() -> None:
    others = [*yaml.safe_load_all((ROOT / "deploy" / "base" / "rights.yaml").read_text("utf-8"))]
    taken = {(one["kind"], one["metadata"]["name"]) for one in others if "Cluster" in one["kind"]}
    ours = {(one["kind"], one["metadata"]["name"]) for one in manifests()}
    assert not taken & ours
    policy = next(one for one in manifests() if one["kind"] == "MutatingAdmissionPolicy")
    assert policy["spec"]["failurePolicy"] == "Ignore"
    assert GATE in json.dumps(policy["spec"]["mutations"])


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> World:
    world = blocked(until_s=10, ending=KeyboardInterrupt)
    cluster = Cluster(world, world.take, {}, world.hands)
    monkeypatch.setattr(kueue_steer, "cluster_of", lambda *_: cluster)
    return world


def test_lines_follow_their_schema(direct: World) -> None:
    done = call("steer", *MIN_LOST, "--format", "jsonl")
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for one in lines:
        validator("steer").validate(one)
    acts = [one.get("act") or one["kind"] for one in lines]
    assert acts == ["note", "plan", "boost", "open", "steered", "take back"]
    assert direct.first_decisions() == {"ns/first": {"ns/saved"}}


def test_it_plans_as_solve_does_unless_told_otherwise(direct: World) -> None:
    assert call("steer").exit_code == 0
    assert direct.first_decisions()


def test_a_queue_that_is_not_there_is_told(direct: World) -> None:
    """As one that is misspelt: Kueue chooses by itself everywhere then."""
    printed = call("steer", "--queue", "nowhere").stdout
    assert printed.count("there is no ClusterQueue nowhere: nothing is planned for it") == 1
    assert direct.acts("boost") == []


def test_lines_to_read(direct: World) -> None:
    printed = call("steer", *MIN_LOST).stdout
    assert "boosts=ns/saved:-1" in printed
    assert "came=exact" in printed
    assert direct.boosts() == {}


def test_check_and_release(direct: World) -> None:
    check = call("steer", "--check", "--format", "jsonl")
    assert check.exit_code == 1  # no API server says that it serves the policy
    for line in check.stdout.splitlines():
        validator("steer").validate(json.loads(line))
    assert "missing" in call("steer", "--check").stdout
    done = call("steer", "--release")
    assert (done.exit_code, direct.closed()) == (0, [])
    assert "1 workloads" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--release", "--dry-run"),
        ("--release", "--check"),
        ("--manifests", "--release"),
        ("--manifests", "--check"),
    ],
)
def test_what_changes_nothing_goes_not_with_what_does(direct: World, options: list[str]) -> None:
    """The gate stays closed: whoever says --dry-run or --check does not want it taken away."""
    done = call("steer", *options)
    assert (done.exit_code, done.stdout, direct.closed()) == (2, "", ["ns/first"])
    told([done.stderr])


@pytest.mark.usefixtures("direct")
def test_figures() -> None:
    prometheus = pytest.importorskip("prometheus_client")
    del prometheus
    figures = SteerFigures()
    done = call("steer", *MIN_LOST, "--format", "jsonl")
    for line in done.stdout.splitlines():
        figures.count(Steering.model_validate_json(line).root)
    values = {(metric.name, labels): value for (metric, labels), value in figures.values.items()}
    assert values["preemption_planner_steer_decisions_total", ("lender", "exact")] == 1
    assert values["preemption_planner_steer_spared_gpu_hours_total", ("lender",)] > 0
    assert serve(figures, "127.0.0.1", 0)
    page = GUIDE.read_text("utf-8")
    assert all(f"`{metric.name}`" in page for metric in SteerFigures.metrics)


# Behind the real kubectl.


def fail_safe() -> list[str]:
    (job,) = (one for one in manifests() if one["kind"] == "CronJob")
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    command: list[str] = container["command"]
    return command


def stuck(name: str, seconds: int, **status: Any) -> Object:
    """Return a workload that is blocked on our gate for so long."""
    found = gated(workload(name, "lender", 4, 10))
    since = datetime.now(UTC) - timedelta(seconds=seconds)
    stamp = f"{since:%Y-%m-%dT%H:%M:%SZ}"
    condition = {"type": BLOCKED, "status": "True", "lastTransitionTime": stamp}
    found["status"] = {"conditions": [condition], **status}
    return found


@real_kubectl
def test_the_fail_safe_opens_what_is_blocked_for_long(tmp_path: Path) -> None:
    opened = stuck("opened", 600, preemptionGates=[{"name": GATE, "position": "Open"}])
    closed = stuck("closed", 600, preemptionGates=[{"name": GATE, "position": "Closed"}])
    closed["spec"]["preemptionGates"].insert(0, {"name": "other"})
    calm = gated(workload("calm", "lender", 4, 10))
    old = stuck("old", 600)
    items = versioned([stuck("new", 30), old, opened, closed, calm])
    with served(items, tmp_path) as config:
        done = subprocess.run(
            fail_safe(),
            env=environment({"KUBECONFIG": str(config), "BLOCKED_S": "120", "HOME": str(tmp_path)}),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    gates = {
        one["metadata"]["name"]: [gate["name"] for gate in one["spec"]["preemptionGates"]]
        for one in items
    }
    assert gates == {
        **{name: [GATE] for name in ("new", "opened", "calm")},
        "old": [],
        "closed": ["other"],
    }


@real_kubectl
def test_kubectl_kustomizes_it() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", str(DEPLOYED.parent)],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    found = {(one["kind"], one["metadata"]["name"]) for one in yaml.safe_load_all(done.stdout)}
    assert found == {(one["kind"], one["metadata"]["name"]) for one in manifests()}


@real_kubectl
def test_steering_by_the_real_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    world = blocked()
    items = world.items
    log: list[tuple[str, Object]] = []

    def after(kind: str, item: Object) -> None:
        log.append(("MODIFIED", copy.deepcopy(item)))
        if kind == "Workload":
            world.written.append(item["metadata"]["name"])

    poll = Streams.poll

    def until_opened(streams: Streams, timeout_s: float) -> Sequence[WatchEvent]:
        if "first" in world.written:
            raise KeyboardInterrupt
        return poll(streams, timeout_s)

    monkeypatch.setattr(Streams, "poll", until_opened)
    monkeypatch.setattr(kueue_dump, "RESOURCES", NEEDED)
    with served(items, tmp_path, after=after, log=log) as config:
        done = call("steer", "--kubeconfig", config, "--patience", "none", *MIN_LOST)
    assert done.exit_code == 0, done.stderr
    assert world.written[:2] == ["saved", "first"]
    assert world.closed() == []
