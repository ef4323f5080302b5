"""Bars and their marks, calculated by hand."""

import pytest

from planner.quantity import UNLIMITED
from planner.report.document import Gauge, Gauges
from planner.report.html.page import Bar, Part, draw_gauges


def gauge(before: int, after: int | None = None, **changes: object) -> Gauge:
    """Return a ClusterQueue without marks."""
    facts: dict[str, object] = {"name": "q", "kind": "ClusterQueue", "depth": 0, "mark": None}
    return Gauge(**{**facts, "limit": None, **changes}, before=before, after=after)  # type: ignore[arg-type]


def drawn(*gauges: Gauge, over: str = "borrowed") -> tuple[Bar, ...]:
    """Return the pictures of some gauges."""
    return draw_gauges(Gauges("gpu", gauges, "quota", "limit", over, str)).bars


def test_what_is_beyond_the_mark_has_a_colour_of_its_own() -> None:
    (bar,) = drawn(gauge(40, 10, mark=20))
    assert bar.before == (Part(0, 500, "before"), Part(500, 500, "before over"))
    assert bar.after == (Part(0, 250, "after"),)
    assert bar.mark == 500
    assert (bar.figures, bar.change) == ("40 → 10 of 20", "−30")  # noqa: RUF001 - a minus sign


def test_without_a_word_for_it_nothing_is_beyond() -> None:
    (bar,) = drawn(gauge(40, mark=20), over="")
    assert bar.before == (Part(0, 1000, "before"),)
    assert bar.after == ()


def test_all_queues_share_a_scale() -> None:
    small, large = drawn(gauge(5, 5), gauge(20, 20))
    assert small.before == (Part(0, 250, "before"),)
    assert large.before == (Part(0, 1000, "before"),)


@pytest.mark.parametrize(("root", "width", "notes"), [(80, 250, 0), (81, 1000, 1)])
def test_far_larger_cohorts_have_a_scale_of_their_own(root: int, width: int, notes: int) -> None:
    gauges = Gauges("gpu", (gauge(root, kind="Cohort"), gauge(20)), "quota", "limit", "", str)
    bars = draw_gauges(gauges)
    assert bars.bars[1].before == (Part(0, width, "before"),)
    assert len(bars.notes) == notes


@pytest.mark.parametrize(("limit", "place"), [(30, 1000), (31, None), (UNLIMITED, None)])
def test_a_limit_far_away_is_told_but_not_drawn(limit: int, place: float | None) -> None:
    (bar,) = drawn(gauge(20, mark=10, limit=limit))
    assert bar.limit == place
    assert f"limit at {limit}" in bar.said


def test_what_is_never_lent_is_marked_off() -> None:
    gauges = Gauges("gpu", (gauge(40, kept=10), gauge(20)), "quota", "limit", "", str, "never lent")
    kept, lent = draw_gauges(gauges).bars
    assert (kept.kept, lent.kept) == (250, 0)
    assert "10 never lent" in kept.said
    assert ("kept", "never lent") in draw_gauges(gauges).keys


def test_unlimited_quota_has_no_mark() -> None:
    (bar,) = drawn(gauge(20, mark=UNLIMITED))
    assert bar.mark is None
    assert bar.before == (Part(0, 1000, "before"),)


def test_nothing_at_all_is_a_bar_without_parts() -> None:
    (bar,) = drawn(gauge(0, 0, mark=0))
    assert (bar.before, bar.after, bar.mark) == ((), (), 0)
    assert draw_gauges(Gauges("gpu", (), "quota", "limit", "", str)).bars == ()


def test_over_admitted_usage_below_zero_is_no_bar() -> None:
    (bar,) = drawn(gauge(-5, 3))
    assert bar.before == ()
    assert bar.change == "+8"
