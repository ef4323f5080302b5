"""The JSON Schemas of what the research wing reads and writes."""

from __future__ import annotations

from typing import Final

from planner.cli.published import Schema, output
from planner.research.bench.record import Bench, Suite
from planner.research.simulate import Event, Script, Simulation

SCHEMAS: Final[dict[str, Schema]] = {
    "bench": output("bench", Bench),
    "suite": ("a suite of states for bench", Suite, "validation"),
    "simulation": output("simulate", Simulation),
    "event": ("a line of simulate --timeline FILE", Event, "serialization"),
    "script": ("the file of simulate --script", Script, "validation"),
}
