"""The JSON Schemas of what the operations wing writes."""

from __future__ import annotations

from typing import Final

from planner.cli.published import Schema, output
from planner.operations.apply.kueue_record import Applied
from planner.operations.lint.lint import Lint
from planner.operations.risk.measure import Risk
from planner.operations.steer.record import Steering
from planner.operations.watch.record import Watched

SCHEMAS: Final[dict[str, Schema]] = {
    "applied": output("apply", Applied),
    "steer": ("a line of steer --format jsonl", Steering, "serialization"),
    "watch": ("a line of watch --format jsonl", Watched, "serialization"),
    "risk": output("risk", Risk),
    "lint": output("lint", Lint),
}
