"""Several pending workloads to one plan: as many as possible, then the least disruption.

Who is admitted comes first, in order of precedence: each pending workload is admitted if some
legal sequence of steps admits it with all those admitted before it. Then the levels of the
objective are minimised over the victims of all steps together. The order of the steps is part of
the model up to ORDERS pending workloads; beyond, it is the order of precedence, and the answer is
best only if nobody has to go. Beyond STEPS there is no model of steps: the answer is the better of
serving one by one greedily and each at its best.

There are no proof trees for joint plans: what the solver says of a level is its word, and only that
no term is below 0 is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from planner.commands.joint.kueue.question import Question
from planner.commands.joint.kueue.rules import JointRules
from planner.commands.joint.kueue.sequence import Served, Step, replay, serve_at_best
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.kueue import known_groups
from planner.objective.profiles import Measure, Profile, with_names
from planner.objective.terms import TermTable
from planner.plan import Level
from planner.proof.claims import Limits
from planner.quota.classes import group
from planner.solver.answer import NO_CAPS, keep_caps, narrowing, refuse_worse
from planner.solver.deadline import Deadline
from planner.solver.finder import Answer, Least, find_any, find_within, solve_levels
from planner.solver.levels import level_of
from planner.solver.search import Counts, Outcome, Search, bind
from planner.stage import begin

ORDERS: Final = 4
"""Pending workloads up to which every order of serving them is considered."""

STEPS: Final = 32
"""Pending workloads up to which the steps are modelled; beyond, they are served one by one only."""


@dataclass
class Joint:
    """A joint plan being searched, and what is found.

    ``profile`` is spelled out for the state once this is set up, ``asked`` is as it was given.
    ``undecided`` are entrants of which it is not known whether they can be admitted, ``claimed``
    those that cannot by the solver's word, ``unexamined`` those that cannot in order of precedence,
    but perhaps in another. ``best`` says that by the solver's word nothing is better than the
    ``steps``; ``cut_off`` counts steps that the model admitted and Kueue's own replay did not.
    """

    question: Question
    profile: Profile
    deadline: Deadline
    asked: Profile = field(init=False)
    undecided: set[int] = field(default_factory=set)
    claimed: set[int] = field(default_factory=set)
    unexamined: set[int] = field(default_factory=set)
    dropped: str = ""
    steps: Sequence[Served] = ()
    levels: tuple[Level, ...] = ()
    best: bool = True
    cut_off: int = 0

    def __post_init__(self) -> None:
        """Set up rules, classes and a search, with the wishes of the profile."""
        self.in_order = len(self.question.entrants) > ORDERS
        self.modelled = len(self.question.entrants) <= STEPS
        table, self.asked = self._table(()), self.profile
        self.profile = spelled_out(self.asked, table)
        self.rules = JointRules(self.question, table, in_order=self.in_order)
        # The workloads that some way may take, by all values that laws of any entrant look at.
        forest = self.question.forest
        columns = [forest.alike, *self.rules.table.telling_apart(self.profile.terms)]
        # Where Kueue's choice of flavors may depend on its order, each workload is alone.
        if not self.question.determined:
            columns.append(np.arange(len(forest.workloads), dtype=np.int64))
        classes = group(forest.problem.order, np.flatnonzero(forest.allowed), columns)
        self.search = Search(self.rules, classes, self.deadline, list(range(len(classes))))
        bind(self.search, self.profile)

    def solve(self) -> None:
        """Decide who is admitted, and at what cost."""
        begin("who can be admitted")
        self.admit()
        search, rules = self.search, self.rules
        if rules.admit:
            answer = self.minimise()
            self.cut_off = len(rules.cuts)
            # Only that no term is below 0 is proved: all else is the solver's word.
            self.levels = tuple(
                level_of(measure, least.value, claimed=least.bound or None)
                if least.value
                else level_of(measure, 0).model_copy(update={"proof": "certified"})
                for measure, least in answer.levels.items()
            )
            if search.incumbent is not None:
                self.steps = rules.steps(search.classes.take(search.incumbent)) or ()
            self.best = answer.outcome == "optimal"
        self.best = self.best and not rules.doubtful

    def _table(self, counted: Sequence[int]) -> TermTable:
        table = self.question.table(counted)
        return apply_profile(
            self.profile,
            table,
            lambda: known_groups(self.question.state),
            lambda: own_priorities(table, self._greedy_positions() or ()),
        )

    def admit(self) -> None:
        """Decide who is admitted, in order of precedence; the incumbent admits exactly them."""
        # An entrant that the last answer serves is admitted without a search of its own.
        rules, served = self.rules, self._start()
        # Half of the time is for who is admitted, the rest for at what cost.
        until = self.deadline.half()
        for e, entrant in enumerate(self.question.entrants):
            if e in served:
                rules.admit |= {e}
            elif not entrant.ways:
                rules.refuse |= {e}
            else:
                rules.admit |= {e}
                trial = self.search.fork()
                # A set cut off here may be lawful if others are admitted.
                trial.incumbent, trial.cut, trial.deadline = None, [], until.half()
                outcome: Outcome = find_any(trial) if self.modelled else "infeasible"
                if outcome == "optimal":
                    self.search.incumbent = trial.incumbent
                    steps = self.rules.steps(self.search.classes.take(self.search.answer)) or ()
                    served = self.rules.served(steps)
                    continue
                if outcome == "unknown":
                    self.undecided.add(e)
                # Else the rows alone, without an engine, show that not all can be admitted.
                elif not rules.is_hopeless(self.search.classes):
                    (self.unexamined if self.in_order else self.claimed).add(e)
                rules.admit -= {e}
                rules.refuse |= {e}
        # Only now is it known what must be freed in all: `excess_freed` is measured against that.
        rules.table = self._table(sorted(rules.admit))

    def _start(self) -> set[int]:
        """Start from serving one by one, greedily or at the best of each, where that is legal."""
        question = self.question
        turns = [turn for turn in question.greedy.turns if turn.admitted]
        known: list[list[Step]] = [[(turn.preemptor, turn.evicted) for turn in turns]]
        if self.in_order:
            # Kueue's cycles may serve in another order, which a model in order does not permit.
            place = [one.key for one in question.preemptors].index
            known = [one for one in known if one == sorted(one, key=lambda s: place(s[0].key))]
        until = self.deadline.half().half()
        known.append(
            serve_at_best(question.state, question.snapshot, question.preemptors, self.asked, until)
        )
        found = [start for start in map(self._replayed, known) if start is not None]
        if not found:
            return set()
        _, served, self.search.incumbent = min(found)
        return set(served)

    def _replayed(
        self, steps: Sequence[Step]
    ) -> tuple[tuple[list[bool], list[int]], list[int], Counts] | None:
        """Return the rank of steps, who is served, and the class counts; ``None`` if not legal.

        The victims are replaced by the canonical ones: the first members of their classes.
        """
        place = self.question.forest.position_of
        gone = [key for _, keys in steps for key in keys]
        counts = None
        if place.keys() >= {*gone}:
            counts = self.search.classes.counts(place[key] for key in gone)
        table, classes = self.rules.table, self.search.classes
        if counts is None or not self.profile.wishes.are_kept(table, classes.take(counts)):
            return None
        chosen: dict[int, int] = {}
        for members in classes.members:
            some = [place[key] for key in gone if place[key] in set(members)]
            chosen |= dict(zip(some, members, strict=False))
        keys = {key: self.question.forest.workloads[chosen[place[key]]].key for key in gone}
        named = [(preemptor, [keys[key] for key in victims]) for preemptor, victims in steps]
        found, refused = replay(self.question.state, self.question.snapshot, named)
        if refused is not None:
            return None
        self.rules.remember(found)
        served = self.rules.served(found)
        values = [self.search.value(level, counts) for level in self.profile.levels]
        # In order of precedence: of two starts the one that misses somebody earlier is the worse.
        missing = [e not in served for e in range(len(self.question.entrants))]
        return (missing, values), sorted(served), counts

    def _greedy_positions(self) -> list[int] | None:
        """Return the victims of serving one by one; ``None`` if preemptors are among them."""
        place = self.question.forest.position_of
        gone = [key for turn in self.question.greedy.turns for key in turn.evicted]
        return [place[key] for key in gone] if place.keys() >= {*gone} else None

    def minimise(self) -> Answer:
        """Minimise the levels, with the caps of the profile; the incumbent is the answer."""
        if not self.modelled:  # serving one by one is the answer
            if self.asked.caps:
                self.dropped = "; no caps"
            return self._unbounded()
        # Serving one by one is comparable if it admits exactly the same, by a legal plan.
        admitted = {self.question.preemptors[e].key for e in self.rules.admit}
        positions = self._greedy_positions()
        comparable = (
            positions is not None
            and admitted == {*self.question.greedy.holding}
            and self.rules.steps(positions) is not None
        )
        greedy = self.rules.table.evaluate(positions or ())
        capped = NO_CAPS
        if comparable:
            capped = keep_caps(self.profile, greedy, narrowing(self.search, self._find_within))
            self.dropped = capped.words
        elif self.asked.caps:
            self.dropped = "; no caps: served one by one, others are admitted"
        answer = solve_levels(self.search, self.profile.levels)
        if self.in_order:
            answer = self._unbounded()
        if capped.undecided:
            answer = replace(answer, outcome="feasible")
        if answer.outcome == "optimal" and comparable and not capped.dropped:
            chosen = self.rules.table.evaluate(self.search.classes.take(self.search.answer))
            refuse_worse(self.profile, chosen, greedy)
        return answer

    def _find_within(self, trial: Search, _: Limits, measure: Measure, most: int) -> Outcome:
        """Look for an answer within a bound."""
        outcome = find_within(trial, measure, most)
        # In another order it might be possible.
        return "unknown" if outcome == "infeasible" and self.in_order else outcome

    def _unbounded(self) -> Answer:
        """Return the incumbent as the answer: in another order less may be possible, if not 0."""
        search, measures = self.search, with_names(self.profile.levels)
        values = [search.value(measure, search.answer) for measure in measures]
        found = {m: Least("feasible", value) for m, value in zip(measures, values, strict=True)}
        return Answer("feasible" if any(values) else "optimal", found)
