"""A plan as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import Certificate, Demand, NodeShare, Plan, Victim
from planner.quantity import format_units
from planner.report.contrast import contrast
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.text import (
    age,
    clean,
    clean_lines,
    decimal,
    hours,
    moment,
    plural,
    short,
    thousandths,
)
from planner.report.words import (
    SIZE_UNIT,
    SIZES_PER_ACCELERATOR,
    WORK_UNIT,
    TermRow,
    attempt_name,
    law_behind,
    laws_held,
    main_bound,
    outside_rules,
    rules_name,
    scheduler_name,
    term_rows,
)

MAX_NAMES: Final = 20
MAX_AMOUNTS: Final = 3
WIDE: Final = 100
"""From this width on, every victim has the scheduler's own reason code beside it."""

SHORT_DIGEST: Final = 16

ANSWERS: Final = {
    "optimal": ("PROVED OPTIMAL", "bold green"),
    "feasible": ("LEGAL, NOT PROVED OPTIMAL", "bold yellow"),
    "infeasible": ("PROVED INFEASIBLE", "bold red"),
    "unknown": ("UNKNOWN", "bold yellow"),
}
NOTHING: Final = "-"
EVICTING: Final = "(evicting)"
EVICTING_MEANS: Final = "(evicting): is being evicted already, and costs nothing more"
NAMES_CUT: Final = "... {count:,} more, use --format json"
SAME: Final = "{scheduler} itself would evict the same {count}."
DIFFERENT: Final = "{scheduler} itself would evict {theirs}, this plan {ours}:"
SHARES_MEAN: Final = "share: borrowed thousandths of what the parent could lend, divided by weight"
NO_GREEDY: Final = "{scheduler} itself finds nobody to evict here."
BOTH, SPARED, INSTEAD = "in both", "spared", "only in this plan"
CUT_OFF: Final = "{sets} of victims that the model permits and Kueue's own doubles do not"
CLOSED: Final = "value = bound on {closed} of {levels}"


def render(plan: Plan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as tables, ``width`` columns wide."""
    return render_all([plan], width=width, color=color)


def render_all(plans: Sequence[Plan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans, one after the other, with a line between them."""
    paper = Paper(width, color=color)
    for position, plan in enumerate(plans):
        if position:
            paper.rule()
        for part in _parts(plan, paper.width):
            paper.add(part)
    return paper.text()


def _parts(plan: Plan, width: int) -> Iterable[RenderableType]:
    yield _header(plan)
    if plan.demand:
        yield _demand(plan.demand)
    if plan.victims:
        yield _victims(plan, width)
        yield _legend(plan)
    if plan.greedy is not None:
        yield _beside_greedy(plan, plan.greedy)
    if outside := outside_rules(plan.greedy or plan):
        yield Text("\n".join(clean(said) for _, said in outside), "yellow")
    rows = term_rows(plan)
    if rows and (plan.victims or (plan.greedy and plan.greedy.victims)):
        yield _disruption(plan, rows)
    if plan.shares:
        yield _shares(plan)
        yield Text(SHARES_MEAN, "dim")
    if plan.certificate is not None:
        yield _certificate(plan, plan.certificate)


def _header(plan: Plan) -> Table:
    answer, style = ANSWERS[plan.status]
    preemptor = Text(short(plan.preemptor), "bold").append(
        f"   priority {plan.priority}", "not bold"
    )
    at = f"{scheduler_name(plan)}, {rules_name(plan)}   at {moment(plan.now)}"
    table = grid(
        [
            ("Preemptor", preemptor),
            ("ClusterQueue", short(plan.cluster_queue)),
            ("Scheduler", at),
            ("Objective", clean(plan.objective)),
            ("Answer", Text(answer, style)),
        ]
    )
    if plan.explanation:
        table.add_row("", Text(clean_lines(plan.explanation)))
    return table


def _demand(demand: Sequence[Demand]) -> Table:
    def shortfall(item: Demand) -> Text:
        if not item.shortfall:
            return Text(NOTHING)
        return Text(format_units(item.shortfall, item.resource), "bold red")

    columns: list[Column[Demand]] = [
        Column("Resource", lambda item: Text(clean(item.resource)), folds=True),
        Column("Flavor", lambda item: Text(clean(item.flavor)), folds=True),
        Column("Asked", lambda item: Text(clean(item.quantity)), number=True),
        Column("Available", lambda item: format_units(item.available, item.resource), number=True),
        Column("Short", shortfall, number=True),
        Column("Mode", lambda item: "Preempt" if item.contested else "Fit"),
    ]
    return table_of(columns, demand)


def _victims(plan: Plan, width: int) -> Table:
    """Return the victims with as many columns as there is room for."""
    shapes = [(True, MAX_AMOUNTS)] if width >= WIDE else []
    shapes += [(False, amounts) for amounts in range(MAX_AMOUNTS, 0, -1)]
    tables = [_victim_table(plan, wide=wide, amounts=amounts) for wide, amounts in shapes]
    return next((table for table in tables if (table.min_width or 0) < width), tables[-1])


def _victim_table(plan: Plan, *, wide: bool, amounts: int) -> Table:
    """Return the victims in the plan's order, and what they free together."""
    victims = plan.victims
    columns: list[Column[Victim]] = [
        Column("Victim", _name, folds=True, total=plural(len(victims), "victim")),
        Column("ClusterQueue", lambda victim: Text(short(victim.cluster_queue)), folds=True),
        Column("Priority", lambda victim: str(victim.priority), number=True),
        *_amount_columns(plan)[:amounts],
        Column("Age", lambda victim: age(victim.age_s), number=True),
    ]
    if wide:
        columns.append(Column("Reason", lambda victim: Text(clean(victim.reason))))
    columns.append(Column("Law", lambda victim: _law_id(plan, victim)))
    columns.append(_cost_column("Lost GPU-h", victims, "D4", hours))
    if "cost" in plan.objective:
        columns.append(_cost_column("Cost", victims, "cost", "{:,}".format))
    return table_of(columns, victims)


def _name(victim: Victim) -> Text:
    name = Text(short(victim.workload))
    return name.append(f" {EVICTING}", "dim") if victim.evicted else name


def _law_id(plan: Plan, victim: Victim) -> str:
    law = law_behind(plan, victim.reason)
    return law.id if law else NOTHING


def _legend(plan: Plan) -> Text:
    """Say in words which law lies behind each reason that occurs."""
    lines = []
    for reason in dict.fromkeys(victim.reason for victim in plan.victims):
        law = law_behind(plan, reason)
        lines.append(f"{law.id} {clean(reason)}: {law.title}" if law else clean(reason))
    if any(victim.evicted for victim in plan.victims):
        lines.append(EVICTING_MEANS)
    return Text("\n".join(lines), "dim")


def _amount_columns(plan: Plan) -> list[Column[Victim]]:
    """Return a column per flavor-resource that is short, or else contested; a few at most."""
    by_need = sorted(plan.demand, key=lambda item: (not item.shortfall, not item.contested))
    wanted = [item for item in by_need if item.shortfall or item.contested][:MAX_AMOUNTS]
    return [_amount_column(plan, item) for item in wanted]


def _amount_column(plan: Plan, item: Demand) -> Column[Victim]:
    def units(victim: Victim) -> int:
        return sum(
            amount.units
            for amount in victim.usage
            if (amount.flavor, amount.resource) == (item.flavor, item.resource)
        )

    def cell(victim: Victim) -> str:
        held = units(victim)
        return format_units(held, item.resource) if held else NOTHING

    title = f"{clean(item.resource).rpartition('/')[2]}\n{clean(item.flavor)}"
    total = format_units(sum(units(victim) for victim in plan.victims), item.resource)
    return Column(title, cell, total, number=True)


def _cost_column(
    title: str, victims: Sequence[Victim], term: str, show: Callable[[int], str]
) -> Column[Victim]:
    total = sum(victim.costs.get(term, 0) for victim in victims)
    return Column(title, lambda victim: show(victim.costs.get(term, 0)), show(total), number=True)


def _beside_greedy(plan: Plan, greedy: Plan) -> RenderableType:
    """Say whom the scheduler itself would evict: in common, in addition, instead."""
    scheduler = scheduler_name(plan)
    if not greedy.victims:
        said = greedy.explanation
        known = not said or said == plan.explanation
        return Text(NO_GREEDY.format(scheduler=scheduler) if known else clean_lines(said))
    parts = contrast(plan, greedy)
    theirs = plural(len(greedy.victims), "workload")
    if not parts.spared and not parts.instead:
        return Group(Text(SAME.format(scheduler=scheduler, count=theirs)))
    attempt = attempt_name(greedy)
    title = DIFFERENT.format(
        scheduler=scheduler,
        theirs=f"{theirs} ({attempt})" if attempt else theirs,
        ours=len(plan.victims),
    )
    lists = (
        (BOTH, parts.common, ""),
        (SPARED, parts.spared, "green"),
        (INSTEAD, parts.instead, "yellow"),
    )
    facts = [(label, _names(names, style)) for label, names, style in lists if names]
    return Group(Text(title), grid((f"  {label}", names) for label, names in facts))


def _names(names: Sequence[str], style: str) -> Text:
    text = Text(", ".join(short(name) for name in names[:MAX_NAMES]), style)
    if len(names) > MAX_NAMES:
        text.append(f" {NAMES_CUT.format(count=len(names) - MAX_NAMES)}", "dim")
    return text


def _disruption(plan: Plan, rows: Sequence[TermRow]) -> Table:
    """Return both disruption vectors side by side, the levels of the objective first."""
    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: Text(clean(row.id))),
        Column("Disruption", lambda row: Text(clean(row.title)), folds=True),
        Column("This plan", lambda row: _value(row, row.value), number=True),
    ]
    if any(row.greedy is not None for row in rows):
        columns.append(
            Column(scheduler_name(plan), lambda row: _value(row, row.greedy), number=True)
        )
    if any(row.bound is not None for row in rows):
        columns.append(Column("Bound", lambda row: _value(row, row.bound), number=True))
    columns.append(Column("Unit", _unit))
    return table_of(columns, rows)


def _value(row: TermRow, value: int | None) -> Text:
    """Return the exact number, and under it the one that people think in."""
    if value is None:
        return Text(NOTHING)
    if row.unit == WORK_UNIT:
        return Text(f"{value:,}\n{hours(value)}")
    if row.unit == SIZE_UNIT:
        return Text(f"{value:,}\n{decimal(value / SIZES_PER_ACCELERATOR)}")
    return Text(f"{value:,}")


def _unit(row: TermRow) -> Text:
    in_words = {WORK_UNIT: "GPU-h", SIZE_UNIT: "accelerators"}
    second = in_words.get(row.unit)
    return Text(f"{clean(row.unit)}\n{second}" if second else clean(row.unit))


def _shares(plan: Plan) -> Table:
    """Return how the shares of the queues and cohorts change; what is after, if there is a plan."""
    columns: list[Column[NodeShare]] = [
        Column("Share of", lambda share: Text(short(share.name)), folds=True),
        Column("Kind", lambda share: share.kind),
        Column("Weight", lambda share: f"{share.weight:g}", number=True),
        Column("Today", lambda share: thousandths(share.before), number=True),
        Column("With preemptor", lambda share: thousandths(share.with_preemptor), number=True),
    ]
    if plan.status in {"optimal", "feasible"}:
        columns.append(Column("After plan", lambda share: thousandths(share.after), number=True))
    return table_of(columns, plan.shares)


def _certificate(plan: Plan, certificate: Certificate) -> Table:
    """Return why the answer may be believed, in a few lines."""
    levels = certificate.levels
    closed = sum(level.value == level.bound for level in levels)
    held, checked = laws_held(plan)
    said = [
        plan.status,
        CLOSED.format(closed=closed, levels=plural(len(levels), "level")) if levels else "",
        attempt_name(plan),
        f"laws {held}/{checked} hold" if checked else "",
        f"{certificate.wall_time_s:.2f} s",
    ]
    table = grid([("CERTIFICATE", Text("   ".join(part for part in said if part)))])
    for verdict in certificate.verdicts:
        if not verdict.holds:
            text = f"{clean(verdict.law)} {clean(verdict.title)}: {clean(verdict.detail)}"
            table.add_row("Broken law", Text(text, "bold red"))
    if (bound := main_bound(certificate)) is not None:
        table.add_row("Solver-free", Text(clean_lines(bound.statement)))
    if certificate.cut_off:
        table.add_row("Cut off", Text(CUT_OFF.format(sets=plural(certificate.cut_off, "set"))))
    solver = f"{clean(certificate.solver)}, seed {certificate.seed}" if certificate.solver else ""
    digest = f"input {clean(certificate.digest)[:SHORT_DIGEST]}" if certificate.digest else ""
    if solver or digest:
        table.add_row("Solver", Text("   ".join(part for part in (solver, digest) if part)))
    return table
