"""A simulation on a screen and on paper: what is left out, and what is drawn."""

import json
from pathlib import Path

import pytest

import planner
from planner.research.report import simulation as simulations
from planner.research.report.simulation import MOST_LOOPS, render, render_timeline
from planner.research.report.timeline import MOST_LINES, Span, chosen, spans
from planner.research.report.timeline import draw_simulation as draw
from planner.research.simulate import Question, Simulation, simulate
from planner.research.simulate.record import Fate, Feud, Loop
from tests.browser import BROWSER
from tests.cluster import queue, running
from tests.conftest import ROOT, YUNIKORN
from tests.reference.cycles import waits
from tests.report import test_golden, test_render
from tests.report.test_one_and_many import head
from tests.research.simulate.driving import went
from tests.research.simulate.week import WEEK_S, week
from tests.told import told

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "a\x1b[31mb"


@pytest.fixture(scope="module")
def long() -> Simulation:
    return simulate(week(MOST_LINES + 1, load=2.0, seed=3), Question(until_s=WEEK_S))


def test_a_long_timeline_is_cut_down_to_evictions(long: Simulation) -> None:
    page = render(long, "table", width=120, color=False)
    assert f"Evictions only, of {len(long.timeline)} events" in page
    assert " admitted " not in page
    assert len(render_timeline(long).splitlines()) == len(long.timeline)
    assert json.loads(render_timeline(long).splitlines()[0])["kind"] == "arrived"


def test_one_is_no_more_than_one() -> None:
    counts = {"first_s": 0, "period_s": 9, "cycles": 1, "rounds": 1, "evictions": 1}
    loop = Loop(**counts, endless=True, workloads=(), events=(), story=())
    feud = Feud(first="ns/a", second="ns/b", first_evicted=1, second_evicted=2)
    more = {"storm": 1, "loops": (loop,) * (MOST_LOOPS + 1), "feuds": (feud,)}
    text = render(went(queue("a", 4)).model_copy(update=more), "table", width=120, color=False)
    for words in ("evicted more than 1 time\n", "... 1 more loop,", " 1 time ", " 2 times"):
        assert words in text


def test_no_name_steers_the_terminal() -> None:
    parts = (queue("a", 4, within="LowerPriority"), running("low", "a", 4))
    answer = went(*parts, waits("high", "a", 2, 10))
    fates = tuple(
        one.model_copy(update={"workload": HOSTILE, "queue": HOSTILE}) for one in answer.workloads
    )
    events = tuple(
        one.model_copy(update={"workload": HOSTILE, "queue": HOSTILE, "by": HOSTILE})
        for one in answer.timeline
    )
    hostile = answer.model_copy(update={"workloads": fates[:1], "timeline": events})
    for style in ("table", "plain", "json", "markdown", "html"):
        assert "\x1b" not in render(hostile, style, width=120, color=False)
    assert "\x1b" not in render_timeline(hostile)


def test_spans_are_what_everybody_did() -> None:
    """The victim leaves from 0 to 5 and waits then; the preemptor waits for it and runs then."""
    parts = (queue("a", 4, within="LowerPriority"), running("low", "a", 4))
    answer = went(*parts, waits("high", "a", 2, 10), eviction_s=5)
    by_name = {
        fate.workload: list(
            spans(answer, fate, [e for e in answer.timeline if e.workload == fate.workload])
        )
        for fate in answer.workloads
    }
    end_s = answer.duration_s
    assert by_name["ns/low"] == [Span(0, 5, "leaving"), Span(5, end_s, "pending")]
    assert by_name["ns/high"] == [Span(0, 5, "pending"), Span(5, end_s, "running")]


def test_a_plot_of_many_says_who_is_left_out(long: Simulation) -> None:
    calm, waited = (fate for fate in long.workloads[:2])
    calm = calm.model_copy(update={"evictions": 0, "waiting_s": 0})
    waited = waited.model_copy(update={"evictions": 0, "waiting_s": 5})
    evicted = waited.model_copy(update={"evictions": 1, "workload": "ns/evicted"})

    def of(*fates: Fate) -> tuple[list[str], str]:
        numbered = [
            one.model_copy(update={"workload": f"{one.workload}-{i}"})
            for i, one in enumerate(fates)
        ]
        rows, said = chosen(long.model_copy(update={"workloads": tuple(numbered)}))
        return [row.workload.rpartition("-")[2] for row in rows], said

    assert of(calm, evicted) == (["0", "1"], "")
    calm_ones = [calm] * MOST_LINES
    left = f"left out: {MOST_LINES:,} that were never evicted and never waited"
    assert of(waited, *calm_ones, evicted) == (["0", str(MOST_LINES + 1)], left)
    rows, said = of(waited, *[evicted] * MOST_LINES, calm)
    assert "0" not in rows
    told(said)


def test_many_workloads_are_drawn_together(long: Simulation) -> None:
    pytest.importorskip("matplotlib")
    assert len(long.workloads) > MOST_LINES
    assert draw(long, "svg").startswith(b"<?xml")


def test_a_simulation_in_which_nobody_goes() -> None:
    told = head(simulations.document(went(queue("a", 4))))
    assert told["Evictions"] == "none"


def test_it_is_written_in_every_style() -> None:
    test_render.is_written_everywhere(simulate(test_render.STATE))


@pytest.mark.parametrize("width", [80, 200])
def test_screen_is_as_stored(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    screen = planner.render(simulate(test_golden.state()), width=width)
    test_golden.fits_and_is_as_stored(screen, GOLDEN / f"simulate-{width}.txt")


@pytest.mark.skipif(not BROWSER, reason="no chromium on PATH to lay pages out")
def test_no_page_is_wider_than_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    states = {"kueue": test_golden.state(), "yunikorn": planner.read(YUNIKORN)}
    pages = {name: planner.render(simulate(state), "html") for name, state in states.items()}
    test_golden.fit_their_windows(pages, tmp_path)
