"""The laws of the rule set ``topology``: KT-01 and KT-02, where pods are placed on nodes.

They come on top of Kueue's others: KQ-01 to KQ-08, or FS-01 to FS-07 under fair sharing.
"""

from __future__ import annotations

from typing import Final

from planner.laws.law import Law

_BESIDE: Final = ("kueue-classical", "kueue-fair")

KT_ROOM: Final = Law(
    "KT-01",
    "room",
    "there is room on the nodes",
    "After all victims are gone, the nodes of the flavor have room for the pods: slots on leaves "
    "that may take them, whole slices in one domain of their level, and all of them in one domain "
    "where a level is required, with the pod of the leader. Of several podsets or groups each "
    "has room by itself, and all of them together.",
    "kueue ff69552e pkg/cache/scheduler/tas_flavor_snapshot.go fillInCounts, "
    "findLevelWithFitDomains; docs/semantics/kueue-topology.md §4.1 and §7",
    rule_sets=("topology",),
    beside=_BESIDE,
    drop=9,
)
KT_PLACEMENT: Final = Law(
    "KT-02",
    "placement",
    "Kueue's own placement succeeds",
    "After all victims are gone, Kueue's own placement finds a place for every podset, one after "
    "the other: the first takes its best place without regard for the others. Not asked where "
    "pods may be placed at will.",
    "kueue ff69552e pkg/cache/scheduler/tas_flavor_snapshot.go findTopologyAssignment, "
    "FindTopologyAssignmentsForFlavor; docs/semantics/kueue-topology.md §4, §5 and §8",
    rule_sets=("topology",),
    beside=_BESIDE,
    no_model="it is a procedure, and not monotone: of what the model admits the verifier replays "
    "it, and where it fails every set that leaves the same on the nodes is cut off",
)

LAWS: Final = (KT_ROOM, KT_PLACEMENT)
