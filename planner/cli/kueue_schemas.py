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

SCHEMAS: Final[Mapping[str, tuple[str, type[BaseModel], JsonSchemaMode]]] = {
    "assignment": ("the file of solve --assignment", Assignment, "validation"),
    "joint": ("the output of solve --joint --format json", JointPlan, "serialization"),
    "boost": ("the output of boost --format json", Boosts, "serialization"),
    "message": (
        "the output of explain --message TEXT --format json",
        PreemptionMessage,
        "serialization",
    ),
    "live": (
        "the output of replay --before STATE --after STATE --format json",
        LiveReplay,
        "serialization",
    ),
}
