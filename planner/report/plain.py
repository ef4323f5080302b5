"""A plan as lines of plain text: one fact a line, made to be read by grep, awk and cut.

The first word of a line says what it is; records go on with ``key=value``. Names are escaped so
that none holds a space or a quote; texts for people stand in double quotes, or at the end of
lines that hold nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.plan import Certificate, Demand, NodeShare, Plan
from planner.quantity import format_units
from planner.report.contrast import contrast
from planner.report.text import clean, hours, moment, word
from planner.report.words import WORK_UNIT, law_behind, laws_held, outside_rules, term_rows

LABEL_WIDTH: Final = 16
SEPARATOR: Final = "\n"


def render(plan: Plan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as lines; they are never wrapped or coloured, whatever is asked for."""
    del width, color
    return "".join(f"{line}\n" for line in _lines(plan))


def render_all(plans: Sequence[Plan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans with an empty line between them."""
    return SEPARATOR.join(render(plan, width=width, color=color) for plan in plans)


def _lines(plan: Plan) -> Iterator[str]:
    yield _line("preemptor", word(plan.preemptor))
    yield _line("status", plan.status)
    yield _line("explanation", " ".join(map(clean, plan.explanation.split("\n"))))
    yield _line("cluster_queue", word(plan.cluster_queue))
    yield _line("priority", str(plan.priority))
    yield _line("scheduler", plan.scheduler)
    yield _line("rules", word(plan.rules))
    yield _line("objective", word(plan.objective))
    yield _line("now", moment(plan.now))
    yield _line("borrowing", _borrowing(plan))
    yield from (_demand(demand) for demand in plan.demand)
    yield _line("victims", str(len(plan.victims)))
    yield from _victims("victim", plan)
    if plan.greedy is not None:
        yield from _greedy(plan, plan.greedy)
    if plan.greedy is None:
        yield from _outside("outside_rules", plan)
    yield from _terms(plan)
    yield from (_share(share) for share in plan.shares)
    if plan.certificate is not None:
        yield from _certificate(plan, plan.certificate)


def _line(label: str, *facts: str) -> str:
    return f"{label:<{LABEL_WIDTH}} {' '.join(facts)}".rstrip()


def _quoted(text: str) -> str:
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _yes(condition: bool) -> str:  # noqa: FBT001 - the only argument
    return "yes" if condition else "no"


def _borrowing(plan: Plan) -> str:
    """Say whether the plan belongs to an attempt with borrowing, or to none."""
    return "none" if plan.borrowing is None else _yes(plan.borrowing)


def _demand(demand: Demand) -> str:
    amounts = {
        "requested": demand.requested,
        "available": demand.available,
        "short": demand.shortfall,
    }
    return _line(
        "demand",
        f"{word(demand.flavor)}/{word(demand.resource)}",
        *(f"{name}={format_units(units, demand.resource)}" for name, units in amounts.items()),
        f"contested={_yes(demand.contested)}",
    )


def _victims(label: str, plan: Plan) -> Iterator[str]:
    for position, victim in enumerate(plan.victims, start=1):
        law = law_behind(plan, victim.reason)
        yield _line(
            label,
            str(position),
            word(victim.workload),
            f"cluster_queue={word(victim.cluster_queue)}",
            f"priority={victim.priority}",
            f"reason={word(victim.reason)}",
            f"law={law.id if law else 'unknown'}",
            f"age_s={victim.age_s}",
            f"evicting={_yes(victim.evicted)}",
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
    yield _line(f"{label}s", str(len(greedy.victims)))
    yield _line(f"{plan.scheduler}_borrowing", _borrowing(greedy))
    yield from _victims(label, greedy)
    yield from _outside(f"{plan.scheduler}_outside_rules", greedy)
    parts = contrast(plan, greedy)
    for kind, names in (
        ("common", parts.common),
        ("spared", parts.spared),
        ("instead", parts.instead),
    ):
        yield from (_line(kind, word(name)) for name in names)


def _outside(label: str, plan: Plan) -> Iterator[str]:
    """Say which laws the scheduler's own plan does not keep, each by its id and in words."""
    yield from (_line(label, word(law), _quoted(said)) for law, said in outside_rules(plan))


def _terms(plan: Plan) -> Iterator[str]:
    for row in term_rows(plan):
        facts = [f"plan={row.value}"]
        if row.greedy is not None:
            facts.append(f"{plan.scheduler}={row.greedy}")
        if row.level is not None:
            facts += [f"level={row.level}", f"bound={row.bound}"]
        if row.unit == WORK_UNIT:
            facts.append(f"gpu_hours={hours(row.value).replace(',', '')}")
        yield _line(
            "term", word(row.id), *facts, f"unit={_quoted(row.unit)}", f"title={_quoted(row.title)}"
        )


def _share(share: NodeShare) -> str:
    return _line(
        "share",
        word(share.name),
        f"kind={share.kind}",
        f"weight={share.weight:g}",
        f"before={share.before:g}",
        f"with_preemptor={share.with_preemptor:g}",
        f"after={share.after:g}",
    )


def _certificate(plan: Plan, certificate: Certificate) -> Iterator[str]:
    held, checked = laws_held(plan)
    closed = sum(level.value == level.bound for level in certificate.levels)
    for bound in certificate.bounds:
        yield _line(
            "solver_free", word(bound.term), f"bound={bound.bound}", _quoted(bound.statement)
        )
    for verdict in certificate.verdicts:
        detail = [_quoted(verdict.detail)] if verdict.detail else []
        yield _line("law", word(verdict.law), f"holds={_yes(verdict.holds)}", *detail)
    yield _line("removal_order", *(word(name) for name in certificate.removal_order))
    yield _line(
        "certificate",
        plan.status,
        f"levels={closed}/{len(certificate.levels)}",
        f"laws={held}/{checked}",
        *([f"cut_off={certificate.cut_off}"] if certificate.cut_off else []),
        f"seconds={certificate.wall_time_s:.3f}",
        f"seed={certificate.seed}",
        f"solver={_quoted(certificate.solver)}",
        f"digest={word(certificate.digest)}",
    )
