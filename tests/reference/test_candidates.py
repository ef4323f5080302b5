"""The candidates among many holders, found by columns, are those that are found one by one."""

import pytest

from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue import classical
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.reference.kueue.decision import Decision, decide
from planner.state.kueue import State
from tests.recorded import lines, state_of

FILES = ("classical-flat", "classical-hier", "edge", "fair-flat", "fair-hier", "features/afs")
STEP = 10
"""Of some hundred states in a file, each tenth is taken."""


def decisions(state: State) -> list[Decision]:
    """Return what Kueue decides for each workload that waits, as if it was the head."""
    snapshot = take_snapshot(state)
    waiting = waiting_queues(state, snapshot).values()
    return [decide(snapshot, one.preemptor) for some in waiting for one in some.active]


@pytest.mark.parametrize("name", FILES)
def test_many_holders_are_looked_at_as_few_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for line in lines(name, STEP):
        state = state_of(line)
        monkeypatch.setattr(classical, "FEW", 0)
        at_once = decisions(state)
        monkeypatch.setattr(classical, "FEW", 10**6)
        assert at_once == decisions(state), line["id"]
        seen += sum(len(one.targets) > 1 for one in at_once)
    assert seen
