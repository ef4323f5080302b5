"""What Kueue decides for one pending workload: flavors, targets, partial admission.

Source: docs/semantics/kueue.md §4.8 and §5; kueue ff69552e pkg/scheduler/scheduler.go
``getInitialAssignments`` and pkg/scheduler/flavorassigner/podset_reducer.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.kueue.amount import divide
from planner.quota.kueue.assignment import Assignment, contested, total_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import Replaced
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.assignment import FlavorAssigner
from planner.reference.kueue.chance import EQUAL_COHORTS, Chance
from planner.reference.kueue.classical import collect_candidates
from planner.reference.kueue.context import Assigned, Context, Search, Target, Tried
from planner.reference.kueue.fair_sharing import fair_candidates
from planner.reference.kueue.topology.assigning import Placing

_NOTHING = Search((), ())
TRIES: Final = 40
"""How many orders of candidates are tried where Kueue leaves the order to chance."""
FEWER: Final = 12
"""How many runs are tried where only equal cohorts are left to chance: mostly it is one of two."""


class Decision(Struct, frozen=True):
    """What was assigned, and what the preemption search found for it.

    ``undetermined`` are the reasons for which the decision rests on chance, such as an order of
    candidates. ``replaced`` is the old slice that ends when the new slice is admitted;
    the search may find it, too, like any other workload.
    """

    assigned: Assigned
    search: Search
    undetermined: tuple[str, ...] = ()
    replaced: Replaced | None = None

    @property
    def assignment(self) -> Assignment:
        """The flavors of all podsets."""
        return self.assigned.assignment

    @property
    def targets(self) -> tuple[Target, ...]:
        """Kueue's targets: the replaced slice, without a reason, then the workloads to preempt."""
        old = (Target(self.replaced.slice, ""),) if self.replaced else ()
        return old + self.search.targets

    def victims(self, named: str) -> tuple[Target, ...]:
        """Return the targets that Kueue evicts: all but the first one with the key ``named``.

        That is the slice that the workload says it replaces. Kueue goes by the key alone, and so
        also spares a candidate of another queue or namespace that is not replaced.
        """
        keys = [one.workload.key for one in self.targets]
        spared = keys.index(named) if named in keys else len(keys)
        return self.targets[:spared] + self.targets[spared + 1 :]


_NEVER_LOOKED_AT: Final = Decision(Assigned(Assignment(mode="NoFit")), _NOTHING)


def decide(
    snapshot: Snapshot,
    preemptor: Preemptor,
    *,
    nominated: Assignment | None = None,
    tried: Tried = (),
    seed: int | None = None,
) -> Decision:
    """Replay Kueue's decision.

    A workload that is not queued, or in an inactive queue, is never looked at: no flavors, no
    targets. ``nominated`` restricts flavor assignment to the flavors of an earlier assignment
    (docs/semantics/kueue.md §7.4); with ``tried`` its walks go on where those of an earlier cycle
    stopped. A ``seed`` makes the choices that Kueue leaves to chance: the result is one possible
    decision.
    """
    if preemptor.rejection or not snapshot.is_active(preemptor.queue):
        return _NEVER_LOOKED_AT
    chance = Chance(seed)
    assigner = FlavorAssigner(snapshot, snapshot.usage.copy(), preemptor, nominated, tried, chance)
    full = assigner.assign()
    search = _search(assigner, full.assignment)
    found = None
    if full.assignment.mode != "Fit" and not search.targets and may_shrink(snapshot, preemptor):
        # The whole workload's flavors are shown even where only fewer pods were tried last (§4.8).
        found, search = _reduce(assigner), _NOTHING
    found = found or _decided(assigner, full, search)
    return replace(found, undetermined=chance.undetermined)


def decide_under(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment | None,
    seed: int | None = None,
) -> Decision:
    """Replay Kueue's decision with a given assignment, if any, in the place of its own."""
    if assignment is None:
        return decide(snapshot, preemptor, seed=seed)
    if preemptor.rejection or not snapshot.is_active(preemptor.queue):
        return _NEVER_LOOKED_AT
    chance = Chance(seed)
    assigner = FlavorAssigner(snapshot, snapshot.usage.copy(), preemptor, chance=chance)
    found = _decided(assigner, Assigned(assignment), _search(assigner, assignment))
    return replace(found, undetermined=chance.undetermined)


def outcomes(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment | None = None
) -> tuple[Decision, ...]:
    """Return the different decisions that Kueue may come to, as far as TRIES orders show them.

    Where only equal cohorts are left to chance FEWER runs are tried. Where Kueue leaves nothing to
    chance, there is one decision.
    """

    def identity(decision: Decision) -> tuple[str, tuple[tuple[str, str], ...]]:
        targets = tuple((one.workload.key, one.reason) for one in decision.targets)
        return decision.assignment.model_dump_json(), targets

    first = decide_under(snapshot, preemptor, assignment)
    found = {identity(first): first}
    tries = 0
    if first.undetermined:
        tries = FEWER if first.undetermined == (EQUAL_COHORTS,) else TRIES
    for seed in range(tries):
        other = decide_under(snapshot, preemptor, assignment, seed)
        found.setdefault(identity(other), other)
    return tuple(found.values())


def candidates_of(
    snapshot: Snapshot, preemptor: Preemptor, decision: Decision
) -> Sequence[Admitted]:
    """Return the workloads that the rules permit to preempt, each as it stands before a search.

    Where nothing is contested there are none.
    """
    assignment = decision.assignment
    if assignment.mode != "Preempt" or len(assignment.pod_sets) < len(preemptor.pod_sets):
        return ()
    request = total_request(assignment, preemptor, snapshot)
    frs = contested(assignment, snapshot)
    context = Context(snapshot, snapshot.usage.copy(), preemptor, request, frs)
    if snapshot.configuration.fair_sharing_on:
        return fair_candidates(context)
    return collect_candidates(context).ordered


def _decided(assigner: FlavorAssigner, assigned: Assigned, found: Search) -> Decision:
    """Return a decision that replaces an old slice only if the preemptor has, or gets, room."""
    gets_room = assigned.assignment.mode == "Fit" or bool(found.targets)
    replaced = assigner.replaced if gets_room else None
    return with_places(Decision(assigned, found, replaced=replaced), assigner.placing)


def with_places(decision: Decision, placing: Placing | None) -> Decision:
    """Return a decision to preempt with the places of the pods once its targets are removed."""
    if placing is None or decision.assignment.mode != "Preempt":
        return decision
    targets = [target.workload for target in decision.targets]
    placements = placing.final(decision.assignment, targets)
    return replace(decision, assigned=replace(decision.assigned, placements=placements))


def _search(assigner: FlavorAssigner, assignment: Assignment) -> Search:
    """Search targets where the assignment asks for preemption and covers all podsets."""
    snapshot, preemptor = assigner.snapshot, assigner.preemptor
    if assignment.mode != "Preempt" or len(assignment.pod_sets) < len(preemptor.pod_sets):
        return _NOTHING
    request = total_request(assignment, preemptor, snapshot)
    places = assigner.placing.test(assignment) if assigner.placing else None
    return assigner.search(request, contested(assignment, snapshot), places)


def may_shrink(snapshot: Snapshot, preemptor: Preemptor) -> bool:
    """Say whether Kueue tries fewer pods where the full counts cannot be served (§4.8)."""
    return snapshot.configuration.gate("PartialAdmission") and any(
        request.pod_set.min_count is not None and request.pod_set.min_count < request.spec_count
        for request in preemptor.pod_sets
    )


def _reduce(assigner: FlavorAssigner) -> Decision | None:
    """Search the largest reduced pod counts that work, by Kueue's binary search (§4.8).

    Working is not monotone, so a working count may be missed; that is Kueue's behaviour.
    """
    preemptor = assigner.preemptor
    # From the spec, while the requests leave out reclaimable pods: a small reduction may ask for
    # more than the workload itself does now, as in Kueue.
    full = [request.spec_count for request in preemptor.pod_sets]
    deltas = [
        request.spec_count - (request.pod_set.min_count or request.spec_count)
        for request in preemptor.pod_sets
    ]
    total = sum(deltas)
    if total == 0:
        return None
    # One beyond the largest reduction stands for "none works".
    low, high = 0, total + 1
    working: dict[int, Decision] = {}
    while low < high:
        middle = (low + high) // 2
        counts = [
            # A minimum above the count makes a negative delta.
            count - divide(delta * middle, total)
            for count, delta in zip(full, deltas, strict=True)
        ]
        assigned = assigner.assign(counts)
        found = _search(assigner, assigned.assignment)
        if assigned.assignment.mode == "Fit" or found.targets:
            # Kept, for the search may end at a count that it tried some steps before.
            working[middle] = _decided(assigner, assigned, found)
            high = middle
        else:
            low = middle + 1
    return working.get(low)
