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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, median
from typing import Final

from msgspec.structs import replace

from planner.commands.audit.instance import HERE, Asked, Instance, Settings, each_once, sweep
from planner.commands.audit.record import Failure
from planner.commands.compare.algorithm import COMPARED, OPTIMUM, Algorithm
from planner.commands.compare.record import (
    MEASURES,
    SCORED,
    Comparison,
    Distribution,
    Duel,
    Measure,
    Row,
    RowStatus,
    Score,
    Standing,
    StateComparison,
    Summary,
    cases,
)
from planner.coverage.answer import Covering, covering, uncovered
from planner.errors import InternalError, PlannerError, SchemaError, UnsupportedError, one_line
from planner.objective.profile_file import SUFFIX, find_profile
from planner.objective.profiles import PROFILES
from planner.plan import AnyPlan, Assume
from planner.plan.record import names_of, resources_of
from planner.reader import MAX_BYTES
from planner.scheduler import schedulers
from planner.solver.deadline import Deadline
from planner.solver.start import Given, solve, start
from planner.state import AnyState
from planner.state.clock import clock_of

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
    others = (own.find_algorithm(name, find_algorithm) for own in COMPARED.of_all())
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
    found = each_once(map(find_algorithm, names), "algorithm")
    if not found:
        raise SchemaError("algorithm", "none is given", "one algorithm, or more")
    return found


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
    # Where algorithms have rules of their own, those of the question do not apply.
    rules = None if COMPARED.find(instance.state) else question.rules
    given = Given(None, instance.assignment, question.now, rules, recorded=True)
    cases = question.of_each(
        instance, given, lambda one: _Case(instance, one, question.time_limit, known), failures
    )
    rows = tuple(row for case in cases for row in map(case.row, question.algorithms))
    return StateComparison(state=instance.name, rows=rows, failures=tuple(failures))


class _Case:
    """A pending workload, and the planning of the unedited state, whose table measures all answers.

    No objective is ever solved in that planning, so that its terms stay those of the state.
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
        scheduler = self._instance.state.scheduler
        if algorithm.scheduler not in {None, scheduler}:
            reason = f"{algorithm.name} means nothing for a state of {scheduler}"
            return self._row(algorithm, "skipped", reason)
        rules = algorithm.rules or self._given.rules
        given = replace(self._given, rules=rules)
        state, began = algorithm.state(self._instance.state), time.perf_counter()
        try:
            planning = start(state, given)
            if algorithm.profile is None:
                plan = planning.greedy_plan()
            else:
                plan = solve(planning, algorithm.profile, Deadline.after(self._time_limit))
        except UnsupportedError as error:
            return self._row(algorithm, "skipped", one_line(str(error)))
        except InternalError:
            raise
        except PlannerError as error:
            return self._row(algorithm, "failed", one_line(str(error)))
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
        # An algorithm by other rules may take victims that the rules of the state forbid.
        if compared and algorithm.edit is not None:
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
            if found["proved"]:
                found["proved"] = None
        return self._row(algorithm, status, plan.explanation).model_copy(update=found)


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


@dataclass(slots=True)
class Tally:
    """The counts so far, for algorithms in the order in which they were asked for."""

    algorithms: tuple[str, ...]
    _counts: Counter[str] = field(default_factory=Counter)
    _standings: Counter[tuple[str, str]] = field(default_factory=Counter)
    _measured: dict[tuple[str, Measure], list[float]] = field(default_factory=dict)
    _duels: Counter[tuple[str, str]] = field(default_factory=Counter)
    _gaps: dict[tuple[str, Measure], list[float]] = field(default_factory=dict)

    def add(self, found: StateComparison) -> None:
        """Count a state."""
        self._counts["states"] += 1
        self._counts["failures"] += len(found.failures)
        for case in cases(found.rows):
            self._counts["cases"] += 1
            for row in case:
                self._standings[row.algorithm, "plan" if row.has_plan else row.status] += 1
                self._standings[row.algorithm, "proved"] += bool(row.proved)
                self._standings[row.algorithm, "outside_rules"] += bool(row.outside_rules)
                self._measure(row, ("seconds",))
            answers = [row for row in case if row.status != "skipped"]
            if all(row.has_plan for row in answers) and any(row.victims for row in answers):
                for row in answers:
                    self._measure(row, SCORED)
            by_name = {row.algorithm: row for row in case}
            first = by_name[self.algorithms[0]]
            for name in self.algorithms[1:]:
                self._add_duel(name, by_name[name], first)

    def summary(self) -> Summary:
        """Return the totals."""
        return Summary(
            states=self._counts["states"],
            cases=self._counts["cases"],
            failures=self._counts["failures"],
            standings=tuple(map(self._standing, self.algorithms)),
            distributions=tuple(
                distribution(name, measure, values)
                for measure in MEASURES
                for name in self.algorithms
                if (values := self._measured.get((name, measure)))
            ),
            duels=tuple(map(self._duel, self.algorithms[1:])),
        )

    def _add_duel(self, name: str, row: Row, first: Row) -> None:
        if "skipped" in {row.status, first.status}:
            return
        if row.has_plan != first.has_plan:
            self._duels[name, "only_this" if row.has_plan else "only_first"] += 1
        if not comparable(row, first):
            return
        self._duels[name, "both"] += 1
        for measure in SCORED:
            ours, theirs = row.measured(measure), first.measured(measure)
            if ours is not None and theirs is not None:
                self._gaps.setdefault((name, measure), []).append(theirs - ours)

    def _measure(self, row: Row, measures: Iterable[Measure]) -> None:
        for measure in measures:
            value = row.measured(measure)
            if value is not None:
                self._measured.setdefault((row.algorithm, measure), []).append(value)

    def _standing(self, name: str) -> Standing:
        counted = Standing.model_fields.keys() - {"algorithm", "rows", "plans"}
        facts = {fact: self._standings[name, fact] for fact in counted}
        plans = self._standings[name, "plan"]
        return Standing(algorithm=name, rows=self._counts["cases"], plans=plans, **facts)

    def _duel(self, name: str) -> Duel:
        count = {fact: self._duels[name, fact] for fact in ("both", "only_this", "only_first")}
        scores = tuple(
            Score(
                measure=measure,
                wins=sum(gap > 0 for gap in gaps),
                ties=sum(gap == 0 for gap in gaps),
                losses=sum(gap < 0 for gap in gaps),
                mean_gap=round(fmean(gaps), DIGITS) if gaps else 0.0,
            )
            for measure in SCORED
            for gaps in [self._gaps.get((name, measure), [])]
        )
        return Duel(algorithm=name, first=self.algorithms[0], scores=scores, **count)


def distribution(name: str, measure: Measure, values: Sequence[float]) -> Distribution:
    """Return how some values, at least one, are distributed."""
    ordered = sorted(values)
    return Distribution(
        algorithm=name,
        measure=measure,
        count=len(ordered),
        mean=round(fmean(ordered), DIGITS),
        median=median(ordered),
        p90=ordered[-(-9 * len(ordered) // 10) - 1],
        max=ordered[-1],
    )


def comparable(row: Row, first: Row) -> bool:
    """Say whether two answers for a case can be scored: both are plans, and one evicts somebody."""
    return row.has_plan and first.has_plan and bool(row.victims or first.victims)


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
    return summarise(question, (compare_instance(one, question) for one in instances))


def compare_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Comparison:
    """Compare algorithms on every state of files and folders; `sweep` says what is raised.

    A state that cannot be read or compared is a failure; it does not stop the others. The rows
    of the results file hold times: two runs give the same file but for each row's ``seconds``.
    """
    answers = sweep(
        paths,
        compare_instance,
        StateComparison,
        question,
        settings,
        max_bytes,
        "comparison",
        algorithms={algorithm.name: repr(algorithm) for algorithm in question.algorithms},
        time_limit=question.time_limit,
    )
    return summarise(question, answers)


def summarise(question: Question, compared: Iterable[StateComparison]) -> Comparison:
    """Return the comparisons of single states as one."""
    names = tuple(algorithm.name for algorithm in question.algorithms)
    tally, states = Tally(names), list(compared)
    for one in states:
        tally.add(one)
    return Comparison(
        algorithms=names,
        summary=tally.summary(),
        rows=tuple(row for one in states for row in one.rows),
        failures=tuple(failure for one in states for failure in one.failures),
    )
