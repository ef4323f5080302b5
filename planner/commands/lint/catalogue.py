"""Every finding that there is: its code, its family, how bad it is, and its title.

Codes are stable: a code that is no longer found is not used again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from planner.commands.lint.record import Family, Severity


class Kind(NamedTuple):
    """A kind of finding."""

    code: str
    family: Family
    severity: Severity
    title: str


KINDS: Final[Mapping[str, Kind]] = {
    kind.code: kind
    for kind in (
        Kind("KL-01", "ping-pong", "warning", "borrower and lender evict each other"),
        Kind("KL-02", "ping-pong", "warning", "fair sharing lets queues evict each other"),
        Kind("KL-03", "impossible", "warning", "lent quota cannot be taken back"),
        Kind("KL-04", "impossible", "error", "borrowWithinCohort without reclaimWithinCohort"),
        Kind("KL-05", "impossible", "warning", "threshold below every priority"),
        Kind("KL-06", "impossible", "warning", "LowerPriority, but one priority only"),
        Kind("KL-07", "impossible", "warning", "nothing of its own to reclaim"),
        Kind("KL-08", "impossible", "warning", "an inactive queue keeps what it borrowed"),
        Kind("KL-09", "impossible", "warning", "weight 0 never preempts while borrowing"),
        Kind("KL-10", "impossible", "warning", "no quota within reach"),
        Kind("KL-11", "useless", "note", "cohort policies, but nobody else in the cohort"),
        Kind("KL-12", "useless", "note", "borrowWithinCohort under fair sharing"),
        Kind("KL-13", "useless", "note", "borrowWithinCohort, but it cannot borrow"),
        Kind("KL-14", "useless", "note", "reclaimWithinCohort, but nobody can borrow"),
        Kind("KL-15", "useless", "note", "threshold not below any priority"),
        Kind("KL-16", "useless", "note", "weights without fair sharing"),
        Kind("KL-17", "useless", "note", "fair sharing, but nobody reclaims"),
        Kind("KL-18", "useless", "note", "priority boost without its feature gate"),
        Kind("YL-01", "impossible", "warning", "nothing guaranteed, so it never preempts"),
        Kind("YL-02", "impossible", "warning", "preemption is switched off"),
        Kind("YL-03", "impossible", "warning", "a fence leaves no candidates"),
        Kind("YL-04", "impossible", "error", "guaranteed is more than max"),
        Kind("YL-05", "impossible", "warning", "more is guaranteed than the nodes have"),
        Kind("YL-06", "useless", "warning", "a name that begins with another loses protection"),
        Kind("YL-07", "useless", "warning", "a property that cannot be read"),
        Kind("YL-08", "useless", "note", "opting out is no protection"),
        Kind("YL-09", "useless", "note", "a quota preemption delay without the switch"),
    )
}
"""By code, in order."""
