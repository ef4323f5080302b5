"""What plans, their terms and their certificates say in words, the same in every format.

Disruption terms also as tables, with amounts in the units that people think in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from planner.plan import (
    AnyPlan,
    Certificate,
    Level,
    Proof,
    Shown,
    Verdict,
)
from planner.plan.proof import steps_of
from planner.plan.record import resources_of
from planner.quantity import plural
from planner.report.document import (
    NONE,
    Block,
    Cell,
    Column,
    Fold,
    Only,
    Paragraph,
    Section,
    Table,
    table,
)
from planner.report.text import clean, decimal, hours
from planner.scheduler import scheduler_of
from planner.term import ACCELERATOR, TERMS, lost_by, text_of, unit_weight, value_of

Row = TypeVar("Row")

COUNTING: Final = frozenset({"workloads", "victims", "cost"})
"""Terms whose bound says how many victims, or how much cost, no legal plan can do without."""

WORK_UNIT: Final = "accelerator-seconds"
SIZE_UNIT: Final = "1/32000 accelerator"


class Work(NamedTuple):
    """A unit that people think of work in: its names, and how many devices make one accelerator.

    ``hours`` are hours of ``devices``, ``short`` is the same for the title of a column, ``each``
    the number of devices.
    """

    hours: str
    short: str
    devices: str
    each: int
    note: str

    def lost(self, accelerator_seconds: float) -> str:
        """Return an amount of work in hours."""
        return hours(accelerator_seconds * self.each)

    def unit(self, unit: str) -> str:
        """Return the unit in which people think of a term: hours of work, devices, or its own."""
        return {WORK_UNIT: self.hours, SIZE_UNIT: self.devices}.get(unit, unit)

    def amount(self, unit: str, value: float) -> str:
        """Return an amount of a term, which may be negative, in its `unit` for people."""
        if unit == WORK_UNIT:
            return self.lost(value)
        if unit == SIZE_UNIT:
            return decimal(value * self.each / ACCELERATOR)
        return f"{value:,}" if isinstance(value, int) else decimal(value)

    def difference(self, unit: str, value: float) -> str:
        """Return an amount like `amount`, with its sign."""
        return f"{'+' if value >= 0 else ''}{self.amount(unit, value)}"


ACCELERATORS: Final = Work(
    "accelerator-hours",
    "acc-h",
    "accelerators",
    1,
    "An accelerator-hour is one hour of a GPU or the like, or of 32 CPU cores; memory counts "
    "nothing.",
)
CORES: Final = Work(
    "CPU-hours",
    "CPU-h",
    "CPU cores",
    ACCELERATOR // (1000 * unit_weight("cpu")),
    "A CPU-hour is one hour of a CPU core, 1/32 of an accelerator-hour; memory counts nothing.",
)


def work_in(resources: Iterable[str]) -> Work:
    """Return the unit for work on some resources: CPU cores if there is nothing larger.

    Source: docs/design/objectives.md §2.
    """
    return CORES if {unit_weight(one) for one in resources} - {0} == {1} else ACCELERATORS


def work_of(*plans: AnyPlan) -> Work:
    """Return the unit for the work that plans lose."""
    every = [one for plan in plans for one in (plan, plan.greedy) if one is not None]
    return work_in(resources_of(*every))


CHECK_IT: Final = "planner check verifies it without a solver"


class TermRow(Struct, frozen=True):
    """One measure of disruption, for a plan and for the scheduler's own.

    ``level`` is its place among the levels of the objective, from 1, and ``bound`` the proven
    bound of that level; both are ``None`` for a term that is only reported. ``proof`` says whether
    a tree shows the level; where none does ``claimed`` is the bound by the solver's word.
    """

    id: str
    title: str
    unit: str
    value: int
    greedy: int | None
    level: int | None = None
    bound: int | None = None
    proof: Proof | None = None
    claimed: int | None = None


def term_rows(plan: AnyPlan) -> list[TermRow]:
    """Return the levels of the objective in order, then every term that is no level itself."""
    levels = plan.certificate.levels if plan.certificate else ()
    greedy = plan.greedy.terms if plan.greedy and plan.greedy.victims else None
    return level_rows(levels, plan.terms, greedy, plan.scheduler)


def level_rows(
    levels: Iterable[Level],
    terms: Mapping[str, int],
    greedy: Mapping[str, int] | None,
    scheduler: str,
) -> list[TermRow]:
    """Return levels in order, then every term that is no level itself, beside another plan's.

    ``greedy`` are the terms of the other plan, if any; titles are in the words of ``scheduler``.
    """
    rows = []
    for number, one in enumerate(levels, start=1):
        title, unit = texts_of(scheduler, one.term, (one.title, one.unit))
        proved = number, one.bound, one.proof, one.claimed
        rows.append(TermRow(one.term, title, unit, one.value, sum_of(one.term, greedy), *proved))
    shown = {row.id for row in rows}
    for term, value in terms.items():
        if term not in shown:
            title, unit = texts_of(scheduler, term)
            rows.append(TermRow(term, title, unit, value, sum_of(term, greedy)))
    return rows


def texts_of(
    scheduler: str, measure: str, unknown: tuple[str, str] | None = None
) -> tuple[str, str]:
    """Return title and unit of a measure, terms joined by ``+``, in the words of a scheduler.

    Where a term is not known they are those of ``unknown``, or the measure itself and no unit.
    """
    found = [text_of(term, scheduler) for term in measure.split("+")]
    known = [text for text in found if text is not None]
    if len(known) < len(found):
        return unknown or (measure, "")
    return " and ".join(title for title, _ in known), known[0][1]


def sum_of(measure: str, terms: Mapping[str, int] | None) -> int | None:
    """Return the value of a measure, terms joined by ``+``; ``None`` if a part is not known."""
    return None if terms is None else value_of(measure.split("+"), terms)


RARELY_SHOWN: Final = frozenset(name for name, term in TERMS.items() if term.rare)
"""Terms that a screen leaves out unless the objective minimises them."""

ALL_TERMS: Final = "All measures in the integers that are calculated with"


def terms_tables(rows: Sequence[TermRow], beside: str, work: Work) -> Iterator[Block]:
    """Yield the terms that matter in the unit that people think in; on a page all, exactly, too.

    Left out are `RARELY_SHOWN` terms that are no levels, and counts that repeat one above them.
    """
    usual = [row for row in rows if row.level or row.id not in RARELY_SHOWN]
    shown = not_twice(usual, lambda row: (row.id, (row.value, row.greedy)))
    if shown:
        caption = "Disruption, the levels of the objective first"
        yield terms_table(caption, shown, beside, work, exact=False)
        if any(row.unit == WORK_UNIT for row in shown):
            yield Only("page", (Paragraph(work.note, "dim"),))
    if rows:
        yield Fold("All measures, exactly", (terms_table(ALL_TERMS, rows, beside, work),))


def not_twice(
    rows: Iterable[Row], of: Callable[[Row], tuple[str, tuple[int | None, ...]]]
) -> list[Row]:
    """Return rows without counts that repeat one above; ``of`` gives a row's term and values."""
    shown: list[Row] = []
    for row in rows:
        term, values = of(row)
        above = (of(one) for one in shown)
        if term not in COUNTING or all(
            one not in COUNTING or before != values for one, before in above
        ):
            shown.append(row)
    return shown


def terms_table(
    caption: str, rows: Sequence[TermRow], beside: str, work: Work, *, exact: bool = True
) -> Table:
    """Return terms with their values, and those of another plan, whose title is ``beside``.

    Unless the table is to be ``exact``, amounts are in units that people think in.
    """

    def amount(row: TermRow, value: int | None) -> Cell:
        if value is None:
            return NONE
        said = work.amount(row.unit, value)
        converted = work.unit(row.unit) != row.unit
        return Cell(f"{value:,}", said if converted else "") if exact else Cell(said)

    def unit(row: TermRow) -> Cell:
        said = work.unit(row.unit)
        return Cell(row.unit, said if said != row.unit else "") if exact else Cell(said)

    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: row.title, only="page"),
        Column("This plan", lambda row: amount(row, row.value), number=True),
    ]
    if any(row.greedy is not None for row in rows):
        columns.append(Column(beside, lambda row: amount(row, row.greedy), number=True))
    if any(row.bound is not None for row in rows):
        columns.append(Column("Bound", lambda row: amount(row, row.bound), number=True))
    columns.append(Column("Unit", unit, below="Term"))
    return table(caption, columns, rows)


def scheduler_name(plan: AnyPlan) -> str:
    """Return the name of a scheduler as its project writes it, or of rules that have their own."""
    return plan.by.scheduler or scheduler_of(plan).words.name


def rules_name(plan: AnyPlan) -> str:
    """Return the name of the rule set in words, with its options where some are not by default."""
    own = "" if plan.by.replaces else scheduler_of(plan).words.rules[plan.rules]
    name, options = ", ".join(filter(None, (own, plan.by.title))), plan.asked.rules
    return f"{name} ({options})" if ":" in options else name


def victim_names(plan: AnyPlan) -> dict[str, str]:
    """Return what people call the victims, by their keys: namespace/name where that is known."""
    return {victim.key: victim.name for victim in plan.victims}


def laws_held(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """Return how many laws the verifier found to hold, and how many it checked."""
    return sum(verdict.holds for verdict in verdicts), len(verdicts)


def outside_rules(plan: AnyPlan) -> list[tuple[str, str]]:
    """Return the laws that the scheduler's own plan does not keep: ids, each with a sentence."""
    sentence = scheduler_of(plan).words.outside
    return [
        (broken.partition(" ")[0], sentence.format(law=broken)) for broken in plan.outside_rules
    ]


def more_than_greedy(plan: AnyPlan) -> str:
    """Say what a plan takes more of than the scheduler's own; empty if nothing that counts."""
    nouns = {"pods": "pod", "queues": "queue", "highest_priority": "victim"}
    work, measures = work_of(plan), list[str]()
    for one in plan.more_than_greedy:
        if one.measure in nouns:
            of = "" if one.priority is None else f" of priority {one.priority}"
            more, beside = f"{plural(one.plan, nouns[one.measure])}{of}", f"{one.greedy:,}"
        else:
            more, beside = f"{work.lost(one.plan)} {work.hours} lost", work.lost(one.greedy)
        measures.append(f"{more} instead of {beside}")
    said = f"More than {scheduler_name(plan)} itself: {', '.join(measures)}"
    return said if measures else ""


def in_a_sentence(certificate: Certificate) -> str:
    """Return the words for one tree, where one is enough; empty if none has words.

    It is that of the first level in `COUNTING`, or else of the first level of all.
    """
    said = [level for level in certificate.levels if level.says]
    counting = (level.says for level in said if level.term in COUNTING)
    return next(counting, said[0].says if said else "")


def by_hand_in_words(certificate: Certificate) -> str:
    """Say how many levels a reader can check by adding up; empty if only those of value 0."""
    shown = certificate.shown
    if not shown.one_row + shown.multipliers:
        return ""
    easy = Shown(zero=shown.zero, one_row=shown.one_row, multipliers=shown.multipliers)
    levels = plural(len(certificate.levels), "level")
    return f"{shown.by_hand:,} of {levels}: {shown_in_words(easy)}"


def shown_in_words(shown: Shown) -> str:
    """Say how many levels rest on which kind of proof."""
    counts = (
        (shown.zero, "that cannot be below 0"),
        (shown.one_row, "by one row"),
        (shown.multipliers, "by a sum of rows"),
        (shown.tree, "by a tree"),
        (shown.unproved, "not proved"),
    )
    return ", ".join(f"{count:,} {how}" for count, how in counts if count)


class Contrast(NamedTuple):
    """Two victim sets as three lists of keys, each in the order of the plan it comes from.

    ``spared`` only the scheduler would evict, ``instead`` only this plan does.
    """

    common: tuple[str, ...]
    spared: tuple[str, ...]
    instead: tuple[str, ...]


def contrast(plan: AnyPlan, greedy: AnyPlan) -> Contrast:
    """Compare the victims of a plan with those of the scheduler's own."""
    ours, theirs = set(plan.keys), set(greedy.keys)
    return Contrast(
        common=tuple(key for key in plan.keys if key in theirs),
        spared=tuple(key for key in greedy.keys if key not in ours),
        instead=tuple(key for key in plan.keys if key not in theirs),
    )


def remarks(*plans: AnyPlan) -> Iterator[str]:
    """Yield what a reader of plans should know: their notes, and cautions.

    On a screen these are warnings on standard error.
    """
    for plan in plans:
        yield from (*plan.notes, *cautions(plan))


def noted(notes: Iterable[str], *, cautioned: Iterable[str] = ()) -> Section:
    """Return the part of a page that has the notes, each once, cautions first."""
    first = tuple(Paragraph(text, "warn") for text in cautioned)
    return Section("Notes", (Only("page", (*first, *map(Paragraph, dict.fromkeys(notes)))),))


def cautions(plan: AnyPlan) -> Iterator[str]:
    """Yield a remark on a plan whose victims lose more work than the scheduler's own."""
    if not (plan.victims and plan.greedy and plan.greedy.victims):
        return
    if plan.greedy.outside_rules:  # then no other objective can offer it either
        return
    ours, theirs = lost_by(plan.terms), lost_by(plan.greedy.terms)
    if ours > theirs:
        verb, work = scheduler_of(plan).words.verb, work_of(plan)
        yield (
            f"{clean(plan.about.name)}: {verb}ing these loses {work.lost(ours)} {work.hours} "
            f"of work, restarts included, the scheduler's own choice {work.lost(theirs)}; the "
            "objective min-lost-work plans for the least"
        )


def proof_in_words(certificate: Certificate, *, ties: bool = True) -> str:
    """Return what a certificate rests on; empty if it claims nothing.

    ``ties`` says whether the certificate also claims which of equal plans is taken.
    """
    levels, steps, dropped = certificate.levels, steps_in(certificate), certificate.dropped
    how = f"certified by trees of {plural(steps, 'step')}" if steps else "certified"
    certified = sum(level.proof is not None for level in levels)
    parts = []
    if not levels:  # nothing is claimed but that there is no plan
        if certificate.trees or certificate.trees_omitted:
            parts = [f"certified by a tree of {plural(steps, 'step')}", CHECK_IT]
    elif certified == len(levels) and (certificate.ties or not ties):
        also = " and ties" if ties else ""
        also = f", ties and {plural(len(dropped), 'dropped cap')}" if dropped else also
        parts = [f"{certified} of {plural(len(levels), 'level')}{also} {how}", CHECK_IT]
    else:
        open_ = [level for level in levels if level.proof is None]
        claimed = sum(level.claimed == level.value for level in open_)
        counts = (
            (certified, how),
            (claimed, "by the solver's word alone"),
            (len(open_) - claimed, "not proved"),
        )
        said = ", ".join(f"{count} {rests}" for count, rests in counts if count)
        parts = [f"of {plural(len(levels), 'level')} {said}"]
        if ties:
            parts.append(f"ties {certificate.ties or 'not proved'}")
        if dropped:
            parts.append(f"{plural(len(dropped), 'dropped cap')} certified")
    if parts and certificate.corrected:
        plans = plural(certificate.corrected, "plan")
        parts.append(f"the search for trees found {plans} better than the solver's")
    return "; ".join(parts)


def steps_in(certificate: Certificate) -> int:
    """Return how many steps the trees of a certificate have, those left out included."""
    return steps_of(certificate.trees) + certificate.trees_omitted
