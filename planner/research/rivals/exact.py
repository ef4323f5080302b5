"""Engines on the model as it stands, and the planner's own search, whole or without a part.

The engines have one column for each candidate, and go level after level: there are no classes, no
bounds known before, no hints and no start. An answer that the scheduler's own arithmetic refuses is
cut off, and the engine is asked again: that belongs to the laws. Of the planner's own search each
part is left out in turn that can be left out cleanly. The engines that help with proofs, and the
branching of proof trees, begin where the search has ended: ``certified`` has them, and none of the
other rivals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Final

from planner.models.shared.builder import Builder, Linear
from planner.models.shared.measure import express
from planner.objective.profiles import with_names
from planner.research.rivals.contest import Contest, Found
from planner.research.rivals.mathopt import Kind, Milp, Said
from planner.solver.engine import as_it_comes
from planner.solver.finder import solve_levels
from planner.solver.search import Counts, Search
from planner.solver.start import solve

MOST_CUTS: Final = 100
"""Answers that are refused, cut off one by one, before an engine is given up."""
_NEARLY: Final = 1e-6
"""How far a value of a linear program may be above a whole number and still count as that."""


Engine = Callable[[Contest, Builder, Linear], Said]
"""Minimises an expression over a model, within the effort of a contest."""


class Stated:
    """The exact model of a contest, a class for each candidate."""

    def __init__(self, contest: Contest) -> None:
        planning, everybody = contest.planning, range(len(contest.planning.keys))
        part, profile, deadline = contest.part, contest.profile, contest.deadline
        self.search = part.prepare(planning, profile, deadline, everybody)
        self.formulation, self.take = self.search.state()
        self.builder: Builder = self.formulation.builder


def cp_sat(contest: Contest, builder: Builder, objective: Linear) -> Said:
    """Ask CP-SAT with its own settings, one worker."""
    run = as_it_comes(builder, objective, contest.deadline, contest.effort.work)
    return Said(run.solution, run.outcome in {"optimal", "infeasible"})


def mip(kind: Kind, contest: Contest, builder: Builder, objective: Linear) -> Said:
    """Ask SCIP or HiGHS."""
    builder.minimize(objective)
    return Milp(builder.proto).ask(kind, contest.deadline.left(), contest.effort.nodes)


def by_engine(engine: Engine) -> Callable[[Contest], Found]:
    """Return the rival that asks an engine for one level after the other."""

    def solve_contest(contest: Contest) -> Found:
        stated = Stated(contest)
        chosen: list[int] | None = None
        proved = True
        for measure in with_names(contest.profile.levels):
            objective = express(stated.formulation, contest.table, measure)
            found, sure = _lawful(contest, stated, engine, objective)
            proved = proved and sure
            # No answer to a level, after one to the level before, is the engine's contradiction.
            if found is None:
                break
            chosen = list(stated.search.classes.take(found))
            stated.builder.add(objective <= stated.search.value(measure, found))
        return Found(chosen, proved)

    return solve_contest


def _lawful(
    contest: Contest, stated: Stated, engine: Engine, objective: Linear
) -> tuple[Counts | None, bool]:
    """Return the best that an engine finds and the rules accept, and whether it claims a proof."""
    search = stated.search
    for _ in range(MOST_CUTS):
        said = engine(contest, stated.builder, objective)
        if not said.point:
            return None, said.proved
        counts = [0] * len(search.classes)
        for k, index in stated.take.items():
            counts[k] = round(said.point[index])
        if search.rules.is_lawful(search.classes.take(counts)):
            return counts, said.proved
        search.cut_off(stated.formulation, stated.take, counts)
    return None, False


def rounding(contest: Contest) -> Found:
    """Solve the relaxation level after level; take candidates by their fractions in its solution.

    The largest fraction comes first, equal ones in the scheduler's order, until there is room; then
    victims that are not needed are spared. Of all pools the best answer by the objective counts.
    """
    stated = Stated(contest)
    point: Sequence[float] = ()
    for measure in with_names(contest.profile.levels):
        objective = express(stated.formulation, contest.table, measure)
        stated.builder.minimize(objective)
        found = Milp(stated.builder.proto).relaxed(contest.deadline.left())
        if not found:
            break
        point = found
        least = objective.constant + sum(c * point[v] for v, c in objective.terms.items())
        # The next whole value: a model of integers cannot state a fractional least value.
        stated.builder.add(objective <= int(-(-(least - _NEARLY) // 1)))
    first = stated.search.classes.first  # the candidate of each class
    share = {int(first[k]): point[index] for k, index in stated.take.items() if point}

    def by_share(pool: list[int]) -> list[int] | None:
        return contest.add_until_legal(sorted(pool, key=lambda p: -share.get(p, 0.0)))

    return contest.best_of_pools(by_share)


Change = Callable[[Search], Search]


class WithoutHints(Search):
    """A search that gives the solver no hint, though an answer is known."""

    __slots__ = ()

    def hint(self, take: Mapping[int, int]) -> None:
        """Return nothing."""


def changed(kind: type[Search], search: Search) -> Search:
    """Return a search as one of another kind."""
    return kind(**{one.name: getattr(search, one.name) for one in fields(search)})


def by_search(change: Change | None = None, *, classes: bool = True) -> Callable[[Contest], Found]:
    """Return the rival that searches as the planner does, with a change.

    Without ``classes`` each candidate is a class of its own.
    """

    def solve_contest(contest: Contest) -> Found:
        planning, profile = contest.planning, contest.profile
        apart: Collection[int] = () if classes else range(len(planning.keys))
        search = contest.part.prepare(planning, profile, contest.deadline, apart)
        search = search if change is None else change(search)
        outcome = solve_levels(search, profile.levels).outcome
        counts = None if outcome == "infeasible" else search.incumbent
        chosen = None if counts is None else list(search.classes.take(counts))
        return Found(chosen, outcome in {"optimal", "infeasible"})

    return solve_contest


def certified(contest: Contest) -> Found:
    """Answer as ``planner solve`` does, with a proof tree for every level."""
    plan = solve(contest.planning, contest.profile, contest.deadline)
    position = {key: place for place, key in enumerate(contest.planning.keys)}
    chosen = [position[victim.key] for victim in plan.victims]
    return Found(chosen or None, plan.status in {"optimal", "infeasible"})


SEARCHES: Final[Mapping[str, Callable[[Contest], Found]]] = {
    "search": by_search(),
    "search-classes": by_search(classes=False),
    "search-hints": by_search(partial(changed, WithoutHints)),
}
"""The search, and the search without the part that its name ends in."""
