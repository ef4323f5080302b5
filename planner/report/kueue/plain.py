"""A plan for a pending workload of Kueue as lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator

from planner.plan import Demand, NodeShare, Plan
from planner.quantity import format_units
from planner.report.kueue import flavors, stability
from planner.report.kueue.words import law_behind
from planner.report.plain_lines import (
    certificate_of,
    differences,
    heading,
    line,
    outside,
    terms,
    yes,
)
from planner.report.text import word


def lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of a plan."""
    yield from heading(plan, *asking(plan))
    if plan.kep83 is not None:
        yield line("options", word(plan.kep83.text))
    yield line("borrowing", _borrowing(plan))
    yield from (_demand(demand) for demand in plan.demand)
    if plan.flavors is not None:
        yield from flavors.lines(plan, plan.flavors)
    yield line("victims", str(len(plan.victims)))
    yield from _victims("victim", plan)
    if plan.stability is not None:
        yield from stability.lines(plan.stability)
    if plan.greedy is not None:
        yield from _greedy(plan, plan.greedy)
    if plan.greedy is None:
        yield from outside("outside_rules", plan)
    yield from terms(plan)
    yield from (_share(share) for share in plan.shares)
    if plan.certificate is not None:
        yield from certificate_of(plan, plan.certificate)


def asking(plan: Plan) -> Iterator[str]:
    """Yield the lines on where the preemptor is."""
    yield line("cluster_queue", word(plan.cluster_queue))
    if plan.kueue is not None and plan.kueue.known_by != "assumed":
        yield line("kueue", word(plan.kueue.release), f"known_by={plan.kueue.known_by}")


def _borrowing(plan: Plan) -> str:
    """Say whether the plan belongs to an attempt with borrowing, or to none."""
    return "none" if plan.borrowing is None else yes(plan.borrowing)


def _demand(demand: Demand) -> str:
    amounts = {
        "requested": demand.requested,
        "available": demand.available,
        "short": demand.shortfall,
    }
    return line(
        "demand",
        f"{word(demand.flavor)}/{word(demand.resource)}",
        *(f"{name}={format_units(units, demand.resource)}" for name, units in amounts.items()),
        f"contested={yes(demand.contested)}",
    )


def _victims(label: str, plan: Plan) -> Iterator[str]:
    for position, victim in enumerate(plan.victims, start=1):
        law = law_behind(plan, victim.reason)
        yield line(
            label,
            str(position),
            word(victim.workload),
            f"cluster_queue={word(victim.cluster_queue)}",
            f"priority={victim.priority}",
            f"reason={word(victim.reason)}",
            f"law={law.id if law else 'unknown'}",
            f"age_s={victim.age_s}",
            f"evicting={yes(victim.evicted)}",
            f"position={victim.position}",
            *(
                f"use={word(amount.flavor)}/{word(amount.resource)}={word(amount.quantity)}"
                for amount in victim.usage
            ),
            *(f"{word(term)}={value}" for term, value in victim.costs.items()),
        )


def _greedy(plan: Plan, greedy: Plan) -> Iterator[str]:
    """List the scheduler's own victims, and how the two sets differ."""
    label = f"{plan.scheduler}_victim"
    yield line(f"{label}s", str(len(greedy.victims)))
    yield line(f"{plan.scheduler}_borrowing", _borrowing(greedy))
    yield from _victims(label, greedy)
    yield from outside(f"{plan.scheduler}_outside_rules", greedy)
    yield from differences(plan, greedy)


def _share(share: NodeShare) -> str:
    return line(
        "share",
        word(share.name),
        f"kind={share.kind}",
        f"weight={share.weight:g}",
        f"before={share.before:g}",
        f"with_preemptor={share.with_preemptor:g}",
        f"after={share.after:g}",
    )
