"""The JSON Schemas of what only Kueue has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from planner.commands.boost.kueue.find import Boosts
from planner.commands.explain.kueue.record import PreemptionMessage
from planner.commands.replay.kueue_live import LiveReplay
from planner.plan.kueue import JointPlan
from planner.quota.kueue.assignment import Assignment

Schema = tuple[str, type[BaseModel], JsonSchemaMode]


def _output(of: str, model: type[BaseModel]) -> Schema:
    return f"the output of {of} --format json", model, "serialization"


SCHEMAS: Final[Mapping[str, Schema]] = {
    "assignment": ("the file of solve --assignment", Assignment, "validation"),
    "joint": _output("solve --joint", JointPlan),
    "boost": _output("boost", Boosts),
    "message": _output("explain --message TEXT", PreemptionMessage),
    "live": _output("replay --before STATE --after STATE", LiveReplay),
}
