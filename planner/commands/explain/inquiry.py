"""A pending workload and its plan, as questions are put to it, whichever the scheduler.

Why nothing: the minimal set of laws that leave no plan, and single changes that make one exist.

CP-SAT solves the model without some laws for any victim set at all. The bounds that speed a search
up assume all laws, so none of them is used here. Dropping a law only ever adds victim sets; a law
that can be dropped while there is still no plan is therefore not needed, and what is left at the
end is minimal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from planner.commands.explain.record import (
    Alternative,
    Change,
    CommonClash,
    CommonExplanation,
    CommonStanding,
    LawInWords,
    Optima,
    Question,
)
from planner.laws import Law
from planner.objective.profiles import NAMED, Profile
from planner.plan import AnyPlan
from planner.solver.deadline import Deadline
from planner.solver.engine import Outcome
from planner.solver.search import Counts, Search
from planner.solver.start import AnyPlanning, Given

AnyProblem = TypeVar("AnyProblem")
PlanningT = TypeVar("PlanningT")


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
        LawInWords.of(law, words[law.id](problem) if law.id in words else law.title)
        for law in clashing
    )


class Edit(Struct, frozen=True):
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
            **asdict(self),
            victims=plan.keys,
            text=f"{self.path} from {self.before} to {self.after}: {then}",
        )


@dataclass(frozen=True, slots=True)
class Trial(ABC, Generic[PlanningT]):
    """What there is no plan for, to be tried on changed states.

    ``planning`` is the pending workload as it is, ``given`` names it and what the user fixed.
    """

    planning: PlanningT
    given: Given
    costs: Mapping[str, int] | None
    profile: Profile
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

    def working(self, *edits: Edit) -> Iterator[Edit]:
        """Yield the edits that make a plan exist."""
        return (one for one in edits if self.makes_plan(one.text))

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


StandingT = TypeVar("StandingT", bound=CommonStanding)
ClashT = TypeVar("ClashT", bound=CommonClash[Any])
ExplanationT = TypeVar("ExplanationT", bound=CommonExplanation)


class Bounds(NamedTuple):
    """What a search keeps to besides the laws that are never given up.

    ``capped`` says whether the caps of the objective hold, ``last_resort`` whether the last tier
    may be taken although other plans spare it (YuniKorn, YK-01).
    """

    capped: bool = True
    last_resort: bool = False


class Asked(Struct, frozen=True):
    """A search that is ready for its levels, and what makes a verified plan of its answer.

    ``plan_of`` takes class counts, and whether they are proved to be the best.
    """

    search: Search
    plan_of: Callable[[Counts, bool], AnyPlan]


class Answer(Struct, Generic[StandingT, ClashT], frozen=True):
    """The parts of an explanation."""

    question: Question
    text: str
    standings: tuple[StandingT, ...] = ()
    other: Alternative | None = None
    optima: Optima | None = None
    clash: ClashT | None = None


class Ordered(AnyPlanning, Protocol):
    """A preemptor that is ready for planning, with an order of candidates."""

    def in_candidate_order(self, positions: Sequence[int]) -> list[int]:
        """Sort positions by the scheduler's candidate order."""
        ...


class Explainer(ABC, Generic[StandingT, ClashT, ExplanationT]):
    """One pending workload with its optimal plan, to be searched further.

    It says what it finds in the scheduler's own terms. A position is one in the problem's
    workloads or allocations.
    """

    taken: str
    """What the project of the scheduler calls a victim's fate."""

    def __init__(
        self, planning: Ordered, plan: AnyPlan, profile: Profile, deadline: Deadline
    ) -> None:
        self.plan = plan
        self.profile = planning.set_objective(profile)
        self.deadline = deadline
        self.in_candidate_order = planning.in_candidate_order
        self._keys = tuple(planning.keys)
        self._positions = {key: position for position, key in enumerate(self._keys)}

    def position(self, key: str) -> int | None:
        """Return where a key stands in the problem, ``None`` if it is not in it."""
        return self._positions.get(key)

    def key(self, position: int) -> str:
        """Return the key at a position."""
        return self._keys[position]

    @property
    @abstractmethod
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""

    @property
    @abstractmethod
    def bounds(self) -> Sequence[Bounds]:
        """What alternatives keep to, the strictest first: the next where none keeps to it."""

    @abstractmethod
    def asked(self, bounds: Bounds, apart: Collection[int] = ()) -> Asked:
        """Return a search in which the positions ``apart`` have classes of their own."""

    def among_optima(self) -> Search:
        """Return a search whose answers are the optimal plans, with none found yet."""
        search = self.asked(Bounds()).search
        # The number of names as well: plans that name a workload without need are not optimal.
        for measure in (*self.profile.levels, NAMED):
            least = sum(self.plan.terms[term] for term in measure)
            search.limit(measure, least)
            if search.is_separable(measure):
                search.bounds[measure] = least
        search.incumbent = None
        return search

    @property
    def preemptor(self) -> str:
        """What people call the preemptor."""
        return self.plan.preemptor_name

    @abstractmethod
    def find(self, name: str) -> str:
        """Return the key of what is running under a name.

        Raises
        ------
        LookupFailed
            If nothing is.
        """

    @abstractmethod
    def name(self, key: str) -> str:
        """Return what people call what is running under a key."""

    @abstractmethod
    def may_be_taken(self, position: int) -> bool:
        """Say whether no law excludes it by itself, but perhaps as a last resort."""

    @abstractmethod
    def standing(self, key: str) -> StandingT:
        """Say how the rules see what is running under a key."""

    @abstractmethod
    def place(self, standing: StandingT) -> str:
        """Say where a candidate stands in the scheduler's order."""

    @abstractmethod
    def clash(self) -> ClashT:
        """Say why there is no plan, and what would change that."""

    @abstractmethod
    def explanation(self, answer: Answer[StandingT, ClashT]) -> ExplanationT:
        """Put an answer together."""


def capped(profile: Profile, bounds: Bounds) -> Profile:
    """Return a profile with its caps, or without them."""
    return profile if bounds.capped else replace(profile, caps=())
