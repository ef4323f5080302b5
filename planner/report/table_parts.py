"""The parts of a screen that look the same for every scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import AnyPlan, Certificate
from planner.report.contrast import contrast, if_ever
from planner.report.paper import Cell, Column, grid, table_of
from planner.report.proof import proof_in_words
from planner.report.text import clean, clean_lines, decimal, hours, moment, plural, short
from planner.report.words import (
    SIZE_UNIT,
    SIZES_PER_ACCELERATOR,
    WORK_HOURS,
    WORK_UNIT,
    TermRow,
    by_hand_in_words,
    laws_held,
    main_bound,
    more_than_greedy,
    outside_rules,
    rules_name,
    scheduler_name,
    term_rows,
    victim_names,
)
from planner.scheduler import scheduler_of

MAX_NAMES: Final = 20
SHORT_DIGEST: Final = 16

ANSWERS: Final = {
    "optimal": ("PROVED OPTIMAL", "bold green"),
    "feasible": ("LEGAL, NOT PROVED OPTIMAL", "bold yellow"),
    "infeasible": ("PROVED INFEASIBLE", "bold red"),
    "unknown": ("UNKNOWN", "bold yellow"),
}
NOTHING: Final = "-"
RARELY_SHOWN: Final = frozenset(
    {"D2p", "D6", "D8t", "D9", "D10", "D12", "pdb", "prio", "toll", "time", "early", "rated"}
)
"""Terms that a table leaves out unless the objective minimises them; the other formats have all."""
NAMES_CUT: Final = "... {count:,} more, use --format json"
SAME: Final = "{scheduler} itself would {verb} the same {theirs}."
DIFFERENT: Final = "{scheduler} itself would {verb} {theirs}, this plan {ours}:"
NO_GREEDY: Final = "{scheduler} itself finds nobody to {verb} here."
BOTH, SPARED, INSTEAD = "in both", "spared", "only in this plan"
CUT_OFF: Final = "{sets} of victims that the model permits and {judge} not"
CLOSED: Final = "value = bound on {closed} of {levels}"


class Costly(Protocol):
    """A victim by what it loses: its contributions to the terms."""

    @property
    def costs(self) -> Mapping[str, int]:
        """The value of every term."""
        ...


AnyVictim = TypeVar("AnyVictim", bound=Costly)


def header(plan: AnyPlan, asking: Iterable[tuple[str, Cell]]) -> Table:
    """Return who is asking, under which rules, and the answer in words."""
    answer, style = ANSWERS[plan.status]
    at = f"{scheduler_name(plan)}, {rules_name(plan)}   at {moment(plan.now)}"
    table = grid(
        [
            *asking,
            ("Scheduler", at),
            ("Objective", clean(plan.objective)),
            ("Answer", Text(answer, style)),
        ]
    )
    if plan.explanation:
        table.add_row("", Text(clean_lines(plan.explanation)))
    return table


def best_fit(tables: Sequence[Table], width: int) -> Table:
    """Return the first table that is not too wide, or else the last one."""
    return next((table for table in tables if (table.min_width or 0) < width), tables[-1])


def lost_columns(plan: AnyPlan, victims: Sequence[AnyVictim]) -> list[Column[AnyVictim]]:
    """Return what victims lose: work, and the user's own cost where that is the objective."""
    columns = [_cost_column("Lost acc-h", victims, "D4", hours)]
    if "cost" in plan.objective:
        columns.append(_cost_column("Cost", victims, "cost", "{:,}".format))
    return columns


def _cost_column(
    title: str, victims: Sequence[AnyVictim], term: str, show: Callable[[int], str]
) -> Column[AnyVictim]:
    total = sum(victim.costs.get(term, 0) for victim in victims)
    return Column(title, lambda victim: show(victim.costs.get(term, 0)), show(total), number=True)


def beside_greedy(plan: AnyPlan, greedy: AnyPlan, aside: str = "") -> RenderableType:
    """Say whom the scheduler itself would take: in common, in addition, instead.

    ``aside`` says what else is particular about its plan where it is another; it may be empty.
    """
    called = scheduler_of(plan).words
    words = {"scheduler": scheduler_name(plan), "verb": called.verb}
    if not greedy.victims:
        said = greedy.explanation
        known = not said or said == plan.explanation
        return Text(NO_GREEDY.format(**words) if known else clean_lines(said))
    parts = contrast(plan, greedy)
    theirs = plural(len(greedy.victims), called.noun)
    if not parts.spared and not parts.instead:
        return Text(if_ever(greedy) + SAME.format(theirs=theirs, **words))
    names = victim_names(greedy) | victim_names(plan)
    lists = (
        (BOTH, parts.common, ""),
        (SPARED, parts.spared, "green"),
        (INSTEAD, parts.instead, "yellow"),
    )
    facts = [(f"  {label}", listed(keys, names, style)) for label, keys, style in lists if keys]
    title = DIFFERENT.format(
        theirs=f"{theirs} ({aside})" if aside else theirs, ours=len(plan.victims), **words
    )
    more = more_than_greedy(plan)
    extra = [Text(more, "yellow")] if more else []
    return Group(Text(if_ever(greedy) + title), grid(facts), *extra)


def listed(keys: Sequence[str], names: Mapping[str, str], style: str) -> Text:
    """Return victims by their names, cut where there are too many."""
    text = Text(", ".join(short(names[key]) for key in keys[:MAX_NAMES]), style)
    if len(keys) > MAX_NAMES:
        text.append(f" {NAMES_CUT.format(count=len(keys) - MAX_NAMES)}", "dim")
    return text


def broken_rules(plan: AnyPlan) -> Iterable[RenderableType]:
    """Say which laws the scheduler's own answer does not keep, if there are any."""
    if outside := outside_rules(plan.greedy or plan):
        yield Text("\n".join(clean(said) for _, said in outside), "yellow")


def disruption(plan: AnyPlan) -> Iterable[RenderableType]:
    """Return both disruption vectors side by side, the levels of the objective first."""
    rows = [row for row in term_rows(plan) if row.level or row.id not in RARELY_SHOWN]
    if not (rows and (plan.victims or (plan.greedy and plan.greedy.victims))):
        return
    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: Text(clean(row.id))),
        Column("Disruption", lambda row: Text(clean(row.title)), folds=True),
        Column("This plan", lambda row: in_units(row, row.value), number=True),
    ]
    if any(row.greedy is not None for row in rows):
        columns.append(
            Column(scheduler_name(plan), lambda row: in_units(row, row.greedy), number=True)
        )
    if any(row.bound is not None for row in rows):
        columns.append(Column("Bound", lambda row: in_units(row, row.bound), number=True))
    columns.append(Column("Unit", unit_in_words))
    yield table_of(columns, rows)


def in_units(row: TermRow, value: int | None) -> Text:
    """Return a value of a measure, and under it the number that people think in."""
    return Text(NOTHING) if value is None else value_in(row.unit, value)


def value_in(unit: str, value: int) -> Text:
    """Return the exact number, and under it the one that people think in."""
    if unit == WORK_UNIT:
        return Text(f"{value:,}\n{hours(value)}")
    if unit == SIZE_UNIT:
        return Text(f"{value:,}\n{decimal(value / SIZES_PER_ACCELERATOR)}")
    return Text(f"{value:,}")


def unit_in_words(row: TermRow) -> Text:
    """Return the unit of a measure, and under it the one that people think in."""
    return Text("\n".join(units_of(row.unit)))


def units_of(unit: str) -> tuple[str, ...]:
    """Return the units of what `value_in` shows, line by line."""
    second = {WORK_UNIT: (WORK_HOURS,), SIZE_UNIT: ("accelerators",)}
    return (clean(unit), *second.get(unit, ()))


def certificate_of(plan: AnyPlan, certificate: Certificate) -> Table:
    """Return why the answer may be believed, in a few lines."""
    levels = certificate.levels
    closed = sum(level.value == level.bound for level in levels)
    held, checked = laws_held(plan)
    facts = [
        plan.status,
        CLOSED.format(closed=closed, levels=plural(len(levels), "level")) if levels else "",
        plan.attempt,
        f"laws {held}/{checked} hold" if checked else "",
        f"{certificate.wall_time_s:.2f} s",
    ]
    table = grid([("CERTIFICATE", Text("   ".join(part for part in facts if part)))])
    if proof := proof_in_words(certificate):
        table.add_row("Proof", Text(clean(proof)))
    if said := by_hand_in_words(certificate):
        table.add_row("By hand", Text(said))
    for verdict in certificate.verdicts:
        if not verdict.holds:
            text = f"{clean(verdict.law)} {clean(verdict.title)}: {clean(verdict.detail)}"
            table.add_row("Broken law", Text(text, "bold red"))
    if (bound := main_bound(certificate)) is not None:
        table.add_row("Solver-free", Text(clean_lines(bound.statement)))
    if certificate.cut_off:
        sets, judge = plural(certificate.cut_off, "set"), scheduler_of(plan).words.judge
        table.add_row("Cut off", Text(CUT_OFF.format(sets=sets, judge=judge)))
    solver = f"{clean(certificate.solver)}, seed {certificate.seed}" if certificate.solver else ""
    digest = f"input {clean(certificate.digest)[:SHORT_DIGEST]}" if certificate.digest else ""
    if solver or digest:
        table.add_row("Solver", Text("   ".join(part for part in (solver, digest) if part)))
    return table
