"""Many states: in memory, or in files as a batch, in this process, in others, or on a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, median

from planner.commands.audit.instance import Instance
from planner.commands.audit.sweep import HERE, Settings, sweep
from planner.commands.compare.measure import (
    DEFAULT_ALGORITHMS,
    DIGITS,
    Question,
    compare_instance,
    find_algorithms,
)
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
from planner.plan import Assume
from planner.reader import MAX_BYTES
from planner.solver.start import clock_of, pending_workloads
from planner.state import AnyState


@dataclass(slots=True)
class Tally:
    """What was counted so far, for algorithms in the order in which they were asked."""

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
        scores = tuple(_score(measure, self._gaps.get((name, measure), ())) for measure in SCORED)
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
    """Say whether two answers for one case can be scored: two plans, and somebody goes."""
    return row.has_plan and first.has_plan and bool(row.victims or first.victims)


def _score(measure: Measure, gaps: Sequence[float]) -> Score:
    return Score(
        measure=measure,
        wins=sum(gap > 0 for gap in gaps),
        ties=sum(gap == 0 for gap in gaps),
        losses=sum(gap < 0 for gap in gaps),
        mean_gap=round(fmean(gaps), DIGITS) if gaps else 0.0,
    )


def compare(  # noqa: PLR0913 - what a user may say
    states: AnyState | Mapping[str, AnyState],
    algorithms: Sequence[str] = DEFAULT_ALGORITHMS,
    *,
    pending: str | None = None,
    time_limit: float | None = None,
    now: datetime | str | None = None,
    rules: str | None = None,
    assume: Assume | None = None,
) -> Comparison:
    """Compare algorithms on states in memory, for everybody who waits there, or for ``pending``.

    ``states`` is what ``planner.read`` returned, or several of it by names of your own.
    ``algorithms`` are names, see ``planner.commands.compare.measure``; the others are compared
    with the first. ``time_limit`` is in seconds for each answer of an optimum, ``now`` the clock
    for all states, each state's own when left out. ``rules``, for YuniKorn, and ``assume`` are as
    for ``planner.solve``.

    Raises
    ------
    InputError
        If an algorithm or the clock cannot be used.
    InternalError
        If a plan fails its own verification.
    """
    found, clock = find_algorithms(algorithms), clock_of(now)
    question = Question(found, time_limit, now=clock, rules=rules, pending=pending, assume=assume)
    if not isinstance(states, Mapping):
        states = {states.source: states}
    instances = (Instance(name, one, pending_workloads(one)) for name, one in states.items())
    return summarise(question, (compare_instance(one, question) for one in instances))


def compare_states(
    paths: Sequence[str], question: Question, settings: Settings = HERE, max_bytes: int = MAX_BYTES
) -> Comparison:
    """Compare algorithms on every state of some files and folders; `sweep` says what is raised.

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
