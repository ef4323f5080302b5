"""Slices of elastic workloads in the replay: docs/semantics/kueue-features.md §2, rule by rule."""

import pytest

from planner.errors import UnsupportedError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import Decision, decide
from tests.cluster import PENDING, Object, queue, state_of
from tests.elastic import Pods, new, old
from tests.told import told


def decided(*parts: list[Object]) -> Decision:
    state = state_of(*parts)
    snapshot = take_snapshot(state)
    return decide(snapshot, find_preemptor(state, snapshot, PENDING))


def test_more_podsets_than_the_slice_has() -> None:
    """Rule 2.9: Kueue crashes on that."""
    with pytest.raises(UnsupportedError) as caught:
        decided(queue("q", 6), old("old", "q", Pods(2)), new("q", Pods(2), Pods(1)))
    told(caught.value)


def test_reclaimable_pods_of_the_slice_make_the_delta_larger() -> None:
    """Rule 2.10: one of four is done, so that six more are asked for beyond three."""
    slice_ = old("old", "q", Pods(4))
    slice_[0]["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
    found = decided(queue("q", 9), slice_, new("q", Pods(9)))
    assert found.assigned.usage == {0: 6}
