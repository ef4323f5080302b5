"""A pending workload and its plan, to ask questions about, whichever the scheduler.

Why there is no plan: the minimal set of laws that leave none, and single changes that help.

For the set, CP-SAT looks for any victim set at all in the model without some laws. The bounds that
speed a search up assume all laws, so none of them is used here. Dropping a law only ever adds
victim sets; a law that can be dropped while there is still no plan is therefore not needed, and the
laws that are left at the end are a minimal set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from planner.commands.explain.record import (
    Change,
    CommonClash,
    CommonExplanation,
    CommonShortfall,
    CommonStanding,
    LawInWords,
    Question,
)
from planner.commands.whatif.edit import ABSENT, edit
from planner.laws import Law
from planner.models.shared.builder import Builder
from planner.objective.profiles import NAMED, Profile, value_in
from planner.plan import AnyPlan
from planner.quantity import plural
from planner.scheduler import scheduler_of
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.solver.finder import find_any
from planner.solver.search import Outcome, Search
from planner.solver.start import AnyPlanning, Given, solve, start
from planner.state import AnyState

Problem = TypeVar("Problem")
PlanT = TypeVar("PlanT", bound=AnyPlan)


def minimal_clash(
    laws: Sequence[Law], stated: Callable[[set[str]], Builder], deadline: Deadline
) -> tuple[set[str], bool]:
    """Return the ids of a minimal clashing set, and whether it is proved to be one.

    It is empty where all laws together do permit a victim set: only rounding is then in the way.
    Laws are dropped in their order; ``stated`` returns the model without the laws of some ids.
    """

    def feasible(ids: set[str]) -> Outcome:
        return run_engine(stated({law.id for law in laws} - ids), None, deadline).outcome

    kept = {law.id for law in laws}
    outcome = feasible(kept)
    if outcome != "infeasible":
        return set(), outcome == "optimal"
    proved = True
    for law in laws:
        outcome = feasible(kept - {law.id})
        if outcome == "infeasible":
            kept.discard(law.id)
        # A law that is not decided in time is kept: the set clashes, but may not be minimal.
        proved = proved and outcome in {"infeasible", "optimal"}
    return kept, proved


HIGHEST_PRIORITY: Final = 2**31 - 1
"""Priorities, and offsets of them, are 32-bit integers."""


class Edit(Struct, frozen=True):
    """A change of one value: its path, and how the value reads before and after."""

    path: str
    before: str
    after: str
    step: str = ""

    @property
    def text(self) -> str:
        """The edit as ``planner whatif --set`` takes it."""
        return f"{self.path}={self.after}"


PlanningT = TypeVar("PlanningT", bound=AnyPlanning)


class Bounds(NamedTuple):
    """The conditions that a search keeps to besides the laws that are never given up.

    ``capped`` says whether the caps of the objective hold, ``last_resort`` whether the last tier
    may be taken although other plans spare it (YuniKorn, YK-01).
    """

    capped: bool = True
    last_resort: bool = False


Clashing = tuple[Sequence[Law], Callable[[set[str]], Builder], Callable[[Law], LawInWords]]
"""Laws in the order of dropping, the model without some of them, and what each says here."""


def led_by(first: str, text: str, plan: AnyPlan) -> str:
    """Return an answer after a sentence: what a plan says begins with a small letter."""
    rest = text[:1].upper() + text[1:] if text.startswith(plan.explanation) else text
    return f"{first}. {rest}"


class Explainer(ABC, Generic[PlanningT, PlanT]):
    """One pending workload with its optimal plan, for further searches and for changed states.

    Answers are in the scheduler's own terms. A position is an index into the problem's workloads or
    allocations. ``settled`` returns the answer where no search is needed, ``prepare`` a search, and
    ``excluded_by`` the first law that excludes a position by itself.
    """

    clashes: type[CommonClash[Any]]
    settled: Callable[[Any], tuple[str, str] | None]
    shortfalls: Callable[[Any], Iterable[CommonShortfall]]
    helpful: Callable[[Any], tuple[Iterator[Edit], bool]]
    prepare: Callable[..., Search]
    excluded_by: Callable[[Any, int], LawInWords | None]

    def __init__(
        self,
        state: AnyState,
        given: Given,
        profile: Profile,
        deadline: Deadline,
    ) -> None:
        given = replace(given, stability=False)
        self.planning = planning = self.started(state, given, profile)
        planner = scheduler_of(state).planning
        self.plan = plan = cast("PlanT", planner.answer(planning, profile, deadline, given))
        self.words = scheduler_of(state).words
        self.profile = planning.set_objective(profile)
        self.deadline = deadline
        self.greedy = cast("PlanT", plan.greedy or planning.greedy_plan())
        self.keys = tuple(planning.keys)
        self.positions = {key: position for position, key in enumerate(self.keys)}
        # By name from here on: in a changed state other workloads may be pending as well.
        self._given = given if given.quota else replace(given, pending=plan.preemptor)
        self._wanted = profile

    def started(self, state: AnyState, given: Given, profile: Profile) -> PlanningT:
        """Make the pending workload ready for planning under an objective."""
        del profile
        return cast("PlanningT", start(state, given))

    @property
    def searched(self) -> bool:
        """Whether a search was needed; otherwise no victims are needed, or none can help."""
        return self.settled(self.planning) is None

    @property
    def bounds(self) -> list[Bounds]:
        """The bounds of alternatives, strictest first; the next where no plan keeps to them."""
        return [Bounds(), Bounds(capped=False)] if self.profile.caps else [Bounds()]

    def search_within(self, bounds: Bounds, apart: Collection[int] = ()) -> Search:
        """Prepare a search within bounds; the positions ``apart`` have classes of their own."""
        profile = self.profile if bounds.capped else replace(self.profile, caps=())
        return self.prepare(self.planning, profile, self.deadline, self.greedy, apart)

    @abstractmethod
    def plan_of(self, victims: Sequence[int], *, proved: bool) -> PlanT:
        """Return the victims that a search found as a plan that the verifier accepted.

        ``proved`` says whether they are proved to be the best.
        """

    def among_optima(self) -> Search:
        """Return a search whose answers are the optimal plans, with none found yet."""
        search = self.search_within(Bounds())
        # The number of victims as well: plans with a victim that is not needed are not optimal.
        for measure in (*self.profile.levels, NAMED):
            search.limit(measure, value_in(self.plan.terms, measure))
        search.incumbent = None
        return search

    @abstractmethod
    def key_named(self, name: str) -> str:
        """Return the key of the workload or allocation that has a name.

        Raises ``LookupFailed`` if there is none.
        """

    def name(self, key: str) -> str:
        """Return what people call the workload or allocation of a key."""
        return key

    def standing(self, key: str) -> CommonStanding:
        """Return how the rules see the workload or allocation of a key."""
        whose = {"by_scheduler": key in self.greedy.keys, "by_plan": key in self.plan.keys}
        return self.seen(key).model_copy(update=whose)

    @property
    def others(self) -> Sequence[str]:
        """The keys that an answer about the whole plan explains besides its victims: here none."""
        return ()

    @abstractmethod
    def seen(self, key: str) -> CommonStanding:
        """Return its standing, with ``by_scheduler`` and ``by_plan`` not yet filled in."""

    @property
    @abstractmethod
    def clashing(self) -> Clashing:
        """The laws that can be dropped; none where no law is at fault."""

    def clash(self) -> CommonClash[Any]:
        """Return why there is no plan, and which changes would make one exist."""
        laws, stated, said = self.clashing
        ids, proved = minimal_clash(laws, stated, self.deadline) if laws else (set[str](), True)
        edits, all_kinds = self.helpful(self)
        changes, in_time = self.proved(edits)
        named = sorted((law for law in laws if law.id in ids), key=lambda law: law.id)
        return self.clashes(
            laws=tuple(map(said, named)),
            proved=proved,
            shortfalls=tuple(self.shortfalls(self.planning)),
            changes=changes,
            tried_all=in_time and all_kinds,
        )

    def composed(
        self, question: Question, text: str, standings: tuple[Any, ...] = (), **found: object
    ) -> CommonExplanation:
        """Put an answer together from a text, the standings in it and what else was ``found``."""
        common = {
            name: getattr(self.plan, name)
            for name in ("preemptor", "priority", "objective", "status")
        }
        common |= {"question": question, "victims": self.plan.keys}
        return self.explanation(text, standings, common | found)

    @abstractmethod
    def explanation(
        self, text: str, standings: tuple[Any, ...], found: Mapping[str, Any]
    ) -> CommonExplanation:
        """Return an answer with the fields that only this scheduler has."""

    def planned(self, change: str) -> PlanningT:
        """Make the workload ready for planning in the state that an edit changes."""
        changed = edit(self.planning.state, [change])
        return self.started(changed, self._given, self._wanted)

    def makes_plan(self, change: str) -> bool:
        """Say whether an edit makes a plan exist; the answer is no once time is up."""
        if self.deadline.passed:
            return False
        planning = self.planned(change)
        answer = self.settled(planning)
        if answer is not None:
            return answer[0] == "optimal"
        bare = replace(self._wanted, levels=(), caps=())
        search = self.prepare(planning, bare, self.deadline, planning.greedy_plan())
        return search.incumbent is not None or find_any(search) == "optimal"

    def working(self, *edits: Edit) -> Iterator[Edit]:
        """Yield the edits that make a plan exist."""
        return (one for one in edits if self.makes_plan(one.text))

    def raised(
        self,
        path: str,
        now: int | None,
        more: Callable[[int], int],
        *tops: int,
        write: Callable[[int], str] = str,
    ) -> Iterator[Edit]:
        """Yield the smallest step up of a value that works while the step before it fails.

        ``more`` returns the amounts to add, by a number from 1 to a top. The number is found by
        bisection below the first of the rising ``tops`` that works; nothing is yielded if none of
        them works, or time is up before it is found. ``write`` says how a value reads.
        """

        def at(number: int) -> Edit:
            before, step = ABSENT if now is None else write(now), more(number)
            return Edit(path, before, write((now or 0) + step), f"+{write(step)}")

        low = 0
        for high in tops:
            if high > low:
                if self.makes_plan(at(high).text):
                    break
                low = high
        else:
            return
        # An edit that works is taken to work for larger numbers, up to its top; that of the number
        # below was tried and does not, or the number is 0, the state as it is.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.makes_plan(at(middle).text) else (middle, high)
        if not self.deadline.passed:
            yield at(high)

    def proved(self, edits: Iterable[Edit]) -> tuple[tuple[Change, ...], bool]:
        """Return the edits after which a plan is found in time, and whether all were tried."""
        changes, words = [], self.words
        for one in edits:
            plan = solve(self.planned(one.text), self._wanted, self.deadline)
            if plan.status in {"optimal", "feasible"}:
                count = len(plan.victims)
                victims = plural(count, words.noun)
                then = f"{words.verb}ing {victims} makes room" if count else "it fits"
                text = f"{one.path} from {one.before} to {one.after}: {then}"
                change = Change(edit=one.text, **asdict(one), victims=plan.keys, text=text)
                changes.append(change)
        return tuple(changes), not self.deadline.passed
