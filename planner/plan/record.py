"""What the plans of every scheduler have in common: status, certificate, verdicts, excesses."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, Literal, Self, TypeVar

from msgspec import Struct
from pydantic import Field, computed_field, model_validator

from planner.plan.asked import Asked
from planner.plan.base import Assume, Evicting, Proved, Published, Record, Status, Uncovered
from planner.plan.label import Label
from planner.plan.proof import Tree
from planner.rules import OWN, RuleSet
from planner.scheduler import schedulers
from planner.term import lost_by

SchedulerId = Annotated[
    str, Field(pattern="^[a-z][a-z0-9-]*$", examples=[one.id for one in schedulers()])
]
"""The id of a scheduler in states and plans, such as ``kueue``."""


Proof = Literal["certified"]
"""certified: proved by a tree that needs no solver to be checked."""


class Level(Record):
    """One lexicographic level: its value, and the proven bound below which none can be.

    ``proof`` says that the bound is the value, which a tree shows; it is ``None`` where none does.
    There ``claimed`` is the bound by the solver's word, which nobody has checked. Where the tree is
    one sum of inequalities ``says`` tells it in words, with its numbers.
    """

    term: str
    title: str
    unit: str
    value: int
    bound: int
    proof: Proof | None = None
    claimed: int | None = None
    says: str = ""


class Cap(Record):
    """A measure that no plan was to exceed: its value in the scheduler's own plan."""

    term: str
    most: int


OWN_ROW: Final = "better"
"""How the names of rows that bound the level's own measure begin in trees."""


class Verdict(Record):
    """What the verifier says of one law."""

    law: str
    title: str
    holds: bool
    detail: str


class Verification(Record):
    """The verifier's answer: all verdicts, and a legal order of removals if there is one."""

    accepted: bool
    verdicts: tuple[Verdict, ...]
    removal_order: tuple[str, ...] = ()


class Shown(Record):
    """How many levels rest on what, from what is easily followed to what is not.

    ``zero``: no term is below 0. ``one_row``: one inequality, weighed against the level itself,
    bounds it. ``multipliers``: a sum of several does. ``tree``: it takes a tree with several
    parts, or laws. ``unproved``: none of that.
    """

    zero: Annotated[int, Label()] = 0
    one_row: Annotated[int, Label()] = 0
    multipliers: Annotated[int, Label()] = 0
    tree: Annotated[int, Label()] = 0
    unproved: Annotated[int, Label()] = 0

    @property
    def by_hand(self) -> int:
        """How many levels a reader can follow by adding up."""
        return self.zero + self.one_row + self.multipliers

    @property
    def levels(self) -> int:
        """How many levels there are in all."""
        return self.by_hand + self.tree + self.unproved

    def plus(self, other: Shown) -> Shown:
        """Return the numbers of both, added up."""
        return Shown(**{name: getattr(self, name) + count for name, count in other})


TREES: Final = "proof trees"
"""The ``solver`` of a plan that proof trees found and proved: no engine was asked for it."""


_OUTDATED: Final = frozenset({"bounds", "sums", "engines"})
"""Fields of older certificates, beside trees."""


class Certificate(Record):
    """Why the status may be believed.

    ``cut_off`` counts victim sets that the model admitted and the scheduler's own floating-point
    arithmetic did not; they were excluded and the model solved again. ``caps`` are those that
    were kept to, ``dropped`` those that no plan can keep. ``trees`` are the proofs of all that is
    certified: levels, dropped caps, and that the plan comes first among equals in the scheduler's
    candidate order (``ties``). ``corrected`` counts the better plans that the search for proofs
    found where the solver had claimed there was none. ``solver`` names what searched for the plan:
    an engine, or proof trees alone (`TREES`). ``last_resort`` says that a tree shows that no legal
    set does without a last resort of the plan: pods that opted out of YuniKorn's preemption.
    ``trees_omitted`` counts the steps of trees that were left out where the plan was written.
    ``claimed`` says that by the solver's word alone nothing is better, or that there is no plan.
    """

    digest: str
    levels: tuple[Level, ...]
    caps: tuple[Cap, ...] = ()
    dropped: tuple[Cap, ...] = ()
    trees: tuple[Tree, ...] = ()
    trees_omitted: Annotated[int, Field(ge=0)] = 0
    ties: Proof | None = None
    last_resort: Proof | None = None
    claimed: bool = False
    corrected: int = 0
    verdicts: tuple[Verdict, ...] = ()
    removal_order: tuple[str, ...] = ()
    cut_off: int = 0
    solver: str = ""
    seed: int = 0
    wall_time_s: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _what_proves_nothing_is_not_read(cls, value: object) -> object:
        """Leave out what a plan says besides trees, as plans once did: it shows nothing."""
        if not isinstance(value, dict) or _OUTDATED.isdisjoint(value):
            return value
        read = {name: part for name, part in value.items() if name not in _OUTDATED}
        for name in {"levels", "dropped"}.intersection(read):
            parts = (part for part in read[name] if isinstance(part, dict))
            read[name] = [
                {key: said for key, said in part.items() if key != "proof" or said == "certified"}
                if name == "levels"
                else {key: said for key, said in part.items() if key != "proof"}
                for part in parts
            ]
        return read

    @property
    def shown(self) -> Shown:
        """How many levels rest on what."""
        return Shown(**Counter(map(self._rests_on, self.levels)))

    def _rests_on(self, level: Level) -> str:
        if level.value == 0:
            return "zero"
        if level.proof is None:
            return "unproved"
        if not level.says:
            return "tree"
        rows = next((tree.rows for tree in self.trees if tree.claim == level.term), {})
        # Beside those that bound the level itself.
        others = [row for row in rows if not row.startswith(OWN_ROW)]
        return "multipliers" if len(others) > 1 else "one_row"


FIELD: Final = "more_than_greedy"

_Measure = Literal["lost_work+restart_cost", "pods", "queues", "highest_priority"]
_COUNTED: Final[Mapping[_Measure, Callable[[Mapping[str, int]], int]]] = {
    "lost_work+restart_cost": lost_by,
    "pods": lambda terms: terms.get("pods", 0),
    "queues": lambda terms: terms.get("queues", 0),
}
"""How each measure but the last is made of the terms."""


class Excess(Record):
    """A measure in which a plan has more than the scheduler's own answer on the same state.

    ``pods`` and ``queues`` are terms, ``lost_work+restart_cost`` is the sum of two, in
    accelerator-seconds. ``highest_priority`` counts the victims of the highest
    ``priority`` that either of the two hits, what is being evicted already left out.
    """

    measure: _Measure
    plan: int
    greedy: int
    priority: int | None = None


class About(Struct, frozen=True):
    """What code that serves every scheduler asks of a plan.

    ``name`` is that of the preemptor for people, ``queue`` the one that it waits in. Amounts are by
    flavor, empty if there are none, and resource: what is ``requested``, and what is ``freed`` by
    the victims; ``short`` names those of which there may not be enough. Usage and ``priorities``
    are without victims that are being evicted already. ``where`` has the number of pods that go to
    each node or other leaf, by podset.

    ``never_comes`` says that the scheduler does not come to the preemptor in the next cycle, or
    never; ``attempt`` which of several attempts the plan belongs to, ``misnamed`` which name
    in it the scheduler's objects cannot have; ``last_resort`` that a victim is one that legal sets
    spare where they can, by a law of its own.
    ``sees_to`` are the features that other answers leave out, and this one takes into account.
    """

    name: str
    queue: str
    requested: Mapping[tuple[str, str], int]
    short: Collection[tuple[str, str]]
    freed: Mapping[tuple[str, str], int]
    priorities: Sequence[int]
    where: Mapping[str, Mapping[str, int]]
    never_comes: bool = False
    attempt: str = ""
    misnamed: str = ""
    last_resort: bool = False
    sees_to: Collection[str] = ()


class AnyPlan(Published, Evicting):
    """A plan for one preemptor, with the scheduler's own beside it in ``greedy``.

    It is a ``Plan`` of Kueue, a ``YuniKornPlan``, or one of another scheduler that is registered.
    """

    of_schedulers: ClassVar[str] = "plan"
    scheduler: str
    rules: str
    algorithm: str
    objective: str
    status: Status
    proved: Proved | None = None
    coverage: tuple[Uncovered, ...] = ()
    assume: Assume | None = None
    explanation: str
    if TYPE_CHECKING:  # each plan declares these, at their place in its JSON
        preemptor: str
        priority: int
        now: datetime
        victims: tuple[Any, ...]
        terms: dict[str, int]
        outside_rules: tuple[str, ...]
        certificate: Certificate | None
        greedy: AnyPlan | None
        notes: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the victims, in the order of the plan."""
        return tuple(victim.key for victim in self.victims)

    @property
    def asked(self) -> Asked:
        """The question that the plan answers, as far as it says so."""
        return Asked(objective=self.objective, rules=self.rules, now=self.now, assume=self.assume)

    @property
    @abstractmethod
    def about(self) -> About:
        """What code that serves every scheduler asks of the plan."""

    @property
    def by(self) -> RuleSet:
        """The rule set that the plan is by; without a name if it is the scheduler's own."""
        return OWN

    @computed_field  # type: ignore[prop-decorator]
    @property
    def more_than_greedy(self) -> tuple[Excess, ...]:
        """What this plan takes more of than the scheduler's own, where that evicts anybody."""
        greedy = self.greedy
        if greedy is None or not greedy.keys:
            return ()
        found = []
        for measure, value in _COUNTED.items():
            ours, theirs = value(self.terms), value(greedy.terms)
            found.append(Excess(measure=measure, plan=ours, greedy=theirs))
        both = self.about.priorities, greedy.about.priorities
        highest = max([*both[0], *both[1]], default=0)
        ours, theirs = (each.count(highest) for each in both)
        found.append(Excess(measure="highest_priority", plan=ours, greedy=theirs, priority=highest))
        return tuple(one for one in found if one.plan > one.greedy)

    @model_validator(mode="before")
    @classmethod
    def _what_follows_is_not_read(cls, value: object) -> object:
        if isinstance(value, dict) and FIELD in value:
            return {name: part for name, part in value.items() if name != FIELD}
        return value

    @model_validator(mode="after")
    def _greedy_stands_beside_optimum(self) -> Self:
        if self.algorithm != "optimum" and self.greedy is not None:
            raise ValueError("a greedy plan has no greedy plan beside it")
        return self


PlanT = TypeVar("PlanT", bound=AnyPlan)


class Conclusion(Struct, Generic[PlanT], frozen=True):
    """What a plan says of any victims: how the search for them ended, why, and by which objective.

    ``terms`` are those of the victims, ``greedy`` is the scheduler's own plan to show beside it;
    ``own`` says that this one is the scheduler's own.
    """

    status: Status
    explanation: str = ""
    objective: str = ""
    terms: Mapping[str, int] = {}
    certificate: Certificate | None = None
    greedy: PlanT | None = None
    own: bool = False


def names_of(*plans: AnyPlan) -> dict[str, str]:
    """Return, by key, the names of preemptors and victims whose keys are not their names."""
    pairs = [(plan.preemptor, plan.about.name) for plan in plans]
    pairs += [(victim.key, victim.name) for plan in plans for victim in plan.victims]
    return {key: name for key, name in pairs if name != key}


def resources_of(*plans: AnyPlan) -> tuple[str, ...]:
    """Return the resources that preemptors of plans ask for and that their victims use."""
    abouts = [plan.about for plan in plans]
    places = (place for one in abouts for place in (*one.requested, *one.freed))
    return tuple(sorted({resource for _, resource in places}))


class Command(Record):
    """A call of kubectl: what it is for, and the command line as a shell takes it."""

    title: Annotated[str, Label(role="text")]
    command: Annotated[str, Label(role="command")]


class Commands(Record):
    """What ``planner apply --dry-run`` would print, of the objects that the plan was made of.

    ``reason`` says why there are none, where there are none. Each command tests that its object is
    still the one that was read.
    """

    steps: tuple[Command, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
