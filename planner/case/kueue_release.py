"""What the release of Kueue means for one decision: what it leaves open, and whether it matters.

Amounts so large that an older release wraps around, where newer ones stop, are refused.

Source: docs/semantics/kueue-releases.md §1, §2 and §2.1, 14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from math import inf
from typing import Final

from msgspec.structs import replace

from planner.case.kueue import Case
from planner.errors import PlannerError, UnsupportedError
from planner.quantity import MAX_INT64, format_quantity, to_quota, to_units
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.request import ambiguous_resources
from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.decision import Decision, decide
from planner.state.kept import Kept
from planner.state.kueue import ClusterQueue, State
from planner.state.kueue_release import newest_first
from planner.state.queues import Cohort

_OF_DEVICES: Final = {
    "counts_constrained": True,
    "skips_admin_access": True,
    "takes_newest_class": True,
    "sums_extended_apart": True,
}
"""Rules that decide nothing where a state has neither device classes nor claims."""


def under_release(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Snapshot:
    """Return the snapshot with notes on what the release of Kueue leaves open for a workload.

    Raises `UnsupportedError` if amounts are so large that this release would wrap around.
    """
    refuse_overflow(snapshot, preemptor)
    name = snapshot.configuration.release.name
    notes = [
        f"{preemptor.key} asks for {made}, and transformations make more of it: Kueue {name} "
        "counts either both or the first, at random; here it is the first"
        for made in sorted(ambiguous_resources(preemptor.workload, snapshot.configuration))
    ]
    notes += _not_modelled(state, snapshot, preemptor)
    notes += misread(state, snapshot)
    return replace(snapshot, notes=(*snapshot.notes, *notes)) if notes else snapshot


def refuse_overflow(snapshot: Snapshot, preemptor: Preemptor) -> None:
    """Refuse amounts that are so large that the release of Kueue would wrap around.

    No sum or difference of a decision exceeds all quotas, limits, usage and the request together.
    Quotas and requests below zero have wrapped around already.

    Raises `UnsupportedError` if there are such amounts.
    """
    rules = snapshot.configuration.rules
    if rules.saturates and rules.saturates_requests:
        return
    total, negative = Counter[str](), []
    for resource, amount, is_negative in _amounts(snapshot, preemptor):
        total[resource] += amount
        if is_negative:
            negative.append(resource)
    limit = inf if rules.saturates else MAX_INT64
    large = [resource for resource, amount in total.items() if amount >= limit]
    for resource in (*negative, *large):
        name = snapshot.configuration.release.name
        raise UnsupportedError(
            preemptor.key,
            f"amounts of {resource} are so large, or less than nothing, that Kueue {name} wraps "
            "around: what it decides can be replayed, and no optimum is given",
        )


def _amounts(snapshot: Snapshot, preemptor: Preemptor) -> Iterator[tuple[str, int, bool]]:
    """Yield resource and absolute value of all amounts, and whether the amount wrapped around.

    Usage may be below zero for another reason, too, which is looked at where the problem is made.
    """
    frs, clamps = snapshot.tree.frs, snapshot.configuration.rules.clamps_reclaimable
    for node in snapshot.tree.nodes:
        for fr, quota in node.quotas.items():
            limits = (quota.borrowing_limit or 0) + (quota.lending_limit or 0)
            is_negative = any(part is not None and part < 0 for part in quota)
            yield frs[fr].resource, abs(quota.nominal) + limits, is_negative
    for workload in chain.from_iterable(snapshot.admitted.values()):
        for fr, amount in workload.usage.items():
            yield frs[fr].resource, abs(amount), clamps and amount < 0
    for request in preemptor.pod_sets:
        for resource, amount in request.totals.items():
            yield resource, abs(amount), amount < 0 < request.count


def _not_modelled(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Iterator[str]:
    """Yield what this release does otherwise and is not modelled, where the state shows it."""
    rules, name = snapshot.configuration.rules, snapshot.configuration.release.name
    holding = (
        one
        for one in state.workloads.where(state.workloads.gone)
        if one.status.admission and one.is_true("QuotaReserved")
    )
    kept = None if rules.frees_finished else next(holding, None)
    if kept is not None:
        yield (
            f"{kept.key} is finished or deactivated and has not given its quota back: Kueue {name} "
            "still counts it, which is not modelled"
        )
    lost = None if rules.misses_local_queues else next(_without_local_queue(state, snapshot), None)
    if lost is not None:
        yield (
            f"the LocalQueue {lost.namespace}/{lost.local_queue} of {lost.key} is not there: where "
            f"past use orders workloads, Kueue {name} decides nothing until it is, which is not "
            "modelled"
        )
    given, gate = snapshot.configuration, "DynamicResourceAllocation"
    claims = any(one.pod_set.template.spec.resource_claims for one in preemptor.pod_sets)
    if claims and given.release.is_on(gate, given.feature_gates):
        yield (
            f"{preemptor.key} claims devices, which Kueue {name} counts with the gate {gate} on: "
            "that is not modelled"
        )


def _without_local_queue(state: State, snapshot: Snapshot) -> Iterator[Admitted]:
    """Yield holders in active ClusterQueues ordered by past use whose LocalQueue is missing."""
    there = {(one.metadata.namespace, one.metadata.name) for one in state.local_queues}
    for queue, holders in snapshot.admitted.items():
        if snapshot.is_active(queue) and snapshot.past_use.orders(snapshot.queues[queue]):
            for held in holders:
                if (held.namespace, held.local_queue) not in there:
                    yield held


def by_other_releases(case: Case, is_late: Callable[[], bool]) -> Iterator[str]:
    """Say which release decides otherwise, if one does and the dump does not name its own.

    It is looked for in small states only, and while there is time.
    """
    state, snapshot, preemptor = case.state, case.snapshot, case.preemptor
    known = snapshot.configuration.release_known_by != "assumed"
    if known or not case.is_small or is_late():
        return
    asked = snapshot.now, preemptor.key
    other = _LAST.recall(state, asked, lambda: _decides_otherwise(case))
    if other:
        yield (
            f"the release of Kueue is not known, and matters: {other} would decide otherwise "
            "than the newest, whose rules are used; give the release that it is"
        )


_LAST: Final = Kept[str]()
"""Which release decided otherwise last, by the clock and the preemptor."""


def _decides_otherwise(case: Case) -> str:
    """Return the newest release that decides otherwise than the newest of all; empty if none."""
    state, snapshot, preemptor = case.state, case.snapshot, case.preemptor
    if snapshot.topologies.looked_at:
        snapshot = build_snapshot(state, snapshot.now)  # of other releases only quota is known
    decided = snapshot is case.snapshot and case.fixed is None
    own = _in_words(case.decision if decided else decide(snapshot, preemptor))
    newest, *others = newest_first()
    devices = state.device_classes or state.resource_claim_templates
    alike = {"gates_variants": True} | ({} if devices else _OF_DEVICES)
    for release in others:
        if replace(release.rules, **alike) == newest.rules:
            continue  # it differs in whole cycles only, or in what the state does not have
        configuration = state.configuration.under(release, "assumed")
        changed = state.model_copy(update={"configuration": configuration})
        try:
            other = build_snapshot(changed, snapshot.now)
            found = _in_words(decide(other, find_preemptor(changed, other, preemptor.key)))
        # A release that refuses the state decides otherwise, too.
        except PlannerError:
            found = ()
        # One release is enough: what has to be said is that the release matters.
        if found != own:
            return release.name
    return ""


def _in_words(found: Decision) -> tuple[object, ...]:
    """Return a decision by names, which are the same in every snapshot."""
    return found.assignment, [(one.workload.key, one.reason) for one in found.search.targets]


_FIELDS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")


def misread(state: State, snapshot: Snapshot) -> Iterator[str]:
    """Say which quotas and limits are more than a release can count, and what it counts instead."""
    if not snapshot.tree.arithmetic.wraps:
        return
    units, name = snapshot.tree.arithmetic.quota, snapshot.configuration.release.name
    owners: list[ClusterQueue | Cohort] = [*state.cluster_queues, *state.cohorts]
    for owner in owners:
        for flavor, quota in owner.spec.quotas:
            written = quota.nominal_quota, quota.borrowing_limit, quota.lending_limit
            for field, nano in zip(_FIELDS, written, strict=True):
                if nano is None:
                    continue
                taken = units(nano, quota.name)
                # Both readings are right: its amount, and Unlimited.
                if taken not in {to_units(nano, quota.name), to_quota(nano, quota.name)}:
                    yield (
                        f"{type(owner).__name__} {owner.name} has {field} {format_quantity(nano)} "
                        f"of {quota.name} in flavor {flavor}: Kueue {name} cannot count so "
                        f"far, and takes it for {taken}"
                    )
