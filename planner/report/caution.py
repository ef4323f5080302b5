"""What a reader of a plan should be warned of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.plan import AnyPlan
from planner.report.text import clean, hours
from planner.scheduler import scheduler_of

LOST_WORK: Final = ("D4", "D5")
LOSES_MORE: Final = (
    "{preemptor}: {verb}ing these loses {ours} accelerator-hours of work, the scheduler's own "
    "choice {theirs}; --objective min-lost-work plans for the least"
)


def cautions(plan: AnyPlan) -> Iterator[str]:
    """Yield remarks about a plan: fewer victims may be the more expensive ones."""
    if not (plan.victims and plan.greedy and plan.greedy.victims):
        return
    if plan.greedy.outside_rules:  # then no other objective can offer it either
        return
    ours, theirs = (
        sum(terms.get(term, 0) for term in LOST_WORK) for terms in (plan.terms, plan.greedy.terms)
    )
    if ours > theirs:
        yield LOSES_MORE.format(
            preemptor=clean(plan.preemptor_name),
            verb=scheduler_of(plan).words.verb,
            ours=hours(ours),
            theirs=hours(theirs),
        )
