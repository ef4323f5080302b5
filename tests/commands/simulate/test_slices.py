"""Slices of elastic workloads while time passes."""

from __future__ import annotations

import planner
from tests.cluster import queue, running, state_of
from tests.elastic import Pods, new, old


def test_an_old_slice_is_finished_when_the_new_one_is_admitted() -> None:
    """First somebody is evicted for the two pods more; the old slice runs on until then."""
    state = state_of(
        queue("q", 6, within="LowerPriority"),
        old("old", "q", Pods(4), priority=5),
        running("other", "q", 2),
        new("q", Pods(6), priority=5),
    )
    answer = planner.simulate(state)
    events = [(event.kind, event.workload) for event in answer.timeline]
    assert events[:4] == [
        ("preempted", "ns/other"),
        ("requeued", "ns/other"),
        ("finished", "ns/old"),
        ("admitted", "ns/pending"),
    ]
    assert all(event.workload != "ns/old" for event in answer.timeline[3:])
