"""The preemption search that the configuration selects."""

from __future__ import annotations

from collections.abc import Mapping

from planner.errors import UnsupportedError
from planner.quota.snapshot import Preemptor, Snapshot
from planner.quota.tree import Usage
from planner.reference.classical import Search, search_classical


def search(
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    request: Mapping[int, int],
    contested: frozenset[int],
) -> Search:
    """Find the targets Kueue would preempt; ``usage`` is restored at the end.

    Raises
    ------
    UnsupportedError
        If the Configuration turns fair sharing on.
    """
    if snapshot.configuration.fair_sharing_on:
        raise UnsupportedError(
            "Configuration.fairSharing",
            "fair sharing is on, and this version plans classical preemption only",
        )
    return search_classical(snapshot, usage, preemptor, request, contested)
