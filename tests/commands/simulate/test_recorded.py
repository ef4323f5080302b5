"""The recorded states go on: every one comes to an end, and every loop in them is real."""

from __future__ import annotations

import pytest

from planner.commands.simulate import simulate
from tests.commands.simulate.test_loops import replayed
from tests.recorded import lines, state_of

FILES = ("classical-hier", "cycle-classical", "cycle-fair", "edge", "fair-flat", "fair-hier")
STEP = 10
"""Of 200 to 400 states in a file, each tenth is taken."""


@pytest.mark.parametrize("name", FILES)
def test_recorded_states_end_and_their_loops_are_real(name: str) -> None:
    for line in lines(name, STEP):
        state = state_of(line)
        answer = simulate(state, eviction_s=1, cycles=500)
        assert answer.ended == ("loop" if answer.loops else "settled"), line["id"]
        for loop in answer.loops:
            replayed(state, loop)
