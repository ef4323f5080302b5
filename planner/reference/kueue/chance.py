"""What Kueue leaves to chance, and where it crashes instead of deciding.

Where past use makes circles, the order of candidates is open: the result of a sort by a relation
that is not transitive depends on the order in which a map of Go is walked, which is random. So is
which of two cohorts of equal shares fair sharing looks at first.

Source: docs/semantics/kueue.md §6.4; docs/semantics/kueue-features.md §3.4;
docs/semantics/kueue-releases.md §2.1, 6; docs/semantics/kueue-topology.md §10.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from random import Random
from typing import Final

from planner.errors import UnsupportedError
from planner.quota.kueue.past_use import Contest
from planner.quota.kueue.snapshot import Preemptor, Snapshot

INSERTED = 12
"""Go sorts up to this many elements by insertion; more by a method that is not imitated."""


# Reasons for which a decision is not determined, as notes on a plan name them.
CIRCLES: Final = "the order of candidates by past use has circles"
EQUAL_COHORTS: Final = "which of several cohorts of equal shares comes first is random"
ANY_PODSET: Final = "which podset of a group counts as failed on the nodes is random"


class Chance:
    """One possible run of the scheduler: ``seed`` says which; without one, the run that is shown.

    ``left_open`` are the reasons for which Kueue could have come to another decision.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random = None if seed is None else Random(seed)  # noqa: S311 - orders, not secrets
        self.left_open: set[str] = set()

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The reasons for which the run that is shown is not the only one; none with a seed."""
        return tuple(sorted(self.left_open)) if self._random is None else ()

    def pick(self, names: Sequence[str]) -> str:
        """Return one of the names, of which Kueue takes any; without a seed, the first."""
        if len(names) > 1:
            self.left_open.add(ANY_PODSET)
            if self._random is not None:
                return self._random.choice(names)
        return names[0]

    def among(self, cohorts: Sequence[int]) -> int:
        """Return one of equal cohorts, of which Kueue takes any; without a seed, the last."""
        if len(cohorts) > 1:
            self.left_open.add(EQUAL_COHORTS)
            if self._random is not None:
                return self._random.choice(cohorts)
        return cohorts[-1]

    def arrange(self, contest: Contest) -> list[int]:
        """Return positions in the order in which Kueue would sort the contenders."""
        if contest.is_total:
            return contest.order()
        self.left_open.add(CIRCLES)
        if self._random is None:
            return contest.order()
        start = list(range(len(contest.contenders)))
        self._random.shuffle(start)
        if len(start) <= INSERTED:
            return contest.sorted_from(start)

        def compare(a: int, b: int) -> int:
            return -1 if contest.contenders[a].precedes(contest.contenders[b]) else 1

        return sorted(start, key=cmp_to_key(compare))


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
    """The scheduler panics while it places pods on nodes."""
