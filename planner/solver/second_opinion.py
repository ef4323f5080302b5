"""Two engines that share nothing but the model are asked whether any answer is left.

CP-SAT searches with presolve, by clauses and propagation; SCIP, or HiGHS where SCIP gives up,
by branching on linear programs, in doubles. That there is no answer is believed if both say so.
An answer that one of them finds is checked in integers and by the scheduler's own rules, and needs
no second word.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.models.shared.builder import Builder
from planner.models.shared.measure import express
from planner.objective.profiles import Measure
from planner.solver.deadline import Deadline, OutOfTime
from planner.solver.engine import SOLVER, complete, presolved, satisfies
from planner.solver.levels import MOST_CLASSES
from planner.solver.search import Counts, Search
from planner.stage import begin

if TYPE_CHECKING:
    from planner.solver.mathopt import Kind, Milp

MOST_CUTS: Final = 100
"""Solutions that are no answers, cut off one by one, before an engine counts as not knowing."""

PATIENCE_S: Final = 30.0
"""Seconds for one question at most."""

Engine = Callable[[Deadline], Sequence[int] | None]
"""Returns a solution of a model: empty where it does not know, ``None`` if there is none."""


class Opinion(Struct, frozen=True):
    """Whether there is an answer, one if there is, and which engines were asked."""

    outcome: Literal["none", "found", "unknown"]
    counts: Counts | None = None
    engines: tuple[str, ...] = ()


def second_opinion(
    search: Search,
    deadline: Deadline,
    measure: Measure | None = None,
    most: int = 0,
) -> Opinion:
    """Ask whether any answer of a search exists; the search is left as it is.

    An answer takes victims of active classes only, keeps to all limits, conditions and bounds of
    classes, and is not cut off; the incumbent plays no part. It has at most ``most`` of a measure,
    if one is given. Each of the two engines has half of the time.
    """
    if not search.lower.keys() <= set(search.active):
        return Opinion("none")  # every answer left takes members of a class that is not active
    question = _Question(search, measure, most)
    first = question.ask(question.by_cp_sat, deadline.half(), exact=True)
    name = f"{SOLVER} with presolve"
    if first.outcome == "found":
        return replace(first, engines=(name,))
    other: Kind = "SCIP"
    second = question.ask(partial(question.by_mip, other), deadline.half(), exact=False)
    if second.outcome == "unknown" and not deadline.passed:
        other = "HiGHS"
        second = question.ask(partial(question.by_mip, other), deadline, exact=False)
    names = (name, f"{other} by MathOpt")
    # "none" takes both engines: where CP-SAT did not say so, the other's word is not enough.
    if second.outcome == "found" or first.outcome == "none":
        return replace(second, engines=names)
    return Opinion("unknown", engines=names)


@dataclass
class TwoEngines:
    """Two engines, asked about searches as they were before their levels.

    What a search learned on its levels narrows nothing here. ``wishes`` are the most that answers
    may have of some measures; ``engines`` are the names of all engines that have been asked.
    """

    wishes: Mapping[Measure, int]
    engines: dict[str, None] = field(default_factory=dict)

    def ask(
        self,
        search: Search,
        limits: Iterable[tuple[Measure, int]] = (),
        measure: Measure | None = None,
        most: int = 0,
        active: Sequence[int] | None = None,
    ) -> Opinion:
        """Ask whether an answer keeps to wishes, caps and limits, and has at most so much.

        That is ``most`` of ``measure``; ``limits`` are earlier levels. Only ``active`` classes give
        victims, by default all that the wishes permit.
        """
        asked = dataclasses.replace(
            search.fork(),
            active=list(search.permitted if active is None else active),
            lower={},
            upper={},
            limits={},
            bounds={},
            incumbent=None,
        )
        for limited, value in (*self.wishes.items(), *search.caps, *limits):
            asked.limit(limited, value)
        if len(asked.active) > MOST_CLASSES or search.deadline.passed:
            return Opinion("unknown")
        begin("asking a second engine")
        try:
            opinion = second_opinion(asked, soon(search.deadline), measure, most)
        # `unstable` of an answer that an engine found is not known; or engines cannot add amounts
        # up.
        except (OutOfTime, UnsupportedError):
            return Opinion("unknown")
        self.engines.update(dict.fromkeys(opinion.engines))
        return opinion


def soon(deadline: Deadline) -> Deadline:
    """Return when to give up one question: after half of the time, or `PATIENCE_S` if sooner."""
    left = deadline.left()
    return Deadline.after(PATIENCE_S if left is None else min(left / 2, PATIENCE_S))


def is_impossible(builder: Builder, deadline: Deadline) -> bool:
    """Say whether SCIP or HiGHS says, as CP-SAT did, that a model has no solution."""
    from planner.solver.mathopt import ask, translate  # noqa: PLC0415 - it takes long to load

    program = translate(builder.proto, builder.origin)
    kinds: tuple[Kind, ...] = ("SCIP", "HiGHS")
    return any(
        ask(program, kind, deadline.left()).infeasible for kind in kinds if not deadline.passed
    )


class _Question:
    """The model of a question; a solution that is no answer is cut off for all engines."""

    def __init__(self, search: Search, measure: Measure | None, most: int) -> None:
        self.search, self.measure, self.most = search, measure, most
        self.formulation, self.take = search.state(search.active)
        self.builder = self.formulation.builder
        # The program of the model with so many rows: engines that are asked in turn share it.
        self._program: tuple[int, Milp] | None = None
        if measure is not None:
            self.builder.add(express(self.formulation, search.rules.table, measure) <= most)

    def ask(self, engine: Engine, deadline: Deadline, *, exact: bool) -> Opinion:
        """Ask an engine until a solution is an answer; one that is not ``exact`` is rechecked."""
        for _ in range(MOST_CUTS):
            point = () if deadline.passed else engine(deadline)
            if not point:
                return Opinion("none" if point is None else "unknown")
            counts = self.search.counts_in(self.take, point)
            if (exact or self._admits(point)) and self._is_answer(counts):
                return Opinion("found", counts)
            self.search.cut_off(self.formulation, self.take, counts)
        return Opinion("unknown")

    def by_cp_sat(self, deadline: Deadline) -> Sequence[int] | None:
        """Ask CP-SAT, with presolve."""
        found = presolved(self.builder, deadline)
        return None if found.outcome == "infeasible" else found.solution

    def by_mip(self, kind: Kind, deadline: Deadline) -> Sequence[int] | None:
        """Ask an engine of MathOpt."""
        # MathOpt takes longer to load than a small plan takes, and most plans need none of it.
        from planner.solver.mathopt import ask, translate  # noqa: PLC0415

        rows = len(self.builder.proto.constraints)
        if self._program is None or self._program[0] != rows:
            self._program = rows, translate(self.builder.proto, self.builder.origin)
        said = ask(self._program[1], kind, deadline.left())
        return None if said.infeasible else said.point[: len(self.builder.lower)]

    def _admits(self, point: Sequence[int]) -> bool:
        """Say whether the model admits the class counts of a point that was found in doubles.

        Where the other variables are not quite right, CP-SAT is asked for better values: with all
        counts given there is next to nothing to search.
        """
        if satisfies(self.builder.proto, point):
            return True
        variables = list(self.take.values())
        # The counts are all that matters: other variables only help to state the rows.
        counts = [point[index] for index in variables]
        return complete(self.builder, variables, counts) is not None

    def _is_answer(self, counts: Counts) -> bool:
        """Say whether class counts are lawful, and keep to all limits by the terms themselves."""
        search = self.search
        limits = dict(search.limits)
        if self.measure is not None:
            limits[self.measure] = min(self.most, limits.get(self.measure, self.most))
        return search.rules.is_lawful(search.classes.take(counts)) and all(
            search.value(measure, counts) <= most for measure, most in limits.items()
        )
