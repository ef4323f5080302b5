"""A plan as a document; the parts that the plans of all schedulers have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner.plan import AnyPlan, BoundByRows, Certificate, SolverFreeBound, Verdict
from planner.report.caution import cautions
from planner.report.contrast import contrast, if_ever
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Fold,
    Names,
    Paragraph,
    Particulars,
    Section,
    Sheet,
    Tile,
    Tone,
    facts,
    filled,
    name,
    sheet,
)
from planner.report.document.measure import unit_of, value_of
from planner.report.proof import proof_in_words
from planner.report.table_parts import (
    CUT_OFF,
    DIFFERENT,
    NO_GREEDY,
    RARELY_SHOWN,
    SAME,
)
from planner.report.text import hours, moment, plural
from planner.report.words import (
    WORK_NOTE,
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
from planner.scheduler import Part, scheduler_of

ANSWERS: Final[dict[str, tuple[str, Tone]]] = {
    "optimal": ("Proved optimal", "good"),
    "feasible": ("Legal, not proved optimal", "warn"),
    "infeasible": ("Proved infeasible", "bad"),
    "unknown": ("Unknown", "warn"),
}
PAGE: Final = Part[Callable[[AnyPlan], Particulars]]("page")
"""What the page says of a plan in terms of its scheduler."""

PREEMPTION: Final = "Preemption plan"
LOST: Final = ("D4", "D5")
WHOM: Final = "Whom {scheduler} itself would {verb}"
IN_BOTH: Final = "In both"
ITSELF: Final = "{scheduler} itself: {value}"


def document(plan: AnyPlan) -> Document:
    """Return everything a page says of a plan."""
    badge, tone = ANSWERS[plan.status]
    own = PAGE.of(plan)(plan)
    sections = filled(
        Section("Request", own.request),
        Section("Victims", own.victims),
        Section("Quota, before and after", own.usage),
        Section(f"{scheduler_name(plan)}'s own answer", tuple(_beside_greedy(plan))),
        Section("Disruption", tuple(_disruption(plan))),
        Section("Certificate", tuple(_certificate(plan))),
        Section("Notes", tuple(_notes(plan))),
    )
    return Document(
        kind=PREEMPTION,
        head=(
            Fact("Preemptor", name(plan.preemptor_name), "title"),
            *facts((*own.asking, *own.found, *_setting(plan))),
            Fact("Answer", Cell(badge, tone=tone), "verdict"),
            Fact("", Cell(plan.explanation), "answer"),
        ),
        tiles=tuple(_tiles(plan)),
        sections=sections,
    )


def scheduler_at(plan: AnyPlan) -> str:
    """Say which scheduler, under which rules, and when."""
    return f"{scheduler_name(plan)}, {rules_name(plan)}   at {moment(plan.now)}"


def _setting(plan: AnyPlan) -> Iterator[tuple[str, Cell]]:
    yield "Scheduler", Cell(f"{scheduler_name(plan)}, {rules_name(plan)}")
    yield "Objective", Cell(plan.objective)
    yield "Clock", Cell(moment(plan.now))


def _tiles(plan: AnyPlan) -> Iterator[Tile]:
    """Yield the numbers to see first, each beside the scheduler's own where it has an answer."""
    if plan.status not in {"optimal", "feasible"}:
        return
    theirs = plan.greedy if plan.greedy and plan.greedy.victims else None
    scheduler = scheduler_name(plan)

    def beside(value: str) -> str:
        return ITSELF.format(scheduler=scheduler, value=value)

    called = scheduler_of(plan).words
    nouns = plural(len(plan.victims), called.noun).partition(" ")[2]
    yield Tile(
        f"{len(plan.victims):,}",
        f"{nouns} to {called.verb}",
        beside(f"{len(theirs.victims):,}" if theirs else "nobody") if plan.greedy else "",
    )
    if plan.victims:
        lost = [sum(one.terms.get(term, 0) for term in LOST) for one in (plan, theirs) if one]
        yield Tile(
            hours(lost[0]),
            "accelerator-hours lost, restarts included",
            beside(hours(lost[1])) if theirs else "",
            "warn" if theirs and lost[0] > lost[1] else "",
        )
    if plan.certificate and (levels := plan.certificate.levels):
        closed = sum(level.value == level.bound for level in levels)
        proved = closed == len(levels)
        label = "levels of the objective proved"
        yield Tile(f"{closed} of {len(levels)}", label, tone="good" if proved else "warn")


def _beside_greedy(plan: AnyPlan) -> Iterator[Block]:
    """Yield whom the scheduler itself would take: in common, in addition, instead."""
    greedy = plan.greedy
    if greedy is None:
        return
    called = scheduler_of(plan).words
    words = {"scheduler": scheduler_name(plan), "verb": called.verb}
    if not greedy.victims:
        said = greedy.explanation
        known = not said or said == plan.explanation
        yield Paragraph(NO_GREEDY.format(**words) if known else said)
        return
    parts = contrast(plan, greedy)
    theirs = plural(len(greedy.victims), called.noun)
    if parts.spared or parts.instead:
        aside = greedy.attempt
        theirs = f"{theirs} ({aside})" if aside else theirs
        said = DIFFERENT.format(theirs=theirs, ours=len(plan.victims), **words)
        yield Paragraph(if_ever(greedy) + said)
        names = victim_names(greedy) | victim_names(plan)
        for label, keys, tone in _lists(parts.spared, parts.common, parts.instead):
            yield Names(label, tuple(names[key] for key in keys), tone)
    else:
        yield Paragraph(if_ever(greedy) + SAME.format(theirs=theirs, **words))
    if more := more_than_greedy(plan):
        yield Paragraph(more, "warn")
    yield from (Paragraph(said, "warn") for _, said in outside_rules(greedy))
    if parts.spared or parts.instead:
        yield Fold(WHOM.format(**words), PAGE.of(greedy)(greedy).victims)


def _lists(
    spared: Sequence[str], common: Sequence[str], instead: Sequence[str]
) -> Iterator[tuple[str, Sequence[str], Tone]]:
    if spared:
        yield "Spared", spared, "good"
    if common:
        yield IN_BOTH, common, ""
    if instead:
        yield "Only in this plan", instead, "warn"


def _disruption(plan: AnyPlan) -> Iterator[Block]:
    """Yield both disruption vectors: the levels of the objective first, then what matters."""
    if not (plan.victims or (plan.greedy and plan.greedy.victims)):
        return
    rows = term_rows(plan)
    usual = [row for row in rows if row.level or row.id not in RARELY_SHOWN]
    others = [row for row in rows if row not in usual]
    if usual:
        yield _terms(plan, "Disruption, the levels of the objective first", usual)
    if others:
        yield Fold("Other measures", (_terms(plan, "Measures no level minimises", others),))


def _terms(plan: AnyPlan, caption: str, rows: Sequence[TermRow]) -> Sheet:
    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: row.title),
        Column("This plan", lambda row: value_of(row, row.value), number=True),
    ]
    if any(row.greedy is not None for row in rows):
        columns.append(
            Column(scheduler_name(plan), lambda row: value_of(row, row.greedy), number=True)
        )
    if any(row.bound is not None for row in rows):
        columns.append(Column("Bound", lambda row: value_of(row, row.bound), number=True))
    columns.append(Column("Unit", unit_of))
    notes = [WORK_NOTE] if any(row.unit == WORK_UNIT for row in rows) else []
    return sheet(caption, columns, rows, notes)


def _certificate(plan: AnyPlan) -> Iterator[Block]:
    """Yield why the answer may be believed."""
    certificate = plan.certificate
    if certificate is None:
        return
    yield Facts(tuple(_claims(plan, certificate)))
    broken = [verdict for verdict in certificate.verdicts if not verdict.holds]
    yield from (Paragraph(f"{one.law} {one.title}: {one.detail}", "bad") for one in broken)
    if certificate.verdicts:
        yield Fold("What the verifier says of every law", (_verdicts(certificate.verdicts),))
    if certificate.removal_order:
        names = victim_names(plan)
        order = tuple(names.get(key, key) for key in certificate.removal_order)
        yield Fold("A legal order of removals", (Names("Remove", order, ordered=True),))
    if bounds := certificate.bounds_by_hand:
        yield Fold("Bounds that need no solver", tuple(map(_bound, bounds)))


def _claims(plan: AnyPlan, certificate: Certificate) -> Iterator[tuple[str, Cell]]:
    levels = certificate.levels
    closed = sum(level.value == level.bound for level in levels)
    held, checked = laws_held(plan)
    yield "Status", Cell(ANSWERS[plan.status][0], tone=ANSWERS[plan.status][1])
    if levels:
        proved: Tone = "good" if closed == len(levels) else "warn"
        said = f"value = bound on {closed} of {plural(len(levels), 'level')}"
        yield "Optimality", Cell(said, tone=proved)
    if proof := proof_in_words(certificate):
        yield "Proof", Cell(proof)
    if by_hand := by_hand_in_words(certificate):
        yield "By hand", Cell(by_hand)
    if attempt := plan.attempt:
        yield "Attempt", Cell(attempt)
    if checked:
        yield "Laws", Cell(f"{held} of {checked} hold", tone="good" if held == checked else "bad")
    if (bound := main_bound(certificate)) is not None:
        yield "Solver-free", Cell(bound.statement)
    if certificate.cut_off:
        sets, judge = plural(certificate.cut_off, "set"), scheduler_of(plan).words.judge
        yield "Cut off", Cell(CUT_OFF.format(sets=sets, judge=judge))
    if certificate.solver:
        seconds = f"{certificate.wall_time_s:.2f} s"
        yield "Solver", Cell(f"{certificate.solver}, seed {certificate.seed}, {seconds}")
    if certificate.digest:
        yield "Input", name(certificate.digest)


def _verdicts(verdicts: Sequence[Verdict]) -> Sheet:
    columns: list[Column[Verdict]] = [
        Column("Law", lambda one: one.law),
        Column("Verdict", _holds),
        Column("Rule", lambda one: one.title),
        Column("What was found", lambda one: one.detail),
    ]
    return sheet("The plan, law by law", columns, verdicts)


def _holds(verdict: Verdict) -> Cell:
    return Cell("holds", tone="good") if verdict.holds else Cell("broken", tone="bad")


def _bound(bound: SolverFreeBound | BoundByRows) -> Paragraph:
    return Paragraph(f"{bound.term} ≥ {bound.bound:,}: {bound.statement}")


def _notes(plan: AnyPlan) -> Iterator[Block]:
    yield from (Paragraph(text, "warn") for text in cautions(plan))
    yield from (Paragraph(text) for text in plan.notes)
