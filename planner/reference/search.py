"""The preemption search that the configuration selects."""

from __future__ import annotations

from planner.reference.classical import search_classical
from planner.reference.context import Context
from planner.reference.fair_sharing import search_fair_sharing
from planner.reference.target import Search


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end."""
    if context.snapshot.configuration.fair_sharing_on:
        return search_fair_sharing(context)
    return search_classical(context)
