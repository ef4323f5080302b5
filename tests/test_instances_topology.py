"""The clusters of instances/topology, against an enumeration of all sets of victims."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

import planner
from planner.commands.whatif.edit import edit
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.state.kueue import State
from tests import kueue_state
from tests.conftest import ROOT

FOLDER = ROOT / "instances" / "topology"
SWEEPS = [f"lab/sweep-{number}" for number in (4, 3, 2, 1)]
REPORTS = [f"lab/report-{number}" for number in (3, 2, 1)]


def read(path: Path) -> State:
    """Read one of the clusters."""
    return kueue_state.read(path)


def enough(state: State) -> Iterator[tuple[str, ...]]:
    """Yield every set of workloads, the smallest first, without which Kueue admits at once."""
    running = [one.key for one in state.workloads if one.holds_quota]
    for size in range(len(running) + 1):
        for gone in combinations(running, size):
            without = state.apply(planner.Changes(gone=gone))
            snapshot = take_snapshot(without, placing=True)
            (pending,) = (one.key for one in without.workloads if one.is_pending)
            found = decide(snapshot, find_preemptor(without, snapshot, pending))
            if found.assignment.mode == "Fit":
                yield gone


@pytest.mark.parametrize(
    ("name", "evicted", "best"),
    [
        ("needless", SWEEPS, ("lab/eval",)),
        ("nobody", [], ("lab/crunch",)),
        ("best-fit", [*REPORTS, "lab/ingest"], ("lab/ingest", *reversed(REPORTS))),
    ],
)
def test_kueue_takes_more_or_nobody(name: str, evicted: list[str], best: tuple[str, ...]) -> None:
    state = read(FOLDER / f"{name}.yaml")
    snapshot = take_snapshot(state, placing=True)
    (pending,) = (one.key for one in state.workloads if one.is_pending)
    found = decide(snapshot, find_preemptor(state, snapshot, pending))
    assert found.assignment.mode == "Preempt"
    assert [target.workload.key for target in found.targets] == evicted
    sets = list(enough(state))
    # Of higher priority, so that Kueue may not evict it.
    allowed = [one for one in sets if "lab/serving" not in one]
    assert allowed[0] == best
    assert [one for one in allowed if len(one) == len(best)] == [best]
    if name == "nobody":
        assert ("lab/shuffle", "lab/crunch") not in sets


def test_kueue_finds_the_one_where_the_other_is_out_of_reach() -> None:
    state = edit(read(FOLDER / "nobody.yaml"), ["workload/lab/shuffle.priority=200"])
    snapshot = take_snapshot(state, placing=True)
    found = decide(snapshot, find_preemptor(state, snapshot, "lab/pipeline"))
    assert [target.workload.key for target in found.targets] == ["lab/crunch"]
