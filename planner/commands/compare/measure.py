"""Every algorithm's answer for every pending workload, measured by one table of terms; totals.

What can be compared, by name:

greedy             the scheduler's own answer, whichever the scheduler
SCHEDULER          the same, of one scheduler only
optimum:PROFILE    the best plan under an objective, by the state's own rules

A scheduler may have more of its own, see kueue.py.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any, Final

from msgspec.structs import replace

from planner.batch import Settings
from planner.commands.compare.algorithm import OPTIMUM, Algorithm
from planner.commands.compare.record import (
    MEASURES,
    SCORED,
    Comparison,
    Distribution,
    Duel,
    Measure,
    Row,
    Score,
    Standing,
    StateComparison,
    Summary,
    cases,
)
from planner.commands.study.instance import Instance
from planner.commands.study.record import Answered
from planner.commands.study.run import HERE, Asked, each_once, sweep
from planner.commands.study.tally import spread
from planner.coverage.answer import Covering, covering, uncovered
from planner.errors import InternalError, PlannerError, SchemaError, UnsupportedError, one_line
from planner.objective.profile_file import SUFFIX, find_profile
from planner.objective.profiles import PROFILES
from planner.plan import AnyPlan, Assume
from planner.plan.record import names_of, resources_of
from planner.reader import MAX_BYTES
from planner.scheduler import scheduler_of, schedulers
from planner.solver.deadline import Deadline
from planner.solver.start import AnyPlanning, Given, solve, start
from planner.state import AnyState
from planner.state.clock import clock_of

ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("greedy"),
        *(
            algorithm
            for one in schedulers()
            for algorithm in (Algorithm(one.id, one.id), *one.comparing.algorithms)
        ),
    )
}
"""All algorithms that are no optimum, by name."""


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms, those of the optima under the known profiles too."""
    return (*ALGORITHMS, *(f"{OPTIMUM}{name}" for name in PROFILES))


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; the name of an optimum may end in that of a TOML file.

    Raises ``InputError`` if there is no such algorithm, or the file of its objective or an option
    cannot be used.
    """
    if name.startswith(OPTIMUM):
        wanted = name.removeprefix(OPTIMUM)
        if wanted in PROFILES or wanted.endswith(SUFFIX):
            profile = find_profile(wanted)
            return Algorithm(f"{OPTIMUM}{profile.name}", profile=profile)
    others = (one.comparing.find_algorithm(name, find_algorithm) for one in schedulers())
    found = ALGORITHMS.get(name) or next(filter(None, others), None)
    if found is None:
        names = f"{', '.join(algorithm_names())}, or {OPTIMUM}FILE{SUFFIX}"
        raise SchemaError("algorithm", f'there is no algorithm "{name}"', names)
    return found


def find_algorithms(names: Iterable[str]) -> tuple[Algorithm, ...]:
    """Return the algorithms of some names, each once, in order.

    Raises ``InputError`` if an algorithm cannot be used, no name is given, or two objectives have
    the same name.
    """
    return each_once(map(find_algorithm, names), "algorithm")


DIGITS: Final = 6
"""Digits of a ratio and of seconds after the point."""


class Question(Asked[Row], frozen=True):
    """What is asked of every state: algorithms, and seconds for each answer."""

    kind = "comparison"
    model = StateComparison
    algorithms: tuple[Algorithm, ...]
    time_limit: float | None = None

    @property
    def more(self) -> Mapping[str, object]:
        """The algorithms, and seconds for each answer."""
        algorithms = {algorithm.name: repr(algorithm) for algorithm in self.algorithms}
        return {"algorithms": algorithms, "time_limit": self.time_limit}

    def answer(self, instance: Instance) -> Answered[Row]:
        """Let every algorithm answer for every pending workload."""
        known = None if self.assume else covering(instance.state)
        # Where algorithms have rules of their own, those of the question do not apply.
        rules = None if scheduler_of(instance.state).comparing.algorithms else self.rules
        given = Given(None, instance.assignment, self.now, rules, recorded=True)
        return self.of_each(instance, given, lambda one: _rows(instance, one, self, known))


def _rows(
    instance: Instance, given: Given, question: Question, known: Covering[Any] | None
) -> Iterator[Row]:
    """Yield every algorithm's answer for a pending workload.

    The table of the unedited state measures all of them. No objective is ever solved in that
    planning, so that its terms stay those of the state.
    """
    own = start(instance.state, given)
    for algorithm in question.algorithms:
        row = Row(
            state=instance.name,
            pending=own.preemptor_key,
            scheduler=instance.state.scheduler,
            algorithm=algorithm.name,
            status="skipped",
            running=len(own.keys),
            candidates=int(own.eligible.sum()),
        )
        found: dict[str, object]
        if algorithm.scheduler not in {None, row.scheduler}:
            found = {"detail": f"{algorithm.name} means nothing for a state of {row.scheduler}"}
        else:
            state, began = algorithm.state(instance.state), time.perf_counter()
            try:
                planning = start(state, replace(given, rules=algorithm.rules or given.rules))
                if algorithm.profile is None:
                    plan = planning.greedy_plan()
                else:
                    plan = solve(planning, algorithm.profile, Deadline.after(question.time_limit))
                seconds = round(time.perf_counter() - began, DIGITS)
                found = {**_measured(own, algorithm, plan, known), "seconds": seconds}
            except UnsupportedError as error:
                found = {"detail": one_line(str(error))}
            except InternalError:
                raise
            except PlannerError as error:
                found = {"status": "failed", "detail": one_line(str(error))}
        yield row.model_copy(update=found)


def _measured(
    own: AnyPlanning, algorithm: Algorithm, plan: AnyPlan, known: Covering[Any] | None
) -> dict[str, object]:
    """Return the fields of a row that has an answer, measured in the planning of the own state."""
    compared, outside = scheduler_of(own).comparing, plan.outside_rules
    # An algorithm by other rules may take victims that the rules of the state forbid.
    if algorithm.edit is not None:
        outside = compared.outside(own, plan)
    missing = uncovered(known, plan) if known else ()
    proved = None if algorithm.profile is None else plan.status in {"optimal", "infeasible"}
    found: dict[str, object] = {
        "status": "conditional" if missing else plan.status,
        "detail": plan.explanation,
        "rules": plan.rules,
        "victims": plan.keys,
        "names": names_of(plan),
        "resources": resources_of(plan),
        "outside_rules": outside,
        "levels": plan.certificate.levels if plan.certificate else (),
        "proved": None if missing and proved else proved,
        "uncovered": tuple(dict.fromkeys(one.feature for one in missing)),
    }
    if plan.status in {"optimal", "feasible"}:
        position = {key: position for position, key in enumerate(own.keys)}
        found["own_flavors"] = compared.has_own_flavors(own, plan)
        found["terms"] = own.table.evaluate(map(position.__getitem__, plan.keys))
        found["ratio"], found["ratio_of"] = _ratio(plan)
    return found


def _ratio(plan: AnyPlan) -> tuple[float | None, str | None]:
    """Return the largest ratio of evicted to requested units, and the resource that has it."""
    if not plan.victims:
        return 0.0, None
    about = plan.about
    wanted = {place: amount for place, amount in about.requested.items() if place in about.short}
    if not wanted:
        return None, None
    ratios = {place: about.freed.get(place, 0) / amount for place, amount in wanted.items()}
    scarcest = max(ratios, key=ratios.__getitem__)
    return round(ratios[scarcest], DIGITS), "/".join(filter(None, scarcest))


def pairs(rows: Iterable[Row], name: str, first: str) -> Iterator[tuple[Row, Row]]:
    """Yield the answers of an algorithm and of the first to each case that neither skipped."""
    for case in cases(rows):
        by_name = {row.algorithm: row for row in case}
        pair = by_name[name], by_name[first]
        if "skipped" not in {row.status for row in pair}:
            yield pair


def _is_scored(row: Row, first: Row) -> bool:
    """Say whether both are plans, and one evicts somebody."""
    return row.has_plan and first.has_plan and bool(row.victims or first.victims)


def scored(pairs: Iterable[tuple[Row, Row]], measure: Measure) -> Iterator[tuple[float, float]]:
    """Yield a measure of both answers, where they are scored and have it."""
    for row, first in pairs:
        ours, theirs = row.measured(measure), first.measured(measure)
        if _is_scored(row, first) and ours is not None and theirs is not None:
            yield ours, theirs


def compare(  # noqa: PLR0913 - what a user may say
    states: AnyState | Mapping[str, AnyState],
    algorithms: Sequence[str] = ("greedy", "optimum:no-regret"),
    *,
    pending: str | None = None,
    time_limit: float | None = None,
    now: datetime | str | None = None,
    rules: str | None = None,
    assume: Assume | None = None,
) -> Comparison:
    """Compare algorithms on states in memory, for all pending workloads or for ``pending`` only.

    ``states`` is what ``planner.read`` returned, or several such states by names of your own.
    ``algorithms`` are names, see ``planner.commands.compare.measure``; all are compared with
    the first. ``time_limit`` is in seconds for each answer of an optimum, ``now`` the clock
    for all states, each state's own when left out. ``rules``, for YuniKorn, and ``assume`` are as
    for ``planner.solve``.

    Raises ``InputError`` if an algorithm or the clock cannot be used; ``InternalError`` if a plan
    fails its own verification.
    """
    found, clock = find_algorithms(algorithms), clock_of(now)
    question = Question(found, time_limit, now=clock, rules=rules, pending=pending, assume=assume)
    if not isinstance(states, Mapping):
        states = {states.source: states}
    instances = (Instance(name, one, one.pending) for name, one in states.items())
    return summarise(question, map(question.answer, instances))


def compare_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Comparison:
    """Compare algorithms on every state of files and folders; `sweep` says what is raised.

    The rows of the results file hold times: two runs give the same file but for each row's
    ``seconds``.
    """
    return summarise(question, sweep(paths, question, settings, max_bytes))


def summarise(question: Question, compared: Iterable[Answered[Row]]) -> Comparison:
    """Return the comparisons of single states as one."""
    states = list(compared)
    rows = tuple(row for one in states for row in one.rows)
    failures = tuple(failure for one in states for failure in one.failures)
    names = tuple(algorithm.name for algorithm in question.algorithms)
    every = [*cases(rows)]
    by_name = {name: [row for row in rows if row.algorithm == name] for name in names}
    # All algorithms of one scheduler are measured on the same cases.
    measured: dict[str, list[Row]] = {name: [] for name in names}
    for case in every:
        answers = [row for row in case if row.status != "skipped"]
        if all(row.has_plan for row in answers) and any(row.victims for row in answers):
            for row in answers:
                measured[row.algorithm].append(row)
    summary = Summary(
        states=len(states),
        cases=len(every),
        failures=len(failures),
        standings=tuple(_standing(name, some) for name, some in by_name.items()),
        distributions=tuple(
            distribution(name, measure, values)
            for measure in MEASURES
            for name, some in (by_name if measure == "seconds" else measured).items()
            if (values := [one for row in some if (one := row.measured(measure)) is not None])
        ),
        duels=tuple(_duel(rows, name, names[0]) for name in names[1:]),
    )
    return Comparison(algorithms=names, summary=summary, rows=rows, failures=failures)


def _standing(name: str, rows: Sequence[Row]) -> Standing:
    counted = Counter("plan" if row.has_plan else row.status for row in rows)
    return Standing(
        algorithm=name,
        rows=len(rows),
        plans=counted["plan"],
        conditional=counted["conditional"],
        infeasible=counted["infeasible"],
        unknown=counted["unknown"],
        skipped=counted["skipped"],
        failed=counted["failed"],
        proved=sum(bool(row.proved) for row in rows),
        outside_rules=sum(bool(row.outside_rules) for row in rows),
    )


def distribution(name: str, measure: Measure, values: Sequence[float]) -> Distribution:
    """Return how some values, at least one, are distributed."""
    found = spread(values)
    return Distribution(
        algorithm=name,
        measure=measure,
        count=len(values),
        mean=round(found.mean, DIGITS),
        median=found.median,
        p90=found.p90,
        max=found.max,
    )


def _duel(rows: Sequence[Row], name: str, first: str) -> Duel:
    fought = [*pairs(rows, name, first)]
    gaps: dict[Measure, list[float]] = {
        measure: [theirs - ours for ours, theirs in scored(fought, measure)] for measure in SCORED
    }
    return Duel(
        algorithm=name,
        first=first,
        both=sum(_is_scored(row, other) for row, other in fought),
        only_this=sum(row.has_plan and not other.has_plan for row, other in fought),
        only_first=sum(other.has_plan and not row.has_plan for row, other in fought),
        scores=tuple(
            Score(
                measure=measure,
                wins=sum(gap > 0 for gap in some),
                ties=sum(gap == 0 for gap in some),
                losses=sum(gap < 0 for gap in some),
                mean_gap=round(fmean(some), DIGITS) if some else 0.0,
            )
            for measure, some in gaps.items()
        ),
    )
