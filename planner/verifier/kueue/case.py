"""A finished plan matched with the state: what the laws judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from planner.errors import LookupFailed
from planner.laws.kueue import KQ_FITS, KQ_HOLDS_CONTESTED
from planner.plan import Plan
from planner.quota.kueue.assignment import (
    Assignment,
    PodSetFlavors,
    contested,
    placed_groups,
    total_request,
    whole_request,
)
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.snapshot import Admitted, Preemptor, Snapshot
from planner.state import Configuration
from planner.verifier.kueue.removal import Removal, remove_all, replay
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue_topology import Floor


@dataclass(frozen=True)
class Case:
    """Victims of one attempt in one setting.

    ``borrowing`` names the attempt, ``None`` when nothing is evicted. ``victims`` are in plan
    order, each once; ``reasons`` are the codes the plan gives them. ``faults`` is what the plan
    says that does not match the state at all, in words, by the name of the law it breaks.
    """

    setting: Setting
    borrowing: bool | None
    victims: tuple[Admitted, ...]
    reasons: tuple[str, ...]
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Every victim has one reason."""
        if len(self.victims) != len(self.reasons):
            message = f"{len(self.victims)} victims with {len(self.reasons)} reasons"
            raise ValueError(message)

    @property
    def rules(self) -> str:
        """The rule set that judges this case."""
        return "kueue-classical"

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot as it was before any removal."""
        return self.setting.snapshot

    @property
    def own(self) -> list[tuple[Admitted, str]]:
        """The victims of the preemptor's own queue, with their reasons."""
        return [pair for pair in self._pairs() if pair[0].queue == self.setting.queue]

    @property
    def others(self) -> list[tuple[Admitted, str]]:
        """The victims of the tree's other queues, with their reasons."""
        return [pair for pair in self._pairs() if self.setting.side(pair[0].queue)]

    def _pairs(self) -> Iterator[tuple[Admitted, str]]:
        return zip(self.victims, self.reasons, strict=True)

    @cached_property
    def removal(self) -> Removal:
        """What comes of removing the victims."""
        return remove_all(self.setting, self.victims)

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what is in the way of removing the victims in this order, if anything is."""
        return replay(self.setting, order).obstacle

    @property
    def nothing_evicted(self) -> bool:
        """Whether the plan names no victims at all."""
        # A plan whose victims the state does not know evicts something, though nothing is matched.
        return not self.victims and not self.faults.get(KQ_HOLDS_CONTESTED.name)


def rules_fault(configuration: Configuration, rules: str) -> str:
    """Say that Kueue follows other rules than these under a Configuration, if it does."""
    if configuration.fair_sharing_on and rules == "kueue-classical":
        return "with fairSharing configured, Kueue makes no classical attempts"
    if not configuration.fair_sharing_on and rules == "kueue-fair":
        return "without fairSharing configured, Kueue does not compare shares"
    return ""


def setting_of(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Setting:
    """Derive request and contested flavor-resources from an assignment.

    Raises
    ------
    LookupFailed
        If the snapshot does not know a flavor-resource of the assignment, or the nodes of a flavor.
    """
    groups = placed_groups(assignment, preemptor, snapshot)
    for flavor in (one.flavor for one in groups):
        if flavor not in snapshot.topologies.trees:
            found = f"pods are assigned flavor {flavor}, of whose nodes the state knows nothing"
            raise LookupFailed(preemptor.key, found, "its Topology and its nodes")
    return Setting(
        snapshot=snapshot,
        preemptor=preemptor,
        request=whole_request(assignment, preemptor, snapshot),
        contested=contested(assignment, snapshot),
        searched=total_request(assignment, preemptor, snapshot),
        floor=Floor(snapshot, groups),
    )


def case_of(setting: Setting, plan: Plan) -> Case:
    """Match a plan with the state; what cannot be matched becomes a fault, never an error."""
    known, reasons, faults = match_victims(setting, plan)
    return Case(setting, plan.borrowing, known, reasons, faults)


def match_victims(
    setting: Setting, plan: Plan
) -> tuple[tuple[Admitted, ...], tuple[str, ...], Mapping[str, Sequence[str]]]:
    """Return the victims which the state knows, their reasons, and the faults."""
    holders = setting.holders
    named = {victim.workload: victim for victim in plan.victims}
    known = {key: holders[key] for key in named if key in holders}
    # By the name of a law: the laws of all rule sets that read them share these two names.
    faults = {
        KQ_FITS.name: tuple(_assignment_faults(setting, plan.assignment)),
        KQ_HOLDS_CONTESTED.name: tuple(_victim_faults(setting, plan, known)),
    }
    return tuple(known.values()), tuple(named[key].reason for key in known), faults


def _victim_faults(setting: Setting, plan: Plan, known: Mapping[str, Admitted]) -> Iterator[str]:
    counts = Counter(plan.keys)
    for key, count in counts.items():
        if key == setting.preemptor.key:
            yield f"{key} is the preemptor itself"
        elif key not in known:
            yield f"{key} is not among the workloads that hold quota"
        if count > 1:
            yield f"{key} is named {count} times"
    for victim in plan.victims:
        holder = known.get(victim.workload)
        if holder and setting.snapshot.queue_name(holder.queue) != victim.cluster_queue:
            yield (
                f"{victim.workload} holds its quota in ClusterQueue "
                f"{setting.snapshot.queue_name(holder.queue)}, not in {victim.cluster_queue}"
            )


def _assignment_faults(setting: Setting, assignment: Assignment) -> Iterator[str]:
    """Say what the assignment leaves out: a request it forgets would seem to fit."""
    if assignment.mode == "NoFit":
        yield "the assignment says NoFit: some podset has no flavors"
    requests = setting.preemptor.pod_sets
    names = [request.name for request in requests]
    assigned = [pods.name for pods in assignment.pod_sets]
    # Assignment stops at the first podset that fails, so a shorter list leaves podsets without
    # flavors (docs/semantics/kueue.md §4.1).
    if names != assigned:
        yield f"the assignment is for podsets {assigned}, the workload has {names}"
        return
    partial = any(request.pod_set.min_count is not None for request in requests)
    for request, pods in zip(requests, assignment.pod_sets, strict=True):
        yield from _count_faults(request, pods, partial=partial)
        for resource, amount in request.totals.items():
            # A request of 0 may be without a flavor: Kueue skips it where nothing covers it (§4.1).
            if amount and resource not in pods.flavors and not _may_skip(setting, resource):
                yield f'podset "{request.name}" asks for {resource} but gets no flavor for it'


def _count_faults(request: PodSetRequest, pods: PodSetFlavors, *, partial: bool) -> Iterator[str]:
    """Partial admission may reduce a count to minCount; it starts from the count of the spec."""
    if pods.count is None or pods.count == request.count:
        return
    # The search counts from the spec, whatever is reclaimable: it can scale a podset up (§4.8).
    least = request.pod_set.min_count or request.spec_count
    if not (partial and least <= pods.count <= request.spec_count):
        yield (
            f'podset "{request.name}" is assigned {pods.count} pods: it asks for {request.count}, '
            f"at least {min(least, request.count)}"
        )


def _may_skip(setting: Setting, resource: str) -> bool:
    """Say whether Kueue ignores a resource which no resource group of the queue covers."""
    configuration = setting.snapshot.configuration
    strategy = configuration.resources.quota_check_strategy
    groups = setting.snapshot.queues[setting.queue].spec.resource_groups
    covered = any(resource in group.covered_resources for group in groups)
    ignored = configuration.gate("QuotaCheckStrategy") and strategy == "IgnoreUndeclared"
    return ignored and not covered
