"""Rivals: judged by the verifier, never better than the optimum, and what a part taken out does."""

from collections.abc import Callable, Sequence

import pytest

from planner.research.bench.record import Answers, Row
from planner.research.bench.run import Heat, begun, line_of, run_heat
from planner.research.rivals import exact
from planner.research.rivals.contest import Contest, Effort, Found
from planner.research.rivals.rules import local_search, random_restarts
from planner.research.rivals.table import RIVALS
from planner.solver.deadline import Deadline
from planner.solver.search import Search
from tests.conftest import TEST_ALL
from tests.research.bench.suites import BY_NAME, FOLDER, LITTLE, contest, state_of

PROVED = ("fair-small-2", "kep83-small-2", "yunikorn-small-1", "elastic-4", "no-last-victim-8")
MEASURED = ("classical-small-1", "topology-small-1", "yunikorn-small-1", "crowd-10")
EXACT = [name for name, one in RIVALS.items() if one.family in {"engine", "planner"}]
OTHERS = [name for name in RIVALS if name not in EXACT]


def some(rivals: Sequence[str], first: int) -> Sequence[str]:
    """Return every third rival in ordinary runs: who is left out has another case."""
    return rivals if TEST_ALL else rivals[first % 3 :: 3]


def rows_of(case: str, rival: str, effort: Effort = LITTLE) -> tuple[Row, ...]:
    """Return the answers of a rival for a case."""
    known = BY_NAME[case]
    heat = Heat(known, line_of(known.source, FOLDER), rival, effort)
    return Answers.model_validate(run_heat(heat)).rows


@pytest.mark.parametrize("case", PROVED)
def test_who_proves_agrees_with_the_record(case: str) -> None:
    for rival in some(EXACT, PROVED.index(case)):
        for row in rows_of(case, rival):
            assert row.optimal, row
            assert row.proved
            assert not row.refuted


@pytest.mark.parametrize("case", MEASURED)
def test_nobody_is_better_than_the_optimum(case: str) -> None:
    for rival in some(OTHERS, MEASURED.index(case)):
        for row in rows_of(case, rival):
            assert not row.proved
            assert row.gap is None or row.gap > 0
            assert (row.status == "none") == (row.legal is None)
            assert bool(row.broken) == (row.legal is False)


@pytest.mark.parametrize("case", ["classical-small-1", "fair-small-2", "yunikorn-small-1"])
def test_greedy_is_the_scheduler(case: str) -> None:
    known = BY_NAME[case]
    planning = begun(known, state_of(known).state)
    (row, *others) = rows_of(case, "greedy")
    assert row.victims == len(planning.greedy_plan().victims)
    assert bool(row.broken) == bool(planning.greedy_plan().outside_rules)
    assert {one.digest for one in others} == {row.digest}


def test_the_smallest_that_is_sufficient() -> None:
    row = rows_of("crowd-10", "smallest")[1]
    assert (row.victims, row.optimal) == (1, True)


def test_kube_scheduler_takes_all_of_a_lower_priority_and_spares_the_oldest() -> None:
    """In a crowd all have one priority: the oldest, the large one, is spared first."""
    assert rows_of("crowd-10", "kube")[1].victims == 10


def test_volcano_gives_nobody_back() -> None:
    """In a crowd it takes the newest first, as Kueue does."""
    assert rows_of("crowd-10", "volcano")[1].victims == 10


@pytest.mark.parametrize("rival", [random_restarts, local_search])
def test_what_is_drawn_depends_on_the_seed_alone(rival: Callable[[Contest], Found]) -> None:
    first, again, other = (
        rival(contest("fair-small-2", "min-lost-work", seed)).chosen for seed in ("a", "a", "b")
    )
    assert first == again
    assert (
        contest("fair-small-2", seed="a").chance.random()
        != contest("fair-small-2", seed="b").chance.random()
    )
    assert other is not None


def test_who_draws_asks_no_more_than_it_may() -> None:
    asked = contest("classical-small-1", seed="a")
    random_restarts(asked)
    assert asked.asked == LITTLE.judgements


def prepared(asked: Contest) -> Search:
    """Return the planner's search for a contest."""
    return asked.part.prepare(asked.planning, asked.profile, Deadline(), ())


def test_what_a_search_without_hints_says() -> None:
    search = exact.changed(exact.WithoutHints, prepared(contest("classical-1")))
    _, take = search.state()
    assert search.hint(take) is None
    assert isinstance(search.fork(), exact.WithoutHints)


def test_without_classes_each_candidate_is_one() -> None:
    asked = contest("crowd-100", "min-cost")  # that counts no work: members of a class lose some
    together = prepared(asked)
    apart = asked.part.prepare(
        asked.planning, asked.profile, Deadline(), range(len(asked.planning.keys))
    )
    assert len(together.classes) < len(apart.classes) == int(asked.planning.eligible.sum())
