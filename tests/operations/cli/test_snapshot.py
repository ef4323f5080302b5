"""``planner snapshot`` and ``kubectl preemption-plan``: from a stand-in for kubectl to a plan."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from planner.operations.cli.kueue_plugin import PROGRAM, build
from planner.operations.kubectl import kueue_dump
from planner.reader.settings import TAKEN_AT, written
from tests.cli.running import another_pending, call, cluster, environment, refused
from tests.conftest import FOR_EVER_S, QUICKSTART, ROOT
from tests.kueue_state import read
from tests.stand_in import StandIn, forbidden, no_such_type
from tests.told import told

Serve = Callable[[list[dict[str, Any]]], StandIn]
TakenAt = Callable[[datetime], None]
WITH_CONFIG_MAP = ROOT / "instances" / "fair-sharing" / "configmap.yaml"
REAL_KUBECTL = shutil.which("kubectl")


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Give a function that puts a kubectl on PATH which serves some objects."""

    def put(objects: list[dict[str, Any]]) -> StandIn:
        stand_in = StandIn.make(tmp_path / "bin", objects)
        monkeypatch.setenv("PATH", str(stand_in.folder))
        return stand_in

    return put


@pytest.fixture
def taken_at(monkeypatch: pytest.MonkeyPatch) -> TakenAt:
    """Give a function that sets the clock by which snapshots are taken."""

    def put(moment: datetime) -> None:
        monkeypatch.setattr(kueue_dump, "present", lambda: moment)

    return put


def plugin(*args: str | Path, env: dict[str, str] | None = None) -> Result:
    """Run the plugin inside this process."""
    words = [str(arg) for arg in args]
    return CliRunner().invoke(build(), words, env=env, prog_name=PROGRAM)


def objects_of(path: Path) -> list[dict[str, Any]]:
    """Read the objects of an example."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        items: list[dict[str, Any]] = json.loads(text)["items"]
        return items
    return list(yaml.safe_load_all(text))


def plan_of(text: str) -> dict[str, Any]:
    """Return a plan without what depends on where and when it was made."""
    plan: dict[str, Any] = json.loads(text)
    del plan["certificate"]["wall_time_s"], plan["certificate"]["digest"]
    return plan


def test_dump_on_standard_output_counts_on_standard_error(serve: Serve) -> None:
    serve(cluster()["items"])
    result = call("snapshot")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["kind"] == "List"
    told(result.stderr)


def test_plan_is_that_of_the_original(serve: Serve, taken_at: TakenAt, tmp_path: Path) -> None:
    serve(objects_of(WITH_CONFIG_MAP))
    taken_at(read(WITH_CONFIG_MAP).now)
    original = call("solve", WITH_CONFIG_MAP, "--format", "json")
    taken = tmp_path / "taken.json"
    assert call("snapshot", "-o", taken).stdout == ""
    by_file = call("solve", taken, "--format", "json")
    by_plugin = plugin("--format", "json")
    assert original.exit_code == by_file.exit_code == by_plugin.exit_code == 0
    first, second, third = map(plan_of, (original.stdout, by_file.stdout, by_plugin.stdout))
    assert second == third
    for plan in (first, second):  # the stand-in has a Configuration, which the file lacks
        plan.pop("notes")
    assert first == second
    assert plan_of(original.stdout)["victims"]
    digests = {json.loads(each.stdout)["certificate"]["digest"] for each in (by_file, by_plugin)}
    assert digests == {sha256(taken.read_bytes()).hexdigest()}


def test_a_live_cluster_is_planned_at_the_time_of_its_snapshot(
    serve: Serve, taken_at: TakenAt, tmp_path: Path
) -> None:
    """Nothing has changed there for ten days, and everybody ran on."""
    serve(objects_of(QUICKSTART))
    before = read(QUICKSTART).now
    later = before + timedelta(days=10, hours=1)
    taken_at(later)
    file = tmp_path / "taken.json"
    assert call("snapshot", "-o", file).exit_code == 0
    head = json.loads(file.read_text())["metadata"]
    assert head == {"annotations": {TAKEN_AT: written(later)}}
    result = call("solve", file, "--format", "json")
    plan = json.loads(result.stdout)
    assert plan["now"] == written(later)
    told(result.stderr)
    assert min(one["age_s"] for one in plan["victims"]) > timedelta(days=10).total_seconds()
    given = plugin("--format", "json", "--now", written(before))
    assert json.loads(given.stdout)["now"] == written(before)
    assert "older than the snapshot" not in given.stderr


def test_a_machine_that_is_behind_the_cluster_says_so(serve: Serve, taken_at: TakenAt) -> None:
    serve(objects_of(QUICKSTART))
    newest = read(QUICKSTART).now
    taken_at(newest - timedelta(minutes=5))
    result = plugin("--format", "json")
    assert json.loads(result.stdout)["now"] == written(newest)
    told(result.stderr)


def test_pipe(serve: Serve) -> None:
    """As ``planner snapshot | planner solve -``."""
    serve(cluster()["items"])
    solved = call("solve", "-", "--format", "json", stdin=call("snapshot").stdout)
    assert [each["workload"] for each in json.loads(solved.stdout)["victims"]] == ["ns/big"]


def test_options_reach_kubectl(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stand_in = serve(cluster()["items"])
    hostile = "$(touch x); y"
    given = ["--context", hostile, "--kubeconfig", "a b", "--as", "ada", "--request-timeout", "9s"]
    result = call("snapshot", *given, "--namespace", "ns")
    assert result.exit_code == 0
    handed = [f"--context={hostile}", "--kubeconfig=a b", "--request-timeout=9s", "--as=ada"]
    assert all(handed == [one for one in words if one in handed] for words in stand_in.calls())
    assert ["--namespace=ns" in words for words in stand_in.calls()].count(True) == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["--context", "--kubeconfig", "-n", "--configuration"])
def test_value_that_looks_like_an_option(serve: Serve, name: str) -> None:
    stand_in = serve([])
    assert refused("snapshot", name, "--server=https://evil.example").startswith("error: --")
    assert stand_in.calls() == []


def test_nothing_is_written_after_an_error(serve: Serve, tmp_path: Path) -> None:
    stand_in = serve(cluster()["items"])
    stand_in.answer("limitranges", code=1, said=forbidden("limitranges"))
    taken = tmp_path / "taken.json"
    taken.write_text("before", encoding="utf-8")
    said = refused("snapshot", "-o", taken)
    told(said)
    assert taken.read_text(encoding="utf-8") == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "taken.json"}
    assert call("snapshot", "-o", taken, "--without", "limitranges").exit_code == 0
    assert json.loads(taken.read_text(encoding="utf-8"))["items"]


def test_folder_is_looked_for_before_anything_is_asked(serve: Serve, tmp_path: Path) -> None:
    stand_in = serve(cluster()["items"])
    assert call("snapshot", "-o", tmp_path / "nonesuch" / "taken.json").exit_code == 2
    assert stand_in.calls() == []


def test_older_kueue_is_a_warning(serve: Serve) -> None:
    items = [item for item in cluster()["items"] if item["kind"] != "Cohort"]
    stand_in = serve(items)
    cohorts = "cohorts.kueue.x-k8s.io"
    stand_in.answer(cohorts, code=1, said=no_such_type(cohorts))
    result = call("snapshot")
    assert result.exit_code == 0
    told(result.stderr)
    assert "cohorts," not in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("run", [plugin, lambda *words: call("snapshot", *words)])
def test_errors_are_one_message(serve: Serve, run: Callable[..., Result]) -> None:
    stand_in = serve(cluster()["items"])
    stand_in.answer("workloads.kueue.x-k8s.io", code=1, said="error: \x1b[2Jno\n")
    result = run()
    assert result.exit_code == 2
    assert result.stdout == ""
    told(result.stderr)
    assert "\x1b" not in result.stderr
    stand_in.answer("workloads.kueue.x-k8s.io", prints="{}")
    assert run("--max-size", "1").exit_code == 2
    assert run("--timeout", "0").exit_code == 2
    assert run("--timeout", "soon").exit_code == 2
    assert run("--without", "workloads").exit_code == 2


def test_no_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told(refused("snapshot"))


def test_environment_variables(serve: Serve) -> None:
    stand_in = serve(cluster()["items"])
    variables = {"PLANNER_CONTEXT": "a", "PLANNER_SNAPSHOT_KUBECONFIG": "b"}
    assert call("snapshot", env=variables).exit_code == 0
    assert plugin(env={**variables, "PLANNER_OBJECTIVE": "min-count"}).exit_code == 0
    handed = ["--context=a", "--kubeconfig=b"]
    assert all(handed == [one for one in words if one in handed] for words in stand_in.calls())


def test_plugin_takes_the_options_of_both(serve: Serve, tmp_path: Path) -> None:
    stand_in = serve(cluster(another_pending("other"))["items"])
    result = plugin("--context", "c", "--objective", "min-count", "--all", "--format", "json")
    assert result.exit_code == 0
    pending = [plan["preemptor"] for plan in json.loads(result.stdout)["plans"]]
    assert pending == ["ns/pending", "ns/other"]
    assert all("--context=c" in words for words in stand_in.calls())
    written = tmp_path / "plan.json"
    assert plugin("--pending", "ns/other", "--format", "json", "-o", written).stdout == ""
    assert json.loads(written.read_text(encoding="utf-8"))["preemptor"] == "ns/other"


def test_plugin_prints_as_kubectl_does(serve: Serve, tmp_path: Path) -> None:
    serve(cluster(another_pending("other"))["items"])
    whole = json.loads(plugin("-A", "-o", "json").stdout)
    assert [plan["preemptor"] for plan in whole["plans"]] == ["ns/pending", "ns/other"]
    again = yaml.safe_load(plugin("-A", "-o", "yaml").stdout)
    assert [plan["preemptor"] for plan in again["plans"]] == ["ns/pending", "ns/other"]
    assert again.keys() == whole.keys()
    victims = [one["workload"] for plan in whole["plans"] for one in plan["victims"]]
    names = [f"workload.kueue.x-k8s.io/{key.partition('/')[2]}" for key in dict.fromkeys(victims)]
    assert names
    usual = plugin("-A", "-o", "name", env={"PLANNER_FORMAT": "plain"})  # for who says nothing
    assert usual.stdout.splitlines() == names
    wide = plugin("--pending", "ns/other", "-o", "wide").stdout
    assert " PROVED OPTIMAL\n" in wide
    assert "CERTIFICATE" in wide
    file = tmp_path / "plan.html"
    plugin("--pending", "ns/other", "-o", file)
    assert file.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-A", "-n", "ns"), "-A goes not with -n"),
        (("-o", "yaml", "--format", "json"), "--format goes not with -o yaml"),
        (
            ("-o", "name", "--objective", "pareto:workloads,lost_work"),
            "-o name lists victims of plans",
        ),
    ],
)
def test_what_goes_not_together_as_kubectl_prints(
    serve: Serve, words: tuple[str, ...], said: str
) -> None:
    serve(cluster()["items"])
    result = plugin(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_pending_workload_in_the_namespace_that_was_given(serve: Serve) -> None:
    serve(cluster(another_pending("other"))["items"])
    result = plugin("-n", "ns", "--pending", "other", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["preemptor"] == "ns/other"


def test_plugin_has_the_exit_codes_of_solve(serve: Serve) -> None:
    serve(cluster(asks=100)["items"])
    assert plugin().exit_code == 3
    assert plugin("--pending", "ns/nonesuch").exit_code == 2
    assert plugin("--nonesuch").exit_code == 2


def test_usage_is_looked_at_before_anything_is_asked(serve: Serve) -> None:
    stand_in = serve(cluster()["items"])
    assert plugin("--all", "--pending", "ns/pending").exit_code == 2
    assert stand_in.calls() == []


def test_help_of_the_plugin() -> None:
    result = plugin("--help")
    assert result.exit_code == 0
    for name in ("--context", "--kubeconfig", "--pending", "--objective", "--format", "--debug"):
        assert name in result.stdout
    assert "kubectl preemption-plan --pending team-a/train-llm" in result.stdout


def test_name_of_the_script_is_what_kubectl_looks_for() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts["kubectl-preemption_plan"] == "planner.operations.cli.kueue_plugin:main"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Put the plugin on PATH of the real kubectl, and a cluster that does not answer."""
    if REAL_KUBECTL is None:
        pytest.skip("no kubectl on PATH")
    script = tmp_path / "kubectl-preemption_plan"
    start = "from planner.operations.cli.kueue_plugin import main; main()"
    script.write_text(f"#!{sys.executable}\n{start}\n", encoding="utf-8")
    script.chmod(0o755)
    config = tmp_path / "config"
    server = {"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "none", "context": {"cluster": "none", "user": ""}}
    value = {"clusters": [server], "contexts": [context], "current-context": "none"}
    config.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **value}), "utf-8")
    others = os.environ["PATH"].split(os.pathsep)
    others = [each for each in others if not Path(each, script.name).exists()]  # kubectl warns
    path = os.pathsep.join((str(tmp_path), *others))
    return environment({"PATH": path, "KUBECONFIG": str(config), "HOME": str(tmp_path)})


def real_kubectl(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the real program, with no cluster to ask."""
    return subprocess.run(
        [str(REAL_KUBECTL), *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=FOR_EVER_S,
        check=False,
    )


def test_runs_the_plugin(env: dict[str, str]) -> None:
    done = real_kubectl("preemption-plan", "--help", env=env)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: kubectl preemption-plan [OPTIONS]")


def test_nobody_answers(env: dict[str, str]) -> None:
    done = real_kubectl("preemption-plan", "--timeout", str(FOR_EVER_S), env=env)
    assert done.returncode == 2
    assert done.stdout == ""
    (first, hint) = done.stderr.splitlines()
    assert first.startswith("error: kubectl get workloads.kueue.x-k8s.io: failed: The connecti")
    assert "127.0.0.1:1 was refused" in first
    assert "kubectl cluster-info" in hint


def test_unknown_context(env: dict[str, str]) -> None:
    done = real_kubectl("preemption-plan", "--context", "nope", env=env)
    assert done.returncode == 2
    assert "kubectl config get-contexts" in done.stderr
