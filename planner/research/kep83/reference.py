"""KEP-83's algorithm of 2022, step by step as its text has it.

docs/semantics/kep83.md retells it. What the KEP leaves open is decided in `laws`; its `options` are
those that its text leaves to administrators. The assignment of flavors is two walks over the
flavors of each resource group; what the KEP leaves open of it is decided as follows:

* The resources of a resource group get one flavor, as in Kueue; so each walk asks for a flavor
  that will do for all of them. ``flavorFungibility`` came later and is not looked at.
* "Assignments that require preemption implicitly do not borrow quota": in the second walk every
  resource must be within min; a resource that fits without borrowing has mode Fit, the rest
  Preempt.
* With withinCohort LowerPriority the limit of the second walk is what the queue could use if
  nothing ran, borrowed quota included. The KEP proposes to select flavors by a simulated usage, for
  each queue the larger of its min and its usage; as the mins of all queues make up the quota of the
  cohort, no request would ever fit then, so this follows the purpose of the KEP, not its letter.
* Podsets are assigned in turn and count the requests of earlier podsets; partial admission came
  later.

Source: KEP-83, "Detecting Workloads that might benefit from preemption"; "Preemption", steps 1 to
5; "Extra knobs in ClusterQueue preemption policy".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from planner.quota.kueue.amount import saturating_add
from planner.quota.kueue.assignment import (
    Assignment,
    FlavorChoice,
    Mode,
    PodSetFlavors,
    contested,
    total_request,
    worst,
)
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.selector import InvalidSelectorError
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.assignment import FlavorAssigner, borrow_level, joined
from planner.reference.kueue.context import Assigned, Search, Target
from planner.reference.kueue.decision import Decision
from planner.reference.laws import keeps
from planner.research.kep83 import laws
from planner.research.kep83.options import Criterion, Kep83, seconds_waiting
from planner.state.queues import Preemption, ResourceGroup


class Kep83Context(Struct, frozen=True):
    """One preemption search: the preemptor, its request, and the options.

    ``usage`` is changed by the search and restored at its end. ``request`` is per fr in integer
    units; ``involved`` are the fr whose assigned mode is Preempt; ``cost`` is what evicting a
    workload costs, by ``namespace/name``, 0 for a workload that is not named.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    request: Mapping[int, int]
    involved: frozenset[int]
    options: Kep83
    cost: Mapping[str, int]

    @property
    def queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.preemptor.queue

    @property
    def policy(self) -> Preemption:
        """The preemption policies of the preemptor's ClusterQueue."""
        return self.snapshot.queues[self.queue].spec.preemption

    @keeps(laws.K83_FITS, laws.K83_WITHOUT_BORROWING)
    def fits(self) -> bool:
        """Say whether the request fits in quota and, for the involved fr, within min."""
        usage, queue = self.usage, self.queue
        for fr, amount in self.request.items():
            if amount > max(0, usage.available(queue, fr)):
                return False
            # An fr that fits without preemption may borrow; an fr that needs preemption may not.
            within_min = fr in self.involved and not self.options.borrows
            if within_min and saturating_add(usage.amount[queue][fr], amount) > usage.tree.nominal(
                queue, fr
            ):
                return False
        return True

    @keeps(laws.K83_BORROWS)
    def is_borrowing(self, queue: int) -> bool:
        """Say whether a ClusterQueue uses more than its min of some involved flavor."""
        used, tree = self.usage.amount[queue], self.usage.tree
        return any(used[fr] > tree.nominal(queue, fr) for fr in self.involved)

    @keeps(laws.K83_AT_MIN)
    def is_below_min(self, queue: int) -> bool:
        """Say whether a ClusterQueue uses less than its min of all the involved flavors."""
        used, tree = self.usage.amount[queue], self.usage.tree
        # Below min, not at it: where Kueue of today stops at quota, the KEP takes one victim more.
        return all(used[fr] < tree.nominal(queue, fr) for fr in self.involved)


Choices = dict[str, FlavorChoice]


@dataclass(slots=True)
class Kep83Flavors:
    """Assigns flavors to the preemptor of Kueue's ``assigner``, on its snapshot."""

    assigner: FlavorAssigner
    options: Kep83
    _assumed: dict[int, int] = field(default_factory=dict, init=False)

    def assign(self) -> Assignment:
        """Assign flavors to all podsets; the first podset that gets none makes the mode NoFit."""
        snapshot, usage = self.assigner.snapshot, self.assigner.usage
        queue, level = self.assigner.preemptor.queue, 0
        done: list[PodSetFlavors] = []
        for group in self.assigner.groups():
            chosen = self._choose(group)
            if chosen is None:
                return Assignment(mode="NoFit", pod_sets=tuple(done))
            for request in group:
                flavors = {name: chosen[name] for name in request.totals if name in chosen}
                # Later podsets count this request, too; its level is how far up it borrows.
                for name, choice in flavors.items():
                    fr = snapshot.fr_or_none(choice.flavor, name)
                    if fr is not None:
                        value = saturating_add(self._assumed.get(fr, 0), request.totals[name])
                        self._assumed[fr] = value
                        level = max(level, borrow_level(usage, queue, fr, value)[0])
                done.append(PodSetFlavors(name=request.name, count=request.count, flavors=flavors))
        mode: Mode = worst(choice.mode for pods in done for choice in pods.flavors.values())
        return Assignment(mode=mode, borrowing=level, pod_sets=tuple(done))

    def _choose(self, group: Sequence[PodSetRequest]) -> Choices | None:
        """Choose flavors for podsets handled together; ``None`` if a resource gets none."""
        requests = joined(group)
        chosen: Choices = {}
        for resource, amount in requests.items():
            covering = self.assigner.covering(resource)
            if resource in chosen or (covering is None and self.assigner.skips(amount)):
                continue
            found = None if covering is None else self._walk(group, covering, requests)
            if found is None:
                return None
            chosen |= found
        return chosen

    def _walk(
        self, group: Sequence[PodSetRequest], covering: ResourceGroup, requests: Mapping[str, int]
    ) -> Choices | None:
        """Walk the flavors twice: for one with quota left, then for one to free by preemption."""
        wanted = {name: n for name, n in requests.items() if name in covering.covered_resources}
        try:
            names = [one.name for one in covering.flavors]
            flavors = [name for name in names if self.assigner.eligible(group, name, covering)]
        except InvalidSelectorError:
            return None
        # All flavors for the first step before any for the second: a later flavor with quota left
        # is better than an earlier flavor that needs victims.
        for preempting in (False, True):
            for flavor in flavors:
                modes: dict[str, Mode] = {
                    name: self._mode(flavor, name, amount, preempting=preempting)
                    for name, amount in wanted.items()
                }
                if "NoFit" not in modes.values():
                    return {name: FlavorChoice(flavor=flavor, mode=m) for name, m in modes.items()}
        return None

    def _mode(self, flavor: str, resource: str, amount: int, *, preempting: bool) -> Mode:
        """Step 0: Fit where quota is left in the cohort, within the max of the ClusterQueue.

        Step 1, ``preempting``: Preempt, or Fit, where the min of the ClusterQueue can hold it.
        """
        snapshot, usage = self.assigner.snapshot, self.assigner.usage
        fr = snapshot.fr_or_none(flavor, resource)
        if fr is None:  # covered, but listed without quota anywhere
            return "NoFit" if amount else "Fit"
        queue, tree, borrows = self.assigner.preemptor.queue, snapshot.tree, self.options.borrows
        value = saturating_add(self._assumed.get(fr, 0), amount)
        fits = value <= max(0, usage.available(queue, fr))
        if not preempting:
            return "Fit" if fits else "NoFit"
        if value > (tree.potential(queue, fr) if borrows else tree.nominal(queue, fr)):
            return "NoFit"
        if not borrows and usage.borrows_with(queue, fr, value):
            return "Preempt"  # it may fit now, but only by borrowing, which is not allowed here
        return "Fit" if fits else "Preempt"


def candidates_in_order(context: Kep83Context) -> list[Admitted]:
    """Return the candidates in the order of removal; none if the preemptor may not preempt."""
    if not _may_preempt(context):
        return []

    def key(workload: Admitted) -> tuple[float | str, ...]:
        """Step 3: other queues first, then by the criteria; by UID, so that no tie is left."""
        compared = [_COMPARED_BY[name](context, workload) for name in context.options.criteria]
        return (workload.queue == context.queue, *compared, workload.uid)

    # A workload that is being evicted already counts like all others: the KEP has no such case.
    return sorted([*_of_other_queues(context), *_of_own_queue(context)], key=key)


@keeps(laws.K83_WAITED)
def _may_preempt(context: Kep83Context) -> bool:
    """Say whether the preemptor has waited long enough."""
    waited = seconds_waiting(context.preemptor.workload, context.snapshot.now)
    return waited >= context.options.wait


@keeps(laws.K83_BORROWS, laws.K83_WITHIN_COHORT)
def _of_other_queues(context: Kep83Context) -> Iterator[Admitted]:
    """Step 2.1: in the cohort only ClusterQueues that are borrowing are considered."""
    policy = context.options.within_cohort(context.policy)
    if policy == "Never":
        return
    tree = context.snapshot.tree
    root = tree.root(context.queue)
    for queue, workloads in context.snapshot.admitted.items():
        # The whole tree is the cohort: hierarchies came after the KEP.
        elsewhere = queue == context.queue or tree.root(queue) != root
        if elsewhere or not context.snapshot.is_active(queue) or not context.is_borrowing(queue):
            continue
        for workload in workloads:
            lower = workload.priority < context.preemptor.priority
            if _uses_involved(context, workload) and (lower or policy == "ReclaimFromAny"):
                yield workload


@keeps(laws.K83_WITHIN_CLUSTER_QUEUE)
def _of_own_queue(context: Kep83Context) -> Iterator[Admitted]:
    """Step 2.2: in the ClusterQueue only workloads with lower priority are selected."""
    if context.options.within_cluster_queue(context.policy) == "Never":
        return
    for workload in context.snapshot.admitted[context.queue]:
        if _uses_involved(context, workload) and workload.priority < context.preemptor.priority:
            yield workload


@keeps(laws.K83_HOLDS_CONTESTED)
def _uses_involved(context: Kep83Context, workload: Admitted) -> bool:
    """Step 2: workloads that do not use the flavors selected for the preemptor are left out."""
    return not context.involved.isdisjoint(workload.names)


_COMPARED_BY: Final[Mapping[Criterion, Callable[[Kep83Context, Admitted], float]]] = {
    "ByLowestPriority": lambda _, workload: workload.priority,
    # A workload runs since its quota was reserved.
    "ByLowestRuntime": lambda _, workload: -workload.reserved_s,
    "ByLongestRuntime": lambda _, workload: workload.reserved_s,
    "ByLowestDisruptionCost": lambda context, workload: context.cost.get(workload.key, 0),
}


OWN_QUEUE: Final = "InClusterQueue"
RECLAIMED: Final = "InCohortReclamation"
WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"
"""The KEP names no reasons; these are the codes that Kueue gives them today."""


@keeps(laws.K83_AT_MIN)
def search_kep83(context: Kep83Context) -> Search:
    """Return the workloads to preempt, in the order of their removal; the usage stays as it was.

    Step 4 removes candidates until the preemptor fits; if it never does, all are put back. Step 5
    adds workloads back from the last removed to the first, where it still fits.
    """
    borrows, usage, fits = context.options.borrows, context.usage, False
    removed: list[Admitted] = []
    for workload in candidates_in_order(context):
        # Tested at its turn, after earlier removals: a queue may fall below min once, not further.
        if workload.queue != context.queue and context.is_below_min(workload.queue):
            continue
        usage.remove(workload.queue, workload.usage)
        removed.append(workload)
        fits = context.fits()
        if fits:
            break
    needed: list[Admitted] = []
    for workload in reversed(removed):
        usage.add(workload.queue, workload.usage)
        # A workload that cannot be added back does not end the walk, so that the set is minimal.
        if fits and not context.fits():
            usage.remove(workload.queue, workload.usage)
            needed.insert(0, workload)
    for workload in needed:
        usage.add(workload.queue, workload.usage)
    other = WHILE_BORROWING if borrows else RECLAIMED
    targets = tuple(
        Target(workload, OWN_QUEUE if workload.queue == context.queue else other)
        for workload in needed
    )
    return Search(targets, (borrows,), borrows if targets else None)


def decide_kep83(
    snapshot: Snapshot,
    preemptor: Preemptor,
    options: Kep83,
    assignment: Assignment | None = None,
    cost: Mapping[str, int] | None = None,
) -> Decision:
    """Run the algorithm; a given assignment takes the place of flavor assignment.

    ``cost`` is what evicting a workload costs now, by ``namespace/name``, for the criterion
    ByLowestDisruptionCost; a workload that is not named costs nothing. A workload of an inactive
    queue is never looked at: no flavors, no victims.
    """
    nothing = Search((), ())
    if not snapshot.is_active(preemptor.queue):
        return Decision(Assigned(Assignment(mode="NoFit")), nothing)
    usage = snapshot.usage.copy()
    if assignment is None:
        assigner = FlavorAssigner(snapshot, usage, preemptor)
        assignment = Kep83Flavors(assigner, options).assign()
    assigned = Assigned(assignment)
    # Podsets without flavors would be missing in the request, which then fits too easily.
    if assignment.mode != "Preempt" or len(assignment.pod_sets) < len(preemptor.pod_sets):
        return Decision(assigned, nothing)
    request = total_request(assignment, preemptor, snapshot)
    involved = contested(assignment, snapshot)
    context = Kep83Context(snapshot, usage, preemptor, request, involved, options, cost or {})
    return Decision(assigned, search_kep83(context))
