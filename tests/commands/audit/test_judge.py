"""The judgements of an audit against all recorded legal sets, and on clusters made by hand."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

import planner
from planner.commands.audit import Case, Question
from planner.commands.audit.judge import SIZE, _needless
from planner.commands.study.instance import Instance
from planner.errors import InputError
from planner.objective.profiles import PROFILES, Profile
from planner.objective.wishes import Wishes
from planner.plan import AnyPlan
from planner.reader.kueue import read_kueue_objects
from planner.solver.deadline import Deadline
from planner.solver.start import AnyPlanning, Given, solve, start
from tests import recorded
from tests.cli.running import BIG, SMALL, another_pending, cluster
from tests.cluster import NOW, cohort, dump_of, pending, queue, running
from tests.conftest import ROOT, TEST_ALL, recorded_root
from tests.solver.yunikorn_truth import YuniKornTruth
from tests.told import told
from tests.yunikorn.building import above_max
from tests.yunikorn.building import state_of as yunikorn_state
from tests.yunikorn.legality import SMALL_QUOTA, lowered_lines
from tests.yunikorn.recorded import lines as yunikorn_lines

Victims = frozenset[str]
FILES = (
    "small-classical-flat",
    "small-classical-hier",
    "small-classical-nocohort",
    "small-edge",
    "small-fair-flat",
    "small-fair-hier",
    "small-flavors",
)
EVERY = 8 if TEST_ALL or recorded_root() is None else 64


def legal_sets(exhaustive: dict[str, Any]) -> list[Victims]:
    """Return all legal sets of a recorded line, whichever attempt they belong to."""
    keys = [candidate["workload"] for candidate in exhaustive["candidates"]]
    masks = {mask for attempt in exhaustive["attempts"] for mask in attempt["legal"]}
    return [frozenset(k for bit, k in enumerate(keys) if mask >> bit & 1) for mask in masks]


def sampled(name: str) -> Iterator[recorded.Line]:
    """Yield every so-manieth line whose legal sets are all known."""
    for line in recorded.lines(name, EVERY):
        exhaustive = line["expect"].get("exhaustive")
        known = exhaustive and not any(one.get("minimalOnly") for one in exhaustive["attempts"])
        if known:
            yield line


def audited(instance: Instance, question: Question) -> Case:
    """Return the only case of an instance."""
    audit = question.answer(instance)
    assert audit.failures == ()
    (case,) = audit.rows
    return case


def check_against(case: Case, legal: list[Victims]) -> None:
    """Compare what is said of a scheduler's answer with all sets that it could have chosen."""
    theirs = frozenset(case.victims)
    lawful = theirs in legal
    assert ("missed" in case.findings) == (bool(legal) and case.status == "unknown")
    assert ("pointless" in case.findings) == (bool(theirs) and frozenset() in legal)
    if not theirs or not lawful:
        assert case.smallest is None
        assert case.irredundant is None
        return
    assert case.smallest == (min(map(len, legal)) == len(theirs))
    assert case.fewest == min(map(len, legal))
    subsets = [one for one in legal if one < theirs]
    assert case.irredundant == (not subsets)
    assert ("redundant" in case.findings) == bool(subsets)
    if subsets:
        kept = theirs - set(case.needless)
        assert kept in legal
        assert len(kept) == min(map(len, subsets))
    else:
        assert case.needless == ()


@pytest.mark.parametrize("name", FILES)
def test_kueue_equals_all_legal_sets(name: str) -> None:
    checked = 0
    for line in sampled(name):
        state = recorded.state_of(line)
        instance = Instance(line["id"], state, (line["pending"],), line.get("assignment"))
        case = audited(instance, Question())
        if case.judgements[0].status == "infeasible" and not case.victims:
            continue  # what Kueue takes for fitting is never searched; the solver's tests have it
        check_against(case, legal_sets(line["expect"]["exhaustive"]))
        if all(one.best for one in case.judgements):
            assert case.findings == ()
        checked += 1
    assert checked > 3


@pytest.mark.parametrize("name", ["small-generic", "small-optout", "small-fenced"])
def test_yunikorn_equals_all_legal_sets(name: str) -> None:
    checked = 0
    for line in yunikorn_lines(name, 24):
        truth = YuniKornTruth(line, "code")
        if not truth.is_searched:
            continue
        instance = Instance(truth.id, truth.state, (truth.ask,))
        case = audited(instance, Question((PROFILES["min-count"],), rules="code"))
        if case.status == "feasible" and not case.victims:
            continue  # it reserves a node and preempts nobody
        check_against(case, list(truth.legal))
        checked += 1
    assert checked > 3


@pytest.mark.parametrize("name", SMALL_QUOTA)
def test_lowered_quotas_equal_all_legal_sets(name: str) -> None:
    """The recorded queue is among those above their max; where it need not go on, it is none."""
    found: set[str] = set()
    for line, path, legal in lowered_lines(name, 5):
        instance = Instance(line["id"], yunikorn_state(line), ())
        cases = Question((PROFILES["min-count"],)).answer(instance).rows
        of_queue = [case for case in cases if case.pending == path]
        assert len(of_queue) == (frozenset() not in legal), line["id"]
        for case in of_queue:
            check_against(case, list(legal))
            assert ("rules" in case.findings) == (
                bool(case.victims) and frozenset(case.victims) not in legal
            )
            found |= {*case.findings}
    assert found >= {"rules"}


@pytest.mark.parametrize(
    "change",
    [{"preemption": {}}, {"clusterInfo": [{"rmBuildInformation": [{"buildVersion": "1.8.0"}]}]}],
)
def test_a_queue_in_which_the_core_preempts_nobody_is_not_judged(change: dict[str, Any]) -> None:
    judged = planner.audit(yunikorn_state(above_max()))
    (case,) = judged.cases
    assert (case.pending, case.rules) == ("root.research", "yunikorn-lowered-quota")
    assert (case.victims, case.findings) == (("large",), ("rules",))
    value = above_max() | {key: part for key, part in change.items() if key != "preemption"}
    if "preemption" in change:
        value["queues"]["partitions"][0]["preemption"] = {}
    assert planner.audit(yunikorn_state(value)).cases == ()
    other = planner.audit(yunikorn_state(above_max()), "root.research")
    assert [one.pending for one in other.failures] == ["root.research"]


def instance_of(value: dict[str, Any]) -> Instance:
    """Return a cluster of Kueue with everybody who waits in it."""
    state = read_kueue_objects(value, where="cluster", now=NOW)
    return Instance("cluster", state, state.pending)


def test_one_victim_would_do() -> None:
    """Kueue evicts the four newest of one GPU each; the old one of four GPUs would do."""
    case = audited(instance_of(cluster()), Question())
    assert set(case.victims) == set(SMALL)
    assert case.findings == ("disruption",)
    assert case.irredundant is True
    assert (case.smallest, case.fewest) == (False, 1)
    (judgement,) = case.judgements
    assert (judgement.objective, judgement.victims) == ("no-regret", (BIG,))
    assert judgement.gaps["workloads"] == 3
    assert judgement.best is False
    (ratio,) = case.ratios
    assert (ratio.resource, ratio.requested, ratio.greedy, ratio.optimum) == ("gpu", 4, 4, 4)


def dearer_in_one() -> dict[str, Any]:
    """Return a cluster in which one victim would do that loses more than Kueue's four."""
    value = cluster()
    (big,) = (one for one in value["items"] if one["metadata"]["name"] == "big")
    big["metadata"]["annotations"] = {}
    return value


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (["no-regret"], [True]),
        (["min-count"], [False]),
        (["no-regret", "min-lost-work"], [True, True]),
        (["min-lost-work", "min-count"], [True, False]),
    ],
)
def test_fewer_victims_are_a_finding_only_of_who_asks_for_them(
    names: list[str], best: list[bool]
) -> None:
    case = audited(instance_of(dearer_in_one()), Question(tuple(PROFILES[one] for one in names)))
    assert [one.best for one in case.judgements] == best
    assert case.findings == (() if all(best) else ("disruption",))
    assert (len(case.victims), case.fewest, case.smallest) == (4, 1, False)


def test_a_proof_of_the_fewest_that_is_wanting_is_no_want_of_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is told beside the judgement, and the judgement is proved."""

    def hurried(planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
        return solve(planning, profile, Deadline.after(0) if profile == SIZE else deadline)

    monkeypatch.setattr("planner.commands.audit.judge.solve", hurried)
    case = audited(instance_of(dearer_in_one()), Question())
    assert (case.proved, case.fewest) == (True, None)


def test_who_goes_anyway_is_not_needless() -> None:
    """Kueue keeps one that is being evicted already in its set, of which the other is enough."""
    parts = (
        queue("alone", 4, within="LowerPriority"),
        running("large", "alone", 3, priority=1),
        running("going", "alone", 1, minute=5, evicted=True),
        pending("alone", 3, priority=9),
    )
    instance = instance_of(dump_of(*parts))
    planning = start(instance.state, Given("ns/pending"))
    plan = planning.greedy_plan()
    (large,) = plan.victims
    going = large.model_copy(update={"key": "ns/going", "costs": {**large.costs, "workloads": 0}})
    both = plan.model_copy(update={"victims": (going, large)})
    assert _needless(instance, Given("ns/pending"), Question(), both) == ()


def test_nobody_needs_to_go() -> None:
    parts = (queue("alone", 4), running("one", "alone", 1), pending("alone", 3))
    case = audited(instance_of(dump_of(*parts)), Question())
    assert case.victims == ()
    assert case.findings == ()
    assert case.judgements[0].status == "optimal"
    assert case.smallest is None


def test_infeasible_for_both() -> None:
    parts = (queue("alone", 4), running("one", "alone", 4), pending("alone", 3))
    case = audited(instance_of(dump_of(*parts)), Question())
    assert case.findings == ()
    assert case.judgements[0].status == "infeasible"
    assert case.judgements[0].terms == {}
    assert case.proved


def test_wishes_that_the_scheduler_does_not_know() -> None:
    """A budget of no eviction in the borrower's queue: Kueue's answer exceeds it."""
    parts = (
        cohort("all"),
        queue("lender", 4, "all", reclaim="Any", within="LowerPriority"),
        queue("borrower", 0, "all"),
        running("theirs", "borrower", 2),
        running("own", "lender", 2),
        pending("lender", 2, priority=5),
    )
    wishes = Wishes(budget={"queue/borrower": 0})
    strict = PROFILES["min-count"].__class__("strict", "", levels=(("workloads",),), wishes=wishes)
    case = audited(instance_of(dump_of(*parts)), Question((strict,)))
    assert case.victims == ("ns/theirs",)
    assert case.judgements[0].victims == ("ns/own",)
    assert case.judgements[0].best is False
    assert case.findings == ("disruption",)


def test_everybody_who_waits_and_one_who_cannot() -> None:
    value = cluster(another_pending("second"), another_pending("lost", "nowhere"))
    instance = instance_of(value)
    assert instance.pending == ("ns/pending", "ns/second")
    asked = Instance("cluster", instance.state, (*instance.pending, "ns/lost"))
    audit = Question().answer(asked)
    assert [case.pending for case in audit.rows] == ["ns/pending", "ns/second"]
    (failure,) = audit.failures
    assert failure.pending == "ns/lost"
    assert "nowhere" in failure.detail


def test_time_limit_of_zero_proves_nothing_it_does_not_know() -> None:
    case = audited(instance_of(cluster()), Question(time_limit=0))
    assert not case.proved
    assert case.smallest is None
    assert case.judgements[0].best is None
    assert case.findings == ()


@pytest.mark.parametrize("names", [("stable",), ("stable", "min-count"), ("min-count", "stable")])
@pytest.mark.parametrize("file", ["two-resources", "topology/best-fit", "topology/nobody"])
def test_what_nobody_had_time_to_ask_the_scheduler_is_not_judged(
    file: str, names: tuple[str, ...]
) -> None:
    """``unstable`` of the scheduler's own plan may be known where that of the best known is not."""
    state = planner.read(ROOT / "instances" / f"{file}.yaml")
    instance = Instance(file, state, state.pending)
    case = audited(instance, Question(tuple(PROFILES[name] for name in names), time_limit=0))
    (stable,) = (one for one in case.judgements if one.objective == "stable")
    assert stable.status in {"feasible", "unknown"}
    assert stable.best is None
    assert "unstable" not in stable.gaps
    assert "disruption" not in case.findings


def test_library() -> None:
    state = read_kueue_objects(cluster(another_pending("second")), where="cluster", now=NOW)
    audit = planner.audit(state, objectives=["min-lost-work"])
    assert audit.objectives == ("min-lost-work",)
    # Kueue looks at the head of a queue alone.
    assert {case.pending: case.turn for case in audit.cases} == {
        "ns/pending": "held",
        "ns/second": "next",
    }
    assert (audit.summary.findings, audit.summary.fewer) == ({"disruption": 2}, 1)
    only = planner.audit(state, "ns/second", now=NOW)
    assert [case.pending for case in only.cases] == ["ns/second"]
    with pytest.raises(InputError, match="no profile"):
        planner.audit(state, objectives=["nonsense"])
    with pytest.raises(InputError) as caught:
        planner.audit(state, objectives=[])
    told(caught.value)


def test_a_clock_that_is_none_is_refused() -> None:
    state = read_kueue_objects(cluster(), where="cluster", now=NOW)
    with pytest.raises(InputError, match="yesterday"):
        planner.audit(state, now="yesterday")
    with pytest.raises(InputError, match="time zone"):
        planner.solve(state, now=datetime(2026, 5, 1))  # noqa: DTZ001 - that is the point
