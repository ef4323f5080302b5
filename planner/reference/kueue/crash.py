"""Where a release of Kueue crashes instead of deciding.

Source: docs/semantics/kueue-releases.md §2.1, 6.
"""

from __future__ import annotations

from planner.errors import UnsupportedError
from planner.quota.snapshot import Preemptor, Snapshot


class ReleaseCrash(UnsupportedError):  # noqa: N818 - reads as a statement where it is raised
    """The scheduler of this release panics on the state, and decides nothing."""

    def __init__(self, snapshot: Snapshot, preemptor: Preemptor) -> None:
        super().__init__(
            preemptor.key,
            f"Kueue {snapshot.configuration.release.name} crashes here: with fair sharing it "
            f"looks for more victims than ClusterQueue {snapshot.queue_name(preemptor.queue)} "
            "has, which is in no cohort",
            "Kueue 0.18.0 or later, or a cohort",
        )
