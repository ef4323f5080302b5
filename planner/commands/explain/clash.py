"""Why nothing: the minimal set of laws that leave no plan, and single changes that make one exist.

CP-SAT solves the model without some laws for any victim set at all. The bounds that speed a search
up assume all laws, so none of them is used here. Dropping a law only ever adds victim sets; a law
that can be dropped while there is still no plan is therefore not needed, and what is left at the
end is minimal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from planner.commands.explain.record import Change, LawInWords
from planner.laws import Law
from planner.plan import AnyPlan
from planner.solver.deadline import Deadline
from planner.solver.engine import Outcome

AnyProblem = TypeVar("AnyProblem")


def minimal(laws: Sequence[Law], feasible: Callable[[set[str]], Outcome]) -> tuple[set[str], bool]:
    """Return the ids of a minimal clashing set, and whether it is proved to be one.

    Empty where all laws together do permit a set: only rounding is then in the way.

    Parameters
    ----------
    laws
        All laws, in the order in which dropping them is tried.
    feasible
        Says whether any victim set keeps to the laws whose ids are given, and to no others.
    """
    kept = {law.id for law in laws}
    outcome = feasible(kept)
    if outcome != "infeasible":
        return set(), outcome == "optimal"
    proved = True
    for law in laws:
        outcome = feasible(kept - {law.id})
        if outcome == "infeasible":
            kept.discard(law.id)
        # A law of which time did not tell is kept: the set then clashes, but may not be minimal.
        proved = proved and outcome in {"infeasible", "optimal"}
    return kept, proved


def in_words(
    laws: Sequence[Law],
    ids: set[str],
    words: Mapping[str, Callable[[AnyProblem], str]],
    problem: AnyProblem,
) -> tuple[LawInWords, ...]:
    """Return clashing laws in the order of their ids, with what each says of a problem.

    ``words`` say it with numbers, by the ids of the laws; a law without any says its title.
    """
    clashing = sorted((law for law in laws if law.id in ids), key=lambda law: law.id)
    return tuple(
        LawInWords(
            law=law.id,
            title=law.title,
            text=words[law.id](problem) if law.id in words else law.title,
        )
        for law in clashing
    )


@dataclass(frozen=True, slots=True)
class Edit:
    """One value set to another: where, and how it reads before and after."""

    path: str
    before: str
    after: str
    step: str = ""

    @property
    def text(self) -> str:
        """The edit as ``planner whatif --set`` takes it."""
        return f"{self.path}={self.after}"

    def change(self, plan: AnyPlan, going: str) -> Change | None:
        """Return the edit with the plan of the changed state, ``None`` if there is no plan.

        ``going`` says in words what the plan does to its victims.
        """
        if plan.status not in {"optimal", "feasible"}:
            return None
        then = f"{going} makes room" if plan.victims else "it fits"
        return Change(
            edit=self.text,
            path=self.path,
            before=self.before,
            after=self.after,
            step=self.step,
            victims=plan.keys,
            text=f"{self.path} from {self.before} to {self.after}: {then}",
        )


class Trial(ABC):
    """What there is no plan for, to be tried on changed states."""

    deadline: Deadline

    @abstractmethod
    def is_possible(self, change: str) -> bool:
        """Say whether a plan exists once an edit is made, with or without victims.

        Raises
        ------
        SchemaError
            If the edit is none.
        """

    @abstractmethod
    def proved(self, one: Edit) -> Change | None:
        """Solve the changed state; ``None`` if that finds no plan in time."""

    def makes_plan(self, change: str) -> bool:
        """Say whether an edit makes a plan exist; nothing does once the time is up."""
        return not self.deadline.passed and self.is_possible(change)

    def all_proved(self, edits: Iterable[Edit]) -> tuple[tuple[Change, ...], bool]:
        """Return the edits that work with their plans, and whether all were tried."""
        found = [change for one in edits if (change := self.proved(one)) is not None]
        return tuple(found), not self.deadline.passed


def first(works: Callable[[int], bool], most: int) -> int | None:
    """Return a number from 1 on that works while the one before does not, by bisection.

    ``None`` if not even ``most`` works.
    """
    if most < 1 or not works(most):
        return None
    low, high = 0, most
    # What works for a number is taken to work for larger ones; the step below was tried and does
    # not.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high
