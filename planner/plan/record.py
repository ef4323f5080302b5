"""What the plans of every scheduler have in common: status, certificate, verdicts."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from planner.plan.base import Record
from planner.plan.proof import Tree

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
"""optimal: proved and verified. feasible: legal, not proved best. infeasible: proved that no
legal victim set exists. unknown: nothing found, nothing proved."""

SCHEMA_VERSION: Final = "planner/v1"
SchedulerId = Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$", examples=["kueue", "yunikorn"])]
"""What states and plans call a scheduler, such as ``kueue``."""


Proof = Literal["certified", "solver"]
"""certified: proved by a tree that needs no solver to be checked. solver: two independent engines
found nothing better, or, in other flavors than the plan's, trees that are not kept."""


class Level(Record):
    """One lexicographic level: its value, and the proven bound below which none can be.

    ``proof`` says on what it rests that the bound is the value; it is ``None`` where it is not,
    or where that is one engine's word.
    """

    term: str
    title: str
    unit: str
    value: int
    bound: int
    proof: Proof | None = None


class Cap(Record):
    """A measure that no plan was to exceed: its value in the scheduler's own plan."""

    term: str
    most: int


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
    arithmetic did not; they were excluded and the model solved again. ``caps`` are those that
    were kept to, ``trees`` the proofs of the levels that are certified, ``engines`` those that
    agreed on the others. ``ties`` says on what it rests that the plan comes first among equals in
    the scheduler's candidate order: ``solver`` is one engine's word. ``corrected`` counts the
    better plans that the search for proofs found where the solver had claimed there was none.
    ``last_resort`` says on what it rests that no legal set does without a last resort of the
    plan: pods that opted out of YuniKorn's preemption. ``trees_omitted`` counts the steps of trees
    that were left out where the plan was written.
    """

    digest: str
    levels: tuple[Level, ...]
    caps: tuple[Cap, ...] = ()
    trees: tuple[Tree, ...] = ()
    trees_omitted: int = 0
    ties: Proof | None = None
    last_resort: Proof | None = None
    engines: tuple[str, ...] = ()
    corrected: int = 0
    bounds: tuple[SolverFreeBound, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    removal_order: tuple[str, ...] = ()
    cut_off: int = 0
    solver: str = ""
    seed: int = 0
    wall_time_s: float = 0.0
