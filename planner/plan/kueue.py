"""The plans for one pending workload of Kueue, with tree and nodes around it, and for several."""

# pyright: reportIncompatibleVariableOverride=false
# A frozen record may have fields of a narrower type.

from collections import Counter
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import WithJsonSchema, model_validator

from planner.errors import SchemaError
from planner.laws import RULE_SETS, Law
from planner.plan.asked import Asked
from planner.plan.base import Assume, Evicting, Proved, Published, Record, Status, Uncovered
from planner.plan.label import Label
from planner.plan.record import About, AnyPlan, Certificate, Commands, Verdict
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import Hold
from planner.rules import RuleSet
from planner.scheduler import Placement
from planner.state import RequestsFrom
from planner.state.kueue_release import KnownBy
from planner.state.name import NOT_ALLOWED, is_name, not_allowed
from planner.wing import find_rules, names_of_rules

OWN_RULES: Final = ("kueue-classical", "kueue-fair")
"""The rule sets of Kueue's own, by the Configuration of a state."""
_SHARE: Final[dict[str, Any]] = {"anyOf": [{"type": "number"}, {"const": "Infinity"}]}
Share = Annotated[float, WithJsonSchema(_SHARE)]
"""A share of fair sharing; JSON has no number for one without end."""


class DomainSlots(Record):
    """A domain of a topology, counted in slots: places of one pod of a podset.

    ``domain`` has its values from the highest level down. Of its ``slots`` so many are ``taken``
    today; ``freed`` are those that the victims leave, ``used`` those that the preemptor's pods then
    take, ``reused`` of them for want of others those that were freed. A slot that is only half
    taken is taken. ``hidden`` counts the domains right below it that are not listed.
    """

    domain: tuple[str, ...]
    name: str
    slots: int
    taken: int
    freed: int
    used: int
    reused: int
    hidden: int = 0


class NodesAround(Record):
    """The nodes of one flavor, as the pods of one podset see them, from the highest level down.

    ``slot`` is what one pod asks for. ``placed`` says whether Kueue's own placement finds a place
    for all podsets once the victims are gone. ``hidden`` counts the domains of the highest level
    that are not listed.
    """

    pod_set: str
    flavor: str
    slot: str
    placed: bool
    domains: tuple[DomainSlots, ...]
    hidden: int = 0


class QuotaUse(Record):
    """What a ClusterQueue or cohort uses of one flavor-resource, in the scheduler's unit.

    ``nominal`` is its own quota; ``quota`` that of everything at and below it that it may use or
    lend, which is the same for a ClusterQueue. An absent limit is ``None``, and the largest 64-bit
    integer means unlimited. A cohort uses what its children use beyond what they never lend.
    ``before`` is today; ``after`` counts the preemptor's request, with the victims gone.
    """

    flavor: str
    resource: str
    nominal: int
    quota: int
    borrowing_limit: int | None
    lending_limit: int | None
    before: int
    after: int


class QuotaNode(Record):
    """A ClusterQueue or cohort of the tree that the preemptor's queue belongs to.

    ``parent`` is the cohort above it. ``touched`` says that the preemptor or a victim has its
    quota there or below. ``hidden`` counts the nodes right below it that are not listed.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: str | None
    touched: bool
    hidden: int
    uses: tuple[QuotaUse, ...]


class Amount(Record):
    """An amount of one flavor-resource: in the scheduler's integer unit, and as Kubernetes text.

    The unit is milli-cores for cpu, and whole units (bytes, devices, pods) for the rest.
    """

    flavor: str
    resource: str
    units: int
    quantity: str

    @property
    def place(self) -> str:
        """The flavor-resource, in one text."""
        return f"{self.flavor}/{self.resource}"

    def __str__(self) -> str:
        """Say how much of what."""
        return f"{self.place}={self.quantity}"


class KueueRelease(Record):
    """The release of Kueue whose rules hold, and how it was known.

    ``release`` is such as 0.18.6, or ``main`` for the newest rules that are known. ``known_by`` is
    given or recorded, image or labels of the manager, or gates, the feature gates that are set;
    where nothing told it the newest is assumed.
    """

    release: str
    known_by: KnownBy


class Demand(Record):
    """What the preemptor asks for in one flavor-resource, against what is available now.

    ``shortfall`` is what is missing before any eviction, more than is requested where the tree
    uses more than it has; ``contested`` says that the assigned
    mode is Preempt, which makes users of this flavor-resource candidates.
    """

    flavor: str
    resource: str
    requested: int
    available: int
    shortfall: int
    quantity: str
    contested: bool

    @property
    def excess(self) -> int:
        """How much more is in use than quota and limits allow: what is available, less than 0."""
        return max(0, self.shortfall - (self.requested - self.available)) if self.shortfall else 0


class Victim(Record):
    """A workload to evict, why the rules permit it, and what it loses.

    ``workload`` is namespace/name. ``reason`` is the scheduler's own code. ``position`` is its
    place in the scheduler's candidate order, from 1. ``age_s`` is how long it has been running,
    in seconds. ``costs`` are its own contributions to the separable terms. ``evicted`` marks
    one that is being evicted or deleted already, and so costs nothing more.
    """

    workload: Annotated[str, Label(role="key")]
    cluster_queue: Annotated[str, Label()]
    reason: Annotated[str, Label()]
    priority: Annotated[int, Label()]
    position: Annotated[int, Label()]
    age_s: Annotated[int, Label()]
    evicted: Annotated[bool, Label(plain="evicting")]
    usage: Annotated[tuple[Amount, ...], Label(role="list", plain="use")]
    costs: Annotated[dict[str, int], Label(role="list")]

    @property
    def key(self) -> str:
        """The key of the victim in plans."""
        return self.workload

    @property
    def name(self) -> str:
        """The name of the victim for people."""
        return self.workload

    @property
    def runs_in(self) -> str:
        """The queue that the victim runs in."""
        return self.cluster_queue


class NodeShare(Record):
    """The dominant resource share of a ClusterQueue or cohort that a plan touches.

    In thousandths of what the parent could lend, divided by the weight; ``inf`` for a borrowing
    node of weight 0. ``before`` is today, ``with_preemptor`` counts its request with nobody
    evicted, ``after`` its request with the victims gone.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    weight: float
    before: Share
    with_preemptor: Share
    after: Share


class Cascade(Record):
    """A victim that would preempt again: pending after the plan, Kueue would evict for it.

    ``victim`` is namespace/name, ``targets`` are those whom Kueue would evict, in its order, all
    that is being evicted already left out. ``preemptor`` says that the preemptor of the plan is
    among them: the two would evict one another.
    """

    victim: str
    targets: tuple[str, ...]
    preemptor: bool


class KueueFlavors(Record):
    """The best plan under the flavors that Kueue itself would assign, under the same objective.

    ``victims`` are its victims as namespace/name, ``terms`` its disruption terms on the scale of
    the plan that it stands beside; neither is there if there is no such plan.
    """

    assignment: Assignment
    status: Status
    explanation: str
    victims: tuple[str, ...] = ()
    terms: dict[str, int] = {}


class FlavorChoices(Record):
    """How the flavors of a plan were chosen for least disruption, and what Kueue's own cost.

    ``permitted`` counts the assignments of flavors that the rules permit. Some ask for the same
    and contest the same; ``distinct`` counts those that differ, one of each is ``examined``.
    Where ``complete`` is false there are more of either.
    """

    permitted: int
    distinct: int
    examined: int
    complete: bool
    kueue: KueueFlavors


class HeldBack(Record):
    """Why Kueue does nothing for a pending workload in its next cycle.

    It is not nominated (``notQueued``, ``backOff``, ``clusterQueueInactive``, ``notHead``,
    ``inadmissible``), or may not act on what is decided for it: ``preemptionGated`` by a closed
    gate, ``waitsForPodsReady`` of another workload, ``tooFewPods`` freed by its own victims. Or
    heads of other ClusterQueues are before it in the cycle: ``notFirst``, as they take or reserve
    what it would take, or ``deferred``, as their victims make room for it, too.
    ``message`` has Kueue's own words, where it has any; ``text`` says it in ours. ``head`` is the
    workload that is before it, if there is one.
    """

    why: Hold
    message: str = ""
    text: str
    head: str | None = None


class Place(Record):
    """A leaf of a topology, by its values, and how many pods go there."""

    values: tuple[str, ...]
    count: int


class PodSetPlaces(Record):
    """Where the pods of a podset go: ``levels`` are the labels that the values are of."""

    name: str
    flavor: str
    levels: tuple[str, ...]
    domains: tuple[Place, ...]


class Plan(AnyPlan):
    """The answer for one pending workload.

    ``algorithm`` is ``kueue`` for the scheduler's own greedy answer and ``optimum`` for the
    planner's; ``borrowing`` says whether the attempt that the plan belongs to permits borrowing,
    and not whether the preemptor borrows in the end. ``victims`` are in the scheduler's order for a
    greedy plan and in candidate order for an optimal one. ``terms`` are the disruption terms of the
    plan with the units the README lists.
    ``shares`` are given under fair sharing. ``tree`` lists the queues and cohorts that the plan
    touches, those above them, and some of their siblings, from the root down. ``nodes`` are the
    nodes for each podset that has to have a place on them.
    ``outside_rules`` says which laws the scheduler's own answer does not keep: under fair sharing
    that happens, and is a finding.
    ``greedy`` is the scheduler's own plan on the same state, beside an optimal one. ``flavors``
    is there if the flavors were chosen for least disruption; elsewhere they are Kueue's own, or
    were given. Ranks are then counted among all workloads that are candidates under any
    permitted flavors, here, in ``greedy`` and in ``flavors``.
    ``in_the_way`` stands in the scheduler's own plan: the workloads because of which it would never
    come to the preemptor, as long as nothing changes.
    ``held_back`` says why Kueue does nothing for the preemptor in its next cycle: the plan, and
    Kueue's own beside it, are then what would be if it did.
    ``stability`` lists the victims that would preempt again, in the order of ``victims``, if
    that was asked for; it is empty where none would.
    ``more_than_greedy`` says of which lost work, pods, queues and victims of the highest priority
    the plan takes more than ``greedy``; it follows from the rest, and is not read again.
    ``rules`` are Kueue's own rule set, or another that takes its place: the scheduler's own answer
    is then what these rules would choose. ``rule_options`` name a rule set beside Kueue's own with
    its options: the one that takes its place, or one whose laws are added to those of ``rules``:
    ``optimal`` is then the best of the plans that keep to them, too.
    ``stable`` says that no victim may preempt again, as that was demanded: ``optimal`` is then the
    best of the plans that are so, ``infeasible`` that none is. A plan that is best of all, or of
    which there is none at all, does not say it.
    ``placement`` is there where pods need a place on nodes, and the plan sees to it: one that Kueue
    itself finds. ``places`` are then where they go once the victims are gone.
    ``kueue`` is the release of Kueue by whose rules the plan was made, ``requests`` where it takes
    what pending workloads ask for from: their templates, or what Kueue recorded of them.
    ``commands`` carry the plan out, if they were asked for.
    """

    scheduler: Literal["kueue"] = "kueue"
    rules: str = "kueue-classical"
    algorithm: Literal["kueue", "optimum"]
    preemptor: str
    cluster_queue: str
    priority: int
    now: datetime
    assignment: Assignment
    demand: tuple[Demand, ...] = ()
    borrowing: bool | None = None
    victims: tuple[Victim, ...] = ()
    terms: dict[str, int] = {}
    shares: tuple[NodeShare, ...] = ()
    tree: tuple[QuotaNode, ...] = ()
    nodes: tuple[NodesAround, ...] = ()
    outside_rules: tuple[str, ...] = ()
    certificate: Certificate | None = None
    greedy: "Plan | None" = None
    flavors: FlavorChoices | None = None
    stability: tuple[Cascade, ...] | None = None
    in_the_way: tuple[str, ...] = ()
    held_back: HeldBack | None = None
    rule_options: str = ""
    stable: bool = False
    placement: Placement | None = None
    places: tuple[PodSetPlaces, ...] = ()
    kueue: KueueRelease | None = None
    requests: RequestsFrom = "template"
    notes: tuple[str, ...] = ()
    commands: Commands | None = None

    @property
    def asked(self) -> Asked:
        """The question that the plan answers; whose choice its flavors are it does not say."""
        release = self.kueue
        return super().asked.model_copy(
            update={
                "rules": self.rule_options or self.rules,
                "stable": self.stable,
                "release": release and release.release,
                "known_by": release and release.known_by,
                "requests": self.requests,
                "placement": self.placement,
            }
        )

    @property
    def about(self) -> About:
        """What code that serves every scheduler asks of the plan."""
        going = [one for one in self.victims if not one.evicted]
        freed = Counter[tuple[str, str]]()
        for used in (used for one in going for used in one.usage):
            freed[used.flavor, used.resource] += used.units
        return About(
            self.preemptor,
            self.cluster_queue,
            {(one.flavor, one.resource): one.requested for one in self.demand if one.requested},
            {(one.flavor, one.resource) for one in self.demand if one.contested},
            freed,
            [one.priority for one in going],
            {
                pods.name: {"/".join(one.values): one.count for one in pods.domains}
                for pods in self.places
            },
            never_comes=bool(self.in_the_way) or self.held_back is not None,
            attempt=self._attempt,
            misnamed=self._misnamed,
            sees_to=() if self.placement is None else ("topology",),
        )

    @property
    def _misnamed(self) -> str:
        queues = {self.cluster_queue, *(one.cluster_queue for one in self.victims)}
        odd = (f"{name} {NOT_ALLOWED}" for name in sorted(queues) if not is_name(name))
        return not_allowed((self.preemptor, *self.keys)) or next(odd, "")

    @property
    def _attempt(self) -> str:
        if self.borrowing is None or self.rules == "kueue-fair":  # fair sharing makes only one
            return ""
        return "borrowing permitted" if self.borrowing else "without borrowing"

    @property
    def by(self) -> RuleSet:
        """The rule set that the plan is by, without a name if it is Kueue's own."""
        return find_rules(self.rule_options or None)

    @property
    def known_rules(self) -> tuple[str, ...]:
        """What ``rules`` can be: Kueue's own rule sets, or the one that takes their place."""
        return (self.by.name,) if self.by.replaces else OWN_RULES

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws of ``rules``."""
        return self.by.laws if self.by.replaces else RULE_SETS[self.rules]

    @model_validator(mode="before")
    @classmethod
    def _with_fields_of_rule_sets(cls, said: object) -> object:
        """Read a plan with a field for each rule set: its options, or whether it adds its laws."""
        fields = dict(said) if isinstance(said, dict) else {}
        named_so = [
            name for name in names_of_rules() if isinstance(fields.get(name, 0), dict | bool | None)
        ]
        found = {name: fields.pop(name) for name in named_so}
        named = [_as_text(name, options) for name, options in found.items() if options]
        return {**fields, "rule_options": named[0]} if named else fields or said

    @model_validator(mode="after")
    def _options_go_with_rules(self) -> "Plan":
        named = self.rule_options
        try:
            fits = self.rules in self.known_rules and self.by.read(named) == named
        except SchemaError as error:
            raise ValueError(f"for rule_options: {error.expected} ({error.found})") from None
        if not fits:
            raise ValueError(f'"{named}" does not name the rules "{self.rules}"')
        return self


def _as_text(name: str, options: object) -> str:
    """Return the text that names a rule set with some options."""
    given = options.items() if isinstance(options, dict) else ()
    texts = {
        key: "+".join(map(str, one)) if isinstance(one, list | tuple) else one for key, one in given
    }
    pairs = ",".join(f"{key}={one}" for key, one in texts.items() if one is not None)
    return find_rules(name).read(f"{name}:{pairs}" if pairs else name)


class JointPending(Record):
    """A pending workload that was to be admitted together with others.

    ``greedy`` says whether it is admitted, and stays so, when all are served one by one.
    """

    workload: Annotated[str, Label(role="key")]
    cluster_queue: Annotated[str, Label()]
    priority: Annotated[int, Label()]
    admitted: Annotated[bool, Label()]
    greedy: Annotated[bool, Label(plain="one_by_one")]
    explanation: Annotated[str, Label(role="text")]


class JointSkipped(Record):
    """A pending workload that cannot be planned for, and why: nothing here is about it."""

    workload: Annotated[str, Label(role="key")]
    explanation: Annotated[str, Label(role="text")]


class JointStep(Record):
    """One preemptor of a joint plan, served when those before it in the plan are.

    ``victims`` go in this step, ``borrowing`` says whether the attempt it belongs to permits any.
    ``assignment`` is what Kueue assigns then. ``verdicts`` and ``removal_order`` are the
    verifier's, in the state that the steps before leave. The ``costs`` of victims are on the scale
    of the whole plan, their ``position`` is that in the candidate order of the step.
    """

    preemptor: Annotated[str, Label(role="code")]
    cluster_queue: str
    priority: int
    assignment: Assignment
    borrowing: bool | None
    victims: Annotated[tuple[Victim, ...], Label(role="counted")]
    verdicts: tuple[Verdict, ...]
    removal_order: tuple[str, ...] = ()


class GreedyTurn(Record):
    """One pending workload served by Kueue's own decision; ``victims`` may be former preemptors."""

    preemptor: Annotated[str, Label(role="code")]
    admitted: Annotated[bool, Label()]
    victims: Annotated[tuple[str, ...], Label(role="counted", plain="kueue_victim")]


class OneByOneAnswer(Record):
    """The reference: the pending workloads served in Kueue's own cycles, those never served last.

    ``victims`` are all that were evicted, each once, without preemptors; ``preemptors_evicted``
    are those that were admitted and then evicted for another. ``fit_again`` are victims that
    would fit again in the end, where they were: evicted for nothing. ``terms`` are those of
    ``victims`` on the scale of the joint plan.
    """

    turns: Annotated[tuple[GreedyTurn, ...], Label(plain="kueue_turn", role="numbered")]
    victims: tuple[str, ...]
    preemptors_evicted: Annotated[tuple[str, ...], Label(plain="kueue_evicts_again")]
    fit_again: Annotated[tuple[str, ...], Label(plain="kueue_fit_again")]
    terms: dict[str, int] = {}


class JointPlan(Published, Evicting):
    """The answer for several pending workloads: as many as possible, and one set of victims.

    ``pending`` are in order of precedence: higher priority, then earlier in the queue. Of two
    plans the one is better that admits the first of them in which they differ; then the one with
    less disruption. ``steps`` are in the order in which they are served; every step is legal in
    the state that those before it leave. ``terms`` are those of all victims together, as is
    ``certificate``. The status is ``optimal`` if it is proved over all orders and sets that
    nothing is better, and ``infeasible`` if it is proved that none of them can be admitted.
    ``skipped`` are workloads that were left out because they cannot be planned for. ``kueue`` and
    ``requests`` are as in a plan for one.
    """

    scheduler: Annotated[Literal["kueue"], Label()] = "kueue"
    rules: Annotated[Literal["kueue-classical", "kueue-fair"], Label()]
    objective: Annotated[str, Label()]
    status: Annotated[Status, Label()]
    proved: Proved | None = None
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()
    assume: Annotated[Assume | None, Label()] = None
    explanation: Annotated[str, Label(role="answer")]
    now: Annotated[datetime, Label()]
    pending: Annotated[tuple[JointPending, ...], Label(plain="pending")]
    skipped: Annotated[tuple[JointSkipped, ...], Label(plain="skipped")] = ()
    steps: Annotated[tuple[JointStep, ...], Label(role="numbered")] = ()
    fit_again: Annotated[tuple[str, ...], Label(plain="fit_again")] = ()
    terms: dict[str, int] = {}
    greedy: OneByOneAnswer
    certificate: Certificate
    kueue: KueueRelease | None = None
    requests: RequestsFrom = "template"
    notes: tuple[str, ...] = ()

    @property
    def admitted(self) -> tuple[str, ...]:
        """The workloads that are admitted, in the order in which they are served."""
        return tuple(step.preemptor for step in self.steps)

    @property
    def victims(self) -> tuple[Victim, ...]:
        """All victims, step by step."""
        return tuple(victim for step in self.steps for victim in step.victims)
