"""The finding ``fragmentation``: what its own placement of pods costs, whoever goes.

Source: docs/semantics/kueue-topology.md §7 and §8.
"""

import pytest

import planner
from planner.commands.audit import Case, Question
from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import audit_instance
from planner.commands.audit.record import Audit
from planner.commands.compare import compare
from planner.objective.profiles import PROFILES, Profile
from planner.plan import AnyPlan
from planner.report.audit import render
from planner.solver.deadline import Deadline
from planner.solver.start import AnyPlanning, solve
from planner.state.kueue import State
from tests.cluster import PENDING
from tests.conftest import QUICKSTART, ROOT
from tests.reference.topology.racks import LOADER, SMALL, TRAIN, best_fit, state_of


def four_for_one() -> State:
    """Kueue has to evict everybody on n2, where one of them would do."""
    return state_of(best_fit(*SMALL))


def nobody_for_one() -> State:
    """With 24 cores n2 is the smaller rack even when empty: Kueue never looks for victims."""
    return state_of(best_fit(cores=24))


def audited(state: State) -> Audit:
    """Audit a state for the fewest victims."""
    return planner.audit(state, objectives=("min-count",))


def only_case(state: State) -> Case:
    """Return what an audit says of the only one that waits."""
    (case,) = audited(state).cases
    return case


def test_kueue_has_to_take_four_where_one_would_do() -> None:
    case = only_case(four_for_one())
    assert len(case.victims) == 4
    assert case.findings == ("fragmentation",)
    (judgement,) = case.judgements
    assert (judgement.status, len(judgement.victims), judgement.best) == ("optimal", 4, True)
    at_will = judgement.at_will
    assert at_will is not None
    assert (at_will.status, at_will.victims, at_will.better) == ("optimal", ("ns/large",), True)
    assert (at_will.spared["victims"], at_will.spared["workloads"]) == (3, 3)


def test_in_the_other_order_one_is_enough_for_kueue_too() -> None:
    case = only_case(state_of(best_fit(*SMALL, waiting=(TRAIN, LOADER))))
    (judgement,) = case.judgements
    assert judgement.victims == ("ns/large",)
    assert "fragmentation" not in case.findings


def test_kueue_has_nobody_to_take_where_one_would_do() -> None:
    case = only_case(nobody_for_one())
    assert (case.status, case.victims, case.findings) == ("infeasible", (), ("fragmentation",))
    (judgement,) = case.judgements
    assert judgement.status == "infeasible"
    at_will = judgement.at_will
    assert at_will is not None
    assert (at_will.victims, at_will.better, at_will.spared) == (("ns/large",), True, {})


@pytest.mark.parametrize(
    ("name", "findings"), [("needless", ("disruption",)), ("nobody", ("missed",))]
)
def test_what_kueue_could_do_and_does_not_is_another_finding(
    name: str, findings: tuple[str, ...]
) -> None:
    """One victim would do, and Kueue's own placement would be content with it."""
    state = planner.read(ROOT / "instances" / "topology" / f"{name}.yaml")
    (case,) = planner.audit(state).cases
    assert case.findings == findings
    for judgement in case.judgements:
        if name == "needless":
            assert judgement.at_will is None  # one podset: who places its pods is the same
        else:
            assert judgement.at_will is not None
            assert judgement.at_will.better is False


def test_the_cluster_of_the_guide() -> None:
    state = planner.read(ROOT / "instances" / "topology" / "best-fit.yaml")
    (case,) = planner.audit(state).cases
    assert (len(case.victims), case.findings) == (4, ("fragmentation",))
    for judgement in case.judgements:
        assert judgement.at_will is not None
        assert judgement.at_will.victims == ("lab/ingest",)


def test_nothing_is_said_before_both_are_proved() -> None:
    """With no time there is an answer, Kueue's own, and no proof that it needs all four."""
    state = four_for_one()
    question = Question((PROFILES["min-count"],), time_limit=0.0)
    (case,) = audit_instance(Instance("racks", state, (PENDING,)), question).cases
    (judgement,) = case.judgements
    assert judgement.status != "optimal"
    assert judgement.at_will is not None
    assert judgement.at_will.better is None
    assert case.findings == ()


def test_without_topology_nothing_more_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []

    def counting(planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
        solved.append(profile.name)
        return solve(planning, profile, deadline)

    monkeypatch.setattr("planner.commands.audit.judge.solve", counting)
    state = planner.read(QUICKSTART)
    (case,) = planner.audit(state).cases
    assert all(judgement.at_will is None for judgement in case.judgements)
    assert solved == ["no-regret", "min-count", "within"]


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("table", "at will"),
        ("plain", "min-count status=optimal victims=1 better=yes"),
        ("json", '"better": true'),
        ("csv", "optimal,1,yes"),
        ("markdown", "fragmentation"),
        ("html", "at will"),
    ],
)
def test_every_format_says_so(style: str, said: str) -> None:
    assert said in render(audited(four_for_one()), style, width=120, color=False)


NAMES = ("optimum:min-count", "any/optimum:min-count", "greedy")


def test_algorithms_say_what_fragmentation_costs() -> None:
    """Its own placement fails with those who go at will: that is marked as what it is."""
    found = compare({"four": four_for_one(), "none": nobody_for_one()}, NAMES)
    four, none = (
        {row.algorithm: row for row in found.rows if row.state == name} for name in ("four", "none")
    )
    assert [four[name].terms["workloads"] for name in NAMES] == [4, 1, 4]
    best = four[NAMES[1]]
    assert (best.victims, best.proved, len(best.outside_rules)) == (("ns/large",), True, 1)
    assert best.outside_rules[0].startswith("KT-02")
    assert [none[name].status for name in NAMES] == ["infeasible", "optimal", "infeasible"]
    (duel, _) = found.summary.duels
    assert (duel.both, duel.only_this, duel.only_first) == (1, 1, 0)
    assert (duel.scores[0].wins, duel.scores[0].mean_gap) == (1, 3)


def test_where_no_topology_decides_it_is_skipped() -> None:
    state = planner.read(QUICKSTART)
    (row,) = compare(state, (NAMES[1],)).rows
    assert row.status == "skipped"
    assert row.detail.startswith("no topology decides about its pods")
