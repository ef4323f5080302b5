"""What administrators say by annotation, and milestone costs on the line between two points."""

from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import SchemaError
from planner.objective.annotation import (
    PREFIX,
    Disruption,
    milestone_cost,
    parse_milestones,
    parse_seconds,
    read_disruption,
)
from planner.state import parse_time
from planner.state.clock import seconds_since
from planner.state.kueue import Workload
from tests.cluster import NOW, at, running
from tests.told import told

CLOCK = parse_time(NOW)
"""13:00; the workload holds quota since 12:10, that is for 3000 s."""


def workload(grace: int | None = None, ready: int | None = None, **notes: str) -> Workload:
    """Return a workload with annotations of the planner's own prefix, _ for -."""
    named = {PREFIX + name.replace("_", "-"): value for name, value in notes.items()}
    (item,) = running("w", "a", 1, minute=10, annotations=named)
    if grace is not None:
        pod: dict[str, Any] = item["spec"]["podSets"][0]["template"]["spec"]
        pod["terminationGracePeriodSeconds"] = grace
    if ready is not None:
        condition = {"type": "PodsReady", "status": "True", "lastTransitionTime": at(ready)}
        item["status"]["conditions"].append(condition)
    return Workload.model_validate(item)


def disruption_of(item: Workload, now: datetime) -> Disruption:
    """Return what an eviction at a moment loses."""
    return read_disruption(item.remarks, now, seconds_since(item.run.started_at, now))


def test_without_annotations_all_progress_is_lost() -> None:
    expected = Disruption(last_tier=False, running_s=3000, lost_s=3000, restart_s=60)
    assert disruption_of(workload(), CLOCK) == expected


def test_progress_counts_from_when_the_pods_were_ready() -> None:
    assert disruption_of(workload(ready=40), CLOCK).running_s == 1200


def test_a_workload_that_never_started_loses_nothing() -> None:
    item = Workload.model_validate({"metadata": {"name": "w"}})
    assert disruption_of(item, CLOCK).lost_s == 0
    later = parse_time("2026-05-01T11:00:00Z")
    assert disruption_of(workload(), later).running_s == 0


@pytest.mark.parametrize(
    ("time", "lost"),
    [
        (at(50), 600),
        (at(5), 3000),  # before it started: all of this run is lost
        ("2026-05-01T14:00:00Z", 0),  # clocks differ; never negative
        ("2026-05-01T14:50:00+02:00", 600),
    ],
)
def test_a_checkpoint_saves_what_came_before_it(time: str, lost: int) -> None:
    assert disruption_of(workload(last_checkpoint=time), CLOCK).lost_s == lost


@pytest.mark.parametrize(
    ("grace", "seconds", "lost", "saving"),
    [
        (None, "30", 0, 30),  # 30 s is what Kubernetes gives by default
        (None, "31", 3000, 0),
        (120, "120", 0, 120),
        (120, "121", 3000, 0),
        (0, "0", 0, 0),
        (9000, "5000", 0, 3000),  # never more than what it saves
    ],
)
def test_a_checkpoint_on_sigterm_needs_the_grace_period_and_takes_its_time(
    grace: int | None, seconds: str, lost: int, saving: int
) -> None:
    found = disruption_of(workload(grace=grace, checkpoint_seconds=seconds), CLOCK)
    assert (found.lost_s, found.saving_s) == (lost, saving)
    assert found.silent == (lost > 0)


def test_saving_takes_no_longer_than_what_a_published_checkpoint_leaves_to_save() -> None:
    published = workload(last_checkpoint="2026-05-01T12:59:50Z", checkpoint_seconds="25")
    found = disruption_of(published, CLOCK)
    assert (found.lost_s, found.saving_s, found.checkpoint_s, found.silent) == (0, 10, 10, False)


def test_tier_and_restart_time() -> None:
    found = disruption_of(workload(tier="last", restart_seconds="0"), CLOCK)
    assert (found.last_tier, found.restart_s) == (True, 0)
    assert not disruption_of(workload(tier="normal"), CLOCK).last_tier


def test_milestones_give_a_cost_by_run_time() -> None:
    """It runs for 3000 s: five sixths of the way from 0 to 50, which is 41 and two thirds."""
    assert disruption_of(workload(milestones="0s:0,1h:50,4h:10"), CLOCK).milestone_cost == 42
    assert disruption_of(workload(), CLOCK).milestone_cost == 0


def test_only_preemptions_are_past_preemptions() -> None:
    (item,) = running("w", "a", 1)
    assert disruption_of(Workload.model_validate(item), CLOCK).preemptions == 0
    item["status"]["schedulingStats"] = {
        "evictions": [
            {"reason": "Preempted", "underlyingCause": "", "count": 3},
            {"reason": "Preempted", "underlyingCause": "Other", "count": 1},
            {"reason": "PodsReadyTimeout", "count": 8},
        ]
    }
    assert disruption_of(Workload.model_validate(item), CLOCK).preemptions == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("milestones", ""),
        ("milestones", "0s"),
        ("milestones", "0s:0,1h:5,1h:6"),
        ("milestones", "0s:0,2h:5,1h:6"),
        ("milestones", "0s:0,soon:5"),
        ("milestones", "0s:0,1.5s:5"),
        ("milestones", "0s:-1"),
        ("milestones", "0s:1.5"),
        ("milestones", "0s:0,"),
        ("milestones", "0s:1000000001"),
        ("tier", "Last"),
        ("tier", ""),
        ("last-checkpoint", "yesterday"),
        ("last-checkpoint", "2026-05-01T12:00:00"),
        ("last-checkpoint", "2026-02-30T12:00:00Z"),
        ("last-checkpoint", ""),
        ("checkpoint-seconds", "-1"),
        ("checkpoint-seconds", "1.5"),
        ("checkpoint-seconds", "10s"),
        ("restart-seconds", ""),
        ("restart-seconds", "+5"),
        ("restart-seconds", "1e3"),
        ("restart-seconds", "\u0661"),
        ("restart-seconds", "9999999999"),
    ],
)
def test_unusable_values_are_refused_by_name(name: str, value: str) -> None:
    notes: dict[str, Any] = {name.replace("-", "_"): value}
    with pytest.raises(SchemaError) as caught:
        disruption_of(workload(**notes), CLOCK)
    text = str(caught.value)
    told(text)
    assert f'"{value}"' in text


EXAMPLE = parse_milestones("0s:0, 1h:50,4h:10")


def test_points_are_read_in_seconds() -> None:
    assert EXAMPLE == ((0, 0), (3600, 50), (14_400, 10))


def test_the_example_of_the_kep_begins_at_nothing() -> None:
    """KEP-83: seconds 60, cost 100; seconds 600, cost 0; drawn from 0 at 0 on."""
    points = parse_milestones("60s:100,600s:0")
    assert points == ((0, 0), (60, 100), (600, 0))
    costs = [milestone_cost(points, seconds) for seconds in (0, 30, 60, 330, 600, 601)]
    assert costs == [0, 50, 100, 50, 0, 0]


@pytest.mark.parametrize(
    ("seconds", "cost"),
    [
        (0, 0),
        (1, 1),  # a seventy-second part, rounded up
        (72, 1),
        (73, 2),
        (1800, 25),
        (3600, 50),
        (3601, 50),  # falling: 49 and 269/270, rounded up
        (3870, 49),
        (9000, 30),
        (14_399, 11),
        (14_400, 10),
        (10**9, 10),
    ],
)
def test_cost_of_the_example(seconds: int, cost: int) -> None:
    assert milestone_cost(EXAMPLE, seconds) == cost


@given(
    st.dictionaries(st.integers(1, 99_999), st.integers(0, 10**9), max_size=5),
    st.integers(0, 10**9),
    st.integers(0, 200_000),
)
def test_cost_is_that_of_the_line_rounded_up(
    later: dict[int, int], first: int, seconds: int
) -> None:
    points = ((0, first), *sorted(later.items()))
    expected = Fraction(points[-1][1])
    for left, right in zip(points, points[1:], strict=False):  # noqa: RUF007 - as drawn
        if left[0] <= seconds < right[0]:
            share = Fraction(seconds - left[0], right[0] - left[0])
            expected = (1 - share) * left[1] + share * right[1]
    assert milestone_cost(points, seconds) == ceil(expected)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1h30m", 5400), ("0", 0)])
def test_durations(text: str, seconds: int) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "-1s", "500ms", "1d", "soon"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole seconds"):
        parse_seconds(text)
