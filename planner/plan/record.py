"""What the plans of every scheduler have in common: status, certificate, verdicts."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
"""optimal: proved and verified. feasible: legal, not proved best. infeasible: proved that no
legal victim set exists. unknown: nothing found, nothing proved."""

SCHEMA_VERSION: Final = "planner/v1"


class Record(BaseModel):
    """A frozen piece of output."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )


class Level(Record):
    """One lexicographic level: its value, and the proven bound below which none can be."""

    term: str
    title: str
    unit: str
    value: int
    bound: int


class Multiplier(Record):
    """The weight of one flavor-resource in a solver-free bound, over the common denominator."""

    flavor: str
    resource: str
    numerator: int
    need: int


class SolverFreeBound(Record):
    """A lower bound that needs no solver.

    With multipliers m (numerator / denominator >= 0), every legal victim set V frees at least
    ``need`` of each flavor-resource, so for costs c >= 0 the cost of V is at least
    sum(m * need) + sum over candidates of min(0, c - m . usage), rounded up.
    """

    term: str
    denominator: int
    multipliers: tuple[Multiplier, ...]
    bound: int
    statement: str


class Verdict(Record):
    """What the verifier says of one law."""

    law: str
    title: str
    holds: bool
    detail: str


class Verification(Record):
    """The verifier's answer: all verdicts, and a legal order of removals if there is one."""

    accepted: bool
    verdicts: tuple[Verdict, ...]
    removal_order: tuple[str, ...] = ()


class Certificate(Record):
    """Why the status may be believed.

    ``cut_off`` counts victim sets that the model admitted and the scheduler's own floating-point
    arithmetic did not; they were excluded and the model solved again.
    """

    digest: str
    levels: tuple[Level, ...]
    bounds: tuple[SolverFreeBound, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    removal_order: tuple[str, ...] = ()
    cut_off: int = 0
    solver: str = ""
    seed: int = 0
    wall_time_s: float = 0.0
