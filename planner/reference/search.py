"""The preemption search that the configuration selects."""

from __future__ import annotations

from planner.errors import UnsupportedError
from planner.reference.classical import Search, search_classical
from planner.reference.context import Context


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end.

    Raises
    ------
    UnsupportedError
        If the Configuration turns fair sharing on.
    """
    if context.snapshot.configuration.fair_sharing_on:
        raise UnsupportedError(
            "Configuration.fairSharing",
            "fair sharing is on, and this version plans classical preemption only",
        )
    return search_classical(context)
