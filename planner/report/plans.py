"""Several plans as one answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.plan import AnyPlan, Record


class Plans(Record):
    """The answers for several pending workloads or asks, in the order of the dump."""

    schema_version: Literal["planner/v1"] = Field(default="planner/v1", alias="schema")
    plans: tuple[AnyPlan, ...]
