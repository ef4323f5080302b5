"""Kueue: every finding where it must be and where it must not, and what its example does."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.commands.whatif.edit import edit
from planner.operations.lint import lint
from planner.operations.lint.kueue import cycles
from planner.operations.lint.kueue.cycles import MAX_TRIED
from planner.operations.lint.kueue.search import AT_REST, loop
from planner.operations.lint.kueue.world import Facts
from planner.operations.lint.lint import KINDS, Finding, files_of
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.cycle.run import run_cycle
from planner.reference.kueue.decision import decide
from planner.research.simulate import Question, simulate
from planner.state.kueue import State
from tests.cluster import (
    NOW,
    admission_check,
    cohort,
    configuration,
    dump_of,
    queue,
    running,
    state_of,
)
from tests.conftest import QUICKSTART
from tests.operations.lint.film import Dump, evictions, head_of
from tests.operations.lint.kueue_cases import (
    CASES,
    RACKS,
    TWO,
    Case,
    asks,
    listed,
    looking_for,
    of,
    priority_class,
)
from tests.reader import test_quick
from tests.reference.cycles import strict, waits
from tests.reference.topology.racks import RACK, flavor, pods, room
from tests.reference.topology.racks import runs as running_pods
from tests.reference.topology.racks import waits as pending_pods
from tests.solver.test_outside_rules import (
    blocked_by_another_queue,
    blocked_by_its_own_queue,
    waits_for_pods,
)
from tests.told import told

PRIORITIES = (-1_000_000_000, -1, 0, 1, 6, 7, 8, 99, 100, 101, 1_000_000_000)
CYCLES = 24


def found_in(dump: Dump) -> list[Finding]:
    return list(lint(read_kueue_objects(dump, where="test", now=NOW)).findings)


def found_of(code: str, dump: Dump) -> list[Finding]:
    """Return what is found of a code; its rule alone is asked."""
    with looking_for(code):
        return found_in(dump)


@cache
def finding_of(code: str) -> Finding:
    case = next(case for case in CASES if case.code == code)
    (found,) = found_of(code, case.found)
    assert found.code == code
    return found


def family(name: str) -> list[Any]:
    return [pytest.param(c, id=c.code) for c in CASES if KINDS[c.code].family == name]


def read_back(found: Finding, folder: Path) -> Dump:
    """Write the example as `--examples` does, read the file as a state, and return its objects."""
    ((name, text),) = files_of([found])
    path = folder / name
    path.write_text(text, encoding="ascii")
    assert found.example.pending in planner.read(path, now=NOW).pending
    value: Dump = json.loads(text)
    return value


def with_priority(dump: Dump, priority: int) -> Dump:
    dump = deepcopy(dump)
    for item in dump["items"]:
        if item["kind"] == "Workload" and "status" not in item:
            item["spec"]["priority"] = priority
    return dump


def edited(dump: Dump, edit: Callable[[Dump], None]) -> Dump:
    dump = deepcopy(dump)
    edit(dump)
    return dump


def test_every_kind_of_kueue_has_a_case() -> None:
    assert [case.code for case in CASES] == [code for code in KINDS if code.startswith("KL")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_found_here_and_not_nearby(case: Case) -> None:
    found = finding_of(case.code)
    assert found.objects
    assert found_of(case.code, case.clean) == []


@pytest.mark.parametrize("case", family("ping-pong"))
def test_ping_pong_goes_on_for_ever_until_cured(case: Case, tmp_path: Path) -> None:
    found = finding_of(case.code)
    dump = read_back(found, tmp_path)
    counts = evictions(dump, CYCLES)
    assert max(counts.values()) >= CYCLES // 4
    assert evictions(dump, 2 * CYCLES).total() >= 2 * counts.total() - 2
    cured = evictions(edited(dump, case.edit), CYCLES)
    assert max(cured.values(), default=0) <= 1


@pytest.mark.parametrize("eviction_s", [1, 5])
@pytest.mark.parametrize("case", family("ping-pong"))
def test_the_simulation_says_the_same_of_a_ping_pong(case: Case, eviction_s: int) -> None:
    """Of the example as it is, unless it says that it rests until something else changes."""
    found = finding_of(case.code)
    state = read_kueue_objects(found.example.state, where="test", now=NOW)
    assert AT_REST not in found.example.shows
    answer = simulate(state, Question(eviction_s=eviction_s))
    assert answer.ended == "loop"
    assert answer.loops[0].endless


def test_the_example_of_the_guide_goes_round() -> None:
    """What was shown here once forgot that whoever preempted stays the head of its queue."""
    state = planner.read(QUICKSTART)
    (found,) = (one for one in lint(state).findings if one.code == "KL-01")
    example = read_kueue_objects(found.example.state, where="test", now=NOW)
    assert simulate(example).ended == "loop"


@pytest.mark.parametrize("case", family("impossible"))
def test_impossible_finds_nobody_whatever_the_priority(case: Case, tmp_path: Path) -> None:
    found = finding_of(case.code)
    dump = read_back(found, tmp_path)
    priorities = (7,) if case.code == "KL-06" else PRIORITIES
    for priority in priorities:
        entry = head_of(with_priority(dump, priority))
        assert entry.outcome in {"noCandidates", "noFit"}
        assert not entry.targets
    solved = planner.greedy(read_kueue_objects(dump, where="test", now=NOW), found.example.pending)
    assert not solved.victims


@pytest.mark.parametrize("case", family("impossible"))
def test_impossible_is_possible_once_cured(case: Case) -> None:
    dump = finding_of(case.code).example.state
    if case.code == "KL-06":  # another priority
        assert head_of(with_priority(dump, 8)).outcome == "preempting"
    elif case.code == "KL-10":
        for item in dump["items"]:
            assert "status" not in item
    else:
        assert head_of(edited(dump, case.edit)).outcome == "preempting"


def admits(dump: Dump, pending: str) -> bool:
    """Say whether Kueue would admit a workload of a dump at once, with pods placed on nodes."""
    state = read_kueue_objects(dump, where="test", now=NOW)
    snapshot = take_snapshot(state, placing=True)
    return decide(snapshot, find_preemptor(state, snapshot, pending)).assignment.mode == "Fit"


def some(*codes: str) -> list[Any]:
    return [pytest.param(case, id=case.code) for case in CASES if case.code in codes]


@pytest.mark.parametrize("case", some("KL-20", "KL-21", "KL-22", "KL-23", "KL-24", "KL-27"))
def test_it_is_not_admitted_until_cured(case: Case, tmp_path: Path) -> None:
    found = finding_of(case.code)
    dump = read_back(found, tmp_path)
    assert not admits(dump, found.example.pending)
    assert admits(edited(dump, case.edit), found.example.pending)


def test_refused_limits_change_nothing(tmp_path: Path) -> None:
    (case,) = (case for case in CASES if case.code == "KL-25")
    dump = read_back(finding_of("KL-25"), tmp_path)
    without = edited(dump, case.edit)
    assert without != dump
    assert head_of(dump).outcome == head_of(without).outcome == "noFit"


def test_what_is_admitted_beyond_the_nodes_finds_none(tmp_path: Path) -> None:
    dump = read_back(finding_of("KL-26"), tmp_path)
    assert head_of(dump).outcome == "admitted"
    state = read_kueue_objects(dump, where="test", now=NOW)
    (waits,) = state.workloads
    (asked,) = (one.resources.requests for one in waits.spec.pod_sets[0].template.spec.containers)
    (there,) = (node.status.allocatable for node in state.nodes)
    assert asked["gpu"] > there["gpu"]


def test_the_closest_rack_is_named() -> None:
    found = finding_of("KL-20")
    assert found.objects == ("workload/ns/pending", "clusterqueue/q", "topology/dc")
    told(found.reason)


@pytest.mark.parametrize(
    ("workers", "gpus"),
    [(4, 4), (1, 9)],
    ids=["it takes the place of a worker", "no node takes it"],
)
def test_a_leader_alone_makes_it_impossible(workers: int, gpus: int) -> None:
    """Without it there would be room: a rack has two nodes of 8 GPUs."""
    group = {"required": RACK, "podSetGroupName": "group"}
    leader = pods("leader", 1, {"gpu": gpus}, group)
    asked = pending_pods(pods("workers", workers, {"gpu": 4}, group), leader)
    (found,) = found_of("KL-20", listed(*RACKS, room(), asked))
    told(found.reason)
    assert not admits(found.example.state, found.example.pending)
    alone = pending_pods(pods("workers", workers, {"gpu": 4}, {"required": RACK}))
    assert found_of("KL-20", listed(*RACKS, room(), alone)) == []


def test_what_runs_or_is_unconstrained_is_not_too_much() -> None:
    """A full rack is no finding, nor is what may be spread over racks."""
    spread = pending_pods(pods("main", 6, {"gpu": 4}, {"preferred": RACK}))
    for asked in (asks(4), spread):
        runs = running_pods("w", {"gpu": 4}, {"n1": 2, "n2": 2})
        dump = listed(*RACKS, room(), runs, asked)
        assert found_of("KL-20", dump) == []


@pytest.mark.parametrize("controller", ["multikueue", "provisioning-request"])
def test_nodes_that_are_made_for_it_or_are_elsewhere_are_not_missing(controller: str) -> None:
    check = admission_check("check", f"kueue.x-k8s.io/{controller}")
    own = room()
    rules = {"admissionChecks": [{"name": "check"}]}
    own[0]["spec"]["admissionChecksStrategy"] = rules
    dump = listed(*RACKS, own, [check], asks(5))
    assert found_of("KL-20", dump) == []


def test_topologies_that_nobody_asked_for_are_not_missing() -> None:
    """A dump without nodes and topologies may be one of a kubectl that was not asked for them."""
    dump = listed(flavor(topology_name="racks"), room())
    assert found_of("KL-22", dump) == []


@pytest.mark.parametrize("case", family("useless"))
def test_useless_changes_nothing(case: Case, tmp_path: Path) -> None:
    dump = read_back(finding_of(case.code), tmp_path)
    without = edited(dump, case.edit)
    assert without != dump
    for priority in PRIORITIES:
        entries = [head_of(with_priority(one, priority)) for one in (dump, without)]
        decisions = [(one.outcome, [t.workload.key for t in one.targets]) for one in entries]
        assert decisions[0] == decisions[1]


def test_alike_queues_are_one_finding() -> None:
    dump = dump_of(*(queue(f"q{number}", 4 + number, "org") for number in range(30)), *TWO)
    (found,) = found_in(dump)
    assert found.code == "KL-03"
    assert found.objects == tuple(f"clusterqueue/q{number}" for number in range(30))
    told(found.reason)


def test_examples_are_small_and_hold_nothing_of_the_workloads() -> None:
    dump = dump_of(
        queue("a", 4, "org"),
        queue("b", 4, "org"),
        cohort("org", "top"),
        running("secret", "b", 5),
        *TWO,
    )
    (found,) = found_in(dump)
    assert "secret" not in json.dumps(found.example.state)
    kinds = [item["kind"] for item in found.example.state["items"]]
    assert kinds.count("Workload") == 2
    assert kinds.count("ClusterQueue") == 2
    assert len(kinds) <= 10


def test_what_runs_in_an_example_has_quota_there() -> None:
    # Of its GPUs, which come first, the team lends none; and without c, who lends in the cluster,
    # b can use 4 of them and no more. Of its CPUs it lends all.
    quotas = {"gpu": 4, "zpu": 4}
    state = state_of(
        cohort("org"),
        queue("team", quotas, "org", lending={"gpu": 0}),
        queue("b", quotas, "org", reclaim="Any"),
        queue("c", {"gpu": 4, "zpu": 0}, "org", stop="Hold", lending=4),
    )
    (found,) = (one for one in lint(state).findings if one.code == "KL-03")
    example = take_snapshot(read_kueue_objects(found.example.state, where="example"))
    assert [fr.resource for fr in example.tree.frs] == ["zpu"]
    (runs,) = (n for n in example.queues if example.queue_name(n) == "b")
    assert 0 < example.usage.amount[runs][0] <= example.tree.potential(runs, 0)


def test_a_sound_configuration_has_no_findings() -> None:
    lower: dict[str, Any] = {"within": "LowerPriority", "reclaim": "LowerPriority"}
    assert (
        found_in(dump_of(queue("a", 4, "org", **lower), queue("b", 4, "org", **lower), *TWO)) == []
    )


def test_an_empty_state_has_no_findings() -> None:
    assert found_in(dump_of()) == []


def test_unlimited_and_zero_quotas_are_no_trouble() -> None:
    dump = dump_of(queue("a", 0, "org"), queue("b", 2**63, "org", reclaim="Any"))
    assert found_in(dump) == []


def test_where_no_priority_is_known_nobody_says_who_is_lower() -> None:
    """Priorities of Kubernetes itself are not those of workloads."""
    system = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 2_000_000_000}
    system["metadata"] = {"name": "system-cluster-critical"}
    dump = dump_of(queue("a", 4, within="LowerPriority"), [system])
    state = read_kueue_objects(dump, where="test", now=NOW)
    assert Facts(state).priorities == []
    answer = lint(state)
    assert answer.findings == ()
    assert any("KL-05, KL-06, KL-15" in note for note in answer.notes)


LEAST, MOST = -(2**31), 2**31 - 1
BY_FORCE: dict[str, Any] = {"reclaim": "LowerPriority", "borrow": "LowerPriority"}
LENDER, SPARE = queue("b", 4, "org", reclaim="Any"), queue("c", 2, "org")


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("KL-01", (queue("a", 0, "org", **BY_FORCE, threshold=LEAST + 1), LENDER, SPARE)),
        ("KL-03", (queue("a", 0, "org", **BY_FORCE, threshold=LEAST), LENDER, SPARE)),
        ("KL-05", (queue("a", 4, "org", **BY_FORCE, threshold=0), LENDER, priority_class(MOST))),
        ("KL-06", (queue("a", 4, within="LowerPriority"), priority_class(LEAST))),
        ("KL-06", (queue("a", 4, within="LowerPriority"), priority_class(MOST))),
        ("KL-15", (queue("a", 4, "org", **BY_FORCE, threshold=MOST), LENDER, priority_class(MOST))),
        ("KL-15", (queue("a", 4, "org", **BY_FORCE, threshold=0), LENDER, priority_class(LEAST))),
    ],
)
def test_the_ends_of_32_bits_are_priorities_like_any(code: str, parts: Any) -> None:
    assert found_of(code, dump_of(*parts))


@pytest.mark.parametrize("within", ["LowerPriority", "LowerOrNewerEqualPriority"])
@pytest.mark.parametrize("priority", [0, 10])
@pytest.mark.parametrize("borrow", ["Never", "LowerPriority"])
def test_by_priority_alone_nobody_evicts_back(within: str, priority: int, borrow: str) -> None:
    """Sizes of two against one; both queues preempt within and among themselves, never by Any.

    Who borrows may be overtaken by its victims, once; they never preempt it.
    """
    by_priority: dict[str, Any] = {"reclaim": "LowerPriority", "borrow": borrow}
    for first in (1, 2, 4):
        for asked in (1, 3, 6):
            for created in (1, 50):
                dump = dump_of(
                    queue("a", 2, "org", within=within, **by_priority),
                    queue("b", 4, "org", within=within, **by_priority),
                    running("first", "b", first, 0, created=2),
                    running("second", "b", 6 - first, 0, created=3),
                    asking("a", asked, priority, created),
                )
                assert loop(dump) == ()


def asking(queue_name: str, amount: int, priority: int, created: int) -> list[Any]:
    (workload,) = running("asks", queue_name, amount, priority, created=created)
    del workload["status"]
    return [workload]


def found_starving(*parts: Any) -> list[Finding]:
    return found_of("KL-19", dump_of(*parts))


@pytest.mark.parametrize("parts", [blocked_by_its_own_queue, blocked_by_another_queue])
def test_starvation_is_what_a_plan_says_of_it(parts: Any) -> None:
    """Of the state, and of the example: who is in the way, and that it would preempt."""
    (found,) = found_starving(*parts())
    plan = planner.solve(state_of(*parts()), "ns/p")
    assert plan.greedy is not None
    in_the_way = tuple(f"workload/{key}" for key in plan.greedy.in_the_way)
    assert found.objects[1:] == (*in_the_way, "workload/ns/p")
    example = read_kueue_objects(found.example.state, where="test", now=NOW)
    shown = planner.solve(example, found.example.pending)
    assert shown.greedy is not None
    assert shown.greedy.in_the_way == ("example/first-1",)
    assert shown.greedy.keys == ("example/runs-1",)
    assert "ns/" not in json.dumps(found.example.state)


@pytest.mark.parametrize("parts", [blocked_by_its_own_queue, blocked_by_another_queue])
def test_starvation_ends_with_another_strategy(parts: Any) -> None:
    assert found_starving(*parts(queue)) == []


def test_nobody_starves_where_somebody_moves() -> None:
    """What is admitted first changes everything, and who waits for its backoff will come back."""
    parts = blocked_by_another_queue()
    assert found_starving(*parts[:3], waits("first", "b", 0, 10), parts[4]) == []
    requeue: dict[str, Any] = {"requeueState": {"count": 1, "requeueAt": "2026-05-01T14:00:00Z"}}
    own = blocked_by_its_own_queue()
    assert len(found_starving(*own[:2], waits("first", "a", 10, 100, **requeue), own[3])) == 1
    parked = [{"type": "Requeued", "status": "False", "reason": "Parked"}]
    held = waits("first", "a", 10, 100, conditions=parked)
    assert found_starving(*own[:2], held, own[3]) == []


@pytest.mark.parametrize(("at", "bound", "name"), [(2, MOST, "first-1"), (1, LEAST, "runs-1")])
def test_boosts_beyond_32_bits_stand_in_the_example(at: int, bound: int, name: str) -> None:
    """Kueue adds two numbers of 32 bits in 64: the example has both, as a cluster would."""
    parts = blocked_by_its_own_queue()
    parts[at][0]["spec"]["priority"] = bound
    boost = {"kueue.x-k8s.io/priority-boost": str(bound)}
    parts[at][0]["metadata"]["annotations"] = boost
    (found,) = found_starving(configuration(featureGates={"PriorityBoost": True}), *parts)
    jobs = (one for one in found.example.state["items"] if one["kind"] == "Workload")
    (shown,) = (one for one in jobs if one["metadata"]["name"] == name)
    assert shown["spec"]["priority"] == bound
    assert shown["metadata"]["annotations"] == boost


def test_who_would_find_nobody_either_does_not_starve() -> None:
    own = blocked_by_its_own_queue()
    assert found_starving(*own[:3], waits("p", "a", 5, 10)) == []
    told(found_starving(own[0], own[2], waits("p", "a", 4, 10))[0].example.shows[-1])


def test_many_behind_one_are_one_finding_of_few_objects() -> None:
    behind = (waits(f"w{number}", "a", 1, 5) for number in range(3_000))
    (found,) = found_starving(*blocked_by_its_own_queue(), *behind)
    told(found.reason)
    assert len(found.objects) == 2 + MAX_TRIED


def test_a_tree_that_is_too_much_work_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "MAX_WORK", 5)
    assert found_starving(*blocked_by_its_own_queue()) == []


@pytest.mark.parametrize("asked", [{"cpu": 2}, {"cpu": 2, "gpu": 1}])
def test_head_and_starving_may_want_different_resources(asked: dict[str, int]) -> None:
    """An example has one resource: there the head asks for more than there is of it."""
    (found,) = found_starving(
        strict("a", {"gpu": 4, "cpu": 4}, within="LowerPriority"),
        waits("first", "a", {"gpu": 10}, 100),
        waits("p", "a", asked, 10),
    )
    assert found.objects == ("clusterqueue/a", "workload/ns/first", "workload/ns/p")
    dump = found.example.state
    cure = of("ClusterQueue", "a", queueingStrategy="BestEffortFIFO")
    left = [
        run_cycle(read_kueue_objects(one, where="test", now=NOW)).left["a"]
        for one in (dump, edited(dump, cure))
    ]
    assert left == [("example/first-1", "example/asks"), ("example/asks",)]


def test_a_cycle_that_waits_for_pods_blocks_nobody() -> None:
    assert "KL-19" not in {found.code for found in lint(state_of(*waits_for_pods())).findings}


def test_who_runs_is_linted_without_an_object_of_each() -> None:
    state = test_quick.read(
        test_quick.listed(running("r", "a", 2), queue("a", 2)), explaining=False
    )
    assert isinstance(state, State)
    lint(state)
    assert "ns/r" not in [one.key for one in state.workloads._made.values()]  # noqa: SLF001


def test_the_remedy_for_a_workload_that_is_never_reached() -> None:
    """The head of another queue reserves what it cannot have: kubernetes-sigs/kueue#4809."""
    there = state_of(
        strict("assured", 2, "all", reclaim="LowerPriority"),
        queue("leftover", 0, "all"),
        running("runs", "assured", 1, 100),
        waits("first", "assured", 2, 100),
        waits("one", "leftover", 1),
    )
    before = planner.solve(there, "ns/one")
    assert before.greedy is not None
    assert before.greedy.in_the_way == ("ns/first",)
    (hint,) = [one.hint for one in lint(there).findings if one.code == "KL-19"]
    field, _, rest = hint.partition(": ")
    text = f"{rest.split(' in ')[1].split(',')[0]}.{field}={rest.split(' ')[0]}"
    after = planner.solve(edit(there, [text]), "ns/one")
    assert after.greedy is not None
    assert (after.held_back, after.greedy.in_the_way) == (None, ())
    told(after.greedy.explanation)
