"""The Pareto front of two measures: what less of the one costs in the other."""

from __future__ import annotations

from typing import Annotated, Literal

from planner.plan.base import Assume, Covered, Proved, Published, Record, Status, Uncovered
from planner.plan.label import Label
from planner.plan.record import AnyPlan, SchedulerId

Place = Literal["on", "behind", "outside", "open", "none"]
"""Where the scheduler's own plan is. on: a point has its values. behind: a point is as good in
both measures and better in one. outside: it is none of the plans that the front is drawn from.
open: neither on nor behind, and points may be missing. none: it has no victims, and does not start
the preemptor."""


class FrontMeasure(Record):
    """One of the two measures: a term, or a sum of terms such as ``lost_work+restart_cost``."""

    term: str
    title: str
    unit: str


class FrontPoint(Record):
    """The values of both measures, and a plan that has them.

    Of all plans with these values it is the first in the scheduler's candidate order. The
    scheduler's own plan stands in the front once, not beside each of these.
    """

    values: tuple[int, int]
    plan: AnyPlan


class GreedyPoint(FrontPoint):
    """The scheduler's own plan: ``points`` are the numbers, from 1, of those it is on or behind."""

    place: Place
    points: tuple[int, ...] = ()


class Front(Published, Covered):
    """The answer for one pending workload: plans none of which is better than another in both.

    ``points`` ascend in the first measure and descend in the second, and each is proved to be on
    the front. The status is ``optimal`` where it is proved that there are no others, and
    ``feasible`` where there may be. Then ``unproved`` is a legal plan, if one was found, that was
    not proved to be the next point. ``preemptor`` and ``scheduler`` are as in a plan.
    """

    scheduler: Annotated[SchedulerId, Label()]
    objective: Annotated[str, Label()]
    status: Annotated[Status, Label()]
    proved: Proved | None = None
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    assume: Annotated[Assume | None, Label()] = None
    explanation: Annotated[str, Label(role="answer")]
    preemptor: Annotated[str, Label()]
    measures: tuple[FrontMeasure, FrontMeasure]
    points: Annotated[tuple[FrontPoint, ...], Label(role="count")] = ()
    unproved: FrontPoint | None = None
    greedy: GreedyPoint
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether it is proved that there are no other points."""
        return self.status in {"optimal", "infeasible"}
