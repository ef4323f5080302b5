"""The lines of plain text that look the same for every scheduler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from planner.plan import AnyPlan, Certificate
from planner.report.contrast import contrast
from planner.report.proof import steps_in
from planner.report.text import clean, hours, moment, word
from planner.report.words import WORK_UNIT, TermRow, laws_held, outside_rules, term_rows
from planner.scheduler import scheduler_of

LABEL_WIDTH: Final = 16
_INNER_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def line(label: str, *facts: str) -> str:
    """Return a line: what it says, and facts that hold no spaces unless in quotes."""
    return f"{label:<{LABEL_WIDTH}} {' '.join(facts)}".rstrip()


def quoted(text: str) -> str:
    """Return a text for people made harmless, in double quotes."""
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def yes(condition: bool) -> str:  # noqa: FBT001 - the only argument
    """Return a condition as ``yes`` or ``no``."""
    return "yes" if condition else "no"


def heading(plan: AnyPlan, *asking: str) -> Iterator[str]:
    """Yield the answer and what was asked; ``asking`` are the lines on where the preemptor is."""
    yield line("preemptor", word(plan.preemptor))
    yield line("status", plan.status)
    yield line("explanation", " ".join(map(clean, plan.explanation.split("\n"))))
    yield from asking
    yield line("priority", str(plan.priority))
    yield line("scheduler", plan.scheduler)
    yield line("rules", word(plan.rules))
    yield line("objective", word(plan.objective))
    yield line("now", moment(plan.now))


def queue_line(plan: AnyPlan) -> str:
    """Return the queue that the preemptor waits in, under what its scheduler calls one."""
    label = _INNER_CAPITAL.sub("_", scheduler_of(plan).words.queue).lower()
    return line(label, word(plan.preemptor_queue))


def differences(plan: AnyPlan, greedy: AnyPlan) -> Iterator[str]:
    """Say how two victim sets differ, by their keys, and what the plan takes more of."""
    parts = contrast(plan, greedy)
    for kind, names in (
        ("common", parts.common),
        ("spared", parts.spared),
        ("instead", parts.instead),
    ):
        yield from (line(kind, word(name)) for name in names)
    for one in plan.more_than_greedy:
        facts = [f"plan={one.plan}", f"{plan.scheduler}={one.greedy}"]
        facts += [] if one.priority is None else [f"priority={one.priority}"]
        yield line("more", one.measure, *facts)


def outside(label: str, plan: AnyPlan) -> Iterator[str]:
    """Say which laws the scheduler's own plan does not keep, each by its id and in words."""
    yield from (line(label, word(law), quoted(said)) for law, said in outside_rules(plan))


def terms(plan: AnyPlan) -> Iterator[str]:
    """Return every term of the plan, and of the scheduler's own, the levels first."""
    return term_lines(term_rows(plan), plan.scheduler)


def term_lines(rows: Iterable[TermRow], scheduler: str) -> Iterator[str]:
    """Yield a line for each row of terms; ``scheduler`` names whose values stand beside them."""
    for row in rows:
        facts = [f"plan={row.value}"]
        if row.greedy is not None:
            facts.append(f"{scheduler}={row.greedy}")
        if row.level is not None:
            facts += [f"level={row.level}", f"bound={row.bound}", f"proof={row.proof or 'none'}"]
        if row.unit == WORK_UNIT:
            facts.append(f"accelerator_hours={hours(row.value).replace(',', '')}")
        yield line(
            "term", word(row.id), *facts, f"unit={quoted(row.unit)}", f"title={quoted(row.title)}"
        )


def certificate_of(plan: AnyPlan, certificate: Certificate) -> Iterator[str]:
    """Yield why the answer may be believed: bounds, verdicts, and a summary."""
    held, checked = laws_held(plan)
    closed = sum(level.value == level.bound for level in certificate.levels)
    for bound in certificate.bounds:
        yield line("solver_free", word(bound.term), f"bound={bound.bound}", quoted(bound.statement))
    for one in certificate.sums:
        facts = f"bound={one.bound}", f"rows={len(one.rows)}", f"needed={one.needed}"
        yield line("sum", word(one.term), *facts, f"reached={one.reached}", quoted(one.statement))
    for verdict in certificate.verdicts:
        detail = [quoted(verdict.detail)] if verdict.detail else []
        yield line("law", word(verdict.law), f"holds={yes(verdict.holds)}", *detail)
    yield line("removal_order", *(word(name) for name in certificate.removal_order))
    yield line(
        "certificate",
        plan.status,
        f"levels={closed}/{len(certificate.levels)}",
        f"certified={sum(level.proof == 'certified' for level in certificate.levels)}",
        f"by_hand={certificate.shown.by_hand}",
        f"steps={steps_in(certificate)}",
        f"ties={certificate.ties or 'none'}",
        *([f"corrected={certificate.corrected}"] if certificate.corrected else []),
        f"laws={held}/{checked}",
        *([f"cut_off={certificate.cut_off}"] if certificate.cut_off else []),
        f"seconds={certificate.wall_time_s:.3f}",
        f"seed={certificate.seed}",
        f"solver={quoted(certificate.solver)}",
        f"digest={word(certificate.digest)}",
    )
