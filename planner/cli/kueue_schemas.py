"""The JSON Schemas of what only Kueue has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.cli.published import Schema, output
from planner.commands.boost.kueue.find import Boosts
from planner.commands.explain.kueue.record import PreemptionMessage
from planner.commands.replay.kueue_live import LiveReplay
from planner.plan.kueue import JointPlan
from planner.quota.kueue.assignment import Assignment

SCHEMAS: Final[Mapping[str, Schema]] = {
    "assignment": ("the file of solve --assignment", Assignment, "validation"),
    "joint": output("solve --joint", JointPlan),
    "boost": output("boost", Boosts),
    "message": output("explain --message TEXT", PreemptionMessage),
    "live": output("replay --before STATE --after STATE", LiveReplay),
}
