"""The table of simulated weeks, on one that can be followed by hand."""

from runpy import run_path
from types import SimpleNamespace

import pytest

from planner.commands.compare import confidence
from planner.reader.kueue import read_kueue_objects
from planner.research.simulate import Question, Script, Simulation, simulate
from tests.cluster import dump_of, state_of
from tests.conftest import ROOT
from tests.docs.blocks import check_block
from tests.solver.test_stability import third_party
from tests.told import told

FOLDER = ROOT / "docs" / "explanation" / "weeks"
WEEKS = SimpleNamespace(**run_path(str(ROOT / "instances/traces/weeks.py")))


def week(decider: str, until_s: int = 10) -> Simulation:
    """Kueue and the optimum take small and big; small comes back and evicts loan."""
    state = state_of(*third_party())
    return simulate(
        state, Question(decider, until_s=until_s, eviction_s=1, script=Script(run_seconds=20000))
    )


def name_of(row: str) -> str:
    return row.split(" | ", maxsplit=1)[0].strip("| ")


def test_rows_are_what_happened() -> None:
    rows = {name_of(line): line for line in WEEKS.table([week("optimum")])}
    told(rows["decisions that evict"])
    assert rows["evictions"] == "| evictions | 3 |"
    assert rows["evictions a decision"] == "| evictions a decision | 1.50 |"
    again = "by workloads that were evicted before"
    assert rows[again] == f"| {again} | 1 |"
    ten = "of all evictions those of the ten that are evicted most"
    assert rows[ten] == f"| {ten} | 100% |"
    told(rows["most evictions by one"])
    assert rows["finished"] == "| finished | 0 of 4 |"


def test_stable_has_nobody_back() -> None:
    lines = WEEKS.table([week("optimum"), week("stable")])
    assert "| | optimum | stable |" in lines
    told(lines)
    assert "| evictions | 3 | 2 |" in lines


def test_only_of_one_state_for_as_long() -> None:
    with pytest.raises(SystemExit, match="one state"):
        WEEKS.table([week("optimum"), week("stable", until_s=5)])


@pytest.mark.parametrize(
    ("values", "index"), [([2, 2], 1.0), ([1, 0, 0, 0], 0.25), ([1, 3], 0.8), ([0, 0], 1.0)]
)
def test_jains_index(values: list[float], index: float) -> None:
    assert WEEKS.jain(values) == index


def test_the_page_has_the_rows_of_the_script() -> None:
    """Each row that the page shows is one that the script makes."""
    page = FOLDER.with_suffix(".md").read_text("utf-8")
    shown = [name_of(line) for line in page.splitlines() if line[:2] == "| "]
    made = {name_of(line) for line in WEEKS.table([week("kueue")])}
    named = [one for one in shown if one and not one.startswith("hours that one of priority")]
    assert len(named) > 15
    assert set(named) <= made | {"kueue", "a day", *(name for name, _ in WEEKS.MEASURES)}


def test_a_day_is_what_its_simulation_says() -> None:
    dump = dump_of(*third_party())
    day = WEEKS.simulated((4, 2, dump), "optimum")
    state = read_kueue_objects(dump, where="test")
    expected = simulate(state, Question("optimum", until_s=WEEKS.DAY_S))
    assert (day.decider, day.instant, day.day) == ("optimum", 4, 2)
    assert (day.evictions, day.lost_s) == (expected.totals.evictions, expected.totals.lost_work)
    assert day.evictions > 0
    assert day.waited_s == sum(fate.waiting_s for fate in expected.workloads)


def test_others_are_held_against_kueue_instant_by_instant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is worse at one instant and as much better at the other is no different."""

    def day(decider: str, instant: int, evictions: int) -> object:
        return WEEKS.Day(decider, instant, instant, 1, evictions, 0, 36_000, 7, 7200, 2, 0)

    monkeypatch.setattr(confidence, "RESAMPLES", 50)
    found = {
        "kueue": [day("kueue", 0, 10), day("kueue", 1, 20)],
        "optimum": [day("optimum", 1, 17), day("optimum", 0, 13)],
    }
    rows = {name_of(line): line for line in WEEKS.days_table(found).splitlines()}
    cells = [cell.strip() for cell in rows["evictions"].strip("|").split("|")]
    assert cells[1].startswith("15 (")
    assert cells[2].startswith("+0.00 (")
    assert "1.00 (1.00 to 1.00)" in rows["hours that a workload waited"]


def test_days_are_those_that_were_recorded() -> None:
    found = WEEKS.read_days(FOLDER / "days.csv")
    assert [*found] == [*WEEKS.DECIDERS]
    for some in found.values():
        assert [(one.instant, one.day) for one in some] == [
            (one.instant, one.day) for one in found["kueue"]
        ]
        assert len(some) == WEEKS.INSTANTS
    expected = f"\n{WEEKS.days_table(found)}\n"
    check_block(FOLDER.with_suffix(".md"), "days", "tests/docs/test_weeks.py", expected)
