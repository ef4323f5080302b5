"""What is not decided again in a simulation is decided as it would be."""

from typing import Any

import pytest

from planner.commands.simulate.kueue_world import KueueWorld
from planner.commands.simulate.script import Script
from planner.reference.kueue.decision import Decision, decide
from tests import kueue_state
from tests.commands.simulate.driving import drive

_KNOBS: dict[str, Any] = {"queues": 8, "workloads": 120, "pending": 30}


def _anew(*given: Any, **more: Any) -> Decision:
    """Decide as Kueue does, which nobody remembers."""
    return decide(*given, **more)


@pytest.mark.parametrize("preset", ["flat", "hierarchical", "fair", "fair-hierarchical"])
@pytest.mark.parametrize("seed", range(2))
def test_the_same_happens_where_all_is_decided_anew(preset: str, seed: int) -> None:
    state = kueue_state.generated(preset, seed, **_KNOBS)
    script = Script.model_validate({"run_seconds": 400_000})
    worlds = [KueueWorld(state, script, decider) for decider in (decide, _anew)]
    remembering, plainly = (list(drive(world, 0, 100)) for world in worlds)
    assert remembering == plainly
    assert any(one.kind == "preempted" for _, events in remembering for one in events)
