"""Plans carried out from the first look to the end, with the real kubectl."""

import copy
import json
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.cli import kueue_snapshot
from planner.commands.apply.kueue.carry import cannot_be_applied, digest_of, is_what_kueue_does
from planner.commands.apply.kueue.cluster import BOOSTED, HELD, BoostedPriorities, mark_of
from planner.commands.boost.kueue.find import WorkloadBoost
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.plan.kueue import Plan
from planner.state.kueue_workload import BOOST_ANNOTATION
from tests.cli.running import BIG, SMALL, call, cluster, refused
from tests.cluster import PENDING, Object, running
from tests.commands.apply.stage import Stage, plan_for, versioned
from tests.kubectl.api_server import touch
from tests.kubectl.stand_in import CONFIGURATION, MANAGER

real_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
STOPPED = 7


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Give a cluster in which one should go and Kueue would evict four."""
    monkeypatch.setenv("HOME", str(tmp_path))  # kubectl keeps its caches there
    return Stage(versioned([*cluster()["items"], CONFIGURATION, MANAGER]), tmp_path)


@pytest.fixture
def direct(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Give it, asked by the command line without a process for each call."""
    monkeypatch.setattr(kueue_snapshot, "connect", lambda _: stage)
    return stage


@pytest.fixture
def plan(stage: Stage) -> Plan:
    """Give the plan: the one with a checkpoint goes."""
    found = plan_for(stage.items)
    assert found.keys == (BIG,)
    assert set(found.greedy.keys if found.greedy else ()) == set(SMALL)
    return found


def written(folder: Path, plan: Plan) -> Path:
    file = folder / "plan.json"
    file.write_text(plan.model_dump_json(by_alias=True), encoding="utf-8")
    return file


@real_kubectl
def test_from_the_plan_to_the_end(stage: Stage, plan: Plan, tmp_path: Path) -> None:
    others = copy.deepcopy([stage.workload(key) for key in SMALL])
    file = written(tmp_path, plan)
    with stage.serve() as config:
        done = call("apply", file, "--yes", "--kubeconfig", config, "--format", "json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["status"], said["admitted"], said["also_evicted"]) == ("applied", True, [])
    assert stage.patched == ["lender", "big", "lender"]  # held, evicted, lifted
    victim = stage.workload(BIG)["status"]["conditions"]
    assert [(one["type"], one["reason"]) for one in victim] == [
        ("QuotaReserved", "QuotaReserved"),
        ("Evicted", "Preempted"),
    ]
    assert stage.queue()["spec"]["stopPolicy"] == "None"
    assert HELD not in stage.queue()["metadata"]["annotations"]
    assert [stage.workload(key) for key in SMALL] == others


@real_kubectl
def test_commands_of_a_dry_run_do_what_it_would_do(
    stage: Stage, plan: Plan, tmp_path: Path
) -> None:
    file = written(tmp_path, plan)
    with stage.serve() as config:
        shown = call("apply", file, "--dry-run", "--kubeconfig", config, "--format", "plain")
        assert (shown.exit_code, stage.patched) == (0, [])
        commands = [line for line in shown.stdout.splitlines() if line.startswith("kubectl ")]
        for one in commands:
            words = [*shlex.split(one), f"--kubeconfig={config}"]
            subprocess.run(words, check=True, capture_output=True)
    assert stage.patched == ["lender", "big", "lender"]
    assert stage.is_evicted(BIG)
    assert stage.workload(PENDING)["status"]["admission"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda stage: stage.items.remove(stage.workload(BIG)), f"{BIG} is gone"),
        (lambda stage: stage.admit(), f"{PENDING} holds quota already"),
        (
            lambda stage: stage.items.extend(
                versioned(running("newer", "borrower", 2, minute=40, priority=-1))
            ),
            "CT-",
        ),
        (
            lambda stage: stage.workload(BIG)["spec"].update(priority=5),
            "CT-",
        ),
    ],
)
def test_a_cluster_that_changed_is_refused(
    direct: Stage, plan: Plan, tmp_path: Path, change: Callable[[Stage], None], said: str
) -> None:
    change(direct)
    file = written(tmp_path, plan)
    done = call("apply", file, "--yes", "--format", "json")
    assert (done.exit_code, direct.patched) == (1, []), done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "refused"
    assert any(said in one for one in [*answer["changes"], answer["explanation"]]), answer
    assert (f"--pending {PENDING}" in answer["way_on"]) == ("already" not in said)


def test_nobody_can_be_asked(plan: Plan, tmp_path: Path) -> None:
    assert "hint: --yes" in refused("apply", written(tmp_path, plan))


def test_somebody_who_says_no(
    direct: Stage, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.cli.kueue_apply.is_terminal", lambda _: True)
    file = written(tmp_path, plan)
    done = call("apply", file, "--format", "plain", stdin="n\n")
    assert (done.exit_code, direct.patched) == (1, [])
    assert '"type":"Evicted"' in done.stderr  # what it would have done
    assert "you said no" in done.stdout


@real_kubectl
def test_a_victim_that_others_change_meanwhile(stage: Stage, plan: Plan) -> None:
    """The patch is for the object that was read: the second try is for the one that is there."""
    changed: list[str] = []

    def before(kind: str, item: Object) -> int:
        if kind == "Workload" and not changed:
            changed.append("once")
            item["status"]["conditions"].insert(0, {"type": "PodsReady", "status": "True"})
            touch(item)
        return 0

    stage.before = before
    with stage.serve() as config:
        answer = stage.carrying(plan, config=config).run()
    assert answer.status == "applied"
    kinds = [one["type"] for one in stage.workload(BIG)["status"]["conditions"]]
    assert kinds == ["PodsReady", "QuotaReserved", "Evicted"]


def test_a_server_that_is_gone_for_a_moment(stage: Stage, plan: Plan) -> None:
    faults = [500, 500, 0, 500]
    stage.before = lambda _, __: faults.pop(0) if faults else 0
    assert stage.carrying(plan).run().status == "applied"


def test_nothing_is_left_where_nobody_could_be_evicted(stage: Stage, plan: Plan) -> None:
    stage.before = lambda kind, _: 500 * (kind == "Workload")
    stage.reply = lambda _, __, ___: None
    answer = stage.carrying(plan).run()
    assert (answer.status, answer.way_on) == ("stopped", "")
    assert stage.queue()["spec"]["stopPolicy"] == "None"
    assert HELD not in stage.queue()["metadata"]["annotations"]
    assert not stage.is_evicted(BIG)


def test_after_an_interrupt_nothing_is_left(stage: Stage, plan: Plan) -> None:
    def tell(text: str) -> None:
        if text.startswith("evict"):
            raise KeyboardInterrupt

    run = stage.carrying(plan)
    run.tell = tell
    answer = run.run()
    assert (answer.status, answer.way_on) == ("interrupted", "")
    assert stage.patched == ["lender", "lender"]


def test_sigterm_takes_back_what_ctrl_c_does(direct: Stage, plan: Plan, tmp_path: Path) -> None:
    def before(kind: str, _: Object) -> int:
        if kind == "Workload":
            signal.raise_signal(signal.SIGTERM)
        return 0

    direct.before = before
    ours = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the program has it
    try:
        done = call("apply", written(tmp_path, plan), "--yes", "--format", "json")
    finally:
        signal.signal(signal.SIGTERM, ours)
    assert (done.exit_code, json.loads(done.stdout)["status"]) == (STOPPED, "interrupted")
    assert direct.patched == ["lender", "lender"]


def test_victims_are_read_in_one_call(stage: Stage) -> None:
    run = stage.carrying(two_victims(stage))
    assert run.run().status == "applied"
    victims = [words for words in stage.asked if "Evicted" in str(words)]
    reads = [words for words in stage.asked if words[:2] == ("get", WORKLOADS)]
    assert len(victims) == 2
    # the preemptor, once to know its queue and once at the end; the victims; who else was evicted
    assert [words[2] for words in reads] == [
        "pending",
        "--namespace=ns",
        "pending",
        "--all-namespaces",
    ]


def test_a_victim_that_changed_since_all_were_read(stage: Stage) -> None:
    """The first patch is for an object that is no more: it is read by itself then."""
    plan = two_victims(stage)
    second = stage.workload(plan.keys[1])

    def reply(stage: Stage, kind: str, item: Object) -> None:
        if item["metadata"]["name"] == "big":
            second["status"]["conditions"].insert(0, {"type": "PodsReady", "status": "True"})
            touch(second)
        stage.kueue(kind)

    stage.reply = reply
    assert stage.carrying(plan).run().status == "applied"
    kinds = [one["type"] for one in second["status"]["conditions"]]
    assert kinds == ["PodsReady", "QuotaReserved", "Evicted"]


def two_victims(stage: Stage) -> Plan:
    """Return a plan for eight: everybody goes but one of the small, or so it is told."""
    plan = plan_for(stage.items)
    assert plan.greedy is not None
    return plan.model_copy(
        update={"victims": (*plan.victims, plan.greedy.victims[0]), "greedy": None}
    )


def test_half_way_it_stays_held_and_goes_on(stage: Stage) -> None:
    plan = two_victims(stage)
    second = plan.keys[1]
    broken = True

    def before(_: str, item: Object) -> int:
        return 500 * (broken and f"ns/{item['metadata']['name']}" == second)

    stage.before = before
    answer = stage.carrying(plan).run()
    assert (answer.status, answer.admitted) == ("stopped", None)
    assert "1 of 2 victims are evicted" in answer.explanation
    assert stage.queue()["spec"]["stopPolicy"] == "Hold"
    broken = False
    again = stage.carrying(plan)
    assert again.goes_on()
    assert again.run().status == "applied"
    assert stage.patched == ["lender", "big", second.partition("/")[2], "lender"]


def test_half_way_and_undone(stage: Stage) -> None:
    plan = two_victims(stage)
    stage.before = lambda kind, item: (
        500 * (kind == "Workload" and item["metadata"]["name"] != "big")
    )
    assert stage.carrying(plan).run().status == "stopped"
    answer = stage.carrying(plan).undo()
    assert [step.title for step in answer.steps] == ["lift the hold of LocalQueue ns/lender"]
    assert stage.carrying(plan).undo().explanation == "nothing was left behind"


def test_a_queue_that_another_plan_holds(direct: Stage, plan: Plan, tmp_path: Path) -> None:
    other = json.dumps({"plan": "other", "preemptor": "ns/other"})
    direct.queue()["metadata"]["annotations"] = {HELD: other}
    file = written(tmp_path, plan)
    done = call("apply", file, "--yes", "--format", "plain")
    undone = call("apply", file, "--undo", "--format", "plain")
    assert (done.exit_code, undone.exit_code, direct.patched) == (1, 0, [])
    assert "is held for another plan, for ns/other" in done.stdout


def test_a_queue_that_somebody_stopped(stage: Stage, plan: Plan) -> None:
    stage.queue()["spec"]["stopPolicy"] = "Hold"
    answer = stage.carrying(plan).run()
    assert (answer.status, stage.patched) == ("stopped", [])
    assert "is stopped by somebody" in answer.explanation


def test_kueue_does_something_else(stage: Stage, plan: Plan) -> None:
    def reply(stage: Stage, kind: str, _: Object) -> None:
        stage.kueue(kind)
        if kind == "LocalQueue" and stage.queue()["spec"]["stopPolicy"] == "None":
            stage.workload(SMALL[0])["status"]["conditions"].append(
                {"type": "Evicted", "status": "True", "lastTransitionTime": "2026-05-01T13:01:00Z"}
            )

    stage.reply = reply
    answer = stage.carrying(plan).run()
    assert (answer.status, answer.also_evicted, answer.admitted) == ("otherwise", SMALL[:1], True)


def test_a_preemptor_that_does_not_get_its_quota(stage: Stage, plan: Plan) -> None:
    stage.reply = lambda _, __, ___: None
    answer = stage.carrying(plan).run()
    assert (answer.status, answer.admitted) == ("otherwise", False)
    assert stage.queue()["spec"]["stopPolicy"] == "None"


def boosts(plan: Plan) -> BoostedPriorities:
    """Return a boost for one that has none, and one for one that has."""
    rest = {"cluster_queue": "borrower", "role": "spared", "priority": 0, "boost_before": 0}
    rest |= {"effective_before": 0, "effective": 1, "boost": 1}
    made = [WorkloadBoost.model_validate({"workload": key, **rest}) for key in SMALL[:2]]
    return BoostedPriorities(made, digest_of(plan))


def test_boosts_are_taken_back_at_the_end(stage: Stage, plan: Plan) -> None:
    stage.workload(SMALL[1])["metadata"]["annotations"] = {BOOST_ANNOTATION: "7"}
    seen: list[list[str | None]] = []

    def reply(stage: Stage, kind: str, _: Object) -> None:
        if kind == "LocalQueue" and stage.queue()["spec"]["stopPolicy"] == "None":
            notes = [stage.workload(key)["metadata"]["annotations"] for key in SMALL[:2]]
            seen.append([note.get(BOOST_ANNOTATION) for note in notes])
            stage.workload(BIG)["status"]["conditions"].append(
                {"type": "Evicted", "status": "True", "lastTransitionTime": "2026-05-01T13:01:00Z"}
            )
            stage.admit()

    stage.reply = reply
    answer = stage.carrying(plan, boosts(plan)).run()
    assert (answer.status, seen) == ("applied", [["1", "1"]])
    kept = [stage.workload(key)["metadata"]["annotations"] for key in SMALL[:2]]
    assert kept == [{}, {BOOST_ANNOTATION: "7"}]


def test_boosts_are_taken_back_after_an_interrupt(stage: Stage, plan: Plan) -> None:
    def tell(text: str) -> None:
        if text.startswith(f"boost the priority of {SMALL[1]}"):
            raise KeyboardInterrupt

    run = stage.carrying(plan, boosts(plan))
    run.tell = tell
    assert run.run().status == "interrupted"
    assert stage.workload(SMALL[0])["metadata"]["annotations"] == {}
    assert stage.queue()["spec"]["stopPolicy"] == "None"


def test_boosts_of_a_run_that_died_are_undone(stage: Stage, plan: Plan) -> None:
    died = boosts(plan)
    run = stage.carrying(plan, died)
    for each in run.calls()[:-1]:
        assert not run.cluster.change(each)
    assert BOOSTED in stage.workload(SMALL[0])["metadata"]["annotations"]
    assert stage.carrying(plan).undo().way == "boosts"
    assert [stage.workload(key)["metadata"]["annotations"] for key in SMALL[:2]] == [{}, {}]
    assert stage.queue()["spec"]["stopPolicy"] == "None"


@pytest.mark.parametrize("way", ["eviction", "boosts"])
def test_what_is_left_is_undone_though_the_preemptor_is_gone(
    stage: Stage, plan: Plan, way: str
) -> None:
    run = stage.carrying(plan, boosts(plan) if way == "boosts" else None)
    for each in run.calls()[:1] if way == "eviction" else run.calls()[:-1]:
        assert not run.cluster.change(each)
    queue = stage.queue()
    stage.items.remove(stage.workload(PENDING))
    stage.reply = lambda *_: None
    assert (stage.carrying(plan).undo().status, queue["spec"]["stopPolicy"]) == ("undone", "None")
    assert HELD not in queue["metadata"]["annotations"]


def test_what_cannot_be_undone_in_full_is_not_refused(stage: Stage, plan: Plan) -> None:
    run = stage.carrying(plan, boosts(plan))
    for each in run.calls()[:-1]:
        assert not run.cluster.change(each)
    stage.before = lambda kind, _: 500 if kind == "LocalQueue" else 200
    answer = stage.carrying(plan).undo()
    assert (answer.status, len(answer.steps), bool(answer.way_on)) == ("stopped", 2, True)


def test_boosts_of_a_run_that_died_are_undone_before_anybody_is_evicted(
    direct: Stage, plan: Plan, tmp_path: Path
) -> None:
    run = direct.carrying(plan, boosts(plan))
    for each in run.calls()[:-1]:
        assert not run.cluster.change(each)
    file, patched = written(tmp_path, plan), [*direct.patched]
    done = call("apply", file, "--yes", "--format", "json")
    assert (done.exit_code, direct.patched) == (1, patched)
    assert "--undo" in json.loads(done.stdout)["way_on"]


def test_who_waits_for_ever_is_told_no_time(stage: Stage, plan: Plan) -> None:
    titles: list[str] = []
    run = stage.carrying(plan)
    run.tell, run.patience.wait_s = titles.append, float("inf")
    assert run.run().status == "applied"
    assert titles[-1] == f"wait for {PENDING}"


@pytest.mark.parametrize("odd", [True, 1, "text", [True], {"a": 1}, None])
def test_what_has_another_form_is_taken_as_missing(odd: object) -> None:
    found = LiveObject({"metadata": {"annotations": odd}, "status": {"conditions": odd}})
    assert (found.annotations, found.conditions, found.holds_quota) == ({}, [], False)
    assert mark_of(found, HELD) == {}
    assert not LiveObject({"metadata": odd, "status": odd}).is_true("Evicted")


def test_plans_that_no_live_kueue_carries_out(plan: Plan) -> None:
    assert not cannot_be_applied(plan, "eviction")
    assert not is_what_kueue_does(plan)
    assert is_what_kueue_does(plan.model_copy(update={"victims": plan.greedy.victims}))  # type: ignore[union-attr]
    nobody = plan.model_copy(update={"victims": ()})
    at_will = plan.model_copy(update={"placement": "any"})
    assert "evicts nobody" in cannot_be_applied(nobody, "eviction")
    assert "at will" in cannot_be_applied(at_will, "eviction")
