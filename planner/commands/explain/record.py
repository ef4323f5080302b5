"""The answers of ``planner explain`` as records: what they have in common.

Keys name victims as a plan does: a workload of Kueue as namespace/name, an allocation of YuniKorn
by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union

from pydantic import GetCoreSchemaHandler

from planner.laws import Law
from planner.plan import Assume, Covered, Proved, Published, Record, Status, Uncovered
from planner.scheduler import schedulers

Question = Literal["why-this-victim", "why-not-that-one", "why-nothing", "why-this-plan"]


class LawInWords(Record):
    """A law, and what it says here, with the numbers it decides on."""

    law: str
    title: str
    text: str

    @classmethod
    def of(cls, law: Law, text: str) -> LawInWords:
        """Return a law with what it says here."""
        return cls(law=law.id, title=law.title, text=text)

    @classmethod
    def said(cls, law: Law, words: Mapping[str, Callable[..., str]], *of: object) -> LawInWords:
        """Return a law with what ``words``, by the ids of laws, say of ``of``; or its title."""
        return cls.of(law, words[law.id](*of) if law.id in words else law.title)


class CommonStanding(Record):
    """A running workload as the scheduler's rules see it.

    ``candidate`` says whether the rules permit it as a victim at all; ``law`` is then the one
    that made it a candidate, and otherwise the first that excludes it; ``others`` do so, too, as
    far as they are looked for. ``position`` is its place
    among ``candidates`` in the scheduler's order, from 1, only for a candidate.
    ``by_scheduler`` and ``by_plan`` say whether it is a victim of the scheduler's own plan, and
    of the optimal one. ``necessary`` says whether it is in every optimal plan, ``None`` where
    that is not known.
    """

    priority: int
    candidate: bool
    law: LawInWords
    others: tuple[LawInWords, ...] = ()
    position: int | None = None
    candidates: int = 0
    by_scheduler: bool = False
    by_plan: bool = False
    necessary: bool | None = None

    @property
    def place(self) -> str:
        """Where a candidate stands in the scheduler's order, in words."""
        raise NotImplementedError


class TermDifference(Record):
    """One disruption term of the plan, and of the plan that is compared with it.

    ``level`` is the place of a term among the levels of the objective, from 1, ``None`` where
    the term is no level.
    """

    term: str
    title: str
    unit: str
    plan: int
    other: int
    level: int | None = None


class Alternative(Record):
    """The best plan that spares a victim, or that takes one.

    ``status`` is that of a plan: ``infeasible`` says it is proved that there is none.
    ``within_caps`` says whether it keeps to the caps of the objective; where no such plan is
    possible, the best one without the caps is given. ``last_resort`` says that no plan under
    this condition spares YuniKorn's last tier, though others do (YK-01). ``more`` and ``fewer``
    are the victims that it has and the plan has not, and the other way round.
    """

    condition: Literal["sparing", "taking"]
    victim: str
    status: Status
    within_caps: bool
    last_resort: bool = False
    victims: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    terms: tuple[TermDifference, ...] = ()


class Optima(Record):
    """All plans that equal the optimal one in every level of the objective.

    ``count`` is how many there are, at least that many where ``complete`` is false. ``plans``
    are the first of them, as many as were asked for, the canonical one first.
    """

    count: int
    complete: bool
    plans: tuple[tuple[str, ...], ...]


class CommonShortfall(Record):
    """What is missing of one resource, and what candidates together hold of it.

    Amounts in the scheduler's integer unit; ``text`` has them as people write them.
    """

    resource: str
    requested: int
    available: int
    short: int
    held_by_candidates: int
    text: str


class Change(Record):
    """The smallest change of one value that makes a plan exist, found by solving again.

    ``edit`` names object, field and new value, for Kueue as ``planner whatif --set`` takes it.
    ``step`` is how much is added to a number, in the unit of ``before`` and ``after``;
    ``victims`` are those of the optimal plan on the changed state, none where the workload then
    just fits.
    """

    edit: str
    path: str
    before: str
    after: str
    step: str = ""
    victims: tuple[str, ...]
    text: str


ShortfallT = TypeVar("ShortfallT", bound=CommonShortfall)


class CommonClash(Record, Generic[ShortfallT]):
    """Why there is no plan at all.

    ``laws`` clash: with any one of them dropped, and none imposed outside the set, there would
    be a plan. Empty where no law is at fault, such as when no flavor can be assigned. ``proved``
    says that the solver came to an end in time; ``tried_all`` that all changes were tried, which
    is not so where time was up or the queue is inactive.
    """

    laws: tuple[LawInWords, ...]
    proved: bool
    changes: tuple[Change, ...]
    tried_all: bool
    shortfalls: tuple[ShortfallT, ...]


class CommonExplanation(Published, Covered):
    """The answer to a question about a pending workload, in words and in records.

    ``status`` is that of the optimal plan under ``objective``, whose victims are ``victims``, and
    ``notes`` are what `planner solve` warns of for it.
    """

    question: Question
    answer: str
    preemptor: str
    priority: int
    objective: str
    status: Status
    proved: Proved | None = None
    coverage: tuple[Uncovered, ...] = ()
    assume: Assume | None = None
    victims: tuple[str, ...]
    alternative: Alternative | None = None
    optima: Optima | None = None
    notes: tuple[str, ...] = ()

    if TYPE_CHECKING:  # each subclass declares these itself
        scheduler: str
        rules: str
        clash: CommonClash[Any] | None

        @property
        def standings(self) -> tuple[Any, ...]:
            """The running workloads or allocations that are explained."""
            ...

        @property
        def preemptor_queue(self) -> str:
            """The queue that the preemptor waits in."""
            ...

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401 - pydantic's signature
        """Read and write ``CommonExplanation`` as that of one of the registered schedulers."""
        if cls is CommonExplanation:
            known = tuple(one.explanation for one in schedulers() if one.explanation)
            return handler.generate_schema(Union[known])  # noqa: UP007 - as many as there are
        return super().__get_pydantic_core_schema__(source, handler)

    @property
    def preemptor_name(self) -> str:
        """What people call the preemptor."""
        return self.preemptor

    @property
    def first(self) -> str:
        """What is known whatever the plan rests on, and asked before it; empty if nothing is."""
        return ""

    @property
    def names(self) -> Mapping[str, str]:
        """The names that people use for victims, by keys, where these are different."""
        return {}
