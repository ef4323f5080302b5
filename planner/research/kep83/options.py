"""The options of KEP-83's rules, which its text leaves to administrators; a state as it knows it.

KEP-83 is the proposal of 2022 by which Kueue got preemption. Its rules are kept as a rule set of
their own, for any state of Kueue. As text, options are ``kep83`` or ``kep83:NAME=VALUE,...``:

``cohort``
    ``withinCohort``: ``Never``, ``ReclaimFromLowerPriority`` or ``ReclaimFromAny`` (the text also
    writes ``ReclaimAny``), or ``LowerPriority``, the deferred alternative that borrows while it
    preempts. By default what the ClusterQueue says: its ``reclaimWithinCohort``.
``queue``
    ``withinClusterQueue``: ``Never`` or ``LowerPriority``. By default what the ClusterQueue says;
    ``LowerOrNewerEqualPriority``, which the KEP does not know, counts as ``LowerPriority``.
``order``
    ``workloadSorting``: criteria joined by ``+``, of ``ByLowestPriority``, ``ByLowestRuntime``,
    ``ByLongestRuntime`` and ``ByLowestDisruptionCost``; by default
    ``ByLowestPriority+ByLowestRuntime``. Workloads of other queues come first in any case, and
    the smaller UID at the end.
``wait``
    ``triggerAfterWorkloadWaitingSeconds``: how long a workload waits before it may preempt, in
    whole seconds; 0 by default.

Source: KEP-83, "ClusterQueue API changes", "Preemption" and "Alternatives" (retold in
docs/semantics/kep83.md §2, §5 and §6). Dynamic priority and ``onPreemption: Terminate``, two more
of its alternatives, are not modelled. The KEP gives disruption costs without a place in the
algorithm; here they are a criterion of the order, and the term ``milestone_cost`` of an objective.
How its open words are read is said in `planner.research.kep83.laws`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError

from planner.errors import SchemaError
from planner.state.base import Schema
from planner.state.clock import seconds_since

if TYPE_CHECKING:
    from datetime import datetime

    from planner.state.kueue import State, Workload
    from planner.state.queues import Preemption, ReclaimPolicy

CohortPolicy = Literal["Never", "ReclaimFromLowerPriority", "ReclaimFromAny", "LowerPriority"]
QueuePolicy = Literal["Never", "LowerPriority"]
Criterion = Literal[
    "ByLowestPriority", "ByLowestRuntime", "ByLongestRuntime", "ByLowestDisruptionCost"
]

NAME: Final = "kep83"
DEFAULT_ORDER: Final[tuple[Criterion, ...]] = ("ByLowestPriority", "ByLowestRuntime")
MAX_WAIT_S: Final = 10**9

_ALIAS: Final = {"ReclaimAny": "ReclaimFromAny"}
_CALLED_TODAY: Final[dict[ReclaimPolicy, CohortPolicy]] = {
    "Never": "Never",
    "LowerPriority": "ReclaimFromLowerPriority",
    "Any": "ReclaimFromAny",
}


class Kep83(Schema):
    """The options of KEP-83's rules, at the defaults of its text.

    ``cohort`` and ``queue`` are the policies for victims of other queues and of the own one;
    ``None`` is what the preemptor's ClusterQueue says. ``order`` are the criteria that order the
    candidates; an empty one is the default. ``wait`` is for how many seconds a workload waits
    before it may preempt.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    cohort: CohortPolicy | None = None
    queue: QueuePolicy | None = None
    order: tuple[Criterion, ...] = DEFAULT_ORDER
    wait: int = Field(default=0, ge=0, le=MAX_WAIT_S)

    @property
    def borrows(self) -> bool:
        """Whether plans may borrow quota while they preempt."""
        return self.cohort == "LowerPriority"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria by which candidates are compared, the first one first."""
        return self.order or DEFAULT_ORDER

    def within_cohort(self, preemption: Preemption) -> CohortPolicy:
        """Return the policy for victims of other queues, given that of the ClusterQueue."""
        return self.cohort or _CALLED_TODAY[preemption.reclaim_within_cohort]

    def within_cluster_queue(self, preemption: Preemption) -> QueuePolicy:
        """Return the policy for victims of the own queue, given that of the ClusterQueue."""
        if self.queue is not None:
            return self.queue
        return "Never" if preemption.within_cluster_queue == "Never" else "LowerPriority"

    @property
    def text(self) -> str:
        """The options as text, without the options at their defaults."""
        said = {
            "cohort": self.cohort,
            "queue": self.queue,
            "order": None if self.criteria == DEFAULT_ORDER else "+".join(self.criteria),
            "wait": self.wait or None,
        }
        options = ",".join(f"{name}={value}" for name, value in said.items() if value is not None)
        return f"{NAME}:{options}" if options else NAME


def parse_rules(text: str) -> Kep83:
    """Read the options from text.

    Raises ``SchemaError`` if it names an unknown option, an option twice, or an unusable value.
    """
    _, colon, rest = text.partition(":")
    said: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        option, equals, value = part.strip().partition("=")
        if not equals or option not in Kep83.model_fields or option in said:
            raise SchemaError("rules", f'"{part}" cannot be used', _EXPECTED)
        said[option] = _ALIAS.get(value, value)
    order = said.pop("order", None)
    given = said if order is None else {**said, "order": tuple(order.split("+"))}
    try:
        return Kep83.model_validate(given)
    except ValidationError as error:
        option = str(error.errors()[0]["loc"][0])
        found = order if option == "order" else said[option]
        raise SchemaError("rules", f'"{found}" is no {option}', _VALUES[option]) from None


_VALUES: Final = {
    "cohort": ", ".join((*get_args(CohortPolicy), *_ALIAS)),
    "queue": ", ".join(get_args(QueuePolicy)),
    "order": f"{', '.join(get_args(Criterion))}, joined by +",
    "wait": f"whole seconds from 0 to {MAX_WAIT_S}",
}
_EXPECTED: Final = f"{NAME}, or {NAME}:NAME=VALUE,... with {', '.join(_VALUES)}, each once at most"


_ATTEMPTED: Final = ("Admitted", "QuotaReserved")
"""The conditions that are False from the first attempt on; the KEP names the first, and Kueue
writes the second."""


def seconds_waiting(workload: Workload, now: datetime) -> int:
    """Return the whole seconds since Kueue first tried to admit a workload, 0 if it never did.

    Source: KEP-83, Alternatives, "Extra knobs in ClusterQueue preemption policy".
    """
    for kind in _ATTEMPTED:
        condition = workload.condition(kind)
        if condition is not None and condition.status == "False":
            return seconds_since(condition.last_transition_time, now)
    return 0


def as_in_kep83(state: State) -> State:
    """Return a state as KEP-83 knows it: both kinds of fair sharing, and slices, came later.

    No workload of it replaces another.
    """
    configuration = state.configuration
    gates = {**configuration.feature_gates, "ElasticJobsViaWorkloadSlices": False}
    newer = {"feature_gates": gates, "fair_sharing": None, "admission_fair_sharing": None}
    edited = configuration.model_copy(update=newer)
    return state.model_copy(update={"configuration": edited})
