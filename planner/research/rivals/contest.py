"""One case and one objective as a rival meets them: the candidates, the levels, and the judge.

A rival may ask the verifier as often as its effort permits. Effort is counted in judgements, nodes
and the solver's own units of work and not in seconds, so that an answer does not depend on the
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from planner.laws import Law
from planner.objective.profiles import Profile, value_in, with_names
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.research.wing import rivalries
from planner.scheduler import scheduler_of
from planner.solver.deadline import Deadline
from planner.solver.search import Search
from planner.solver.start import AnyPlanning


class Effort(NamedTuple):
    """What a rival may spend on one answer, or on one question to an engine.

    ``judgements`` of the verifier bound a rival that draws, the others ask as often as they have
    to; ``work`` in CP-SAT's units of deterministic time for a question; ``nodes`` of a search tree
    of SCIP or HiGHS for a question; ``seconds`` of the clock for an answer, the only bound that
    depends on the machine.
    """

    judgements: int
    work: float
    nodes: int
    seconds: float


class Found(NamedTuple):
    """What a rival answers.

    ``chosen`` are the positions of its victims, ``None`` if it found none; ``proved`` says that it
    claims to have proved this best, or that no legal set exists.
    """

    chosen: Sequence[int] | None
    proved: bool = False


class SpentError(Exception):
    """No judgement is left, or no time."""


Planning_contra = TypeVar("Planning_contra", contravariant=True)


class Rivalry(Protocol[Planning_contra]):
    """What the rivals need to know of a scheduler. Each planning is one of that scheduler."""

    @property
    def ROOM(self) -> Collection[Law]:  # noqa: N802 - a constant of a module
        """Laws about room that the empty victim set does not break: they are not tested for it."""
        ...

    def prepare(
        self,
        planning: Planning_contra,
        profile: Profile,
        deadline: Deadline,
        apart: Collection[int],
    ) -> Search:
        """Return the planner's search, ready for its levels; ``apart`` get classes of their own."""
        ...

    def pools(self, planning: Planning_contra) -> Sequence[Sequence[int]]:
        """Return the candidates who can be victims together: all, or those of one node each."""
        ...

    def places(self, planning: Planning_contra) -> Sequence[Sequence[int]]:
        """Return the candidates of each node, or of each queue where a scheduler has no nodes."""
        ...

    def own(self, planning: Planning_contra) -> BoolArray:
        """Say of each workload whether it is in the preemptor's own queue: (W,)."""
        ...

    def below(self, planning: Planning_contra) -> BoolArray:
        """Say of each workload whether its priority is lower than the preemptor's: (W,)."""
        ...


_CLOSE: Final = 0.1
"""The last share of the time: a rival that ends in it may have been stopped by the clock."""


def laws_of(broken: Iterable[str]) -> frozenset[str]:
    """Return the ids of laws from the sentences that say how they are broken."""
    return frozenset(said.partition(" ")[0] for said in broken)


@dataclass
class Contest:
    """One case and one objective.

    ``profile`` has the levels of the state; ``seed`` fixes the random draws, and is ``None`` for a
    rival that draws nothing. ``asked`` counts the judgements.
    """

    planning: AnyPlanning
    profile: Profile
    effort: Effort
    seed: str | None = None
    asked: int = 0

    def __post_init__(self) -> None:
        """Let the time begin."""
        self.deadline = Deadline.after(self.effort.seconds)

    def broken(self, chosen: Sequence[int]) -> frozenset[str]:
        """Return the ids of the laws that victims break, as the verifier finds.

        Raises ``SpentError`` if no judgement is left of a rival that draws, or no time.
        """
        spent = self.seed is not None and self.asked == self.effort.judgements
        if spent or self.deadline.passed:
            raise SpentError
        self.asked += 1
        return laws_of(self.planning.broken_by(chosen))

    @property
    def part(self) -> Rivalry[Any]:
        """What the rivals need to know of the scheduler."""
        return scheduler_of(self.planning).found_in(rivalries(), "rivals")

    @property
    def table(self) -> TermTable:
        """The terms."""
        return self.planning.table

    @cached_property
    def chance(self) -> Random:
        """Draws that are the same on every machine."""
        return Random(self.seed)  # noqa: S311 - no secret

    @cached_property
    def room(self) -> frozenset[str]:
        """The laws about room: those that the empty victim set breaks, and `Rivalry.ROOM`."""
        known = frozenset(law.id for law in self.part.ROOM)
        return laws_of(self.planning.broken_by(())) | known

    @property
    def is_late(self) -> bool:
        """Whether the clock may have stopped the rival: engines end somewhat before their limit."""
        left = self.deadline.left()
        return left is not None and left < self.effort.seconds * _CLOSE

    def pools(self) -> list[list[int]]:
        """Return the candidates who can be victims together, in the scheduler's order."""
        return [list(pool) for pool in self.part.pools(self.planning) if pool]

    def values(self, chosen: Sequence[int]) -> tuple[int, ...]:
        """Return the values of a victim set by level, with the number of workloads it names."""
        terms = self.table.evaluate(chosen)
        return tuple(value_in(terms, each) for each in with_names(self.profile.levels))

    def is_legal(self, chosen: Sequence[int]) -> bool:
        """Say whether victims break no law."""
        return not self.broken(chosen)

    def makes_room(self, chosen: Sequence[int]) -> bool:
        """Say whether victims make room, lawful or not."""
        return not self.broken(chosen) & self.room

    def add_until_legal(self, order: Iterable[int]) -> list[int] | None:
        """Add candidates in an order until they make room, leaving out each that breaks a law.

        ``None`` if they never make room.
        """
        chosen: list[int] = []
        for position in order:
            broken = self.broken([*chosen, position])
            if not broken:
                return [*chosen, position]
            if broken <= self.room:
                chosen.append(position)
        return None

    def give_back(self, chosen: Sequence[int]) -> list[int]:
        """Spare victims that are not needed, the last that was taken first."""
        return self.spare(reversed(chosen), chosen, self.is_legal)

    def spare(
        self, order: Iterable[int], chosen: Iterable[int], enough: Callable[[Sequence[int]], bool]
    ) -> list[int]:
        """Go through an order, and spare each victim without which the rest is still enough."""
        kept = list(chosen)
        for position in order:
            rest = [one for one in kept if one != position]
            if enough(rest):
                kept = rest
        return kept

    def best_of_pools(self, choose: Callable[[list[int]], list[int] | None]) -> Found:
        """Choose victims in each pool, where possible, and spare those that are not needed.

        The best answer by the objective counts, the first of equal ones.
        """
        chosen = (choose(pool) for pool in self.pools())
        answers = [self.give_back(one) for one in chosen if one is not None]
        return Found(min(answers, key=self.values, default=None))
