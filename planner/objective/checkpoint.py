"""What workloads are taken to lose that publish no checkpoint: by default all since they started.

Counting it that way rewards who publishes nothing: on paper more is lost, so others are evicted
first. By the rule of the median, which an objective may ask for, their last checkpoint is taken to
be as old as the median of those that are published, or the workload itself if that is younger.

Source: docs/design/objectives.md §6; kueue#477.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from planner.objective.annotation import Disruption
from planner.objective.terms import TermTable, work
from planner.problem.array import IntArray


def by_median(table: TermTable) -> TermTable:
    """Return terms with D4 by the rule of the median; the same where nobody publishes.

    The median is that of all workloads of the table that publish a checkpoint: for Kueue those
    that hold quota in active ClusterQueues of the preemptor's tree.
    """
    median = median_age(one.checkpoint_s for one in table.disruptions)
    if median is None:
        return table
    disruptions = [_at_most(one, median) for one in table.disruptions]
    return replace(
        table,
        disruptions=disruptions,
        separable={**table.separable, "D4": _lost_work(table, disruptions)},
    )


def with_saving(table: TermTable) -> TermTable:
    """Return terms with D4 in which the time of saving on SIGTERM is lost work, too.

    Saving takes as long as is told, and never more than what would be lost without it.
    """
    disruptions = [told._replace(lost_s=told.unproductive_s) for told in table.disruptions]
    return replace(table, separable={**table.separable, "D4": _lost_work(table, disruptions)})


def median_age(ages: Iterable[int | None]) -> int | None:
    """Return the median of ages in seconds, ``None`` standing for none; ``None`` of no ages.

    Of an even number it is the mean of the two in the middle, rounded up.
    """
    known = sorted(age for age in ages if age is not None)
    if not known:
        return None
    below, above = known[(len(known) - 1) // 2], known[len(known) // 2]
    return -(-(below + above) // 2)


def _at_most(told: Disruption, median: int) -> Disruption:
    return told._replace(lost_s=min(told.lost_s, median)) if told.silent else told


def _lost_work(table: TermTable, disruptions: Sequence[Disruption]) -> IntArray:
    lost = [
        0 if evicted else work(size, told.lost_s)
        for size, evicted, told in zip(
            table.size.tolist(), table.evicted.tolist(), disruptions, strict=True
        )
    ]
    return np.array(lost, dtype=np.int64)
