"""The plan for an ask of YuniKorn, or for a queue above its lowered maximum."""

# pyright: reportIncompatibleVariableOverride=false
# A frozen record may have fields of a narrower type.

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated, Literal

from planner.laws.yunikorn import Spared
from planner.plan.base import Record
from planner.plan.label import Label
from planner.plan.record import About, AnyPlan, Certificate

RuleSet = Literal[
    "yunikorn-design",
    "yunikorn-written",
    "yunikorn-code",
    "yunikorn-required-node",
    "yunikorn-lowered-quota",
]


class ResourceAmount(Record):
    """An amount of one resource type: in the core's integer unit, and as queues.yaml writes it.

    The unit is milli-cores for ``vcore``, and base units (bytes, devices, pods) for the rest.
    """

    resource: str
    units: int
    quantity: str

    @property
    def place(self) -> str:
        """The resource type, in one text."""
        return self.resource

    def __str__(self) -> str:
        """Say how much of what."""
        return f"{self.place}={self.quantity}"


class YuniKornVictim(Record):
    """An allocation to preempt, and what it loses.

    ``allocation`` is its key, ``pod`` its namespace/name where the state tells. ``priority`` is
    its own; ``adjusted_priority`` is that after the offsets and priority fences of the queues,
    on the scale of the ask's own priority, which it must not exceed.
    ``position`` is its place in the core's candidate order over all nodes, from 1. ``age_s`` is
    how long it has been running, in seconds. ``costs`` are its own contributions to the
    separable terms. Where a quota was lowered the core compares no priorities and searches leaf by
    leaf: the place is then that in the order for a required node.
    """

    allocation: Annotated[str, Label(role="key")]
    pod: Annotated[str | None, Label(absent="none")] = None
    application: Annotated[str, Label()]
    queue: Annotated[str, Label()]
    node: Annotated[str, Label()]
    priority: Annotated[int, Label()]
    adjusted_priority: Annotated[int, Label()]
    originator: Annotated[bool, Label()]
    opted_out: Annotated[bool, Label()]
    position: Annotated[int, Label()]
    age_s: Annotated[int, Label()]
    usage: Annotated[tuple[ResourceAmount, ...], Label(role="list", plain="use")]
    costs: Annotated[dict[str, int], Label(role="list")]

    @property
    def key(self) -> str:
        """The key of the victim in plans."""
        return self.allocation

    @property
    def name(self) -> str:
        """The name of the victim for people: its pod, where that is known."""
        return self.pod or self.allocation

    @property
    def runs_in(self) -> str:
        """The queue that the victim runs in."""
        return self.queue


class NodeRoom(Record):
    """The chosen node in one resource type: what is available now, and once the victims are gone.

    All in the core's units, beside what the ask wants of it. Of what the ask's pod lacks by
    Kubernetes' count, such as host ports, that is what is missing, and nothing is available now.
    """

    resource: str
    asked: int
    available: int
    after: int


class QueueUse(Record):
    """A queue that the plan touches, in one resource type, in the core's units.

    ``guaranteed`` and ``max`` are ``None`` where the queue sets none for the type. ``before`` is
    what is allocated today without what is being preempted already; ``after`` is that with the
    victims gone and the ask placed.
    """

    queue: str
    resource: str
    guaranteed: int | None
    max: int | None
    before: int
    after: int


class YuniKornHeldBack(Record):
    """Why the core does not do for an ask what it decides for it alone.

    ``asks`` act before it in the core's cycles, by their keys. ``notFirst``: what they take changes
    what the core does for it. ``hangs``: the core locks itself before that. ``text`` says it.
    """

    why: Literal["notFirst", "hangs"]
    text: str
    asks: tuple[str, ...] = ()


class OtherChoice(Record):
    """What else the core may do for an ask: its own choice is not determined.

    ``by`` says what is left to chance: the ``order`` of what has none in the core, such as
    allocations of equal age, or which of several nodes of equal score answers first: a ``race``.
    ``node`` and ``victims`` are those of an ask that ``preempts``, ``replaces`` a placeholder.
    """

    by: Literal["order", "race"]
    outcome: Literal["preempts", "allocated", "replaces", "waits", "hangs", "panics"]
    node: str | None = None
    victims: tuple[str, ...] = ()
    replaces: str | None = None


class YuniKornPlan(AnyPlan):
    """The answer for one ask, or for one queue that comes down to its maximum.

    ``rules`` names the side taken where the written laws and the core differ: ``design`` or
    ``code``; an ask with a required node has rules of its own, and so has a queue. ``algorithm`` is
    ``yunikorn`` for the core's own answer and ``optimum`` for the planner's. ``preemptor`` is the
    key of the ask, or the path of the queue, which has no application.
    ``last_tier`` says whether a victim opted out of preemption or started its application;
    a proved plan then shows that none could do without. ``outside_rules`` says which laws the
    core's own answer does not keep. ``greedy`` is the core's own plan on the same state.
    ``held_back`` says why the core does not do that in the cycles to come: the plan, and the core's
    own beside it, are then what would be if the ask came first. ``may_also`` is another choice of
    the core, where it leaves its choice to chance: what compares the plan with the core's own holds
    for the one in ``greedy``. Both are looked for in small states only.
    ``more_than_greedy`` says of which lost work, pods, queues and victims of the highest adjusted
    priority the plan takes more than that; it follows from the rest, and is not read again.
    """

    scheduler: Literal["yunikorn"] = "yunikorn"
    rules: RuleSet
    algorithm: Literal["yunikorn", "optimum"]
    partition: str
    preemptor: str
    pod: str | None = None
    application: str
    queue: str
    priority: int
    now: datetime
    node: str | None = None
    room: tuple[NodeRoom, ...] = ()
    victims: tuple[YuniKornVictim, ...] = ()
    last_tier: bool = False
    queues: tuple[QueueUse, ...] = ()
    terms: dict[str, int] = {}
    outside_rules: tuple[str, ...] = ()
    certificate: Certificate | None = None
    greedy: YuniKornPlan | None = None
    held_back: YuniKornHeldBack | None = None
    may_also: OtherChoice | None = None
    notes: tuple[str, ...] = ()

    def spares(self, spare: Spared) -> bool:
        """Say whether no victim is one that law 1 (YK-01) is to spare."""
        if spare == "last-tier":
            return not self.last_tier
        return spare == "nobody" or not any(victim.opted_out for victim in self.victims)

    @property
    def about(self) -> About:
        """What code that serves every scheduler asks of the plan; there are no flavors."""
        name, freed = self.pod or self.preemptor, Counter[tuple[str, str]]()
        for used in (used for one in self.victims for used in one.usage):
            freed["", used.resource] += used.units
        requested = {("", one.resource): one.asked for one in self.room if one.asked}
        return About(
            name,
            self.queue,
            requested,
            requested.keys(),  # all of them may be short
            freed,
            [one.adjusted_priority for one in self.victims],
            {} if self.node is None else {name: {self.node: 1}},
            last_resort=not self.spares("opted-out"),
            never_comes=self.held_back is not None,
        )
