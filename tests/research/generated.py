"""Made-up states, where one of Kueue is meant."""

from typing import Any

from planner.research.generate.generate import generate
from planner.state.kueue import State


def generated(preset: str, seed: int = 0, **knobs: Any) -> State:
    """Generate a state."""
    state = generate(preset, seed, **knobs)
    assert isinstance(state, State)
    return state
