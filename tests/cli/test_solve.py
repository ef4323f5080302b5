"""``planner solve`` on a small cluster: every option, every format, every exit code."""

import json
import re
import shlex
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from planner import api
from planner.errors import InputError
from planner.plan.kueue import Plan
from tests.cli.running import (
    BIG,
    SMALL,
    UNHURRIED,
    another_pending,
    call,
    cluster,
    refused,
    valid,
    write,
)
from tests.cluster import NOW
from tests.report.factory import make_greedy, make_plan
from tests.told import told


def solved(path: Path, *options: str | Path) -> dict[str, Any]:
    """Run solve and return the JSON plan."""
    result = call("solve", path, "--format", "json", "--now", NOW, *options)
    assert result.exit_code in {0, 3, 4, 5}, result.stderr
    plan: dict[str, Any] = valid("plan", result.stdout)
    return plan


def without_time(text: str) -> str:
    """Leave out how long the solver took."""
    return re.sub(r"seconds=[0-9.]+", "", text)


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """Give a cluster with two more workloads that wait, of which one fits never."""
    parts = another_pending("second", amount=2), another_pending("huge", amount=100)
    return write(tmp_path, cluster(*parts))


def test_plan_beats_the_scheduler(dump: Path) -> None:
    plan = solved(dump)
    assert plan["status"] == "optimal"
    assert [victim["workload"] for victim in plan["victims"]] == [BIG]
    assert {victim["workload"] for victim in plan["greedy"]["victims"]} == set(SMALL)
    assert plan["now"] == NOW


def test_plain_text_is_the_default_where_there_is_no_terminal(dump: Path) -> None:
    plain = call("solve", dump, "--format", "plain").stdout
    assert without_time(call("solve", dump).stdout) == without_time(plain)


def test_where_there_is_no_plan_the_way_on_can_be_pasted(tmp_path: Path) -> None:
    state = write(tmp_path, cluster(asks=9), "the cluster.json")
    said = f"note: planner explain '{state}' --pending ns/pending says what is in the way\n"
    told(call("solve", state).stderr)
    words = shlex.split(said.removeprefix("note: planner ").partition(" says")[0])
    assert call(*words).exit_code == 3
    # What came from standard input cannot be asked again, and a plan needs no way on.
    assert "explain" not in call("solve", "-", stdin=json.dumps(cluster(asks=9))).stderr
    assert "explain" not in call("solve", write(tmp_path, cluster())).stderr


@pytest.mark.parametrize(
    ("words", "way_on"),
    [
        (("--stable",), None),
        (("--flavors", "optimal"), None),
        (("--certify", "--format", "json"), ""),
        (("--objective", "pareto:D2,D4", "--kueue-release", "0.18.6"), "--kueue-release 0.18.6"),
        (("--all", "--objective", "min-count"), "--objective min-count"),
        (("--now", "2026-05-01T14:00:00+02:00"), "--now 2026-05-01T12:00:00Z"),
        (("--time-limit", "none", "--max-size", "1M"), "--time-limit none --max-size 1000000"),
        (("--requests", "recorded"), "--requests recorded"),
    ],
)
def test_the_way_on_asks_the_same(
    tmp_path: Path, words: tuple[str, ...], way_on: str | None
) -> None:
    state = write(tmp_path, cluster(asks=9))
    result = call("solve", state, *words)
    assert result.exit_code == 3
    if way_on is None:
        assert "explain" not in result.stderr
    else:
        said = f"{state} --pending ns/pending {way_on}".strip()
        told(result.stderr)
        assert call("explain", *shlex.split(said)).exit_code == 3


def own_work(victims: list[dict[str, Any]]) -> float:
    """Return the accelerator-hours of work that victims lose, without their restarts."""
    seconds: int = sum(one["costs"]["lost_work"] for one in victims)
    return seconds / 3600


def test_all_ends_with_an_overview(crowd: Path) -> None:
    screen = call("solve", crowd, "--all", "--format", "table").stdout
    _, _, last = screen.rpartition("\n\n Overview  ")
    told(last)
    rows = [line.split() for line in last.splitlines() if line.startswith(" ns/")]
    assert [(row[0], *row[1:-4]) for row in rows] == [
        ("ns/pending", "Proved", "optimal"),
        ("ns/second", "Proved", "optimal"),
        ("ns/huge", "Proved", "infeasible"),
    ]
    plans = [solved(crowd, "--pending", row[0]) for row in rows]
    ours = [str(len(one["victims"])) if one["status"] == "optimal" else "-" for one in plans]
    theirs = [str(len(one["greedy"]["victims"])) for one in plans]
    assert [row[-4:-2] for row in rows] == list(map(list, zip(ours, theirs, strict=True)))
    whole = json.loads(call("solve", crowd, "--all", "--format", "json").stdout)["plans"]
    lost = [f"{own_work(one['greedy']['victims']):.2f}" for one in whole]
    assert [row[-1] for row in rows] == lost  # as above it, where each plan stands
    assert "Overview" not in call("solve", crowd, "--pending", "ns/second").stdout


def test_nothing_to_evict(tmp_path: Path) -> None:
    dump = cluster()
    dump["items"] = [item for item in dump["items"] if item["metadata"]["name"] != "big"]
    result = call("solve", write(tmp_path, dump), "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["victims"] == []


def test_several_pending_workloads_are_listed(crowd: Path) -> None:
    result = call("solve", crowd)
    assert result.exit_code == 2
    assert result.stdout == ""
    for name in ("ns/pending", "ns/second", "ns/huge", "--pending", "--all"):
        assert name in result.stderr


def test_one_of_several(crowd: Path) -> None:
    plan = solved(crowd, "--pending", "ns/second")
    assert plan["preemptor"] == "ns/second"
    told(refused("solve", crowd, "--pending", "ns/nobody"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ns/job-train-0a1b2", "ns/job-train-0a1b2"),
        ("job-train-0a1b2", "ns/job-train-0a1b2"),
        ("ns/train", "ns/job-train-0a1b2"),
        ("train", "ns/job-train-0a1b2"),
        ("ns/eval-train", "ns/pytorchjob-eval-train-99999"),
        ("pending", "ns/pending"),  # a name goes before a job's
    ],
)
def test_a_workload_is_found_by_its_job(tmp_path: Path, name: str, found: str) -> None:
    names = ("job-train-0a1b2", "pytorchjob-eval-train-99999", "job-pending-12345")
    state = write(tmp_path, cluster(*(another_pending(one) for one in names)))
    assert solved(state, "--pending", name)["preemptor"] == found


@pytest.mark.parametrize(
    "name",
    [
        "ns/twice",
        "twice",
        "other/pending",
        "ns/train-0a1b",
        "ns/.*",
        "big",
        "ns/job-train-0a1",
        "rayjob",
    ],
)
def test_a_job_that_is_not_found(tmp_path: Path, name: str) -> None:
    names = ("job-twice-12345", "rayjob-twice-0a1b2", "job-train-0a1b2")
    state = write(tmp_path, cluster(*(another_pending(one) for one in names)))
    told(refused("solve", state, "--pending", name))


def test_all_goes_on_after_an_error(crowd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = api.solve

    @wraps(solve)
    def failing(*given: Any, **named: Any) -> Any:
        if named["pending"] == "ns/second":
            raise InputError("cluster.json", "ns/second cannot be planned for")
        return solve(*given, **named)

    monkeypatch.setattr(api, "solve", failing)
    result = call("solve", crowd, "--all", "--format", "json")
    value = valid("plans", result.stdout)
    assert [(plan["preemptor"], plan["status"]) for plan in value["plans"]] == [
        ("ns/pending", "optimal"),
        ("ns/huge", "infeasible"),
    ]
    assert result.exit_code == 2
    told(result.stderr)


def test_all_of_none(tmp_path: Path) -> None:
    dump = cluster()
    dump["items"] = [item for item in dump["items"] if item["metadata"]["name"] != "pending"]
    path = write(tmp_path, dump)
    result = call("solve", path, "--all", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["plans"] == []
    told(result.stderr)
    assert call("solve", path).exit_code == 2


def test_costs_decide(dump: Path, tmp_path: Path) -> None:
    costs = write(tmp_path, {BIG: 100, SMALL[0]: 0}, "costs.json")
    plan = solved(dump, "--objective", "min-cost", "--costs", costs)
    assert {victim["workload"] for victim in plan["victims"]} == set(SMALL)
    assert plan["terms"]["cost"] == 3
    by_pipe = ("--objective=min-cost", "--costs=-", "--format=json")
    piped = call("solve", dump, *by_pipe, stdin=costs.read_text()).stdout
    assert json.loads(piped)["terms"]["cost"] == 3
    table = call("solve", dump, "--objective=min-cost", "--costs", costs, "--format=table").stdout
    assert "Cost" in table


@pytest.mark.parametrize("name", ["costs.json", "costs.yaml"])
def test_one_workload_has_one_cost(dump: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    line = '{"ns/big": 1, "ns/big": 9}' if name.endswith("json") else "ns/big: 1\nns/big: 9\n"
    file.write_text(line, encoding="utf-8")
    told(refused("solve", dump, "--objective", "min-cost", "--costs", file))


@pytest.mark.parametrize(
    "costs",
    [
        {BIG: -1},
        {BIG: 1.5},
        {BIG: True},
        {BIG: "7"},
        {BIG: 2**63},
        {"ns/typo": 1},
        {"big": 1},
        [1],
        "text",
    ],
)
def test_wrong_costs(dump: Path, tmp_path: Path, costs: object) -> None:
    file = write(tmp_path, costs, "costs.json")
    said = refused("solve", dump, "--objective", "min-cost", "--costs", file)
    assert said.startswith(f"error: {file}: ")
    told(said)


@pytest.mark.parametrize("option", ["--costs", "--assignment"])
@pytest.mark.parametrize("text", ["{", "", "{}\n{}", "\0\0", "[" * 100_000])
def test_broken_files(dump: Path, tmp_path: Path, option: str, text: str) -> None:
    file = tmp_path / "costs.json"
    file.write_text(text, encoding="utf-8")
    result = call("solve", dump, option, file)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {file}: ")
    told(result.stderr)
    for missing in (tmp_path / "nonesuch", tmp_path):
        assert refused("solve", dump, option, missing).startswith(f"error: {missing}: ")


def test_a_plan_s_assignment_can_be_given(dump: Path, tmp_path: Path) -> None:
    plan = solved(dump)
    file = write(tmp_path, plan["assignment"], "flavors.json")
    assert solved(dump, "--assignment", file)["victims"] == plan["victims"]
    short = write(tmp_path, {"main": {"gpu": {"flavor": "default"}}}, "short.json")
    assert solved(dump, "--assignment", short)["victims"] == plan["victims"]


@pytest.mark.parametrize(
    "assignment",
    [
        {"podSets": [{"name": "other"}]},
        {"main": {}},
        {"main": {"gpu": {"flavor": 3}}},
        {"main": {"gpu": {"flavor": "default", "mode": "Never"}}},
        {"podSets": 3},
        {"main": {"gpu": "default"}},
        {"main": {"gpu": {"flavour": "default"}}},
        {"main": {"gpu": {"flavor": "defaut"}}},
    ],
)
def test_wrong_assignment(dump: Path, tmp_path: Path, assignment: object) -> None:
    file = write(tmp_path, assignment, "flavors.json")
    said = refused("solve", dump, "--assignment", file)
    assert said.startswith(f"error: {file}: ")
    told(said)


def test_a_workload_without_a_queue_and_nothing_pending(tmp_path: Path) -> None:
    value = cluster()
    ours = next(one for one in value["items"] if one["metadata"]["name"] == "pending")
    ours["spec"]["queueName"] = ""
    result = call("solve", write(tmp_path, value))
    assert result.exit_code == 2
    told(result.stderr)
    for joint in ((), ("--joint", "--all")):
        ours["spec"]["queueName"] = "lendr"
        said = refused("solve", write(tmp_path, value), *joint)
        told(said)
        assert "\\n" not in said
        assert joint or 'hint: did you mean "ns/lender"?' in said
    value["items"].remove(ours)
    said = refused("solve", write(tmp_path, value))
    told(said)


@pytest.mark.parametrize("joint", [(), ("--joint", "--all")])
def test_where_nothing_is_pending_deactivated_workloads_are_named(
    tmp_path: Path, joint: tuple[str, ...]
) -> None:
    value = cluster()
    ours = next(one for one in value["items"] if one["metadata"]["name"] == "pending")
    ours["spec"]["active"] = False
    evicted = {"type": "Evicted", "status": "True", "reason": "DeactivatedDueToRequeuingLimit"}
    ours["status"] = {"conditions": [evicted | {"message": "too often"}]}
    said = refused("solve", write(tmp_path, value), *joint)
    assert "ns/pending is deactivated (spec.active is false)" in said
    assert "(DeactivatedDueToRequeuingLimit: too often)" in said


def test_size_limit(dump: Path) -> None:
    assert "more than" in refused("solve", dump, "--max-size", "1k")
    assert call("solve", dump, "--max-size", "1Mi").exit_code == 0


def test_verbose_counts_what_was_ignored(tmp_path: Path) -> None:
    dump = cluster()
    dump["items"].append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "p"}})
    dump["items"][-2]["spec"]["novel"] = 1
    path = write(tmp_path, dump)
    loud, quiet = call("solve", path, "-v"), call("solve", path)
    told(loud.stderr)
    assert quiet.stderr == ""
    assert without_time(quiet.stdout) == without_time(loud.stdout)


def test_notes_are_warnings_once(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = "cohort \x1b[1mx is odd"
    monkeypatch.setattr(api, "solve", lambda *_, **__: make_plan(notes=(note, note)))
    result = call("solve", dump)
    told(result.stderr)


def test_more_lost_work_than_the_scheduler_s_choice_is_a_warning(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(
        terms={"lost_work": 7200, "restart_cost": 0},
        greedy=make_greedy(terms={"lost_work": 3600, "restart_cost": 9}),
    )
    monkeypatch.setattr(api, "solve", lambda *_, **__: plan)
    told(call("solve", dump).stderr)
    # No objective may offer what is outside the rules.
    outside = make_greedy(
        terms={"lost_work": 3600, "restart_cost": 9}, outside_rules=("FS-07 shares: unfair",)
    )
    plan = plan.model_copy(update={"greedy": outside})
    assert call("solve", dump).stderr == ""


@pytest.mark.parametrize(
    "variables",
    [{"PLANNER_SOLVE_FORMAT": "json", "PLANNER_FORMAT": "table"}, {"PLANNER_FORMAT": "json"}],
)
def test_options_from_the_environment(dump: Path, variables: dict[str, str]) -> None:
    env = {**variables, "PLANNER_OBJECTIVE": "min-count", "PLANNER_VERSION": "7"}
    plan = json.loads(call("solve", dump, env=env).stdout)
    assert plan["objective"] == "min-count"
    assert call("solve", dump, "--format", "table", env=env).stdout.startswith(" Preemptor")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what the solver is asked for next, which is not solved."""
    given: dict[str, Any] = {}

    @wraps(api.solve)
    def solve(*_: object, **named: Any) -> Plan:
        given.update(named)
        return make_plan()

    monkeypatch.setattr(api, "solve", solve)
    return given


def test_every_option_reaches_the_solver(dump: Path, tmp_path: Path, seen: dict[str, Any]) -> None:
    costs = write(tmp_path, {BIG: 3}, "costs.json")
    flavors = write(tmp_path, {"main": {}}, "flavors.json")
    words = ["--pending", "ns/pending", "--objective", "min-cost", "--time-limit", "2.5"]
    result = call("solve", dump, *words, "--costs", costs, "--assignment", flavors)
    assert result.exit_code == 0
    assert (seen["pending"], seen["objective"]) == ("ns/pending", "min-cost")
    assert seen["time_limit"] == 2.5
    assert seen["costs"] == {BIG: 3}
    assert seen["assignment"] == {"main": {}}


@pytest.mark.parametrize(
    ("words", "limit"), [([], 45), (["--time-limit", "0"], 0), (["--time-limit", "none"], None)]
)
def test_time_limit(
    words: list[str], limit: float | None, dump: Path, seen: dict[str, Any]
) -> None:
    usual = dict.fromkeys(UNHURRIED)
    assert call("solve", dump, *words, env=usual).exit_code == 0
    assert seen["time_limit"] == limit
    assert "[default: 45]" in " ".join(call("solve", "--help", env=usual).stdout.split())


def test_no_time_at_all_leaves_the_scheduler_s_own_plan(dump: Path) -> None:
    result = call("solve", dump, "--time-limit", "0", "--format", "json")
    assert result.exit_code == 4
    plan = json.loads(result.stdout)
    assert {victim["workload"] for victim in plan["victims"]} == set(SMALL)


def test_errors_elsewhere_are_not_blamed_on_a_file(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solve(*_: object, **__: object) -> None:
        raise InputError("state.json", "is wrong")

    monkeypatch.setattr(api, "solve", solve)
    result = call("solve", dump, "--costs", write(tmp_path, {}, "costs.json"))
    told(result.stderr)
