"""A pending workload and its plan, as questions are put to it, whichever the scheduler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from planner.commands.explain.record import (
    Alternative,
    CommonClash,
    CommonExplanation,
    CommonStanding,
    Optima,
    Question,
)
from planner.objective.profiles import NAMED, Profile
from planner.plan import AnyPlan
from planner.solver.deadline import Deadline
from planner.solver.search import Counts, Search

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A search that is ready for its levels, and what makes a verified plan of its answer.

    ``plan_of`` takes class counts, and whether they are proved to be the best.
    """

    search: Search
    plan_of: Callable[[Counts, bool], AnyPlan]


class Inquiry(ABC):
    """One pending workload with its optimal plan, to be searched further.

    A position is one in the problem's workloads or allocations.
    """

    def __init__(self, profile: Profile, deadline: Deadline) -> None:
        self.profile = profile
        self.deadline = deadline

    @property
    @abstractmethod
    def plan(self) -> AnyPlan:
        """The optimal plan."""

    @property
    @abstractmethod
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""

    @property
    @abstractmethod
    def bounds(self) -> Sequence[Bounds]:
        """What alternatives keep to, the strictest first: the next where none keeps to it."""

    @abstractmethod
    def position(self, key: str) -> int | None:
        """Return where a key stands in the problem, ``None`` if it is not in it."""

    @abstractmethod
    def key(self, position: int) -> str:
        """Return the key at a position."""

    @abstractmethod
    def in_candidate_order(self, positions: Sequence[int]) -> list[int]:
        """Sort positions by the scheduler's candidate order."""

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


@dataclass(frozen=True, slots=True)
class Answer(Generic[StandingT, ClashT]):
    """The parts of an explanation."""

    question: Question
    text: str
    standings: tuple[StandingT, ...] = ()
    other: Alternative | None = None
    optima: Optima | None = None
    clash: ClashT | None = None


class Explainer(Inquiry, Generic[StandingT, ClashT, ExplanationT]):
    """An inquiry that can say what it finds in the scheduler's own terms."""

    taken: str
    """What the project of the scheduler calls a victim's fate."""

    @property
    @abstractmethod
    def preemptor(self) -> str:
        """What people call the preemptor."""

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
