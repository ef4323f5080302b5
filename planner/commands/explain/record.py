"""The answers of ``planner explain`` as records: what they have in common.

Keys name victims as a plan does: a workload of Kueue as namespace/name, an allocation of YuniKorn
by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar

from planner.laws import Law
from planner.plan import Assume, Covered, Proved, Published, Record, Status, Uncovered
from planner.plan.label import Label

Question = Literal["why-this-victim", "why-not-that-one", "why-nothing", "why-this-plan"]


class LawInWords(Record):
    """A law, and what it says here, with the numbers it decides on."""

    law: Annotated[str, Label("Law", "key")]
    title: str
    text: Annotated[str, Label("Clash", "text", "text")]

    @classmethod
    def with_text(cls, law: Law, text: str) -> LawInWords:
        """Return a law with what it says here."""
        return cls(law=law.id, title=law.title, text=text)

    @classmethod
    def said(cls, law: Law, words: Mapping[str, Callable[..., str]], *of: object) -> LawInWords:
        """Return a law with what ``words``, by the ids of laws, say of ``of``; or its title."""
        return cls.with_text(law, words[law.id](*of) if law.id in words else law.title)


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

    priority: Annotated[int, Label()]
    candidate: Annotated[bool, Label()]
    law: LawInWords
    others: tuple[LawInWords, ...] = ()
    position: Annotated[int | None, Label()] = None
    candidates: Annotated[int, Label()] = 0
    by_scheduler: bool = False
    by_plan: Annotated[bool, Label(plain="plan")] = False
    necessary: Annotated[bool | None, Label()] = None

    @property
    def place(self) -> str:
        """Where a candidate stands in the scheduler's order, in words."""
        raise NotImplementedError


class TermDifference(Record):
    """One disruption term of the plan, and of the plan that is compared with it.

    ``level`` is the place of a term among the levels of the objective, from 1, ``None`` where
    the term is no level.
    """

    term: Annotated[str, Label(role="key")]
    title: Annotated[str, Label(role="text")]
    unit: Annotated[str, Label(role="text")]
    plan: Annotated[int, Label()]
    other: Annotated[int, Label()]
    level: Annotated[int | None, Label()] = None


class Alternative(Record):
    """The best plan that spares a victim, or that takes one.

    ``status`` is that of a plan: ``infeasible`` says it is proved that there is none.
    ``within_caps`` says whether it keeps to the caps of the objective; where no such plan is
    possible, the best one without the caps is given. ``last_resort`` says that no plan under
    this condition spares YuniKorn's last tier, though others do (YK-01). ``more`` and ``fewer``
    are the victims that it has and the plan has not, and the other way round.
    """

    condition: Literal["sparing", "taking"]
    victim: Annotated[str, Label(role="key")]
    status: Annotated[Status, Label()]
    within_caps: Annotated[bool, Label()]
    last_resort: Annotated[bool, Label()] = False
    victims: tuple[str, ...] = ()
    more: Annotated[tuple[str, ...], Label(plain="more")] = ()
    fewer: Annotated[tuple[str, ...], Label(plain="fewer")] = ()
    terms: Annotated[tuple[TermDifference, ...], Label()] = ()


class Optima(Record):
    """All plans that equal the optimal one in every level of the objective.

    ``count`` is how many there are, at least that many where ``complete`` is false. ``plans``
    are the first of them, as many as were asked for, the canonical one first.
    """

    count: Annotated[int, Label(role="code")]
    complete: Annotated[bool, Label()]
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
    text: Annotated[str, Label(role="text")]


class Change(Record):
    """The smallest change of one value that makes a plan exist, found by solving again.

    ``edit`` names object, field and new value, for Kueue as ``planner whatif --set`` takes it.
    ``step`` is how much is added to a number, in the unit of ``before`` and ``after``;
    ``victims`` are those of the optimal plan on the changed state, none where the workload then
    just fits.
    """

    edit: Annotated[str, Label(role="key")]
    path: Annotated[str, Label("Change that helps", "text")]
    before: Annotated[str, Label("From")]
    after: Annotated[str, Label("To", "text", below="path")]
    step: str = ""
    victims: Annotated[tuple[str, ...], Label("Victims", "count")]
    text: Annotated[str, Label(role="text")]


ShortfallT = TypeVar("ShortfallT", bound=CommonShortfall)


class CommonClash(Record, Generic[ShortfallT]):
    """Why there is no plan at all.

    ``laws`` clash: with any one of them dropped, and none imposed outside the set, there would
    be a plan. Empty where no law is at fault, such as when no flavor can be assigned. ``proved``
    says that the solver came to an end in time; ``tried_all`` that all changes were tried, which
    is not so where time was up or the queue is inactive.
    """

    laws: Annotated[tuple[LawInWords, ...], Label(plain="clash")]
    proved: Annotated[bool, Label()]
    changes: Annotated[tuple[Change, ...], Label()]
    tried_all: Annotated[bool, Label(plain="changes_all_tried")]
    shortfalls: tuple[ShortfallT, ...]


class CommonExplanation(Published, Covered):
    """The answer to a question about a pending workload, in words and in records.

    ``status`` is that of the optimal plan under ``objective``, whose victims are ``victims``, and
    ``notes`` are what `planner solve` warns of for it.
    """

    of_schedulers: ClassVar[str] = "explanation"
    question: Annotated[Question, Label()]
    answer: Annotated[str, Label(role="text")]
    preemptor: Annotated[str, Label()]
    priority: Annotated[int, Label()]
    objective: Annotated[str, Label()]
    status: Annotated[Status, Label()]
    proved: Proved | None = None
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    assume: Annotated[Assume | None, Label()] = None
    victims: Annotated[tuple[str, ...], Label(role="count")]
    alternative: Alternative | None = None
    optima: Annotated[Optima | None, Label(plain="optimal_plans")] = None
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
