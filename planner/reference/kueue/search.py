"""The preemption search that the configuration selects."""

from __future__ import annotations

from planner.reference.kueue.classical import search_classical
from planner.reference.kueue.context import Context
from planner.reference.kueue.fair_sharing import search_fair_sharing
from planner.reference.kueue.target import Search


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end."""
    if context.snapshot.configuration.fair_sharing_on:
        return search_fair_sharing(context)
    return search_classical(context)
