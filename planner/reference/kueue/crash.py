"""Where Kueue crashes instead of deciding.

Source: docs/semantics/kueue-releases.md §2.1, 6; docs/semantics/kueue-topology.md §10.1.
"""

from __future__ import annotations

from planner.errors import UnsupportedError
from planner.quota.kueue.snapshot import Preemptor, Snapshot


class Crash(UnsupportedError):  # noqa: N818 - reads as a statement where it is raised
    """The scheduler panics on the state, and decides nothing."""


class ReleaseCrash(Crash):
    """The scheduler of this release panics on the state, and decides nothing."""

    def __init__(self, snapshot: Snapshot, preemptor: Preemptor) -> None:
        super().__init__(
            preemptor.key,
            f"Kueue {snapshot.configuration.release.name} crashes here: with fair sharing it "
            f"looks for more victims than ClusterQueue {snapshot.queue_name(preemptor.queue)} "
            "has, which is in no cohort",
            "Kueue 0.18.0 or later, or a cohort",
        )


class PlacementCrash(Crash):
    """Balanced placement divides by zero where fewer pods than one slice are asked for."""

    def __init__(self, workload: str, pod_set: str) -> None:
        super().__init__(
            workload,
            f"Kueue crashes here: podset {pod_set} has fewer pods than one slice, and balanced "
            "placement divides by their number of slices",
            "the gate TASBalancedPlacement off, or a smaller slice",
        )
