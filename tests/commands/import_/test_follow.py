"""Who comes after the instant, and how long everybody runs: for simulations."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.commands.import_ import Philly
from planner.commands.import_.kueue import Knobs
from planner.errors import InputError
from planner.state import parse_time
from planner.state.kueue import State
from tests.cli.running import call
from tests.commands.import_.files import (
    PHILLY,
    PHILLY_HEADER,
    PODS,
    Object,
    held,
    openb,
    pending_of,
    states,
    write,
)

RUN = "preemption-planner.io/run-seconds"
AT = "2017-10-09T10:00:00Z"
WINDOW_S = 3600
ROWS = (
    "2017-10-09 09:00:00,7200.5,8,vc1",  # line 2 runs for another hour
    "2017-10-09 10:00:00,100,1,vc1",  # starts at the instant: it runs
    "2017-10-09 10:10:00,60.2,2,vc2",
    "2017-10-09 11:00:00,50,1,vc2",  # at the very end of the window
    "2017-10-09 11:00:01,50,1,vc2",  # too late
)


def notes_of(workload: Object) -> dict[str, str]:
    """Return the annotations of a workload."""
    found: dict[str, str] = workload["metadata"].get("annotations", {})
    return found


def imported(tmp_path: Path, *words: str) -> State:
    """Return the state that the command makes of the rows."""
    target = tmp_path / "state.json"
    given = (write(tmp_path, PHILLY_HEADER, *ROWS), "--at", AT, "--gang", "8", *words)
    result = call("import", "philly", *given, "-o", target)
    assert result.exit_code == 0, result.stderr
    state = planner.read(target)
    assert isinstance(state, State)
    return state


def test_jobs_of_the_trace_come_when_they_started(tmp_path: Path) -> None:
    state = imported(tmp_path, "--follow", str(WINDOW_S))
    assert state.now == parse_time(AT)
    coming = {
        one.metadata.name: (one.metadata.creation_timestamp, one.metadata.annotations[RUN])
        for one in state.workloads
        if RUN in one.metadata.annotations and one.status.admission is None
    }
    assert coming == {
        "job-4": (datetime(2017, 10, 9, 10, 10, tzinfo=UTC), "61"),
        "job-5": (datetime(2017, 10, 9, 11, 0, tzinfo=UTC), "50"),
    }


def test_a_simulation_follows_the_trace(tmp_path: Path) -> None:
    """The first job has run for an hour, and for one second more than another hour to go."""
    state = imported(tmp_path, "--follow", str(WINDOW_S), "--priority", "-5")
    answer = planner.simulate(state, until_s=2 * WINDOW_S)
    fates = {fate.workload: fate for fate in answer.workloads}
    assert fates["vc1/job-2"].finished_s == 7201 - 3600
    assert fates["vc2/job-4"].arrived_s == 600
    assert fates["vc2/job-5"].arrived_s == 3600
    assert "vc2/job-6" not in fates


def without_the_future(state: Object) -> list[Object]:
    """Return the objects without those that come later, and without run times."""
    kept = []
    for item in state["items"]:
        notes = dict(item["metadata"].get("annotations", {})) if "metadata" in item else {}
        run = notes.pop(RUN, None)
        if run is not None and "status" not in item:
            continue
        if run is None:
            kept.append(item)
            continue
        own = {key: value for key, value in item["metadata"].items() if key != "annotations"}
        kept.append({**item, "metadata": {**own, **({"annotations": notes} if notes else {})}})
    return kept


@pytest.mark.parametrize("trace", ["philly", "openb"])
def test_the_instant_is_the_same_whether_followed_or_not(trace: str) -> None:
    given: tuple[Any, Path] = (Philly(), PHILLY) if trace == "philly" else (openb(), PODS)
    plain = list(states(*given, 3, workloads=50))
    followed = list(states(*given, 3, workloads=50, follow_s=86_400))
    assert [without_the_future(state) for state in followed] == [one["items"] for one in plain]
    assert all(
        len(more["items"]) > len(one["items"]) for more, one in zip(followed, plain, strict=True)
    )


def test_drawn_jobs_come_as_fast_as_so_many_end() -> None:
    """By Little's law: as many run as come in the time that one runs on average."""
    follow_s, running = 40 * 86_400, 60
    (state,) = states(openb(), PODS, 1, workloads=running, follow_s=follow_s)
    now = min(parse_time(one["metadata"]["creationTimestamp"]) for one in pending_of(state))
    coming = [one for one in pending_of(state) if RUN in notes_of(one)]
    ages = [parse_time(one["metadata"]["creationTimestamp"]) - now for one in coming]
    assert all(0 < age.total_seconds() <= follow_s for age in ages)
    assert len({one["metadata"]["name"] for one in coming}) == len(coming)
    seconds = sum(int(notes_of(one)[RUN]) for one in coming)
    assert len([*held(state)]) == running
    assert seconds / follow_s == pytest.approx(running, rel=0.1)


@pytest.mark.parametrize("follow_s", [-1, 400 * 86_400])
def test_a_year_is_followed_at_most(follow_s: int) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        Knobs(follow_s=follow_s)
