"""A planning solved whole: every level on all candidates, by an engine of choice.

Of the planner it uses the model with its laws, the terms and the profiles; nothing of how it
searches. Caps, levels and YuniKorn's first law are stated here once more, as
docs/design/objectives.md §4 and docs/semantics/yunikorn.md §13.1 have them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python.cp_model import CpModel

from planner.laws.yunikorn import Spared
from planner.models.kueue.formulation import Columns, build_classes
from planner.models.kueue.laws import assemble as assemble_kueue
from planner.models.kueue.laws import attempts, restricted_while_borrowing
from planner.models.shared.builder import Linear, variable
from planner.models.shared.measure import Measured, express
from planner.models.yunikorn.formulation import build_classes as build_yunikorn_classes
from planner.models.yunikorn.laws import assemble as assemble_yunikorn
from planner.objective.profiles import Measure, Profile
from planner.objective.terms import TermTable
from planner.plan import AnyPlan
from planner.plan.yunikorn import YuniKornPlan
from planner.problem.array import IntArray
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.start import AnyPlanning
from planner.solver.yunikorn.planning import YuniKornPlanning
from tests.exact import Exact
from tests.second_engine.engine import Engine, Found, Outcome, PlainCpSat

_LAST_TIER: Measure = ("last_resort",)


@dataclass(frozen=True, slots=True)
class Optimum:
    """What came out: the outcome over all levels, and value and proven bound of each.

    ``repaired`` counts answers of the engine that were none in exact arithmetic, ``unlawful``
    those that the scheduler's own doubles refuse; both were cut off.
    """

    outcome: Outcome
    values: tuple[int, ...] = ()
    bounds: tuple[int, ...] = ()
    repaired: int = 0
    unlawful: int = 0


@dataclass(frozen=True, slots=True)
class _Rules:
    """How to build the model of a planning, and who judges an answer in doubles."""

    build: Callable[[Spared], Measured]
    to_spare: Sequence[Spared]
    judge: Callable[[Sequence[int]], bool]


class Whole:
    """One problem under one profile, its measures limited level after level.

    Parameters
    ----------
    planning
        A started planning in which somebody has to go.
    apart
        Whether every candidate is a variable of its own; otherwise those that neither rule nor
        term tells apart are one, as they are for the planner.
    """

    def __init__(
        self,
        planning: AnyPlanning,
        profile: Profile,
        engine: Engine,
        deadline: Deadline,
        *,
        apart: bool,
    ) -> None:
        planning.set_objective(profile)
        self.profile, self.engine, self.deadline = profile, engine, deadline
        self.table: TermTable = planning.table
        self.greedy: AnyPlan = planning.greedy_plan()
        self.rules = _rules_of(planning, profile, apart=apart)
        self.repaired = self.unlawful = 0
        self.spare: Spared = "nobody"
        self.formulation = self.rules.build(self.spare)
        self._hint: Sequence[int] = ()

        if self._starts_from_greedy:
            counts = self.formulation.classes.counts(planning.greedy_positions())
            self._hint = counts or ()

    @property
    def _starts_from_greedy(self) -> bool:
        """Whether the scheduler's own plan is an answer, so that it keeps all caps."""
        greedy = self.greedy
        spared = not isinstance(greedy, YuniKornPlan) or greedy.spares(self.spare)
        return bool(greedy.victims) and not greedy.outside_rules and spared

    def solve(self) -> Optimum:
        """Minimise level by level, each within the caps and the levels before it."""
        values: list[int] = []
        bounds: list[int] = []
        outcome = self._settle_last_tier()
        if outcome == "optimal":
            self._cap()
        for measure in self._levels() if outcome == "optimal" else ():
            linear = express(self.formulation, self.table, measure)
            found = self._minimise(linear)
            if not found.solution:
                outcome = found.outcome if not values else "feasible"
                break
            value = linear.value(found.solution)
            self.formulation.builder.add(linear <= value)
            self._hint = found.solution
            values.append(value)
            bounds.append(min(value, found.bound))
            if found.outcome != "optimal":
                outcome = "feasible"
        return Optimum(outcome, tuple(values), tuple(bounds), self.repaired, self.unlawful)

    def _levels(self) -> Iterable[Measure]:
        named = ("victims",)
        levels = self.profile.levels
        return levels if named in levels else (*levels, named)

    def _settle_last_tier(self) -> Outcome:
        """Find any answer; spare last resorts if some answer does (law 1)."""
        free = self.formulation
        for spare in self.rules.to_spare:
            self.spare, self.formulation = spare, self.rules.build(spare)
            outcome = self._minimise(Linear({})).outcome
            if outcome != "infeasible":
                return outcome
        self.formulation, self.spare = free, "nobody"
        return "optimal" if self._starts_from_greedy else self._minimise(Linear({})).outcome

    def _cap(self) -> None:
        """Bound the capped measures by the scheduler's own plan, those that can be kept."""
        if not self.greedy.victims:
            return
        for measure in self.profile.caps:
            most = sum(self.greedy.terms[term] for term in measure)
            linear = express(self.formulation, self.table, measure)
            if not self._starts_from_greedy:
                found = self._minimise(linear)
                if not found.solution or linear.value(found.solution) > most:
                    continue
            self.formulation.builder.add(linear <= most)

    def _minimise(self, linear: Linear) -> Found:
        """Minimise an expression; what is no answer is cut off, and the engine asked again."""
        builder = self.formulation.builder
        while not self.deadline.passed:
            unit, constant = builder.minimize(linear)
            found = self.engine.minimise(CpModel(builder.proto), self.deadline, self._hint)
            found = replace(found, bound=constant + unit * found.bound)
            if not found.solution:
                return found
            counts = [found.solution[v] for v in self.formulation.take]
            if not Exact(builder.proto).admits(found.solution):
                self.repaired += 1
                claimed, found = linear.value(found.solution), self._repair(counts)
                if found.solution and linear.value(found.solution) != claimed:
                    return Found("unknown")
            if found.solution:
                if self.rules.judge(self.formulation.classes.take(counts)):
                    return found
                self.unlawful += 1
            self._cut_off(counts)
        return Found("unknown")

    def _repair(self, counts: Sequence[int]) -> Found:
        """Return the best answer with the same victims: the engine's numbers were not exact."""
        model = CpModel(self.formulation.builder.proto).clone()
        for v, count in zip(self.formulation.take, counts, strict=True):
            domain = model.proto.variables[v].domain
            domain.clear()
            domain.extend([count, count])
        return PlainCpSat().minimise(model, self.deadline)

    def _cut_off(self, counts: Sequence[int]) -> None:
        """Forbid one combination of class counts."""
        builder, differs = self.formulation.builder, []
        for v, count in zip(self.formulation.take, counts, strict=True):
            if count > builder.lower[v]:
                differs.append(builder.new_bool())
                builder.add(variable(v) <= count - 1, when=differs[-1:])
            if count < builder.upper[v]:
                differs.append(builder.new_bool())
                builder.add(variable(v) >= count + 1, when=differs[-1:])
        builder.any_of(differs)


def _rules_of(planning: AnyPlanning, profile: Profile, *, apart: bool) -> _Rules:
    """Return the rules of a planning, with classes by the terms of a profile."""
    costs = planning.table.telling_apart((*profile.terms, *_LAST_TIER))
    if apart:
        costs.append(np.arange(len(planning.keys), dtype=np.int64))
    if isinstance(planning, Planning) and planning.case.options:
        return _other_rules(planning, costs)
    if isinstance(planning, Planning):
        return _kueue_rules(planning, costs)
    assert isinstance(planning, YuniKornPlanning)
    problem, rules = planning.problem, planning.rules
    costs.append(problem.opted_out.astype(np.int64))
    classes = build_yunikorn_classes(problem, planning.eligible, costs)
    return _Rules(
        build=lambda spare: assemble_yunikorn(problem, classes, rules, spare=spare),
        to_spare=("last-tier", "opted-out") if _LAST_TIER in profile.levels else ("opted-out",),
        judge=lambda _: True,
    )


def _other_rules(planning: Planning, costs: Sequence[IntArray]) -> _Rules:
    classes = build_classes(planning.problem, planning.eligible, planning.restricted, costs)
    return _Rules(
        build=lambda _: planning.assemble(classes),
        to_spare=(),
        judge=planning.is_lawful,
    )


def _kueue_rules(planning: Planning, costs: Sequence[IntArray]) -> _Rules:
    problem, allowed = planning.problem, planning.eligible
    restricted = restricted_while_borrowing(problem)
    columns = Columns(problem, build_classes(problem, allowed, restricted, costs), restricted)
    permitted = attempts(problem, allowed)
    return _Rules(
        build=lambda _: assemble_kueue(problem, columns, permitted),
        to_spare=(),
        judge=planning.is_lawful,
    )
