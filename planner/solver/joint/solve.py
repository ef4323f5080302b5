"""Several pending workloads to one plan: as many as possible, then the least disruption.

Who is admitted comes first, in order of precedence: each pending workload is admitted if some
legal sequence of steps admits it with all those admitted before it. Then the levels of the
objective are minimised over the victims of all steps together. The order of the steps is part of
the model up to ORDERS pending workloads; beyond, it is the order of precedence, and nothing is
said to be optimal.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from planner.errors import UnsupportedError
from planner.models.shared.classes import Classes, group
from planner.objective.adoption import adopt
from planner.objective.kueue import known_groups
from planner.objective.profiles import Profile, measure_id
from planner.objective.terms import TermTable
from planner.plan import JointPlan
from planner.solver.comparison import bind, dropped_in_words, refuse_worse
from planner.solver.core import find_any, find_within
from planner.solver.engine import Deadline
from planner.solver.joint.describe import Told, describe, describe_none
from planner.solver.joint.question import Question
from planner.solver.joint.rules import JointRules
from planner.solver.levels import Answer, solve_levels
from planner.solver.search import Search

ORDERS: Final = 4
"""Pending workloads up to which every order of serving them is considered."""


def solve_together(question: Question, profile: Profile, deadline: Deadline) -> JointPlan:
    """Return the best joint plan, verified step by step.

    Raises
    ------
    InputError
        If the state cannot tell what the profile counts or names.
    InternalError
        If the optimum is worse than what serving one by one gives, where that is comparable.
    """
    started = time.monotonic()
    if profile.counts("D11"):
        raise UnsupportedError(
            f"objective {profile.name}",
            "whether victims would preempt again (D11) is not known of a joint plan",
            hint="choose an objective without it, or plan for one workload",
        )
    if not any(entrant.ways for entrant in question.entrants):
        return describe_none(question, profile, started)
    joint = _Joint(question, profile, deadline)
    joint.admit()
    answer = joint.minimise() if joint.rules.admit else None
    return describe(question, profile, joint.told(answer), started)


@dataclass
class _Joint:
    """A joint plan being searched.

    ``undecided`` are entrants of which time did not tell whether they can be admitted.
    """

    question: Question
    profile: Profile
    deadline: Deadline
    undecided: set[int] = field(default_factory=set)
    dropped: str = ""

    def __post_init__(self) -> None:
        """Set up rules, classes and a search, with the wishes of the profile."""
        in_order = len(self.question.entrants) > ORDERS
        self.rules = JointRules(self.question, self._table(()), in_order)
        classes = _classes(self.question, self.rules.table, self.profile)
        self.search = Search(self.rules, classes, self.deadline, list(range(len(classes))))
        bind(self.search, self.profile)

    def _table(self, counted: Sequence[int]) -> TermTable:
        table = self.question.forest.table(self.question.costs, counted)
        return adopt(self.profile, table, lambda: known_groups(self.question.state))

    def admit(self) -> None:
        """Decide who is admitted, in order of precedence; the incumbent admits just them."""
        search, rules = self.search, self.rules
        served = self._start_greedily()
        for e, entrant in enumerate(self.question.entrants):
            if e in served:
                rules.admit |= {e}
                continue
            outcome = "infeasible"
            if entrant.ways:
                trial = search.fork()
                trial.incumbent, trial.deadline = None, self.deadline.half()
                before, rules.admit = rules.admit, rules.admit | {e}
                outcome = find_any(trial, trial.alive)
                if outcome == "optimal":
                    search.incumbent = trial.incumbent
                    served = self._served()
                    continue
                rules.admit = before
            rules.refuse |= {e}
            if outcome == "unknown":
                self.undecided.add(e)
        rules.table = self._table(sorted(rules.admit))

    def _start_greedily(self) -> set[int]:
        """Start from the victims of serving one by one, if a legal plan has just these."""
        positions = self._greedy_positions()
        if positions is None or not self.profile.wishes.are_kept(self.rules.table, positions):
            return set()
        counts = self.search.classes.counts(positions)
        if counts is None or not self.rules.is_lawful(self.search.classes.take(counts)):
            return set()
        self.search.incumbent = counts
        return self._served()

    def _served(self) -> set[int]:
        steps = self.rules.steps(self.search.classes.take(self.search.answer)) or []
        keys = {step.plan.preemptor for step in steps}
        return {e for e, p in enumerate(self.question.preemptors) if p.key in keys}

    def _greedy_positions(self) -> list[int] | None:
        """Return the victims of serving one by one; ``None`` if preemptors are among them."""
        place = {w.key: i for i, w in enumerate(self.question.forest.workloads)}
        gone = [key for turn in self.question.greedy.turns for key in turn.evicted]
        return [place[key] for key in gone] if place.keys() >= {*gone} else None

    def _comparable(self) -> bool:
        """Say whether serving one by one admits just the same, by a plan that is legal."""
        admitted = {self.question.preemptors[e].key for e in self.rules.admit}
        positions = self._greedy_positions()
        return (
            positions is not None
            and admitted == {*self.question.greedy.holding}
            and self.rules.steps(positions) is not None
        )

    def minimise(self) -> Answer:
        """Minimise the levels, with the caps of the profile; the incumbent is the answer."""
        search, comparable = self.search, self._comparable()
        positions = self._greedy_positions() or []
        greedy = self.rules.table.evaluate(positions)
        impossible: list[str] = []
        undecided: list[str] = []
        for measure in self.profile.caps if comparable else ():
            trial = search.fork()
            value = sum(greedy[term] for term in measure)
            outcome = find_within(trial, measure, value)
            if outcome == "optimal":
                search.limit(measure, value)
                search.incumbent = trial.incumbent
            else:
                (impossible if outcome == "infeasible" else undecided).append(measure_id(measure))
        self.dropped = dropped_in_words(self.profile, impossible, undecided)
        if self.profile.caps and not comparable:
            self.dropped = "; no caps: served one by one, others are admitted"
        answer = solve_levels(search, self.profile.levels)
        if comparable and not impossible and not undecided:
            chosen = self.rules.table.evaluate(search.classes.take(search.answer))
            refuse_worse(self.profile, chosen, greedy)
        return answer

    def told(self, answer: Answer | None) -> Told:
        """Return all that was found."""
        search, rules = self.search, self.rules
        if answer is None or search.incumbent is None:
            return Told((), rules.table, (), frozenset(self.undecided))
        positions = search.classes.take(search.incumbent)
        levels = answer.levels
        proved = answer.outcome == "optimal" and not rules.in_order
        if rules.in_order:  # nothing is known of other orders: no cost is negative
            levels = tuple(replace(one, least=replace(one.least, bound=0)) for one in levels)
        return Told(
            rules.steps(positions) or (),
            rules.table,
            levels,
            frozenset(self.undecided),
            proved=proved,
            in_order=rules.in_order,
            dropped=self.dropped,
            cut_off=len(rules.lessons),
        )


def _classes(question: Question, table: TermTable, profile: Profile) -> Classes:
    """Group those whom some way may take by all that the laws of any entrant look at.

    Where Kueue's choice of flavors may depend on its candidate order, everybody is alone.
    """
    forest = question.forest
    positions = np.flatnonzero(forest.allowed)
    positions = positions[np.argsort(forest.problem.order[positions], kind="stable")]
    key = [forest.alike, *(one[:, np.newaxis] for one in table.telling_apart(profile.terms))]
    if not question.determined:
        key.append(np.arange(len(forest.workloads), dtype=np.int64)[:, np.newaxis])
    return group(positions, np.hstack(key)[positions])
