"""Several plans as one answer."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from planner.plan import AnyPlan, Record


class Plans(Record):
    """The answers for several pending workloads or asks, in the order of the dump."""

    # Inside a union pydantic follows the outermost record: infinite shares would become null.
    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default="planner/v1", alias="schema")
    plans: tuple[AnyPlan, ...]
