"""A plan as JSON: everything there is, under the published schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from planner.plan import AnyPlan, Record


class Plans(Record):
    """The answers for several pending workloads or asks, in the order of the dump."""

    # Inside a union pydantic follows the outermost record: infinite shares would become null.
    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default="planner/v1", alias="schema")
    plans: tuple[AnyPlan, ...]


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as one JSON object; it is never wrapped or coloured."""
    del width, color
    return dump(plan)


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans as one JSON object with the key ``plans``."""
    del width, color
    return dump(Plans(plans=tuple(plans)))


def dump(record: BaseModel) -> str:
    """Return any output record as JSON in ASCII, so that no name can steer a terminal."""
    # Only pydantic's own text writes an infinite share as a string, which JSON can hold.
    value = json.loads(record.model_dump_json(by_alias=True))
    return json.dumps(value, indent=2, allow_nan=False) + "\n"
