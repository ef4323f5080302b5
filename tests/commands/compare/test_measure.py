"""Rows against numbers worked out by hand, and against planner.greedy and planner.solve."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

import planner
from planner.commands.compare import Question, compare, find_algorithms
from planner.commands.compare.measure import find_algorithm
from planner.commands.compare.record import Row
from planner.commands.study.instance import Instance
from planner.errors import InputError
from planner.plan.kueue import Plan
from planner.solver.kueue.start import start
from planner.solver.start import Given
from planner.state.kueue import State
from tests import kueue_state, recorded
from tests.cluster import fair_sharing, pending, queue, running, state_of
from tests.commands.compare.clusters import nothing_of_its_own, one_would_do, two_borrowers
from tests.conftest import ROOT, YUNIKORN
from tests.told import told


def rows_of(state: State, *names: str) -> dict[str, Row]:
    """Return the rows of a state with one pending workload, by algorithm."""
    return {row.algorithm: row for row in compare(state, names).rows}


def test_classical_and_fair_choose_differently() -> None:
    rows = rows_of(two_borrowers(), "kueue", "kueue-classical", "kueue-fair", "optimum:min-count")
    assert rows["kueue"].victims == rows["kueue-classical"].victims == ("ns/few-1",)
    assert rows["kueue"].rules == "kueue-classical"
    assert rows["kueue-fair"].victims == ("ns/many-3",)
    assert rows["kueue-fair"].rules == "kueue-fair"
    # 20 and 30 minutes of one GPU, and 60 s for the restart.
    assert rows["kueue"].measured("lost_work") == 20 * 60 + 60
    assert rows["kueue-fair"].measured("lost_work") == 30 * 60 + 60
    # Any workload that borrows may be reclaimed: the other choice is within the rules, too.
    assert rows["kueue-fair"].outside_rules == ()
    assert {row.ratio for row in rows.values()} == {1.0}
    assert {row.ratio_of for row in rows.values()} == {"default/gpu"}
    assert {row.own_flavors for row in rows.values()} == {True}
    assert {(row.running, row.candidates) for row in rows.values()} == {(4, 4)}


def test_strategies_choose_differently() -> None:
    """By the shares after it (newer gone: 1 of 4 against 2), and by those before it (1, 4)."""
    state = nothing_of_its_own(fair_sharing())
    names = ("kueue", "kueue-fair:final", "kueue-fair:initial", "kueue-classical")
    rows = rows_of(state, *names)
    assert [rows[name].victims for name in names[:3]] == [("ns/newer",)] * 3
    assert rows["kueue-classical"].status == "infeasible"
    assert rows["kueue-classical"].terms == {}
    assert rows["kueue-classical"].measured("victims") is None
    newest = kueue_state.read(ROOT / "instances" / "fair-sharing" / "newest-first.yaml")
    rows = rows_of(newest, "kueue-fair:final", "kueue-fair:initial")
    assert rows["kueue-fair:final"].victims == ("red/eval",)
    assert rows["kueue-fair:initial"].victims == ("red/train-new",)


def test_victims_outside_the_rules_of_the_state() -> None:
    row = rows_of(nothing_of_its_own(), "kueue-fair")["kueue-fair"]
    assert row.victims == ("ns/newer",)
    assert [law.partition(" ")[0] for law in row.outside_rules] == ["KQ-06"]
    assert row.own_flavors is False  # by its own rules Kueue assigns none
    assert row.ratio == 2.0
    # 40 minutes of two GPUs, and 60 s for the restart of each; the only rank there would be.
    assert (row.terms["highest_priority"], row.terms["lost_work"], row.terms["restart_cost"]) == (
        1,
        2 * 40 * 60,
        2 * 60,
    )
    assert row.candidates == 0


def test_one_would_do() -> None:
    rows = rows_of(one_would_do(), "greedy", "optimum:no-regret")
    greedy, best = rows["greedy"], rows["optimum:no-regret"]
    assert (len(greedy.victims), len(best.victims)) == (4, 1)
    assert (greedy.ratio, best.ratio) == (1.0, 1.0)
    # Small ones ran for 49, 48, 47 and 46 minutes; the big one lost a second since its checkpoint.
    assert greedy.measured("lost_work") == (49 + 48 + 47 + 46) * 60 + 4 * 60
    assert best.measured("lost_work") == 4 * 1 + 4 * 60
    assert (greedy.proved, best.proved) == (None, True)
    assert greedy.levels == ()
    values = {level.term: (level.value, level.bound) for level in best.levels}
    assert values["workloads"] == (1, 1)


def test_the_scarcest_resource_is_the_ratio() -> None:
    """Four GPUs go for two, one core for one: only what is contested counts."""
    both = {"gpu": 4, "cpu": 8}
    state = state_of(
        queue("alone", both, within="LowerPriority"),
        running("one", "alone", {"gpu": 4, "cpu": 1}),
        pending("alone", {"gpu": 2, "cpu": 1}),
    )
    row = rows_of(state, "kueue")["kueue"]
    assert (row.ratio, row.ratio_of) == (2.0, "default/gpu")


def test_nobody_goes() -> None:
    state = state_of(queue("alone", 4), running("one", "alone", 1), pending("alone", 3))
    row = rows_of(state, "kueue")["kueue"]
    assert (row.status, row.victims, row.ratio, row.ratio_of) == ("feasible", (), 0.0, None)
    assert row.measured("victims") == 0


def test_what_is_being_evicted_already_costs_nothing() -> None:
    parts = queue("alone", 4, within="LowerPriority"), pending("alone", 3)
    state = state_of(*parts, running("one", "alone", 4, evicted=True))
    row = rows_of(state, "kueue")["kueue"]
    assert row.victims == ("ns/one",)
    assert (row.measured("victims"), row.measured("lost_work"), row.ratio) == (0, 0, 0.0)


def test_terms_do_not_depend_on_objectives(tmp_path: Path) -> None:
    """An objective with rates and soft windows solves by them; its row is measured like others."""
    own = tmp_path / "own.toml"
    own.write_text(
        'levels = ["cut_short", "rated"]\n[rates]\nworkloads = 600\nlost_work = 1\n'
        '[protect.soft]\nmin_runtime = "4h"\n'
    )
    rows = rows_of(two_borrowers(), f"optimum:{own}", "optimum:min-count", "greedy")
    found = rows["optimum:own"]
    # The one that ran longest, 50 minutes, lacks least of its 4 hours.
    assert found.victims == ("ns/many-1",)
    assert found.levels[0].value == 4 * 3600 - 50 * 60
    assert found.terms["cut_short"] == 0
    assert "rated" not in found.terms
    assert all(row.terms.keys() == found.terms.keys() for row in rows.values())


def test_skipped_and_failed(tmp_path: Path) -> None:
    groups = tmp_path / "groups.toml"
    groups.write_text('levels = ["workloads"]\n[budget.queue]\nnowhere = 0\n')
    rows = rows_of(two_borrowers(), "yunikorn", "greedy", f"optimum:{groups}")
    assert rows["yunikorn"].status == "skipped"
    told(rows["yunikorn"].detail)
    assert rows["yunikorn"].seconds is None
    assert rows["greedy"].status == "feasible"
    assert rows["optimum:groups"].status == "failed"
    told(rows["optimum:groups"].detail)


def test_yunikorn() -> None:
    state = planner.read(YUNIKORN)
    names = ("greedy", "yunikorn", "kueue", "optimum:milestones", "optimum:no-regret")
    for laws in ("design", "code"):
        found = compare(state, names, rules=laws)
        rows = {row.algorithm: row for row in found.rows}
        own = planner.greedy(state, rules=laws)
        best = planner.solve(state, rules=laws)
        assert rows["greedy"].victims == rows["yunikorn"].victims == own.keys
        assert rows["greedy"].terms == own.terms
        assert rows["greedy"].outside_rules == own.outside_rules
        assert rows["greedy"].rules == f"yunikorn-{laws}"
        assert rows["optimum:no-regret"].terms == best.terms
        assert rows["kueue"].status == "skipped"
        assert rows["optimum:milestones"].status == "skipped"
        assert "milestone cost" in rows["optimum:milestones"].detail


def test_laws_are_for_yunikorn_alone() -> None:
    found = compare({"kueue": two_borrowers(), "yunikorn": planner.read(YUNIKORN)}, rules="code")
    assert {row.status for row in found.rows} == {"feasible", "optimal"}
    assert {row.state for row in found.rows} == {"kueue", "yunikorn"}


NAMES = (
    "kueue",
    "kueue-classical",
    "kueue-fair",
    "kueue-fair:final",
    "kueue-fair:initial",
    "optimum:no-regret",
    "optimum:min-lost-work",
    "optimum:kueue-like",
)


@pytest.mark.parametrize("name", ["small-classical-hier", "small-fair-hier", "flavors", "edge"])
def test_rows_equal_the_library(name: str) -> None:
    """Each row is what planner.greedy says of the edited state, or planner.solve of the state."""
    rows_equal_the_library(name, NAMES)


def rows_equal_the_library(name: str, names: Sequence[str]) -> None:
    """Compare the rows of some algorithms on recorded states with the library."""
    for line in filter(recorded.asks_the_state, islice(recorded.lines(name), 1, 25, 6)):
        state, asked = recorded.state_of(line), line["pending"]
        assignment = line.get("assignment")
        instance = Instance(line["id"], state, (asked,), assignment)
        found = Question(find_algorithms(names)).answer(instance)
        assert found.failures == ()
        assert [row.algorithm for row in found.rows] == list(names)
        for row in found.rows:
            algorithm = find_algorithm(row.algorithm)
            edited = algorithm.state(state)
            assert isinstance(edited, State)
            if algorithm.profile is None:
                # Modes that are facts of the state may be none by other rules.
                given = Given(asked, assignment, None, algorithm.rules, recorded=True)
                plan = start(edited, given).greedy_plan()
            else:
                plan = planner.solve(state, asked, algorithm.profile, assignment=assignment)
            check(row, plan, same_rules=edited is state and algorithm.rules is None)


def check(row: Row, plan: Plan, *, same_rules: bool) -> None:
    """Compare a row with the plan it stands for; other rules have candidates of their own."""
    assert (row.status, row.victims, row.rules) == (plan.status, plan.keys, plan.rules)
    levels = plan.certificate.levels if plan.certificate else ()
    assert row.levels == levels
    if not row.has_plan:
        assert row.terms == {}
        return
    same = (
        plan.terms
        if same_rules
        else {
            t: plan.terms[t]
            for t in ("last_resort", "workloads", "lost_work", "restart_cost", "queues")
        }
    )
    counted = {term: value for term, value in same.items() if not term.startswith("victims@")}
    assert counted.items() <= row.terms.items()
    if same_rules:
        assert row.outside_rules == plan.outside_rules


def test_one_that_is_not_pending_is_a_failure() -> None:
    found = compare(two_borrowers(), pending="ns/nobody")
    assert found.rows == ()
    (failure,) = found.failures
    assert (failure.pending, found.summary.failures) == ("ns/nobody", 1)


def test_clock() -> None:
    later = compare(two_borrowers(), ["greedy"], now="2026-05-01T13:10:00Z").rows[0]
    assert later.measured("lost_work") == 30 * 60 + 60
    with pytest.raises(InputError, match="timestamp"):
        compare(two_borrowers(), now="tomorrow")


def test_no_time_no_proof() -> None:
    row = compare(one_would_do(), ["optimum:no-regret"], time_limit=0).rows[0]
    assert row.proved is False
