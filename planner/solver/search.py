"""The state of a lexicographic search, one exact solve within it, and the wishes imposed on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final, Literal

import numpy as np
from msgspec import Struct, structs

from planner.errors import InternalError, UnsupportedError
from planner.models.shared.builder import Linear
from planner.models.shared.measure import Measured, express
from planner.objective.profiles import Measure, Profile, value_in
from planner.objective.terms import TermTable
from planner.problem.array import IntArray
from planner.quota.classes import Classes
from planner.solver.deadline import Deadline, OutOfTime

SEED: Final = 0
"""The seed of all engines."""

Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


class Run(Struct, frozen=True):
    """What comes of asking the solver: a value per variable, and a bound on the objective."""

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0


class Rules:
    """The rules of one problem, as a search uses them."""

    order: IntArray
    """(W,) the rank of each workload in the scheduler's candidate order."""
    table: TermTable
    """The disruption terms of the problem."""

    def assemble(self, classes: Classes) -> Measured:
        """Build the exact model in which only these classes give victims."""
        raise NotImplementedError

    def is_lawful(self, positions: Sequence[int]) -> bool:  # noqa: ARG002 - others' rules
        """Say whether victims are lawful in the scheduler's own arithmetic.

        The model may admit sets that the scheduler's floating-point numbers or procedure do not.
        """
        return True

    def alike(self, classes: Classes, counts: Sequence[int]) -> Sequence[int] | None:  # noqa: ARG002 - others' rules
        """Return the group of each class: what refuses a set refuses all sets like it.

        Sets are alike with the same number of victims of each group, group 0 left out. ``None``
        where only the set itself is known to be refused.
        """
        return None


HIGHEST: Final[Measure] = ("highest_priority",)
"""The measure of which lower values leave classes out."""

Counts = list[int]
"""Victims per class, over all classes of the search."""

RowOverClasses = tuple[Linear, int]
"""An expression over class numbers, and its lower bound."""


@dataclass(slots=True)
class Search:
    """What a search knows so far.

    ``active`` are the classes that can still give victims; ``limits`` the measures that are bounded
    above: wishes, caps and earlier levels; ``conditions`` are further rows that every answer keeps,
    where a class that is left out counts nothing; ``incumbent`` is the best answer so far. Sets
    that the model admits and the scheduler's own arithmetic does not are ``cut`` off.
    """

    rules: Rules
    classes: Classes
    deadline: Deadline
    active: list[int]
    limits: dict[Measure, int] = field(default_factory=dict)
    conditions: list[RowOverClasses] = field(default_factory=list)
    incumbent: Counts | None = None
    cut: list[Counts] = field(default_factory=list)

    def fork(self) -> Search:
        """Return a search that can be narrowed without narrowing this one.

        What is cut off is shared: a set that the scheduler refuses is refused in every search.
        """
        active, limits, conditions = [*self.active], {**self.limits}, [*self.conditions]
        return replace(self, active=active, limits=limits, conditions=conditions)

    @property
    def answer(self) -> Counts:
        """The incumbent, where there must be one."""
        if self.incumbent is None:
            message = "a level was solved, but there is no answer"
            raise InternalError(message)
        return self.incumbent

    def value(self, measure: Measure, counts: Counts) -> int:
        """Return a measure of a victim set."""
        return value_in(self.rules.table.evaluate(self.classes.take(counts), measure), measure)

    def known_value(self, measure: Measure) -> int | None:
        """Return a measure of the incumbent, if there is one."""
        return None if self.incumbent is None else self.value(measure, self.incumbent)

    def limit(self, measure: Measure, most: int) -> None:
        """Bound a measure above from now on; the highest rank by leaving classes out.

        A tighter bound from before is kept: a cap does not loosen a wish.
        """
        if measure == HIGHEST:
            table, first = self.rules.table, self.classes.first
            # A workload that is being evicted already hits no rank.
            permitted = (table.leaving | (table.rank <= most))[first].tolist()
            self.active = [k for k in self.active if permitted[k]]
        else:
            self.limits[measure] = min(most, self.limits.get(measure, most))

    def run(
        self,
        measure: Measure | None = None,
        rows: Sequence[RowOverClasses] = (),
        effort: float = inf,
        *,
        guessing: bool = False,
    ) -> Run:
        """Solve the exact model; an answer that is better becomes the incumbent.

        Without a ``measure`` to minimise any answer will do; with one, no answer is looked for that
        the incumbent equals, and ``infeasible`` says that there is none better. ``rows`` are
        further conditions, which the incumbent must keep, as it must keep to all others. Where it
        is ``guessing`` what a replay would say, better answers may be there that are not found.
        """
        if self.deadline.passed:
            return Run("unknown")  # even to state the model takes long, where it is large
        try:
            table = structs.replace(self.rules.table, guessing=guessing)
            return self._run(measure, rows, effort, table)
        # A measure of the set that was found is not known: it is no answer. Or amounts are beyond
        # what CP-SAT can add up, and trees have to tell.
        except (OutOfTime, UnsupportedError):
            return Run("unknown")

    def _run(
        self,
        measure: Measure | None,
        rows: Sequence[RowOverClasses],
        effort: float,
        table: TermTable,
    ) -> Run:
        # The solver takes longer to load than a small plan takes, and trees prove most of these.
        from planner.solver.engine import run_engine  # noqa: PLC0415

        refuted: Counts | None = None
        while True:
            formulation, take = self.state(rows, table)
            objective = express(formulation, table, measure) if measure else None
            known = self.known_value(measure) if measure else None
            if objective is not None and known is not None:
                formulation.builder.add(objective <= known - 1)
            while True:
                result = run_engine(
                    formulation.builder, objective, self.deadline, self.hint(take), effort
                )
                if not result.solution:
                    return result
                found = [0] * len(self.classes)
                for k, index in take.items():
                    found[k] = int(result.solution[index])
                if found == self.incumbent or self.rules.is_lawful(self.classes.take(found)):
                    break
                self.cut.append(found)
                self.cut_off(formulation, take, found)
            value = self.value(measure, found) if measure else 0
            kept = all(self.value(limited, found) <= most for limited, most in self.limits.items())
            if kept and (known is None or value < known):
                self.incumbent = found
            if kept and (objective is None or value <= objective.value(result.solution)):
                return result
            # A term that asks the scheduler is modelled by what it said: now it has said more.
            if found == refuted:
                message = "the model understates a measure, and nothing was learned"
                raise InternalError(message)
            refuted = found

    def state(
        self, rows: Sequence[RowOverClasses] = (), table: TermTable | None = None
    ) -> tuple[Measured, dict[int, int]]:
        """Return the exact model of the active classes, and the variable of each of them.

        It states all limits and conditions, and further rows.
        """
        formulation = self.rules.assemble(self.classes.subset(self.active))
        take = dict(zip(self.active, formulation.take, strict=True))
        builder = formulation.builder
        for limited, limit in self.limits.items():
            builder.add(express(formulation, table or self.rules.table, limited) <= limit)
        for linear, bound in (*self.conditions, *rows):
            by_variable = {take[k]: c for k, c in linear.terms.items() if k in take}
            builder.add(Linear(by_variable) >= bound)
        for counts in self.cut:
            self.cut_off(formulation, take, counts)
        return formulation, take

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

    def hint(self, take: Mapping[int, int]) -> Mapping[int, int] | None:
        """Return how many the incumbent takes of each class, by the variables of the model.

        ``None`` where there is none, or a subclass wants the solver to start without a hint.
        """
        if self.incumbent is None:
            return None
        return {index: self.incumbent[k] for k, index in take.items()}


def bind(search: Search, profile: Profile) -> None:
    """Impose the wishes of a profile on a search that nothing has narrowed yet.

    Classes are divided where a wish tells their members apart.

    Raises `UnsupportedError` if a term of the profile cannot be known from the state.
    """
    table, wishes = search.rules.table, profile.wishes
    table.refuse_missing(profile.name, profile.terms)
    if not wishes:
        return
    protected = wishes.protected(table)
    counted = {group: wishes.counted(table, group) for group in wishes.budget}
    chosen = None if search.incumbent is None else search.classes.take(search.incumbent)
    key = [(protected[i], *(c[i] for c in counted.values())) for i in range(len(table.groups))]
    parts: dict[tuple[int, tuple[bool, ...]], list[int]] = {}
    for c, members in enumerate(search.classes.members):
        for position in members:
            parts.setdefault((c, key[position]), []).append(position)
    divided = list(parts.values())
    search.classes = Classes.of_members(divided)
    first = search.classes.first
    search.active = [k for k, hold in enumerate(protected[first].tolist()) if not hold]
    for group, most in wishes.budget.items():
        inside = np.flatnonzero(counted[group][first]).tolist()
        search.conditions.append((Linear(dict.fromkeys(inside, -1)), -most))
    for measure, most in wishes.most.items():
        search.limit(measure, most)
    search.incumbent = None
    with suppress(OutOfTime):  # then it is not known whether the incumbent keeps to the wishes
        if chosen is not None and wishes.are_kept(table, chosen):
            search.incumbent = search.classes.counts(chosen)
