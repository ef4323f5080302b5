"""What comparisons come to: distributions and duels by hand, the same rows in tables, plots."""

import csv
import io
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.image import imread
from pandas.api.typing import NAType

import planner
from planner.commands.compare import Comparison, compare
from planner.commands.compare.algorithm import Algorithm
from planner.commands.compare.measure import Question, distribution, summarise
from planner.commands.compare.record import Duel, Row, RowStatus, StateComparison, Summary
from planner.commands.compare.table import Cell, kinds, parquet, values
from planner.errors import InputError
from planner.report.compare import csv_text
from planner.report.plots import MARKERS, PALETTE, pairs
from planner.report.plots import draw_comparison as draw
from tests.commands.compare.clusters import nothing_of_its_own, one_would_do, two_borrowers
from tests.conftest import YUNIKORN
from tests.told import told

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
        terms={}
        if victims is None
        else {"workloads": victims, "lost_work": work, "restart_cost": 0},
        ratio=victims and victims / 2,
        running=9,
        candidates=9,
        seconds=None if status == "skipped" else 0.5,
    )


def tally(*cases: tuple[Row, ...]) -> Summary:
    """Return the totals of cases, each in a state of its own."""
    states = [
        StateComparison(
            state=f"{place}",
            rows=tuple(row.model_copy(update={"state": f"{place}"}) for row in case),
        )
        for place, case in enumerate(cases)
    ]
    return summarise(Question(tuple(map(Algorithm, NAMES))), states).summary


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
    )
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
    )
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
    )
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


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Return rows of both schedulers, with plans and without, one outside the rules."""
    states = {
        "one": one_would_do(),
        "none": nothing_of_its_own(),
        "=yunikorn": planner.read(YUNIKORN),
    }
    return compare(states, ["greedy", "kueue-fair", "optimum:min-count"])


def test_a_row_in_numbers(comparison: Comparison) -> None:
    rows = [dict(zip(kinds(comparison), row, strict=True)) for row in values(comparison)]
    assert len(rows) == len(comparison.rows) == 9
    first, fair, best = rows[:3]
    assert (first["state"], first["algorithm"], first["victims"], first["workloads"]) == (
        "one",
        "greedy",
        4,
        4,
    )
    assert (first["level"], first["bound"], first["proved"]) == (None, None, None)
    assert (best["level"], best["value"], best["bound"], best["proved"]) == ("victims", 1, 1, True)
    assert str(best["levels"]).startswith("victims=1>=1 workloads=1>=1 ")
    assert fair["rules"] == "kueue-fair"
    own, outside, _ = rows[3:6]
    assert (own["victims"], own["workloads"], own["status"]) == (None, None, "infeasible")
    assert (outside["outside_rules"], outside["own_flavors"]) == ("KQ-06", False)
    assert rows[7]["status"] == "skipped"
    assert rows[7]["seconds"] is None


def test_csv_reads_back(comparison: Comparison) -> None:
    head, *body = csv.reader(io.StringIO(csv_text(comparison)))
    assert tuple(head) == tuple(kinds(comparison))
    for line, row in zip(body, values(comparison), strict=True):
        assert line == [written(value) for value in row]


def written(value: Cell) -> str:
    """Return how a value stands in the file."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.replace("\n", "\\x0a").replace("=yunikorn", "'=yunikorn", 1)
    return "" if value is None else repr(value)


def test_a_name_is_no_formula(comparison: Comparison) -> None:
    assert "\n'=yunikorn," in csv_text(comparison)


def packed(comparison: Comparison) -> bytes:
    return parquet(kinds(comparison), values(comparison))


def test_parquet_reads_back(comparison: Comparison) -> None:
    table = pd.read_parquet(io.BytesIO(packed(comparison)))
    assert tuple(table.columns) == tuple(kinds(comparison))
    read = [tuple(map(known, row)) for row in table.itertuples(index=False, name=None)]
    assert read == list(values(comparison))


def known(value: Any) -> Any:
    """Return a value of pandas as one of Python."""
    return None if isinstance(value, NAType) else value


def test_no_rows() -> None:
    nobody = compare({})
    assert len(pd.read_parquet(io.BytesIO(packed(nobody)))) == 0
    assert csv_text(nobody).count("\n") == 1


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package(
    comparison: Comparison, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as caught:
        packed(comparison)
    told(caught.value)
    told(caught.value.hint)


def test_a_number_beyond_64_bits(comparison: Comparison) -> None:
    """Such amounts are nonsense, but a dump may hold them."""
    first = comparison.rows[0].model_copy(update={"terms": {"excess_freed": 2**70}})
    large = comparison.model_copy(update={"rows": (first,)})
    assert str(2**70) in csv_text(large)
    with pytest.raises(InputError) as caught:
        packed(large)
    told(caught.value)


PLOTS = {"victims", "lost-work", "gaps", "time"}
STATES = {"one": one_would_do(), "two": two_borrowers(), "three": nothing_of_its_own()}


@pytest.fixture(scope="module")
def drawn_comparison() -> Comparison:
    return compare(STATES, ["greedy", "kueue-fair", "optimum:no-regret", "yunikorn"])


@pytest.fixture(scope="module")
def pictures(drawn_comparison: Comparison) -> dict[str, bytes]:
    return draw(drawn_comparison)


def test_drawn_and_the_same_twice(drawn_comparison: Comparison, pictures: dict[str, bytes]) -> None:
    assert draw(drawn_comparison) == pictures
    assert pictures.keys() == {f"{name}.svg" for name in PLOTS}
    assert all(data.startswith(b"<?xml") and len(data) > 5_000 for data in pictures.values())


def test_no_dates_and_no_versions(pictures: dict[str, bytes]) -> None:
    assert pictures
    for data in pictures.values():
        assert b"dc:date" not in data
        assert b"Matplotlib v" not in data


def test_nothing_is_cut() -> None:
    """Where letters are cut, the margin of the picture is not white."""
    drawn = draw(compare(STATES["one"], ["greedy", "optimum:no-regret", "kueue-fair"]), "png")
    assert drawn.keys() == {f"{name}.png" for name in PLOTS}
    for name, data in drawn.items():
        assert data.startswith(b"\x89PNG")
        assert len(data) > 5_000
        points = imread(io.BytesIO(data))
        margins = (points[0], points[-1], points[:, 0], points[:, -1])
        assert all((margin == 1).all() for margin in margins), name


def test_points_are_cases_of_two_plans(drawn_comparison: Comparison) -> None:
    """In the third cluster only fair sharing has a plan, and a plan for YuniKorn there is none."""
    victims = pairs(drawn_comparison, "victims")
    assert victims == {
        "kueue-fair": [(4, 4), (1, 1)],
        "optimum:no-regret": [(4, 1), (1, 1)],
        "yunikorn": [],
    }
    (first, _) = pairs(drawn_comparison, "lost_work")["optimum:no-regret"]
    assert first == ((190 * 60 + 240) / 3600, (4 + 240) / 3600)


@pytest.mark.parametrize("name", ["$x_{ <b>&amp; 名前\nb", "n" * 300])
def test_any_name_can_be_drawn(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.toml"
    quoted = name.replace("\n", "\\n")
    path.write_text(f'name = "{quoted}"\nlevels = ["workloads"]\n')
    drawn = draw(compare(STATES["one"], ["greedy", f"optimum:{path}"]))
    assert drawn.keys() == {f"{one}.svg" for one in PLOTS}


def test_one_algorithm_or_nothing() -> None:
    assert draw(compare(STATES["one"], ["greedy"])).keys() == {"time.svg"}
    nothing = draw(compare({}, ["greedy", "optimum:no-regret"]))
    assert nothing.keys() == {"victims.svg", "lost-work.svg", "gaps.svg"}


def test_colours_differ_in_lightness_or_shape() -> None:
    """Who sees no colour at all still has the shapes."""
    assert len(set(MARKERS)) == len(MARKERS) > len(PALETTE)
