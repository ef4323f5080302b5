"""One plan for one gated preemptor: checked on the cluster as it is, and carried out or refused."""

import copy
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import planner
from planner.operations.apply.kueue import Question, Run, preview, with_commands
from planner.operations.apply.kueue_record import Applied
from planner.operations.cli import kueue_apply
from planner.operations.steer.kueue import propose
from planner.operations.steer.kueue.loop import Cluster
from planner.operations.steer.kueue.marks import GATE
from planner.operations.steer.kueue.propose import Proposal
from planner.plan.kueue import Plan
from planner.state.kueue import of_kueue
from planner.state.kueue_workload import BOOST_ANNOTATION
from tests.cli.running import call, valid
from tests.commands.check import test_reported
from tests.operations.steer.test_one_preemptor import blocked
from tests.operations.steer.world import World
from tests.reports import reports
from tests.told import told

KEY = "ns/first"


def plan_of(world: World, objective: str = "min-lost-work") -> Plan:
    found = planner.solve(world.state(), KEY, objective)
    assert isinstance(found, Plan)
    return found


def cluster_of(world: World) -> Cluster:
    return Cluster(world, world.take, {}, world.hands)


def run(world: World, plan: Plan, wait_s: float = 30.0) -> Applied:
    return Run(Question(plan), cluster_of(world), lambda: world.now_s).carry_out(wait_s)


def test_it_is_carried_out() -> None:
    world = blocked()
    plan = plan_of(world)
    shown = preview(Question(plan), cluster_of(world), ("--context=this",))
    told([one.title for one in shown.steps])
    for one in shown.steps:
        words = shlex.split(one.command)
        assert words[words.index("--") + 1 :] in (["saved"], ["first"])
        assert "--context=this" in words[: words.index("--")]
    assert world.written == []
    done = run(world, plan)
    assert (done.status, done.evicted, done.admitted) == ("applied", ("ns/saved",), True)
    assert world.first_decisions() == {KEY: {"ns/saved"}}
    assert world.boosts() == {}


def test_a_plan_that_is_kueues_own_choice_needs_no_boost() -> None:
    world = blocked()
    done = run(world, plan_of(world, "kueue-like"))
    assert done.status == "applied"
    assert world.first_decisions() == {KEY: {"ns/late"}}
    assert "boost" not in [one.act for one in done.acts]


def ungated(world: World) -> None:
    del world.find(KEY)["spec"]["preemptionGates"]


def opened(world: World) -> None:
    gates = [{"name": GATE, "position": "Open"}]
    world.find(KEY)["status"]["preemptionGates"] = gates


def unblocked(world: World) -> None:
    world.find(KEY)["status"]["conditions"] = []


def roomy(world: World) -> None:
    world.finish("ns/late")


def forged(world: World) -> None:
    (queue,) = (
        one
        for one in world.items
        if one["kind"] == "LocalQueue" and one["metadata"]["name"] == "lender"
    )
    mark = {"plan": "0" * 16, "preemptor": KEY}
    queue["metadata"]["annotations"] = {"preemption-planner.io/held-for": json.dumps(mark)}
    world.finish("ns/saved")


@pytest.mark.parametrize("change", [ungated, opened, unblocked, roomy, forged])
def test_it_is_refused_before_anything_is_written(change: Callable[[World], None]) -> None:
    world = blocked()
    plan = plan_of(world)
    change(world)
    answer = preview(Question(plan), cluster_of(world), ())
    assert answer.status == "refused"
    told(answer.explanation)
    assert world.written == []


def test_more_victims_than_the_plan_needs_are_refused() -> None:
    world = blocked()
    plan = plan_of(world)
    greedy = plan.greedy
    assert greedy is not None
    more = plan.model_copy(update={"victims": (*plan.victims, *greedy.victims), "greedy": None})
    assert preview(Question(more), cluster_of(world), ()).status == "refused"


def test_the_cluster_changes_after_the_boosts() -> None:
    world = blocked()
    plan = plan_of(world)

    def ends(world: World) -> None:
        if world.boosts() and not world.gone:
            world.finish("ns/saved")

    world.after_boost = ends
    done = run(world, plan)
    assert done.status == "stopped"
    assert world.boosts() == {}
    assert world.decisions == []
    assert KEY in world.closed() or world.holds(KEY)


def test_time_is_up_or_it_is_interrupted() -> None:
    for raised in (False, True):
        world = blocked()
        world.refuses = frozenset({"ns/saved"})
        if raised:

            def pressed(_: World) -> None:
                raise KeyboardInterrupt

            world.churn = pressed
        done = run(world, plan_of(world), wait_s=3)
        assert done.status == ("interrupted" if raised else "stopped")
        assert (world.decisions, world.boosts()) == ([], {})


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> World:
    world = blocked()
    monkeypatch.setattr(kueue_apply, "cluster_of", lambda *_: cluster_of(world))
    monkeypatch.setattr("planner.operations.cli.kueue_snapshot.connect", lambda _: world)
    monkeypatch.setattr("time.monotonic", lambda: world.now_s)
    return world


def test_the_command(direct: World, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(plan_of(direct).model_dump_json(by_alias=True), "utf-8")
    dry = call("apply", file, "--dry-run", "--format", "json")
    assert dry.exit_code == 0, dry.stderr
    assert valid("applied", dry.stdout)["status"] == "planned"
    assert direct.written == []
    done = call("apply", file, "--yes", "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert valid("applied", done.stdout)["evicted"] == ["ns/saved"]
    again = call("apply", file, "--yes")
    assert again.exit_code == 1
    assert "refused" in again.stdout


@pytest.mark.parametrize("again", [-1, -2])
def test_who_agreed_to_a_boost_agreed_to_no_other(
    again: int, direct: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was shown is a boost of -1; after the answer it is as before, or would take another."""
    file = tmp_path / "plan.json"
    file.write_text(plan_of(direct).model_dump_json(by_alias=True), "utf-8")
    asked: list[str] = []

    def agrees(text: str, **_: object) -> bool:
        def otherwise(*given: Any) -> Proposal:
            found = propose.boosted(*given)
            return replace(found, boosts=dict.fromkeys(found.boosts, again))

        asked.append(text)
        monkeypatch.setattr("planner.operations.apply.kueue.boosted", otherwise)
        return True

    monkeypatch.setattr(kueue_apply, "is_terminal", lambda _: True)
    monkeypatch.setattr("click.confirm", agrees)
    done = call("apply", file, "--format", "json")
    assert asked == ["Carry it out?"]
    assert "boost the priority of ns/saved by -1 for ns/first" in done.stderr
    found = valid("applied", done.stdout)
    assert found["status"] == ("applied" if again == -1 else "stopped")
    if again != -1:
        told(found["explanation"])
        assert (direct.decisions, direct.written) == ([], [])


def test_commands_at_the_end_of_a_plan(tmp_path: Path) -> None:
    world = blocked()
    items = [one for one in copy.deepcopy(world.items) if one["kind"] != "Lease"]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    for style in ("table", "plain", "markdown", "html"):
        done = call("solve", file, "--pending", KEY, "--show-commands", "--format", style)
        assert "kubectl patch workloads.kueue.x-k8s.io --namespace=ns" in done.stdout
    plan = with_commands(world.state(), plan_of(world), ())
    assert plan.commands is not None
    assert [one.title for one in plan.commands.steps][1] == f"open the preemption gate of {KEY}"
    (first,) = (one for one in items if one["metadata"]["name"] == "first")
    assert BOOST_ANNOTATION in plan.commands.steps[0].command
    del first["metadata"]["resourceVersion"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    state = of_kueue(planner.read(text.encode()))
    unversioned = with_commands(state, plan_of(world), ()).commands
    assert unversioned is not None
    assert "has no resourceVersion in the dump" in unversioned.reason


def test_no_reported_plan_with_other_commands_is_accepted(tmp_path: Path) -> None:
    folder = reports()
    if folder is None:
        pytest.skip("no reports: set PLANNER_REPORTS to their folder")
    test_reported.test_no_reported_plan_is_accepted(folder / "check" / "forged-commands", tmp_path)
