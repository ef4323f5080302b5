"""The instances are what they claim to be: the quickstart's story, the examples, the sample."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.commands.replay import replay
from planner.plan.kueue import Plan
from planner.quantity import parse_quantity
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader import Ignored
from planner.reference.kueue.decision import decide
from planner.state.kueue import State, Workload
from planner.state.kueue_configuration import Configuration
from planner.state.kueue_workload import WorkloadStatus
from planner.term import TERMS
from tests.brute_force import Simulation, reachable
from tests.brute_force_fair import FairSimulation
from tests.conftest import ROOT
from tests.kueue_state import read, reserved_at
from tests.told import told

INSTANCES = ROOT / "instances"
FAIR = INSTANCES / "fair-sharing"
QUICKSTART = INSTANCES / "quickstart" / "cluster.json"
RECORDED = sorted((INSTANCES / "recorded").glob("*.jsonl.gz"))
LINES_PER_FILE = 40
LARGEST_SAMPLE = 1_000_000

PENDING = "nlp/jobset-train-translator-8974c"
GPU = "nvidia.com/gpu"
LOW = 10
GREEDY_VICTIMS = {
    "platform/job-sweep-ctr-07",
    "research/job-eval-long-context",
    "research/job-sweep-lr-21",
    "research/job-sweep-lr-22",
    "research/job-sweep-lr-23",
    "research/job-sweep-lr-24",
    "research/statefulset-notebook-ada",
}
VICTIMS = {
    "no-regret": {"platform/job-distill", "research/job-ablation"},
    "least-disruption": {"platform/job-distill", "research/job-ablation"},
    "min-count": {"platform/job-ranker"},
    "min-lost-work": {"research/job-ablation", "research/rayjob-maze", "research/rayjob-walk"},
}
CAPS = (("last_resort",), ("highest_priority",), ("workloads",), ("lost_work", "restart_cost"))

Object = dict[str, Any]


@pytest.fixture(scope="module")
def dump() -> Object:
    """Give the quickstart as JSON."""
    found: Object = json.loads(QUICKSTART.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def state() -> State:
    """Give the quickstart as it is read."""
    return read(QUICKSTART)


def of_kind(dump: Object, kind: str) -> list[Object]:
    """List the objects of a kind."""
    return [item for item in dump["items"] if item["kind"] == kind]


# The quickstart: a dump of a cluster that could be.


def test_quickstart_is_what_its_script_prints() -> None:
    script = QUICKSTART.with_name("make.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == QUICKSTART.read_text(encoding="utf-8")


def test_quickstart_has_the_form_of_kubectl(dump: Object) -> None:
    assert (dump["apiVersion"], dump["kind"]) == ("v1", "List")
    kinds = Counter(item["kind"] for item in dump["items"])
    assert kinds == {
        "ClusterQueue": 4,
        "Cohort": 3,
        "ConfigMap": 1,
        "LocalQueue": 6,
        "Namespace": 3,
        "ResourceFlavor": 2,
        "Workload": 61,
        "WorkloadPriorityClass": 4,
    }
    assert {item["apiVersion"] for item in dump["items"]} == {"v1", "kueue.x-k8s.io/v1beta2"}
    uids = [item["metadata"]["uid"] for item in dump["items"]]
    assert len(set(uids)) == len(uids)
    assert all(item["metadata"]["resourceVersion"] for item in dump["items"])


def test_quickstart_names_only_what_it_has(dump: Object) -> None:
    names = {(item["kind"], item["metadata"]["name"]) for item in dump["items"]}
    places = [item["metadata"] for item in of_kind(dump, "LocalQueue")]
    queues = {(place["namespace"], place["name"]) for place in places}
    for item in of_kind(dump, "Workload"):
        spec = item["spec"]
        assert ("WorkloadPriorityClass", spec["priorityClassRef"]["name"]) in names
        assert (item["metadata"]["namespace"], spec["queueName"]) in queues
        assert item["metadata"]["ownerReferences"][0]["uid"]
    for item in of_kind(dump, "LocalQueue"):
        assert ("ClusterQueue", item["spec"]["clusterQueue"]) in names
    for item in of_kind(dump, "ClusterQueue"):
        assert ("Cohort", item["spec"]["cohortName"]) in names


def test_quickstart_reads_without_a_remark(state: State) -> None:
    assert take_snapshot(state).notes == ()
    ignored = Ignored()
    read(QUICKSTART, ignored=ignored)
    assert not ignored.kinds


def test_one_workload_is_pending_and_three_are_done(state: State) -> None:
    assert [w.key for w in state.workloads if w.is_pending] == [PENDING]
    assert sum(w.is_true("Finished") for w in state.workloads) == 3
    assert {w.metadata.namespace for w in state.workloads} == {"nlp", "platform", "research"}
    assert state.now == datetime(2026, 11, 12, 9, 42, 10, tzinfo=UTC)


def test_statuses_add_up(dump: Object, state: State) -> None:
    """What a ClusterQueue says of its usage is the sum of what its workloads hold."""
    snapshot = take_snapshot(state)
    for item in of_kind(dump, "ClusterQueue"):
        node = snapshot.node_of[item["metadata"]["name"]]
        status = item["status"]
        assert status["flavorsUsage"] == status["flavorsReservation"]
        assert status["admittedWorkloads"] == len(snapshot.admitted[node])
        for flavor in status["flavorsUsage"]:
            for entry in flavor["resources"]:
                fr = snapshot.fr(flavor["name"], entry["name"])
                used = snapshot.usage.amount[node][fr]
                over = max(0, used - snapshot.tree.nominal(node, fr))
                scale = 10**6 if entry["name"] == "cpu" else 10**9
                assert parse_quantity(entry["total"]) == used * scale
                assert parse_quantity(entry["borrowed"]) == over * scale
    pending = [item["status"]["pendingWorkloads"] for item in of_kind(dump, "ClusterQueue")]
    assert sum(pending) == 1


def test_local_queues_add_up_to_their_cluster_queues(dump: Object) -> None:
    usage: Counter[tuple[str, str, str]] = Counter()
    counts: Counter[str] = Counter()
    for item in of_kind(dump, "LocalQueue"):
        name = item["spec"]["clusterQueue"]
        counts[name] += item["status"]["admittedWorkloads"]
        usage.update(totals(name, item))
    for item in of_kind(dump, "ClusterQueue"):
        name = item["metadata"]["name"]
        assert counts[name] == item["status"]["admittedWorkloads"]
        for key, total in totals(name, item).items():
            assert usage[key] == total


def totals(name: str, item: Object) -> dict[tuple[str, str, str], int]:
    """Return what a queue's status says it uses, per flavor and resource."""
    return {
        (name, flavor["name"], entry["name"]): parse_quantity(entry["total"])
        for flavor in item["status"]["flavorsUsage"]
        for entry in flavor["resources"]
    }


def test_every_admission_is_one_that_kueue_makes(state: State) -> None:
    """Admit all again, in the order of their reservations: each fits, in the same flavors."""
    admitted = sorted(
        (w for w in state.workloads if reserved_at(w)), key=lambda w: str(reserved_at(w))
    )
    for position, workload in enumerate(admitted):
        moment = reserved_at(workload)
        before = [
            running(earlier)
            for earlier in admitted[:position]
            if moment and not finished_before(earlier, moment)
        ]
        waiting = workload.model_copy(update={"status": WorkloadStatus()})
        then = state.model_copy(update={"workloads": (*before, waiting)})
        snapshot = take_snapshot(then, moment)
        assignment = decide(snapshot, find_preemptor(then, snapshot, workload.key)).assignment
        assert assignment.mode == "Fit", workload.key
        assert workload.status.admission
        assert {
            pods.name: {name: choice.flavor for name, choice in pods.flavors.items()}
            for pods in assignment.pod_sets
        } == {pods.name: pods.flavors for pods in workload.status.admission.pod_set_assignments}


def finished_before(workload: Workload, moment: datetime) -> bool:
    """Say whether a workload was done by then."""
    done = workload.condition("Finished")
    return bool(done and done.last_transition_time and done.last_transition_time <= moment)


def running(workload: Workload) -> Workload:
    """Return the workload as it was before it was done."""
    kept = tuple(c for c in workload.status.conditions if c.type != "Finished")
    status = workload.status.model_copy(update={"conditions": kept})
    return workload.model_copy(update={"status": status})


# The quickstart: its story.


@pytest.mark.parametrize("objective", VICTIMS)
def test_scheduler_evicts_seven_where_fewer_do(state: State, objective: str) -> None:
    plan = planner.solve(state, objective=objective)
    assert plan.status == "optimal"
    assert owners(plan) == VICTIMS[objective]
    assert plan.greedy
    assert owners(plan.greedy) == GREEDY_VICTIMS
    for each in (plan, plan.greedy):
        assert planner.verify(state, each).accepted


def owners(plan: Plan) -> set[str]:
    """Return the victims by what owns them, without the hash in a workload's name."""
    return {key.rpartition("-")[0] for key in plan.keys}


def test_default_plan_is_nowhere_worse_than_the_schedulers(state: State) -> None:
    plan = planner.solve(state)
    assert plan.greedy
    ours, theirs = plan.terms, plan.greedy.terms
    for cap in CAPS:
        assert sum(ours[term] for term in cap) <= sum(theirs[term] for term in cap)
    assert (theirs["last_resort"], ours["last_resort"]) == (
        1,
        0,
    )  # Kueue would take somebody's notebook
    assert theirs["lost_work"] > 10 * ours["lost_work"]
    assert set(ours) <= set(TERMS)


def test_table_of_objectives_has_the_figures(state: State) -> None:
    lines = (INSTANCES / "README.md").read_text(encoding="utf-8").splitlines()
    plans = {f"`{name}`": planner.solve(state, objective=name) for name in VICTIMS}
    for name, plan in {**plans, "Kueue itself": planner.greedy(state)}.items():
        figures = f"| {len(plan.victims)} | {plan.terms['lost_work'] / 3600:.2f} acc-h |"
        assert any(name in line and figures in line for line in lines), name


def test_story_holds_by_enumeration(state: State) -> None:
    """All legal sets of low-priority victims, by single removals: none has fewer than two."""
    plan = planner.greedy(state)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    simulation = Simulation(snapshot, preemptor, plan.assignment)
    assert simulation.attempts[0] is plan.borrowing is True
    low = [key for key in simulation.variants if simulation.workloads[key].priority == LOW]
    reached = reachable(low, lambda key, gone: simulation.takes(key, gone, borrowing=True))
    legal = [gone for gone in reached if simulation.fits(gone, borrowing=True)]
    assert [gone for gone in legal if len(gone) <= 2] == [frozenset(planner.solve(state).keys)]
    assert set(plan.keys) in legal
    gpus = {item.resource: item.shortfall for item in plan.demand}
    assert gpus == {"cpu": 0, "memory": 0, GPU: 15}


# The vendor's examples, and the sample of recorded answers.


@pytest.mark.parametrize(
    ("file", "queue", "within", "reclaim", "borrow"),
    [
        ("preemptive", "team-a-queue", "LowerPriority", "Any", "LowerPriority"),
        ("non-preemptive", "non-preemptive-queue", "Never", "Never", "Never"),
    ],
)
def test_vendor_example_loads_with_its_policies(
    file: str, queue: str, within: str, reclaim: str, borrow: str
) -> None:
    state = read(INSTANCES / "vendor" / f"{file}.yaml", now="2026-11-12T09:42:10Z")
    (found,) = state.cluster_queues
    policies = found.spec.preemption
    assert found.name == queue
    assert policies.within_cluster_queue == within
    assert policies.reclaim_within_cohort == reclaim
    assert policies.borrow_within_cohort.policy == borrow
    assert policies.borrow_within_cohort.max_priority_threshold is None


def test_vendor_examples_need_a_clock() -> None:
    with pytest.raises(planner.PlannerError, match="now=2026"):
        read(INSTANCES / "vendor")
    both = read(INSTANCES / "vendor", now="2026-11-12T09:42:10Z")
    assert len(both.cluster_queues) == 2


def test_sample_is_small_and_complete() -> None:
    assert len(RECORDED) == 16
    assert sum(path.stat().st_size for path in RECORDED) < LARGEST_SAMPLE


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_sample_is_replayed_exactly(path: Path) -> None:
    found = replay(str(path))
    assert found.instances == LINES_PER_FILE
    assert not found.different
    if path.name.startswith(("classical", "small-classical")):
        assert found.equal == LINES_PER_FILE


def test_sample_is_what_its_script_takes(conformance: Path, tmp_path: Path) -> None:
    """Compared line by line: the compressed bytes depend on the version of zlib."""
    script = tmp_path / "sample.py"
    script.write_bytes((INSTANCES / "recorded" / "sample.py").read_bytes())
    subprocess.run([sys.executable, str(script), str(conformance / "kueue")], check=True)
    assert sorted(path.name for path in tmp_path.glob("*.gz")) == [path.name for path in RECORDED]
    for path in RECORDED:
        with gzip.open(path) as kept, gzip.open(tmp_path / path.name) as taken:
            assert kept.read() == taken.read(), path.name


# Fair sharing: what Kueue's documentation says of the strategies, and what it does not say.


def fair(name: str) -> State:
    """Read one of the fair sharing instances."""
    return read(FAIR / f"{name}.yaml")


def changed(name: str, old: str, new: str, folder: Path) -> State:
    """Read one of the fair sharing instances with a word of it changed."""
    text = (FAIR / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = folder / f"{name}.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read(path)


def shares_of(plan: Plan) -> dict[str, tuple[float, float, float]]:
    """Return the shares of every node that a plan touches: before, with the preemptor, after."""
    return {share.name: (share.before, share.with_preemptor, share.after) for share in plan.shares}


def with_strategies(state: State, *strategies: str) -> State:
    """Return a state under other strategies."""
    on = {"fairSharing": {"preemptionStrategies": list(strategies)}}
    return state.model_copy(update={"configuration": Configuration.model_validate(on)})


@pytest.mark.parametrize("path", sorted(FAIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_fair_sharing_instances_are_small_and_read_without_a_remark(path: Path) -> None:
    ignored = Ignored()
    state = read(path, ignored=ignored)
    assert not ignored.kinds
    assert set(ignored.fields) <= {"ClusterQueue.spec.namespaceSelector"}  # not looked at
    assert 3 <= len(state.workloads) <= 8
    assert state.configuration.fair_sharing_on
    assert take_snapshot(state).notes == ()


def test_final_share_favours_small_workloads() -> None:
    """Blue is at 10/20 with the preemptor: red, at 14/20, may go down to 10/20 and no further.

    Without one of the jobs of 5 it would be at 9/20. Both are of lower priority than the
    evaluation of 4, and newer.
    """
    state = fair("small-first")
    plan = planner.solve(state)
    assert planner.greedy(state).keys == plan.keys == ("red/eval",)
    assert shares_of(plan) == {"blue": (300, 500, 500), "red": (700, 700, 500)}
    priorities = [victim.priority for victim in plan.victims]
    assert priorities == [30] > [LOW]
    # It is the only legal set: making it dear changes nothing.
    dear = planner.solve(state, objective="min-cost", costs={"red/eval": 1000})
    assert dear.keys == ("red/eval",)


def test_initial_share_picks_the_lowest_priority_and_there_the_newest() -> None:
    """10/20 is less than 14/20, whoever goes: the first candidate in Kueue's order does."""
    state = fair("newest-first")
    plan = planner.solve(state)
    assert planner.greedy(state).keys == plan.keys == ("red/train-new",)
    for key in ("red/eval", "red/train-old", "red/train-new"):
        others = dict.fromkeys({"red/eval", "red/train-old", "red/train-new"} - {key}, 9)
        assert planner.solve(state, objective="min-cost", costs=others).keys == (key,)


def test_the_two_strategies_are_shown_on_one_cluster() -> None:
    small, newest = fair("small-first"), fair("newest-first")
    same = {"source", "digest", "configuration"}
    assert small.model_dump(exclude=same) == newest.model_dump(exclude=same)
    other = with_strategies(small, "LessThanInitialShare")
    assert planner.greedy(other).keys == ("red/train-new",)


def test_default_pair_falls_back_from_the_first_strategy_to_the_second() -> None:
    """Without a job of 7, red would be at 7/20, below 10/20 of blue; 14/20 before is above."""
    state = fair("fallback")
    assert planner.greedy(state).keys == planner.solve(state).keys == ("red/train-new",)
    first = with_strategies(state, "LessThanOrEqualToFinalShare")
    assert planner.greedy(first).victims == ()
    assert planner.solve(first).status == "infeasible"
    second = with_strategies(state, "LessThanInitialShare")
    assert planner.solve(second).keys == ("red/train-new",)


def test_shares_become_equal_and_stay_so() -> None:
    """2 of 8 against 6 of 8 becomes 4 against 4; with 4 more blue would be at 6 of 8 itself."""
    state = fair("equal-shares")
    plan = planner.solve(state, "blue/wants-two")
    assert planner.greedy(state, "blue/wants-two").keys == plan.keys == ("red/job-3",)
    assert shares_of(plan) == {"blue": (250, 500, 500), "red": (750, 750, 500)}
    assert planner.greedy(state, "blue/wants-four").victims == ()
    assert planner.solve(state, "blue/wants-four").status == "infeasible"


def test_weights_divide_shares(tmp_path: Path) -> None:
    """2/8 over a weight of 1 is 6/8 over 3; 4/8 is more than even 8/8 over 3."""
    state = fair("weighted-shares")
    plan = planner.solve(state, "blue/wants-two")
    assert planner.greedy(state, "blue/wants-two").keys == plan.keys == ("red/job-4",)
    assert shares_of(plan) == {"blue": (0, 250, 250), "red": (1000 / 3, 1000 / 3, 250)}
    assert planner.greedy(state, "blue/wants-four").victims == ()
    assert planner.solve(state, "blue/wants-four").status == "infeasible"
    equal = changed("weighted-shares", 'weight: "3"', 'weight: "1"', tmp_path)
    plan = planner.solve(equal, "blue/wants-four")
    assert planner.greedy(equal, "blue/wants-four").keys == plan.keys == ("red/job-4", "red/job-3")
    assert shares_of(plan) == {"blue": (0, 500, 500), "red": (1000, 1000, 500)}


def test_kueue_s_own_answer_can_be_outside_its_own_rules() -> None:
    """Blue at 9/10 may not take from red at 6/10; at 5/10, without its own job, it may.

    The request of 5 fits next to the job of 4 once red's 6 are gone, so that Kueue, which looks
    at no share when it gives back, keeps the job. The only legal set is both.
    """
    state = fair("outside-rules")
    greedy, plan = planner.greedy(state), planner.solve(state)
    assert greedy.keys == ("red/train",)
    (broken,) = greedy.outside_rules
    assert broken.startswith("FS-07 ")
    assert not planner.verify(state, greedy).accepted
    assert set(plan.keys) == {"red/train", "blue/sweep"}
    assert plan.status == "optimal"
    assert planner.verify(state, plan).accepted
    assert planner.verify(state, plan).removal_order == ("blue/sweep", "red/train")
    told(plan.explanation)
    assert plan.greedy
    assert plan.greedy.outside_rules == greedy.outside_rules


def test_fair_sharing_is_switched_on_inside_a_config_map(tmp_path: Path) -> None:
    state = fair("configmap")
    assert state.configuration.strategies == ("LessThanInitialShare",)
    plan = planner.solve(state)
    assert planner.greedy(state).keys == plan.keys == ("red/train-new",)
    assert shares_of(plan) == shares_of(planner.solve(fair("newest-first")))
    assert "v1beta2" not in (FAIR / "configmap.yaml").read_text(encoding="utf-8")
    off = changed("configmap", "enable: true", "enable: false", tmp_path)
    assert not off.configuration.fair_sharing_on
    assert planner.greedy(off).victims == ()
    assert planner.solve(off).status == "infeasible"


@pytest.mark.parametrize("path", sorted(FAIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_fair_plans_are_the_smallest_by_enumeration(path: Path) -> None:
    """All legal sets are found by single removals in every order; the smallest is the optimum."""
    state = read(path)
    for key in (w.key for w in state.workloads if w.is_pending):
        plan = planner.solve(state, key, objective="min-count")
        snapshot = take_snapshot(state)
        preemptor = find_preemptor(state, snapshot, key)
        legal = FairSimulation(snapshot, preemptor, plan.assignment).legal_sets
        assert (plan.status == "optimal") == bool(legal)
        if legal:
            assert frozenset(plan.keys) in legal
            assert len(plan.keys) == min(map(len, legal))
