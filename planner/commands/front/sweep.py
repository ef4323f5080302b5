"""The Pareto front of two measures: what less of one costs in the other, point by point.

Source: docs/design/objectives.md §5, pareto: an epsilon-constraint sweep. The first point
has the least of the first measure, and with it the least of the second. Every further point must
have less of the second measure; of the first it has the least that this permits. Where no plan has
less of the second, the front is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from planner.errors import InternalError, UnsupportedError
from planner.objective.profiles import Measure, Profile, measure_name, measure_title, measure_unit
from planner.objective.wishes import Wishes
from planner.plan import AnyPlan, Status
from planner.plan.front import Front, FrontMeasure, FrontPoint, GreedyPoint
from planner.scheduler import scheduler_of
from planner.term import value_of

MOST_POINTS: Final = 20


def sweep(
    solve: Callable[[Profile], AnyPlan],
    first: Measure,
    second: Measure,
    most_points: int = MOST_POINTS,
) -> Front:
    """Find the Pareto front of two measures, beginning with the least of the first.

    ``solve`` returns the proven best plan of one pending workload under a profile. After
    ``most_points`` the sweep ends, complete or not.

    Raises `InputError` if ``solve`` refuses the workload or a measure, or time is up before the
    measure of a plan is known; `InternalError` if the scheduler's own plan is ahead of the front.
    """
    plans: list[AnyPlan] = []
    wishes = Wishes()
    while True:
        profile = Profile(
            f"pareto:{measure_name(first)},{measure_name(second)}",
            f"the trade of {measure_title(first)} for {measure_title(second)}",
            levels=(first, second),
            wishes=wishes,
        )
        answer = solve(profile)
        if answer.status != "optimal":
            break
        plans.append(answer)
        left = _value(answer, second)
        # No measure is below 0, so that no plan has less: the front is complete.
        if left == 0 or len(plans) == most_points:
            break
        wishes = Wishes(most={second: left - 1})
    # The answer that ended the sweep is the last point, or no point.
    measures = first, second
    points = tuple(_point(measures, plan) for plan in plans)
    cut_short = points and answer is plans[-1] and points[-1].values[1] > 0
    complete = not cut_short and answer.status in {"optimal", "infeasible"}
    unproved = answer.status == "feasible"
    status: Status = "unknown"
    if complete:
        status = "optimal" if points else "infeasible"
    elif points or unproved:
        status = "feasible"
    return Front(
        scheduler=answer.scheduler,
        objective=answer.objective,
        status=status,
        explanation=_explained(len(points), answer, complete=complete),
        preemptor=answer.preemptor,
        measures=(_described(first), _described(second)),
        points=points,
        unproved=_point(measures, answer) if unproved else None,
        greedy=_greedy(measures, points, answer, complete=complete),
        notes=answer.notes,
    )


def _value(plan: AnyPlan, measure: Measure) -> int:
    # A plan without victims has 0 of every term, also of those not computed for lack of time.
    if not plan.keys:
        return 0
    value = value_of(measure, plan.terms)
    if value is None:
        found = f"time was up before {measure_name(measure)} of a plan was known"
        raise UnsupportedError("objective", found, hint="time_limit=SECONDS gives it longer")
    return value


def _point(measures: tuple[Measure, Measure], plan: AnyPlan) -> FrontPoint:
    first, second = measures
    return FrontPoint(
        values=(_value(plan, first), _value(plan, second)),
        plan=plan.model_copy(update={"greedy": None}),
    )


def _described(measure: Measure) -> FrontMeasure:
    return FrontMeasure(
        term=measure_name(measure), title=measure_title(measure), unit=measure_unit(measure)
    )


def _explained(found: int, last: AnyPlan, *, complete: bool) -> str:
    if not found:
        return last.explanation
    points = "1 point" if found == 1 else f"{found} points"
    each = "proved" if found == 1 else "each proved"
    if complete:
        one = "it" if found == 1 else "one of them"
        return f"{points}; proved: {one} matches or beats every legal plan in both measures"
    if last.status == "optimal":
        return f"the first {points}; there may be more"
    return f"{points}, {each}; then time was up: there may be more"


def _greedy(
    measures: tuple[Measure, Measure],
    points: Sequence[FrontPoint],
    last: AnyPlan,
    *,
    complete: bool,
) -> GreedyPoint:
    greedy = last.greedy
    if greedy is None:
        message = f"the plan for {last.preemptor} has no plan of the scheduler beside it"
        raise InternalError(message)
    own = _point(measures, greedy)
    placed = partial(GreedyPoint, values=own.values, plan=own.plan)
    if not greedy.victims and (not points or points[0].plan.victims):
        return placed(place="none")
    plans = [point.plan for point in points]
    if scheduler_of(greedy).planning.is_outside(
        greedy, plans, [measure_name(one) for one in measures]
    ):
        return placed(place="outside")
    numbered = list(enumerate(points, start=1))
    on = [number for number, point in numbered if point.values == own.values]
    behind = [
        number
        for number, point in numbered
        if point.values != own.values and all(map(int.__le__, point.values, own.values))
    ]
    if complete and not on and not behind:
        message = f"{last.objective}: the scheduler's own plan {own.values} is ahead of the front"
        raise InternalError(message)
    return placed(place="on" if on else "behind" if behind else "open", points=tuple(on or behind))
