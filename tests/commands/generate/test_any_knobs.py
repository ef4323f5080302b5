"""Whatever the knobs: a consistent state, or one clear message."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from planner.commands.generate import generate, knobs_of
from planner.commands.generate.kueue.layout import KueueKnobs
from planner.commands.generate.yunikorn import YuniKornKnobs
from planner.errors import InputError
from planner.solver.start import pending_workloads
from planner.state import AnyState
from planner.state.kueue import State
from planner.state.yunikorn import YuniKornState
from tests.commands.generate.consistency import complaints, yunikorn_complaints

LARGEST = {
    "queues": 9,
    "cohorts": 4,
    "depth": 4,
    "branches": 3,
    "workloads": 50,
    "pending": 3,
    "victims": 12,
    "nodes": 6,
    "cores": 48,
    "age": 200,
}
"""Small enough to draw many."""


@st.composite
def knobs(draw: st.DrawFn, record: type[KueueKnobs | YuniKornKnobs]) -> dict[str, Any]:
    """Draw some knobs, each within its limits, and leave the others."""
    chosen = draw(st.sets(st.sampled_from(list(knobs_of(record))), max_size=8))
    drawn: dict[str, Any] = {}
    for entry in sorted(chosen):
        if isinstance(entry.kind, tuple):
            drawn[entry.name] = draw(st.sampled_from(entry.kind))
        elif entry.kind is bool:
            drawn[entry.name] = draw(st.booleans())
        else:
            most = min(entry.knob.most, LARGEST.get(entry.name, entry.knob.most))
            drawn[entry.name] = draw(st.integers(entry.knob.least, most))
    return drawn


def made_or_refused(preset: str, seed: int, knobs: dict[str, Any]) -> AnyState | InputError:
    """Return a state, or why there cannot be one."""
    try:
        return generate(preset, seed, **knobs)
    except InputError as error:
        return error


@given(knobs=knobs(KueueKnobs), seed=st.integers(0, 100))
@settings(max_examples=60)
def test_kueue(knobs: dict[str, Any], seed: int) -> None:
    state = made_or_refused("small", seed, knobs)
    if isinstance(state, InputError):
        assert state.where.startswith("--")
        assert state.found
        return
    assert isinstance(state, State)
    assert complaints(state, overfull=knobs.get("fill", 100) > 100) == []
    first = pending_workloads(state)[0]
    demand = planner.greedy(state, first).demand
    short = any(one.shortfall > 0 for one in demand)
    assert short != knobs.get("fits", False)


@given(knobs=knobs(YuniKornKnobs), seed=st.integers(0, 100))
@settings(max_examples=40)
def test_yunikorn(knobs: dict[str, Any], seed: int) -> None:
    state = made_or_refused("yunikorn-small", seed, knobs)
    if isinstance(state, InputError):
        assert state.where.startswith("--")
        assert state.found
        return
    assert isinstance(state, YuniKornState)
    assert yunikorn_complaints(state) == []
    ((_, ask),) = state.partitions[0].asks
    rooms = [node.available or {} for node in state.partitions[0].nodes]
    fits = any(room["vcore"] >= ask.resource["vcore"] for room in rooms)
    assert fits == knobs.get("fits", False)
