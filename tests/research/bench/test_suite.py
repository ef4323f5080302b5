"""The suite: its states byte for byte, its optima by enumeration and by the certificate."""

from collections import Counter
from collections.abc import Iterator
from runpy import run_path

import pytest

import planner
from planner.errors import InputError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import measure_name, with_names
from planner.reader import read_objects
from planner.research.bench.record import Case
from planner.research.bench.run import begun, digest_of, family, line_of, made
from planner.solver.deadline import Deadline
from planner.solver.start import AnyPlanning, solve
from tests.conftest import TEST_ALL, some
from tests.research.bench.suites import BY_NAME, FOLDER, SUITE, state_of
from tests.subsets import subsets
from tests.told import told

FEW = 8
"""Candidates up to which all sets are tried."""
NAMES = [case.name for case in SUITE.cases if TEST_ALL or case.size == "small"]
"""Cases whose states are made again; that of a large one takes seconds."""
FEW_TENANTS = ["kep83-large-2", *(["kueue-baseline-1", "ten-thousand-1"] if TEST_ALL else [])]
"""Cases whose fewest tenants have no trees but by who is touched; the others are large."""
TRIED = [case.name for case in SUITE.cases if case.size == "small" and case.candidates <= FEW]


@pytest.mark.parametrize("name", NAMES)
def test_a_state_is_made_again_byte_for_byte(name: str) -> None:
    case = BY_NAME[name]
    assert state_of(case.model_copy(update={"digest": ""})).digest == case.digest


def test_another_state_is_refused() -> None:
    case = BY_NAME["classical-small-1"].model_copy(update={"digest": "0" * 64})
    with pytest.raises(InputError) as caught:
        made(case)
    told(caught.value)


def test_a_suite_reads_no_files_but_its_own() -> None:
    source = BY_NAME["elastic-1"].source.model_copy(update={"file": "../quickstart/cluster.json"})
    with pytest.raises(InputError) as caught:
        line_of(source, FOLDER)
    told(caught.value)


def test_what_the_suite_covers() -> None:
    assert len(BY_NAME) == len(SUITE.cases)
    assert {case.kind for case in SUITE.cases} == {
        *("classical", "fair", "topology", "elastic", "kep83", "yunikorn")
    }
    sizes = Counter((case.kind, case.size) for case in SUITE.cases)
    # What is recorded of elastic workloads is small.
    assert all(
        sizes[kind, size]
        for kind in ("classical", "fair", "topology", "kep83", "yunikorn")
        for size in ("small", "medium", "large")
    )
    assert any(case.hard for case in SUITE.cases if case.size == "small")
    for case in SUITE.cases:
        assert tuple(one.objective for one in case.optima) == SUITE.objectives
        assert len({one.status for one in case.optima}) == 1
        assert not find_profile(case.optima[0].objective).caps


def values_of(planning: AnyPlanning, objective: str, chosen: tuple[int, ...]) -> dict[str, int]:
    """Return the levels of a victim set."""
    levels = with_names(planning.set_objective(find_profile(objective)).levels)
    terms = planning.table.evaluate(chosen)
    return {measure_name(each): sum(terms[term] for term in each) for each in levels}


def everybody(case: Case) -> Iterator[tuple[int, ...]]:
    """Yield all sets of candidates."""
    return subsets(begun(case, state_of(case).state).eligible.nonzero()[0].tolist())


@pytest.mark.parametrize("name", some(TRIED, 3))
def test_no_set_is_better_than_the_optimum(name: str) -> None:
    """All sets of candidates, judged by the verifier and valued by the terms."""
    case = BY_NAME[name]
    planning = begun(case, state_of(case).state)
    legal = [chosen for chosen in everybody(case) if not planning.broken_by(chosen)]
    for best in case.optima:
        assert (best.status == "optimal") == bool(legal)
        found = [values_of(planning, best.objective, chosen) for chosen in legal]
        least = min(found, key=lambda one: tuple(one.values()), default={})
        assert least == best.values


@pytest.mark.parametrize(
    "name", ["topology-small-1", "kep83-small-1", "yunikorn-small-1", "elastic-1", "last-victim-8"]
)
def test_what_is_proved_is_proved_again(name: str) -> None:
    case = BY_NAME[name]
    asked = [SUITE.objectives[1]]
    bare = case.model_copy(update={"optima": (), "digest": "", "running": 0, "candidates": 0})
    prove = run_path(str(FOLDER / "proving.py"))["prove"]
    again = prove(bare, asked, FOLDER)
    assert again == case.model_copy(update={"optima": (case.optima[1],)})


def test_certified_is_what_check_accepts() -> None:
    case = BY_NAME["fair-small-2"]
    state = state_of(case).state
    for best in case.optima:
        plan = planner.solve(state, case.pending, best.objective, certify=True)
        assert planner.check(state, plan).accepted == best.certified
        assert digest_of(plan.keys) == best.digest


def test_all_optima_are_certified() -> None:
    assert all(best.certified for case in SUITE.cases for best in case.optima)


@pytest.mark.parametrize("name", FEW_TENANTS)
def test_plans_for_few_tenants_have_short_trees(name: str) -> None:
    """So short that the plan has them: longer ones would be left out."""
    case = BY_NAME[name]
    state = state_of(case).state
    (best,) = [one for one in case.optima if one.objective == "fewest-tenants"]
    planning = begun(case, state, certify=True)
    plan = solve(planning, find_profile(best.objective), Deadline.after(60.0))
    assert plan.certificate is not None
    assert {level.proof for level in plan.certificate.levels} == {"certified"}
    assert {level.term: level.value for level in plan.certificate.levels} == best.values
    assert (plan.certificate.ties, plan.certificate.trees_omitted) == ("certified", 0)
    assert planner.check(state, plan, rules=case.rules).accepted
    assert digest_of(plan.keys) == best.digest


@pytest.mark.parametrize("beyond", [0, 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_last_victim_exists_where_the_sum_does(seed: int, beyond: int) -> None:
    """Theorem 3: numbers are even, so that one beyond a sum of some is no sum of any."""
    numbers = {"count": 6, "most": 9, "seed": seed, "beyond": beyond}
    state = read_objects(family("last-victim", numbers), where="test")
    plan = planner.solve(state, objective="min-count")
    assert plan.status == ("infeasible" if beyond else "optimal")


@pytest.mark.parametrize("count", [4, 6])
def test_half_of_the_numbers_have_the_sum(count: int) -> None:
    """Theorem 1: fewer than half of them never do, and half of them can."""
    numbers = {"count": count, "most": 30, "seed": count}
    state = read_objects(family("same-size-sum", numbers), where="test")
    assert len(planner.solve(state, objective="min-count").victims) == count // 2


def test_a_crowd_goes_where_one_would_do() -> None:
    """Proposition 7."""
    state = read_objects(family("crowd", {"small": 7}), where="test")
    assert len(planner.greedy(state).victims) == 7
    assert len(planner.solve(state, objective="min-count").victims) == 1
