"""Distributions and duels, worked out by hand."""

import pytest

from planner.commands.compare import compare
from planner.commands.compare.measure import Tally, distribution
from planner.commands.compare.record import Duel, Row, RowStatus, StateComparison
from tests.commands.compare.clusters import one_would_do, two_borrowers

NAMES = ("a", "b", "c")


def row(name: str, victims: int | None, work: int = 0, status: RowStatus = "feasible") -> Row:
    """Return a row; without victims there is no plan."""
    keys = tuple(f"ns/{i}" for i in range(victims or 0))
    return Row(
        state="s",
        pending="p",
        scheduler="kueue",
        algorithm=name,
        status=status if victims is not None or status != "feasible" else "unknown",
        victims=keys,
        terms={} if victims is None else {"D2": victims, "D4": work, "D5": 0},
        ratio=victims and victims / 2,
        running=9,
        candidates=9,
        seconds=None if status == "skipped" else 0.5,
    )


def tally(*cases: tuple[Row, ...]) -> Tally:
    """Return the tally of cases, each in a state of its own."""
    found = Tally(NAMES)
    for case in cases:
        found.add(StateComparison(state="s", rows=case))
    return found


@pytest.mark.parametrize(
    ("values", "mean", "median", "p90", "most"),
    [
        ([3], 3, 3, 3, 3),
        ([2, 1], 1.5, 1.5, 2, 2),
        (range(1, 11), 5.5, 5.5, 9, 10),  # nine of ten do not exceed 9
        (range(1, 12), 6, 6, 10, 11),  # 9 would be exceeded by 2 of 11
        ([0] * 9 + [100], 10, 0, 0, 100),
    ],
)
def test_distribution(
    values: list[float], mean: float, median: float, p90: float, most: float
) -> None:
    found = distribution("a", "victims", list(values))
    assert (found.mean, found.median, found.p90, found.max) == (mean, median, p90, most)
    assert found.count == len(values)


def test_distributions_are_of_cases_that_all_have_a_plan_for() -> None:
    summary = tally(
        (row("a", 4, 40), row("b", 2, 50), row("c", 2, 10)),
        (row("a", 6, 60), row("b", 2, 10), row("c", None)),  # c has none
        (row("a", 0), row("b", 0), row("c", 0)),  # nobody goes
        (row("a", 2, 20), row("b", 3, 30), row("c", None, status="skipped")),  # not for c
    ).summary()
    found = {(one.measure, one.algorithm): one for one in summary.distributions}
    assert (found["victims", "a"].count, found["victims", "a"].mean) == (2, 3)
    assert (found["victims", "b"].count, found["victims", "b"].mean) == (2, 2.5)
    assert (found["victims", "c"].count, found["victims", "c"].mean) == (1, 2)
    assert found["lost_work", "b"].max == 50
    assert found["ratio", "a"].max == 2
    assert [found["seconds", name].count for name in NAMES] == [4, 4, 3]


def test_duels() -> None:
    summary = tally(
        (row("a", 4, 40), row("b", 2, 50), row("c", 4, 40)),
        (row("a", 6, 60), row("b", 2, 10), row("c", None)),
        (row("a", 0), row("b", 0), row("c", 0)),
        (row("a", None), row("b", 3, 30), row("c", None, status="skipped")),
    ).summary()
    second, third = summary.duels
    assert (second.first, second.algorithm) == ("a", "b")
    assert (second.both, second.only_this, second.only_first) == (2, 1, 0)
    scores = {one.measure: one for one in second.scores}
    victims, work = scores["victims"], scores["lost_work"]
    assert (victims.wins, victims.ties, victims.losses, victims.mean_gap) == (2, 0, 0, 3)
    assert (work.wins, work.ties, work.losses, work.mean_gap) == (1, 0, 1, 20)
    assert (third.both, third.only_this, third.only_first) == (1, 0, 1)
    assert all(one.ties == 1 for one in third.scores)


def test_standings() -> None:
    summary = tally(
        (row("a", 4), row("b", 2), row("c", None)),
        (row("a", 0), row("b", None, status="infeasible"), row("c", None, status="failed")),
    ).summary()
    first, second, third = summary.standings
    assert (first.rows, first.plans) == (2, 2)
    assert (second.plans, second.infeasible) == (1, 1)
    assert (third.unknown, third.failed, third.plans) == (1, 1, 0)
    assert (summary.states, summary.cases) == (2, 2)


def test_whole_comparison() -> None:
    """Four against one in one cluster, one against one in the other."""
    found = compare({"x": one_would_do(), "y": two_borrowers()}, ["greedy", "optimum:no-regret"])
    (duel,) = found.summary.duels
    assert isinstance(duel, Duel)
    scores = {one.measure: one for one in duel.scores}
    assert (scores["victims"].wins, scores["victims"].ties, scores["victims"].losses) == (1, 1, 0)
    assert scores["victims"].mean_gap == 1.5
    assert scores["lost_work"].mean_gap == ((190 * 60 + 240) - (4 + 240)) / 2
    assert found.summary.standings[1].proved == 2
    assert found == type(found).model_validate(found.model_dump())
