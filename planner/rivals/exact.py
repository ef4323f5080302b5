"""Engines on the model as it stands, one column for each candidate, level after level.

There are no classes, no bounds known before, no hints and no start. What an engine finds that the
scheduler's own arithmetic refuses is cut off, and it is asked again: that belongs to the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from planner.models.shared.builder import Builder, Linear
from planner.models.shared.measure import express
from planner.objective.profiles import with_names
from planner.rivals.contest import Contest, Found
from planner.solver.engine import as_it_comes
from planner.solver.mathopt import Kind, ask, relaxed, translate
from planner.solver.search import Counts

MOST_CUTS: Final = 100
"""Answers that are refused, cut off one by one, before an engine is given up."""

_NEARLY: Final = 1e-6
"""What a value of a linear program may be above a whole number and still count as it."""


class Said(NamedTuple):
    """What an engine says: a value per variable, if any, and whether it claims a proof."""

    point: Sequence[float] = ()
    proved: bool = False


class Engine(Protocol):
    """Minimises an expression over a model."""

    def __call__(self, contest: Contest, builder: Builder, objective: Linear) -> Said:
        """Return what is found within the effort of a contest."""
        ...


class Stated:
    """The exact model of a contest, a class for each candidate."""

    def __init__(self, contest: Contest) -> None:
        everybody = range(len(contest.planning.keys))
        self.search = contest.part.prepare(
            contest.planning, contest.profile, contest.deadline, everybody
        )
        self.formulation, self.take = self.search.state(self.search.active)
        self.builder: Builder = self.formulation.builder

    @cached_property
    def positions(self) -> dict[int, int]:
        """The candidate of each class."""
        return {k: int(self.search.classes.first[k]) for k in self.take}

    def counts(self, point: Sequence[float]) -> Counts:
        """Return the class counts of a point, rounded."""
        counts = [0] * len(self.search.classes)
        for k, index in self.take.items():
            counts[k] = round(point[index])
        return counts


def cp_sat(contest: Contest, builder: Builder, objective: Linear) -> Said:
    """Ask CP-SAT with its own settings, one worker."""
    run = as_it_comes(builder, objective, contest.deadline, contest.effort.work)
    return Said(run.solution, run.settled)


def _mip(kind: Kind) -> Engine:
    def asked(contest: Contest, builder: Builder, objective: Linear) -> Said:
        builder.minimize(objective)
        seconds, nodes = contest.deadline.left(), contest.effort.nodes
        answer = ask(translate(builder.proto), kind, seconds, nodes)
        return Said(answer.point, answer.best or answer.infeasible)

    return asked


scip: Final = _mip("SCIP")
highs: Final = _mip("HiGHS")


def by_engine(engine: Engine) -> Callable[[Contest], Found]:
    """Return the rival that asks an engine for one level after the other."""

    def answer(contest: Contest) -> Found:
        stated = Stated(contest)
        best: Counts | None = None
        proved = True
        for measure in with_names(contest.profile.levels):
            objective = express(stated.formulation, contest.table, measure)
            found, sure = _lawful(contest, stated, engine, objective)
            proved = proved and sure
            if found is None:
                break
            best = found
            value = stated.search.value(measure, best)
            stated.builder.add(objective <= value)
        # A level without any answer, after one that had some, is the engine's own contradiction.
        chosen = None if best is None else list(stated.search.classes.take(best))
        return Found(chosen, proved)

    return answer


def _lawful(
    contest: Contest, stated: Stated, engine: Engine, objective: Linear
) -> tuple[Counts | None, bool]:
    """Return the best that an engine finds and the rules accept, and whether it claims a proof."""
    search = stated.search
    for _ in range(MOST_CUTS):
        said = engine(contest, stated.builder, objective)
        if not said.point:
            return None, said.proved
        counts = stated.counts(said.point)
        if search.rules.is_lawful(search.classes.take(counts)):
            return counts, said.proved
        search.cut_off(stated.formulation, stated.take, counts)
    return None, False


def rounding(contest: Contest) -> Found:
    """Solve the relaxation level after level; take candidates by what is left of them there.

    The largest fraction first, of equals in the scheduler's order, until there is room; then who is
    not needed is given back. Each pool of candidates is tried; the best by the objective counts.
    """
    stated = Stated(contest)
    point: Sequence[float] = ()
    for measure in with_names(contest.profile.levels):
        objective = express(stated.formulation, contest.table, measure)
        stated.builder.minimize(objective)
        found = relaxed(translate(stated.builder.proto))
        if not found:
            break
        point = found
        least = objective.constant + sum(c * point[v] for v, c in objective.terms.items())
        # The next whole value: a fraction of the least cannot be kept in a model of integers.
        stated.builder.add(objective <= int(-(-(least - _NEARLY) // 1)))
    share = {stated.positions[k]: point[index] for k, index in stated.take.items() if point}
    answers = []
    for pool in contest.pools():
        ordered = sorted(pool, key=lambda p: -share.get(p, 0.0))
        found_in_order = contest.add_until_legal(ordered)
        if found_in_order is not None:
            answers.append(contest.give_back(found_in_order))
    return Found(contest.best(answers))
