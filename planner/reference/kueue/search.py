"""The preemption search that the configuration selects, and its candidates."""

from __future__ import annotations

from planner.quota.kueue.snapshot import Admitted
from planner.reference.kueue.candidates import collect_candidates
from planner.reference.kueue.classical import search_classical
from planner.reference.kueue.context import Context
from planner.reference.kueue.fair_sharing import fair_candidates, search_fair_sharing
from planner.reference.kueue.target import Search


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end."""
    if context.snapshot.configuration.fair_sharing_on:
        return search_fair_sharing(context)
    return search_classical(context)


def candidates(context: Context) -> list[Admitted]:
    """Return who may be preempted at all, as the rules see each workload before the search."""
    if context.snapshot.configuration.fair_sharing_on:
        return list(fair_candidates(context))
    return list(collect_candidates(context).ordered)
