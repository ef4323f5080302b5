"""Every preemptor planned for by itself, and how often each of what runs is a victim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from planner.commands.risk.record import Attempt, Exposed, Risk, Skipped
from planner.commands.risk.shapes import EXPOSING, SHAPES, Hypothetical, Running, Shapes, preemptors
from planner.errors import InputError, InternalError, PlannerError, SchemaError
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import AnyPlan
from planner.solver.deadline import Deadline
from planner.solver.start import solve
from planner.state import AnyState

Progress = Callable[[int, int, str], None]
"""Told before each preemptor: how many are done, how many there are, and which is next."""

_SHARE_DIGITS: Final = 6


def risk(  # noqa: PLR0913 - what a user may say
    state: AnyState,
    pending: Sequence[str] | None = None,
    objective: str | Profile = DEFAULT_PROFILE,
    *,
    shapes: Shapes = "all",
    limit: int | None = None,
    time_limit: float | None = None,
    rules: str | None = None,
    progress: Progress | None = None,
) -> Risk:
    """Return how often everything that runs would be a victim, over a set of preemptors.

    Each preemptor is planned for as if it came alone, to the state as it is.

    Parameters
    ----------
    state
        What ``planner.read`` returned.
    pending
        The preemptors, by the keys of what is pending; when left out they are made up by the
        rule of ``planner.commands.risk.shapes``.
    objective
        As for ``planner.solve``.
    shapes
        Which preemptors are made up: ``pending``, ``running`` or ``all``.
    limit
        How many preemptors at most: the first ones.
    time_limit
        Seconds for all of them together. Those not begun by then stay unanswered.
    rules
        YuniKorn: ``design`` or ``code``, as for ``planner.solve``.
    progress
        Called before each preemptor.

    Raises
    ------
    InputError
        If there is no preemptor, none can be planned for, or an argument cannot be used.
    InternalError
        If a plan fails its own verification.
    """
    exposing = EXPOSING.of(state)
    profile = objective if isinstance(objective, Profile) else find_profile(objective)
    _check(shapes, limit, time_limit)
    deadline = Deadline.after(time_limit)
    known, wanted = _wanted(state, pending, shapes)
    asked = wanted if limit is None else wanted[:limit]
    planning = exposing.planner(known, rules)
    attempts: list[Attempt] = []
    skipped: list[Skipped] = []
    unanswered = 0
    for number, one in enumerate(asked):
        if deadline.passed:
            unanswered = len(asked) - number
            break
        if progress is not None:
            progress(number, len(asked), one.key)
        try:
            attempts.append(_attempt(one, solve(planning(one.key), profile, deadline)))
        except InternalError:
            raise
        except PlannerError as error:
            if len(skipped) + 1 == len(asked):
                raise  # none of them can be planned for, and this is why
            skipped.append(Skipped(preemptor=one.key, reason=str(error)))
    return Risk(
        scheduler=state.scheduler,
        objective=profile.name,
        digest=known.digest,
        preemptors=tuple(attempts),
        running=tuple(_exposed(exposing.running(state), attempts)),
        beyond_limit=len(wanted) - len(asked),
        unanswered=unanswered,
        skipped=tuple(skipped),
    )


def _check(shapes: str, limit: int | None, time_limit: float | None) -> None:
    if shapes not in SHAPES:
        raise SchemaError("shapes", f'"{shapes}" cannot be used', f"one of {', '.join(SHAPES)}")
    if limit is not None and limit < 1:
        raise SchemaError("limit", f"{limit} cannot be used", "a number of preemptors, 1 or more")
    if time_limit is not None and not time_limit >= 0:
        raise SchemaError("time_limit", f"{time_limit} cannot be used", "seconds, 0 or more")


def _wanted(
    state: AnyState, pending: Sequence[str] | None, shapes: Shapes
) -> tuple[AnyState, list[Hypothetical]]:
    if pending is not None:
        known, wanted = state, [Hypothetical(key) for key in dict.fromkeys(pending)]
    else:
        known, wanted = preemptors(state, shapes)
    if not wanted:
        words = {"pending": "is pending", "running": "runs", "all": "is pending or runs"}
        found = f"nothing {words[shapes]}: there is no preemptor to try"
        raise InputError(state.source, found, hint="name one, or have one made of a manifest")
    return known, wanted


def _attempt(asked: Hypothetical, plan: AnyPlan) -> Attempt:
    greedy = plan.greedy
    if greedy is None:
        message = f"the plan for {asked.key} has no plan of the scheduler's own beside it"
        raise InternalError(message)
    return Attempt(
        preemptor=asked.key,
        name=asked.name or plan.preemptor_name,
        origin=asked.origin,
        like=asked.like,
        alike=asked.alike,
        queue=plan.preemptor_queue,
        priority=plan.priority,
        greedy_status=greedy.status,
        status=plan.status,
        greedy=greedy.keys,
        optimum=plan.keys,
    )


def _exposed(running: Iterable[Running], attempts: Sequence[Attempt]) -> list[Exposed]:
    """Count for everything that runs whose victim it is, the most exposed first."""
    greedy = Counter(key for one in attempts for key in one.greedy)
    optimum = Counter(key for one in attempts for key in one.optimum)
    total = max(1, len(attempts))
    rows = [
        Exposed(
            key=one.key,
            name=one.name,
            queue=one.queue,
            priority=one.priority,
            greedy=greedy[one.key],
            optimum=optimum[one.key],
            greedy_share=round(greedy[one.key] / total, _SHARE_DIGITS),
            optimum_share=round(optimum[one.key] / total, _SHARE_DIGITS),
        )
        for one in running
    ]
    return sorted(rows, key=lambda row: (-row.greedy, -row.optimum))
