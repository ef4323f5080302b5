"""The old slice that a slice of an elastic workload replaces; its usage need not be asked for.

Source: docs/semantics/kueue-features.md §2; kueue ff69552e
pkg/workloadslicing/workloadslicing.go ``ReplacedWorkloadSlice``, ``FindReplacedSliceTarget`` and
pkg/scheduler/flavorassigner/flavorassigner.go ``TotalRequestsFor``, ``append``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from planner.errors import UnsupportedError
from planner.quota.kueue.amount import Arithmetic
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.holding import PodSetHolding, pod_set_holdings
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.state.kueue import Configuration, State, Workload

REPLACEMENT_FOR: Final = "kueue.x-k8s.io/workload-slice-replacement-for"
_GATE: Final = "ElasticJobsViaWorkloadSlices"


def names_replaced(workload: Workload, configuration: Configuration) -> str:
    """Return the key of the slice a workload says it replaces; empty if none or the gate is off."""
    if not configuration.gate(_GATE):
        return ""
    return workload.metadata.annotations.get(REPLACEMENT_FOR, "")


def as_in_kep83(state: State) -> State:
    """Return a state as KEP-83 knows it: both kinds of fair sharing, and slices, came later.

    No workload of it replaces another.
    """
    configuration = state.configuration
    newer = {
        "feature_gates": {**configuration.feature_gates, _GATE: False},
        "fair_sharing": None,
        "admission_fair_sharing": None,
    }
    edited = configuration.model_copy(update=newer)
    return state.model_copy(update={"configuration": edited})


class Replaced(NamedTuple):
    """An old slice with what it holds by podset; ``replacement`` is the key of the new slice."""

    slice: Admitted
    replacement: str
    pod_sets: Sequence[PodSetHolding]
    arithmetic: Arithmetic

    def at(self, place: int) -> PodSetHolding:
        """Return what the podset at a place of the spec holds: place, not name, matches podsets.

        Raises ``UnsupportedError`` if the old slice has fewer podsets.
        """
        if place < len(self.pod_sets):
            return self.pod_sets[place]
        raise UnsupportedError(
            self.replacement,
            f"it replaces {self.slice.key}, which holds {len(self.pod_sets)} podsets only: Kueue "
            "itself crashes on that",
        )

    def named(self, name: str, resource: str) -> int:
        """Return how much of a resource the first podset of a name holds."""
        return next((one.amounts.get(resource, 0) for one in self.pod_sets if one.name == name), 0)

    def beyond(self, places: Sequence[int], resource: str, amount: int) -> int:
        """Return an amount less what the old podsets at these places hold; it may be negative."""
        for place in places:
            held = self.at(place).amounts.get(resource, 0)
            amount = self.arithmetic.subtract(amount, held)
        return amount


def replaced_by(snapshot: Snapshot, preemptor: Preemptor) -> Replaced | None:
    """Return the slice that a pending workload replaces; ``None`` if it is an ordinary workload.

    The slice has to hold quota in the same ClusterQueue, and be of the same namespace, which older
    releases do not ask for (switch 31 of planner/state/kueue_release.py).
    """
    old = replaced_slice(snapshot, preemptor.queue, preemptor.workload)
    if old is None:
        return None
    holdings = pod_set_holdings(old.workload, snapshot.configuration)
    return Replaced(old, preemptor.key, holdings, snapshot.tree.arithmetic)


def replaced_slice(snapshot: Snapshot, queue: int, workload: Workload) -> Admitted | None:
    """Return the holder in a ClusterQueue that a workload of that queue replaces, if any."""
    key = names_replaced(workload, snapshot.configuration)
    anywhere = not snapshot.configuration.rules.replaces_in_own_namespace
    for one in snapshot.admitted.get(queue, ()) if key else ():
        if one.key == key and (anywhere or one.namespace == workload.metadata.namespace):
            return one
    return None
