"""The answer in brief fits on one screen, and what it leaves out is counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import planner
from planner.errors import PlannerError
from planner.plan import Uncovered
from planner.plan.base import qualified
from planner.report.text import cells
from tests.cluster import pending, queue, state_of
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL
from tests.report.factory import make_greedy, make_plan, make_victim
from tests.report.rendering import brief
from tests.told import told

LINES, COLUMNS = 25, 100
INSTANCES = ROOT / "instances"
NO_STATES = {"bench", "schema", "traces"}


def dumps() -> Iterator[Path]:
    """Yield every file and folder of the instances that may be the STATE of ``planner solve``."""
    for path in sorted(INSTANCES.rglob("*")):
        if path.relative_to(INSTANCES).parts[0] in NO_STATES or path.name == "__pycache__":
            continue
        if path.is_dir() or path.suffix in {".json", ".yaml"}:
            yield path


@pytest.mark.parametrize(
    "path",
    [*dumps()][:: 1 if TEST_ALL else 6],
    ids=lambda path: path.relative_to(INSTANCES).as_posix(),
)
def test_every_instance_is_answered_on_one_screen(path: Path) -> None:
    try:
        state = planner.read(path)
    except PlannerError:
        pytest.skip("no state by itself")
    for key in state.pending:
        try:
            plan = planner.solve(state, key, time_limit=FOR_EVER_S)
        except PlannerError:
            continue
        screen = planner.render(plan, width=COLUMNS).splitlines()
        assert len(screen) <= LINES, key
        assert max(map(cells, screen)) <= COLUMNS
        assert any(plan.about.name in line for line in screen)


def rows(screen: str, first: str) -> list[str]:
    """Return the lines of a table below its titles, of which the last begins so."""
    _, _, below = screen.partition(f"\n {first}")
    return below.partition("\n\n")[0].split("\n")[2:]


def test_long_lists_of_victims_are_cut() -> None:
    """Of 15 in the plan, of which Kueue evicts none, and of the five that Kueue evicts."""
    ours = [make_victim(f"team-b/ours-{n}") for n in range(15)]
    theirs = make_greedy().model_copy(
        update={"victims": tuple(make_victim(f"team-b/theirs-{n}") for n in range(5))}
    )
    shown = rows(brief.render(make_plan(victims=ours, greedy=theirs), width=COLUMNS), "Victim")
    assert [line.split()[0] for line in shown] == [
        *("team-b/ours-0", "team-b/ours-1", "team-b/ours-2", "and"),
        *("team-b/theirs-0", "team-b/theirs-1", "team-b/theirs-2", "and"),
    ]
    assert shown[3].split() == ["and", "12", "more"]
    assert shown[7].split() == ["and", "2", "more", "Kueue"]


def test_no_row_stands_for_one_victim() -> None:
    plan = make_plan(victims=[make_victim(f"team-b/ours-{n}") for n in range(4)], greedy=None)
    screen = brief.render(plan, width=COLUMNS)
    assert "team-b/ours-3" in screen
    assert "\n and " not in screen


def test_who_chose_a_victim_is_said_where_the_two_differ() -> None:
    plan = make_plan()
    assert plan.greedy is not None
    chosen = {line.split()[0]: line.split()[-1] for line in rows(brief.render(plan), "Victim")}
    assert chosen.keys() == {*plan.keys, *plan.greedy.keys}
    for key, who in chosen.items():
        ours, theirs = key in plan.keys, key in plan.greedy.keys
        assert who == ("both" if ours and theirs else "plan" if ours else "Kueue")
    same = brief.render(plan.model_copy(update={"greedy": plan}))
    told(same)
    assert "Chosen by" not in same
    assert "2 victims" in same  # then there is a total


def test_what_is_not_modelled_is_named_first_and_counted() -> None:
    left_out = [
        Uncovered(feature=f"f{n}", kind="unmodelled", title=f"thing {n}", effect="", evidence="it")
        for n in range(3)
    ]
    fact = Uncovered(
        feature="q", kind="contradiction", title="quota", effect="", evidence="it says 3"
    )
    plan = qualified(make_plan(), (*left_out, fact))
    screen = " ".join(brief.render(plan, width=COLUMNS).split())
    told(screen)
    assert "CONDITIONALLY OPTIMAL" in screen
    told(screen)


def test_why_nobody_looks_at_it_is_said_once() -> None:
    plan = planner.solve(state_of(queue("a", 4, stop="Hold"), pending("a", 1)))
    assert plan.greedy is not None
    assert plan.greedy.explanation.endswith(plan.explanation)
    assert planner.render(plan, "table", width=200).count("its stopPolicy is Hold") == 1
