"""The state of a lexicographic search, one exact solve within it, and the wishes imposed on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from planner.errors import InternalError, UnsupportedError
from planner.models.shared.builder import Linear
from planner.models.shared.classes import Classes, Parts, Relaxation, Row
from planner.models.shared.measure import Measured, express
from planner.objective.profiles import Measure, value_in
from planner.objective.terms import TermTable
from planner.objective.wishes import Wishes
from planner.problem.array import IntArray
from planner.solver.attempt import ATTEMPTS, Attempt, Run
from planner.solver.bound import Bound, best_single_row, linear_programming_bound
from planner.solver.deadline import Deadline, OutOfTime


class Rules:
    """The rules of one problem, as a search uses them; by default bounds come from the rows."""

    problem: Any
    table: TermTable
    """The disruption terms of the problem."""

    @property
    def order(self) -> IntArray:
        """(W,) the rank of each workload in the scheduler's candidate order."""
        order: IntArray = self.problem.order
        return order

    def assemble(self, classes: Classes) -> Measured:
        """Build the exact model in which only these classes give victims."""
        raise NotImplementedError

    def rows(self, classes: Classes) -> Sequence[Row]:
        """Return what victims among these classes must free, as rows that every answer keeps."""
        raise NotImplementedError

    def relaxation(self, classes: Classes) -> Relaxation:
        """Return the linear relaxation of the rules; by default the rows alone."""
        return Relaxation(self.rows(classes), 0)

    def is_hopeless(self, classes: Classes) -> bool:
        """Say whether these classes free too little even if all members are victims."""
        return any(row.value(classes.sizes) < row.bound for row in self.rows(classes))

    def quick_bound(self, classes: Classes, costs: IntArray) -> Bound:
        """Bound a separable cost from below without a linear program: by the best single row."""
        return best_single_row(self.rows(classes), costs, classes.sizes.tolist())[0]

    def close_bound(
        self, classes: Classes, costs: IntArray, limits: Sequence[Row], deadline: Deadline
    ) -> Bound:
        """Bound a separable cost from below by a relaxation; ``limits`` are rows besides."""
        return linear_programming_bound(self.relaxation(classes), classes, costs, limits, deadline)

    def is_lawful(self, positions: Sequence[int]) -> bool:  # noqa: ARG002 - others' rules
        """Say whether victims are lawful in the scheduler's own arithmetic.

        The model may admit sets that the scheduler's floating-point numbers or procedure do not.
        """
        return True

    def parts(self, classes: Classes) -> Parts:  # noqa: ARG002 - others' rules
        """Return groups of classes that may each hold an answer by themselves; none if unknown."""
        return Parts()

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:  # noqa: ARG002 - others' rules
        """Return the group of each class: what refuses a set refuses all sets like it.

        Sets are alike with the same number of victims of each group, group 0 left out. ``None``
        where only the set itself is known to be refused.
        """
        return None


Counts = list[int]
"""Victims per class, over all classes of the search."""

RowOverClasses = tuple[Linear, int]
"""An expression over class numbers, and its lower bound."""


@dataclass(slots=True)
class Search:
    """What a search knows so far.

    ``active`` are the classes that can still give victims; ``lower`` the members that every answer
    still possible takes, per class, and ``upper`` the most that any takes, where that is less than
    all; ``limits`` the measures that are bounded above (caps and earlier levels); ``conditions``
    are further rows that every answer keeps, where a class that is left out counts nothing;
    ``incumbent`` is the best answer so far. Sets that the model admits and the scheduler's own
    arithmetic does not are ``cut`` off. ``bounds`` are proved of earlier levels: no answer has
    less. Levels that are ``unproved`` may have a better value than their limit: one that is found
    becomes the limit. ``attempts`` begin with the one that settled the last model; ``guided`` says
    whether a measure led the last search among equal answers. ``caps`` are the measures of the
    scheduler's own plan that no answer exceeds, ``permitted`` the classes that the wishes of the
    objective leave: claims of a plan are about these. ``levels`` are all measures that count, in
    their order, those not yet solved included; ``undecided`` are the caps of which it was not
    known in time whether an answer can keep them.
    """

    rules: Rules
    classes: Classes
    deadline: Deadline
    active: list[int]
    lower: dict[int, int] = field(default_factory=dict)
    upper: dict[int, int] = field(default_factory=dict)
    limits: dict[Measure, int] = field(default_factory=dict)
    conditions: list[RowOverClasses] = field(default_factory=list)
    incumbent: Counts | None = None
    cut: list[Counts] = field(default_factory=list)
    bounds: dict[Measure, int] = field(default_factory=dict)
    unproved: list[Measure] = field(default_factory=list)
    attempts: Sequence[Attempt] = ATTEMPTS
    guided: bool = False
    caps: list[tuple[Measure, int]] = field(default_factory=list)
    permitted: list[int] = field(default_factory=list)
    levels: Sequence[Measure] = ()
    undecided: list[str] = field(default_factory=list)
    _known: tuple[Counts, TermTable, Mapping[str, int]] | None = None

    def fork(self) -> Search:
        """Return a search that can be narrowed without narrowing this one."""
        return replace(
            self,
            # What is cut off is shared: a set that the scheduler refuses is refused in every
            # search.
            active=list(self.active),
            lower=dict(self.lower),
            upper=dict(self.upper),
            limits=dict(self.limits),
            bounds=dict(self.bounds),
            unproved=list(self.unproved),
        )

    @property
    def answer(self) -> Counts:
        """The incumbent, where there must be one."""
        if self.incumbent is None:
            message = "a level was solved, but there is no answer"
            raise InternalError(message)
        return self.incumbent

    def counts_in(self, take: Mapping[int, int], solution: Sequence[int]) -> Counts:
        """Return the counts of all classes in a solution of a model; ``take`` are its variables."""
        found = [0] * len(self.classes)
        for k, index in take.items():
            found[k] = int(solution[index])
        return found

    def value(self, measure: Measure, counts: Counts) -> int:
        """Return a measure of a victim set."""
        # A set is evaluated for measure after measure, and its counts are never changed in place.
        table, known = self.rules.table, self._known
        if known is None or known[0] is not counts or known[1] is not table:
            known = self._known = counts, table, table.evaluate(self.classes.take(counts))
        return value_in(known[2], measure)

    def values(self, counts: Counts) -> list[int]:
        """Return all levels of a victim set."""
        return [self.value(measure, counts) for measure in self.levels]

    def known_value(self, measure: Measure) -> int | None:
        """Return a measure of the incumbent, if there is one."""
        return None if self.incumbent is None else self.value(measure, self.incumbent)

    def is_separable(self, measure: Measure) -> bool:
        """Say whether a measure is a sum over victims."""
        return self.rules.table.is_separable(measure)

    def costs(self, measure: Measure, classes: Classes) -> IntArray:
        """Return what one member of each class adds to a separable measure."""
        return self.rules.table.in_sum(measure, classes.first)

    def limit(self, measure: Measure, most: int) -> None:
        """Bound a measure above from now on; the highest rank by leaving classes out.

        A tighter bound from before is kept: a cap does not loosen a wish.
        """
        if measure == ("highest_priority",):
            self.active = self.up_to_rank(most)
        else:
            self.limits[measure] = min(most, self.limits.get(measure, most))

    def up_to_rank(self, highest: int) -> list[int]:
        """Return the active classes whose members, as victims, hit no higher rank."""
        rank = self.rules.table.rank[self.classes.first].tolist()
        evicted = self.rules.table.evicted[self.classes.first].tolist()
        # A workload that is being evicted already hits no rank.
        return [k for k in self.active if evicted[k] or rank[k] <= highest]

    def fix(self, reduced: Mapping[int, int], room: int) -> None:
        """Drop classes that no answer near a bound uses, and force members that all of them take.

        Near is within ``room``; ``reduced``, in its units, has the reduced costs of active classes.
        """
        self.active = [k for k in self.active if reduced[k] <= room]
        for k, cost in reduced.items():
            # Each member left out costs as much, so no more than ``room // -cost`` can be.
            certain = self.classes.count(k) - room // -cost if cost < 0 else 0
            if certain > 0:
                self.lower[k] = max(certain, self.lower.get(k, 0))

    def run_on(  # noqa: PLR0913 - what one solve can be told
        self,
        classes: Sequence[int],
        measure: Measure | None = None,
        *,
        rows: Iterable[RowOverClasses] = (),
        full: Iterable[int] = (),
        least: int = 0,
        attempts: Sequence[Attempt] | None = None,
    ) -> Run:
        """Solve the exact model on some classes; a found answer becomes the incumbent.

        Other classes give no victims, and ``full`` ones all of their members; ``rows`` are further
        conditions. Without a ``measure`` to minimise, of which ``least`` is a proven lower bound,
        any answer will do. Where the incumbent does not keep to these restrictions, only a better
        answer will. ``attempts`` are tried in turn, by default the one that settled the last model
        and all after it.
        """
        if not self.lower.keys() <= set(classes):
            return Run("infeasible")  # every answer left has members of a class left out here
        if self.deadline.passed:
            return Run("unknown")  # even to state the model takes long, where it is large
        rows = list(rows)
        members = {k: self.classes.count(k) for k in full}
        while True:
            try:
                result = self._run_once(classes, measure, rows, members, least, attempts)
            # `unstable` of the set that was found is not known: it is no answer. Or amounts are
            # beyond what CP-SAT can add up, and trees have to tell.
            except (OutOfTime, UnsupportedError):
                return Run("unknown")
            if result is not None:
                return result

    def _run_once(  # noqa: PLR0913, PLR0917 - what one solve can be told
        self,
        classes: Sequence[int],
        measure: Measure | None,
        rows: Sequence[RowOverClasses],
        members: Mapping[int, int],
        least: int,
        attempts: Sequence[Attempt] | None,
    ) -> Run | None:
        """Build and solve the model; ``None`` if it must be built anew, with cuts just learned."""
        # The solver takes longer to load than a small plan takes, and trees prove most of these.
        from planner.solver.engine import run  # noqa: PLC0415

        cascades = self.rules.table.cascades
        learned = len(cascades.cuts) if cascades else 0
        formulation, take = self.state(classes, rows, members)
        counts = self.incumbent
        usable = (
            not rows
            and counts is not None
            and sum(counts[k] for k in classes) == sum(counts)
            and all(counts[k] >= count for k, count in members.items())
        )
        objective = None
        if measure is not None:
            objective = express(formulation, self.rules.table, measure)
            # A bound that is proved already lets the solver end as soon as it finds that value.
            formulation.builder.add(objective >= least)
            known = self.known_value(measure)
            if known is not None and not usable:
                formulation.builder.add(objective <= known - 1)
        while True:
            hint = self.hint(formulation, classes, objective) if usable else None
            asked = attempts or self.attempts
            result = run(formulation.builder, objective, self.deadline, hint, asked)
            if result.settled:  # the next model begins with the attempt that settled this one
                self.attempts = self.attempts[self.attempts.index(result.attempt) :]
            if not result.solution:
                return result
            found = self.counts_in(take, result.solution)
            # Nothing new, and nothing proved: asking again would only repeat it.
            if found == self.incumbent and not result.settled:
                return result
            if found == self.incumbent or self.rules.is_lawful(self.classes.take(found)):
                claimed = objective.value(result.solution) if objective else 0
                if self._bears_out(found, measure, claimed, usable=usable):
                    return result
                if cascades is None or len(cascades.cuts) == learned:
                    message = "the model understates a measure, and nothing was learned"
                    raise InternalError(message)
                return None
            self.cut.append(found)
            self.cut_off(formulation, take, found)

    def state(
        self,
        classes: Sequence[int],
        rows: Iterable[RowOverClasses] = (),
        members: Mapping[int, int] | None = None,
    ) -> tuple[Measured, dict[int, int]]:
        """Return the exact model on some classes, and the variable of each of them.

        It states all limits and conditions, and further rows; ``members`` says how many of a class
        are victims for certain.
        """
        least = {**self.lower, **(members or {})}
        narrowed = self.classes.subset(classes).narrowed(
            {new: least[k] for new, k in enumerate(classes) if k in least},
            {new: self.upper[k] for new, k in enumerate(classes) if k in self.upper},
        )
        formulation = self.rules.assemble(narrowed)
        take = dict(zip(classes, formulation.take, strict=True))
        builder = formulation.builder
        # Lower bounds of earlier levels are left out: such rows were measured to make proofs many
        # times longer.
        for limited, limit in self.limits.items():
            builder.add(express(formulation, self.rules.table, limited) <= limit)
        for linear, bound in (*self.conditions, *rows):
            by_variable = {take[k]: c for k, c in linear.terms.items() if k in take}
            builder.add(Linear(by_variable) >= bound)
        for counts in self.cut:
            self.cut_off(formulation, take, counts)
        return formulation, take

    def _bears_out(
        self, found: Counts, measure: Measure | None, claimed: int, *, usable: bool
    ) -> bool:
        """Make an answer the incumbent, and say whether it is no worse than the model claims.

        ``usable`` says whether the incumbent would have been an answer, too.

        Only in ``unstable`` can an answer be worse: its value is not known before the scheduler is
        asked, which adds a cut. An answer that still keeps to all limits and is better than the
        incumbent becomes the incumbent all the same.
        """
        if self.rules.table.cascades is None:
            self.accept(found, measure, usable=usable)
            return True
        kept = all(self.value(limited, found) <= most for limited, most in self.limits.items())
        if not kept:
            return False
        value = 0 if measure is None else self.value(measure, found)
        known = None if measure is None else self.known_value(measure)
        if value <= claimed or known is None or value < known:
            self.accept(found, measure, usable=usable)
        return value <= claimed

    def accept(self, found: Counts, measure: Measure | None, *, usable: bool) -> None:
        """Make an answer the incumbent; on unproved levels no later answer may be worse than it.

        An answer no better in the measure and, level by level, worse than the incumbent is dropped:
        there may be no time left to make up for that.
        """
        if usable and found != self.incumbent and self.levels:
            known = self.answer
            better = measure is not None and self.value(measure, found) < self.value(measure, known)
            if not better and self.values(found) > self.values(known):
                return
        self.incumbent = found
        for earlier in self.unproved:
            self.limit(earlier, self.value(earlier, found))

    def cut_off(self, formulation: Measured, take: dict[int, int], counts: Counts) -> None:
        """Forbid one combination of class counts, and all others refused for the same reason."""
        groups = self.rules.alike(self.classes, counts)
        if groups is None:
            # Where nothing is known of other sets each class is a group of its own, so that no
            # other set is like this one. Classes neither in the model nor in the set are left out.
            named = {*take, *(k for k, count in enumerate(counts) if count)}
            numbers = {k: 1 + k for k in sorted(named)}
        else:
            numbers = dict(enumerate(groups))
        indices: dict[int, list[int]] = {}
        wanted: dict[int, int] = {}
        for k, number in numbers.items():
            if number:
                wanted[number] = wanted.get(number, 0) + counts[k]
                indices.setdefault(number, []).extend([take[k]] if k in take else [])
        builder = formulation.builder
        whole, none, different = [], [], []
        for number, group in indices.items():
            count, most = wanted[number], sum(builder.upper[index] for index in group)
            if count > most:
                return  # no set of this model is like it
            if count == 0:
                none += group
            elif count == most:
                whole += [(index, builder.upper[index]) for index in group]
            else:
                some = Linear(dict.fromkeys(group, 1))
                different += [(-some, 1 - count), (some, count + 1)]
        # Classes that give all members can only give fewer, those that give none only more: for
        # either kind one row is enough.
        if whole:
            fewer = Linear({index: -1 for index, _ in whole})
            different.append((fewer, 1 - sum(count for _, count in whole)))
        if none:
            different.append((Linear(dict.fromkeys(none, 1)), 1))
        possible = [(row, least) for row, least in different if builder.bounds(row)[1] >= least]
        builder.any_of(builder.witnesses(possible))

    def hint(
        self, formulation: Measured, classes: Sequence[int], objective: Linear | None
    ) -> Sequence[int] | None:
        """Return values of all variables that state the incumbent in the model.

        A subclass may return ``None``: the solver then starts without a hint.
        """
        from planner.solver.engine import complete  # noqa: PLC0415 - loaded by now

        counts = [self.answer[k] for k in classes]
        hint = complete(formulation.builder, formulation.take, counts, objective)
        if hint is None:
            message = "the model does not admit a victim set that is legal"
            raise InternalError(message)
        return hint


def impose(search: Search, wishes: Wishes) -> None:
    """Restrict a search to answers that keep to wishes; it must not have been narrowed before.

    Classes are divided where a wish tells their members apart.
    """
    table = search.rules.table
    protected = wishes.protected(table)
    counted = {group: wishes.counted(table, group) for group in wishes.budget}
    chosen = None if search.incumbent is None else search.classes.take(search.incumbent)
    key = [(protected[i], *(c[i] for c in counted.values())) for i in range(len(table.groups))]
    parts: dict[tuple[int, tuple[bool, ...]], list[int]] = {}
    for c, members in enumerate(search.classes.members):
        for position in members:
            parts.setdefault((c, key[position]), []).append(position)
    divided = list(parts.values())
    search.classes = Classes(divided, np.array([each[0] for each in divided], dtype=np.int64))
    first = search.classes.first
    search.active = [k for k, hold in enumerate(protected[first].tolist()) if not hold]
    for group, most in wishes.budget.items():
        inside = np.flatnonzero(counted[group][first]).tolist()
        search.conditions.append((Linear(dict.fromkeys(inside, -1)), -most))
    for measure, most in wishes.most.items():
        search.limit(measure, most)
    search.incumbent = None
    with suppress(
        OutOfTime
    ):  # whether the incumbent keeps to a wish of `unstable` is then not known
        if chosen is not None and wishes.are_kept(table, chosen):
            search.incumbent = search.classes.counts(chosen)
