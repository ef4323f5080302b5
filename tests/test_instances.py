"""The instances are what they claim to be: the quickstart's story, the examples, the sample."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.plan.kueue import Plan
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader import Ignored
from planner.state.kueue import State
from planner.state.kueue_configuration import Configuration
from planner.term import TERMS
from tests.brute_force import legal_sets, question_of
from tests.conftest import ROOT
from tests.kueue_state import read
from tests.oracle.legality import collected, reached
from tests.recorded import texts
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


# The quickstart: a dump of a cluster that could be.


def test_quickstart_is_what_its_script_prints() -> None:
    script = QUICKSTART.with_name("make.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == QUICKSTART.read_text(encoding="utf-8")


def test_quickstart_reads_without_a_remark(state: State) -> None:
    assert take_snapshot(state).notes == ()
    ignored = Ignored()
    read(QUICKSTART, ignored=ignored)
    assert not ignored.kinds


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
    question = question_of(snapshot, preemptor, plan.assignment)
    candidates, attempts = collected(question)
    assert attempts[0] is plan.borrowing is True
    low = [candidate for candidate in candidates if candidate.held.priority == LOW]
    legal = question.names(reached(question, low, borrow=True))
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
    assert {len(texts(path)) for path in RECORDED} == {LINES_PER_FILE}


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


RED, BLUE = "red/train-new", "blue/wants-two"
FOUR = "blue/wants-four"
STORIES: list[tuple[str, str | None, tuple[str, ...], dict[str, tuple[float, ...]]]] = [
    # Blue is at 10/20 with the preemptor: red, at 14/20, may go down to 10/20 and no further.
    # Without one of the jobs of 5, which are of lower priority and newer, it would be at 9/20.
    ("small-first", None, ("red/eval",), {"blue": (300, 500, 500), "red": (700, 700, 500)}),
    # 10/20 is less than 14/20, whoever goes: the first candidate in Kueue's order does.
    ("newest-first", None, (RED,), {}),
    ("configmap", None, (RED,), {}),
    # Without a job of 7, red would be at 7/20, below 10/20 of blue; 14/20 before is above.
    ("fallback", None, (RED,), {}),
    # 2 of 8 against 6 of 8 becomes 4 against 4; with 4 more blue would be at 6 of 8 itself.
    ("equal-shares", BLUE, ("red/job-3",), {"blue": (250, 500, 500), "red": (750, 750, 500)}),
    ("equal-shares", FOUR, (), {}),
    # 2/8 over a weight of 1 is 6/8 over 3; 4/8 is more than even 8/8 over 3.
    (
        "weighted-shares",
        BLUE,
        ("red/job-4",),
        {"blue": (0, 250, 250), "red": (1000 / 3, 1000 / 3, 250)},
    ),
    ("weighted-shares", FOUR, (), {}),
]
"""Instance, preemptor, whom Kueue evicts and the plan as well, shares before, with it, after."""


@pytest.mark.parametrize(("name", "key", "victims", "shares"), STORIES)
def test_shares_decide(
    name: str, key: str | None, victims: tuple[str, ...], shares: dict[str, tuple[float, ...]]
) -> None:
    state = fair(name)
    plan = planner.solve(state, key)
    assert planner.greedy(state, key).keys == plan.keys == victims
    assert plan.status == ("optimal" if victims else "infeasible")
    assert not shares or shares_of(plan) == shares


BOTH = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


@pytest.mark.parametrize(
    ("name", "strategies", "victims"),
    [
        ("small-first", BOTH[1:], (RED,)),
        ("newest-first", BOTH[:1], ("red/eval",)),
        ("fallback", BOTH[:1], ()),
        ("fallback", BOTH[1:], (RED,)),
    ],
)
def test_strategies_decide(
    name: str, strategies: tuple[str, ...], victims: tuple[str, ...]
) -> None:
    state = with_strategies(fair(name), *strategies)
    assert planner.greedy(state).keys == planner.solve(state).keys == victims


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


@pytest.mark.parametrize("path", sorted(FAIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_fair_plans_are_the_smallest_by_enumeration(path: Path) -> None:
    """All legal sets are found by single removals in every order; the smallest is the optimum."""
    state = read(path)
    for key in (w.key for w in state.workloads if w.is_pending):
        plan = planner.solve(state, key, objective="min-count")
        snapshot = take_snapshot(state)
        preemptor = find_preemptor(state, snapshot, key)
        legal = legal_sets(snapshot, preemptor, plan.assignment, fair=True)
        assert (plan.status == "optimal") == bool(legal)
        if legal:
            assert frozenset(plan.keys) in legal
            assert len(plan.keys) == min(map(len, legal))
