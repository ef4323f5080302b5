"""One pending workload: every algorithm's answer, all measured by one table of terms.

What can be compared, by name:

greedy             the scheduler's own answer, whichever the scheduler
SCHEDULER          the same, of one scheduler only
optimum:PROFILE    the best plan under an objective, by the state's own rules

A scheduler may have more of its own, see kueue.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import evicted
from planner.commands.audit.record import Failure
from planner.commands.audit.sweep import Asked
from planner.commands.compare.algorithm import COMPARED, OPTIMUM, Algorithm
from planner.commands.compare.record import Row, RowStatus, StateComparison
from planner.coverage.answer import Covering, covering, uncovered
from planner.errors import InternalError, PlannerError, SchemaError, UnsupportedError
from planner.objective.profile_file import SUFFIX, find_profile
from planner.objective.profiles import PROFILES
from planner.plan import AnyPlan
from planner.plan.record import names_of, resources_of
from planner.scheduler import schedulers
from planner.solver.deadline import Deadline
from planner.solver.start import Given, solve, start

DEFAULT_ALGORITHMS: Final = ("greedy", "optimum:no-regret")


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("greedy"),
        *(
            algorithm
            for one in schedulers()
            for own in [COMPARED.find(one)]
            for algorithm in (Algorithm(one.id, one.id), *(own.ALGORITHMS if own else ()))
        ),
    )
}
"""All that are no optimum, by name."""


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms, those of the optima under the known profiles too."""
    return (*ALGORITHMS, *(f"{OPTIMUM}{name}" for name in PROFILES))


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; that of an optimum may end in a TOML file.

    Raises
    ------
    InputError
        If there is no such algorithm, or the file of its objective or an option cannot be used.
    """
    if name.startswith(OPTIMUM):
        wanted = name.removeprefix(OPTIMUM)
        if wanted in PROFILES or wanted.endswith(SUFFIX):
            profile = find_profile(wanted)
            return Algorithm(f"{OPTIMUM}{profile.name}", profile=profile)
    others = (own.find_algorithm(name, find_algorithm) for own in COMPARED.of_all())
    found = ALGORITHMS.get(name) or next(filter(None, others), None)
    if found is None:
        names = f"{', '.join(algorithm_names())}, or {OPTIMUM}FILE{SUFFIX}"
        raise SchemaError("algorithm", f'there is no algorithm "{name}"', names)
    return found


def find_algorithms(names: Iterable[str]) -> tuple[Algorithm, ...]:
    """Return the algorithms of some names, each once, in order.

    Raises
    ------
    InputError
        If one cannot be used, there is none, or two objectives have one name.
    """
    found: dict[str, Algorithm] = {}
    for name in names:
        algorithm = find_algorithm(name)
        if found.setdefault(algorithm.name, algorithm) != algorithm:
            raise SchemaError(
                "algorithm", f'two objectives have the name "{algorithm.name}"', "a name for each"
            )
    if not found:
        raise SchemaError("algorithm", "none is given", "one algorithm, or more")
    return tuple(found.values())


DIGITS: Final = 6
"""Digits of a ratio and of seconds after the point."""


class Question(Asked, frozen=True):
    """What is asked of every state: algorithms, and seconds for each answer."""

    algorithms: tuple[Algorithm, ...]
    time_limit: float | None = None


def compare_instance(instance: Instance, question: Question) -> StateComparison:
    """Let every algorithm answer for every pending workload; see `Asked.of_each`."""
    failures: list[Failure] = []
    known = None if question.assume else covering(instance.state)
    # Where there are algorithms by other rules, rules are not chosen besides.
    rules = None if COMPARED.find(instance.state) else question.rules
    given = Given(None, instance.assignment, question.now, rules)
    cases = question.of_each(
        instance, given, lambda one: _Case(instance, one, question.time_limit, known), failures
    )
    rows = tuple(row for case in cases for row in map(case.row, question.algorithms))
    return StateComparison(state=instance.name, rows=rows, failures=tuple(failures))


class _Case:
    """A pending workload, and the planning of the state as it is that measures every answer.

    No objective is ever solved in that planning: its terms stay what the state tells.
    """

    def __init__(
        self, instance: Instance, given: Given, time_limit: float | None, known: Covering | None
    ) -> None:
        self._instance = instance
        self._given = given
        self._time_limit = time_limit
        self._known = known
        self._own = own = start(instance.state, given)
        self._compared = COMPARED.find(instance.state)
        self._position = {key: position for position, key in enumerate(own.keys)}

    def row(self, algorithm: Algorithm) -> Row:
        reason = algorithm.why_not(self._instance.state)
        if self._compared and not reason:
            reason = self._compared.why_not(algorithm, self._own)
        if reason:
            return self._row(algorithm, "skipped", reason)
        rules = algorithm.rules or self._given.rules
        given = replace(self._given, rules=rules, placement=algorithm.placement)
        state, began = algorithm.state(self._instance.state), time.perf_counter()
        try:
            planning = start(state, given)
            if algorithm.profile is None:
                plan = planning.greedy_plan()
            else:
                plan = solve(planning, algorithm.profile, Deadline.after(self._time_limit))
        except UnsupportedError as error:
            return self._row(algorithm, "skipped", str(error))
        except InternalError:
            raise
        except PlannerError as error:
            return self._row(algorithm, "failed", str(error))
        seconds = round(time.perf_counter() - began, DIGITS)
        return self._measured(algorithm, plan, seconds)

    def _row(self, algorithm: Algorithm, status: RowStatus, detail: str) -> Row:
        return Row(
            state=self._instance.name,
            pending=self._own.preemptor_key,
            scheduler=self._instance.state.scheduler,
            algorithm=algorithm.name,
            status=status,
            detail=detail,
            running=len(self._position),
            candidates=int(self._own.eligible.sum()),
        )

    def _measured(self, algorithm: Algorithm, plan: AnyPlan, seconds: float) -> Row:
        is_optimum = algorithm.profile is not None
        outside, compared = plan.outside_rules, self._compared
        if compared and algorithm.is_by_other_rules:
            outside = compared.outside(self._own, plan)
        found: dict[str, object] = {
            "rules": plan.rules,
            "victims": plan.keys,
            "names": names_of(plan),
            "resources": resources_of(plan),
            "outside_rules": outside,
            "levels": plan.certificate.levels if plan.certificate else (),
            "proved": plan.status in {"optimal", "infeasible"} if is_optimum else None,
            "seconds": seconds,
        }
        if plan.status in {"optimal", "feasible"}:
            found["own_flavors"] = compared and compared.has_own_flavors(self._own, plan)
            found["terms"] = self._own.table.evaluate(map(self._position.__getitem__, plan.keys))
            found["ratio"], found["ratio_of"] = _ratio(plan)
        missing = uncovered(self._known, plan) if self._known else ()
        status: RowStatus = plan.status
        if missing:
            status = "conditional"
            found |= {"uncovered": tuple(dict.fromkeys(one.feature for one in missing))}
            found["proved"] = None
        return self._row(algorithm, status, plan.explanation).model_copy(update=found)


def _ratio(plan: AnyPlan) -> tuple[float | None, str | None]:
    """Return the largest ratio of what is evicted to what is requested, and of which resource."""
    if not plan.victims:
        return 0.0, None
    wanted = {place: amount for place, amount in plan.requested.items() if place in plan.short}
    if not wanted:
        return None, None
    held = evicted(plan)
    ratios = {place: held.get(place, 0) / amount for place, amount in wanted.items()}
    scarcest = max(ratios, key=ratios.__getitem__)
    return round(ratios[scarcest], DIGITS), "/".join(filter(None, scarcest))
