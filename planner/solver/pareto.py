"""The Pareto front of two measures: what less of the one costs in the other, point by point.

Source: objectives.md, "Named alternatives", pareto: an epsilon-constraint sweep. The first point
is the least of the first measure, and of the second beside it. Every further point must have
less of the second; its first measure is then the least that this permits. Where nothing has
less of the second, the front is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner.objective.profiles import Measure, Profile, measure_id, measure_title
from planner.objective.wishes import Wishes
from planner.plan import AnyPlan

MOST_POINTS: Final = 20


@dataclass(frozen=True, slots=True)
class Front:
    """Plans none of which is better than another in both measures.

    ``plans`` ascend in the first measure and descend in the second; each is proved to be on the
    front. ``complete`` says that there are no other points; ``last`` is the answer that ended
    the sweep without being a point: infeasible where the front is complete.
    """

    measures: tuple[Measure, Measure]
    plans: tuple[AnyPlan, ...]
    last: AnyPlan | None = None

    @property
    def complete(self) -> bool:
        """Whether it is proved that there are no other points."""
        if self.last is not None:
            return self.last.status == "infeasible"
        return bool(self.plans) and self.points[-1][1] == 0

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """The values of the two measures, plan by plan."""
        first, second = self.measures
        return tuple((_value(plan, first), _value(plan, second)) for plan in self.plans)


def sweep(
    solve: Callable[[Profile], AnyPlan],
    first: Measure,
    second: Measure,
    most_points: int = MOST_POINTS,
) -> Front:
    """Find the Pareto front of two measures, beginning with the least of the first.

    Parameters
    ----------
    solve
        Returns the proven best plan of one pending workload under a profile.
    most_points
        After so many points the sweep ends, complete or not.

    Raises
    ------
    InputError
        If ``solve`` refuses the workload or a measure.
    """
    plans: list[AnyPlan] = []
    wishes = Wishes()
    while len(plans) < most_points:
        plan = solve(_profile(first, second, wishes))
        if plan.status != "optimal":
            return Front((first, second), tuple(plans), plan)
        plans.append(plan)
        left = _value(plan, second)
        if left == 0:
            break
        wishes = Wishes(most={second: left - 1})
    return Front((first, second), tuple(plans))


def _profile(first: Measure, second: Measure, wishes: Wishes) -> Profile:
    return Profile(
        f"pareto:{measure_id(first)},{measure_id(second)}",
        f"the trade of {measure_title(first)} for {measure_title(second)}",
        levels=(first, second),
        wishes=wishes,
    )


def _value(plan: AnyPlan, measure: Measure) -> int:
    return sum(plan.terms[term] for term in measure)
