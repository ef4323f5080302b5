"""An audit in every format: totals, findings, distributions, the worst cases, failures."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from planner.commands.audit.record import (
    Audit,
    Case,
    FindingCode,
    Gap,
    Judgement,
    Verdicts,
)
from planner.commands.study.record import Failure
from planner.commands.study.tally import spread
from planner.plan import Shown, Turn
from planner.quantity import plural
from planner.report import document as doc
from planner.report.document import NONE, NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.labelled import labelled_lines, labelled_table
from planner.report.style import csv_of, fields, rendered
from planner.report.text import SECONDS_PER_HOUR, decimal
from planner.report.words import WORK_UNIT, Work, shown_in_words, work_in
from planner.term import lost_by

FINDINGS: Final[dict[FindingCode, str]] = {
    "redundant": "some of its victims alone would do",
    "disruption": "another legal set is better by an objective",
    "rules": "it breaks its own rules",
    "missed": "it finds nobody, although a legal set exists",
    "pointless": "it evicts, although nobody needs to go",
}
"""What a finding says of the scheduler's own answer."""

TURNS: Final[dict[Turn, str]] = {
    "next": "next",
    "held": "held back",
    "chance": "left to chance",
    "unknown": "not followed",
}
"""What is said of when the scheduler's own answer comes."""

MAX_CASES: Final = 50
ON_SCREEN: Final = 20
MAX_NEEDLESS: Final = 3

CSV_COLUMNS: Final = (
    *("state", "pending", "rules", "status", "turn", "victims", "irredundant", "smallest"),
    *("fewest", "findings", "objective", "optimum_status", "optimum_victims", "best"),
)
"""The columns of a row for each case and objective; every term of both answers follows."""


def _up_to(*ends: float) -> dict[str, float]:
    """Return ranges that are named after their ends, and the range beyond the last end."""
    return {f"to {end:g}": end for end in ends} | {f"> {ends[-1]:g}": float("inf")}


_ENDS: Final = {"10-19": 19, "≥ 20": float("inf")}
VICTIMS: Final = {"< 0": -1, **{str(count): count for count in range(6)}, "6-9": 9, **_ENDS}
_LESS: Final = {"< -10": -10.000_001, "-10 to -1": -1, "-1 to 0": -1e-9}
HOURS: Final = {**_LESS, "0": 0, **_up_to(0.1, 1, 10, 100)}
RATIOS: Final = {"0": 0, **_up_to(0.5, 1, 1.5, 2, 3, 5, 10)}
"""The ranges of the histograms, each with the most that it holds of what is in none before it.

They are fixed, so that two audits can be laid side by side.
"""


def render(
    answer: Audit, style: str, *, width: int, color: bool, folder: Path | None = None
) -> str:
    """Return an audit as ``table``, ``plain``, ``json``, ``csv``, ``markdown`` or ``html``.

    Links of a page to states start from the folder it will be in, by default the current one.
    """
    if style == "csv":
        return csv_of(_csv_rows(answer))
    made = map(labelled_lines, [answer]), map(partial(document, folder=folder), [answer])
    return rendered(style, answer, *made, width=width, color=color)


def _told(record: object, names: str) -> dict[str, Any]:
    """Return fields of a record like `fields`; those without a value are not known."""
    found = fields(record, names)
    return {name: "unknown" if value is None else value for name, value in found.items()}


def _csv_rows(audit: Audit) -> Iterator[Sequence[object]]:
    terms = list(dict.fromkeys(term for case in audit.cases for term in case.terms))
    yield [*CSV_COLUMNS, *(f"{side}_{term}" for term in terms for side in ("greedy", "optimum"))]
    for case in audit.cases:
        for one in case.judgements:
            yield [
                *(case.state, case.pending, case.rules, case.status, case.turn, len(case.victims)),
                *_told(case, "irredundant smallest fewest").values(),
                " ".join(case.findings),
                *(one.objective, one.status, len(one.victims), *_told(one, "best").values()),
                *(both.get(term, "") for term in terms for both in (case.terms, one.terms)),
            ]


def document(audit: Audit, folder: Path | None = None) -> doc.Document:
    """Return the document of an audit; ``folder`` is where a page of it will be."""
    failed = audit.failures
    failures = (failure_table("audited", failed, folder or Path()),) if failed else ()
    sections = (
        Section("What it costs", tuple(_costs(audit))),
        Section("Findings", tuple(_findings(audit))),
        Section("The worst cases", tuple(_worst(audit, folder or Path()))),
        Section("Objectives", tuple(_objectives(audit))),
        # A single bar says no more than the number does.
        Section("Distributions", tuple(h for h in distributions(audit) if len(h.bins) > 1)),
        Section("Failures", failures),
    )
    return doc.Document(
        kind="Audit of the scheduler's own answers",
        head=tuple(_head(audit)),
        tiles=tuple(_tiles(audit)),
        sections=sections,
    )


def _head(audit: Audit) -> Iterator[Fact]:
    summary = audit.summary
    counted = f"{plural(summary.states, 'state')}, {plural(summary.cases, 'case')}"
    yield Fact("Audited", Cell(counted), "title")
    faulty = summary.covered - summary.clean
    badge = f"{plural(faulty, 'case')} with findings" if faulty else "No findings"
    yield Fact("Found", Cell(badge, tone="warn" if faulty else "good"), "badge")
    said = [f"the scheduler itself evicts {_in_cases(summary.with_victims, summary.covered)}"]
    if summary.unproved:
        said.append(f"{summary.unproved:,} not proved within the time limit")
    if summary.failures:
        said.append(plural(summary.failures, "failure"))
    yield Fact("Evicting", Cell("; ".join(said)), "answer")
    if summary.conditional:
        missing = Counter(one.title for case in audit.cases for one in case.coverage)
        names = ", ".join(f"{title} ({count:,})" for title, count in sorted(missing.items()))
        left_out = f"{plural(summary.conditional, 'case')} not counted: {names}"
        yield Fact("Not modelled", Cell(left_out, tone="warn"))
    turns = Counter[Turn](case.turn for case in audit.cases if case.turn != "next")
    if turns:
        found = (f"{TURNS[one]} {_in_cases(turns[one], summary.cases)}" for one in turns)
        yield Fact("Turn", Cell(f"its own answer is {', '.join(found)}"))
    yield Fact("Infeasible", Cell(f"{summary.infeasible:,} proved"))
    for one in summary.verdicts:
        yield Fact(one.objective, Cell(_judged(one)))
    if summary.with_victims:
        would = f"fewer victims would do {_in_cases(summary.fewer, summary.with_victims)}"
        yield Fact("Fewest", Cell(f"{would}, at whatever cost"))
    shown = reduce(Shown.plus, (one.shown for one in summary.verdicts), Shown())
    if shown.levels:
        yield Fact("Levels", Cell(f"{shown.levels:,} of all optima: {shown_in_words(shown)}"))
    rules = dict.fromkeys(case.rules for case in audit.cases)
    yield Fact("Rules", Cell(", ".join(rules) or NOTHING))


def _in_cases(count: int, total: int) -> str:
    """Say in how many of some cases something is so."""
    if total > 1:
        return f"in {count:,} of {total:,} cases"
    return "in the only case" if count else "in no case"


def _judged(verdicts: Verdicts) -> str:
    """Say how many of the scheduler's own answers are best under an objective."""
    best, other = verdicts.best, verdicts.not_best
    if not verdicts.judged:
        return "none of its answers is judged"
    if verdicts.judged == 1:
        return "its only answer is best" if best else "its only answer is not best"
    are, others = ("is" if count == 1 else "are" for count in (best, other))
    return f"{best:,} of {verdicts.judged:,} of its answers {are} best, {other:,} {others} not"


def _tiles(audit: Audit) -> Iterator[doc.Tile]:
    """Yield for each objective the share of answers that are not best, and the needless victims."""
    summary = audit.summary
    total = losses(audit, lambda *_: "")
    if total and total[0].own:
        work, (_, own, best) = _work(audit), total[0]
        beside = f"{work.lost(own)} lost by its choices, {work.lost(best)} by the best"
        more: doc.Tone = "warn" if own > best else "good"
        said = "lost needlessly" if own >= best else "more lost by the best"
        yield doc.Tile(work.lost(abs(own - best)), f"{work.hours} {said}", beside, more)
    for one in summary.verdicts:
        if one.judged:
            yield doc.Tile(
                f"{one.not_best / one.judged:.0%}",
                f"not best under {one.objective}",
                f"{one.not_best:,} of {plural(one.judged, 'answer')} of the scheduler itself",
                "warn" if one.not_best else "good",
            )
    needless = sum(len(case.needless) for case in audit.cases)
    if evicted := sum(len(case.victims) for case in audit.cases):
        tone: doc.Tone = "warn" if needless else "good"
        label = "needless victim" if needless == 1 else "needless victims"
        yield doc.Tile(f"{needless:,}", label, f"of {evicted:,} that it evicts", tone)


class Loss(NamedTuple):
    """Work that is lost, in accelerator-seconds: by the scheduler's own victims, and the optima."""

    whose: str
    own: int
    best: int

    @property
    def more(self) -> int:
        """How much more the scheduler's own victims lose."""
        return self.own - self.best


def compared(audit: Audit) -> list[tuple[Case, Judgement]]:
    """Return the cases whose answers keep the rules, each with the optimum under the first goal."""
    firsts = ((case, case.judgements[0]) for case in audit.cases if case.judgements)
    return [(case, one) for case, one in firsts if one.gaps and not case.outside_rules]


def losses(audit: Audit, of: Callable[[Case, str], str]) -> list[Loss]:
    """Return what is lost by a name that ``of`` gives each case and queue, the most lost first."""
    own, best = Counter[str](), Counter[str]()
    for case, judgement in compared(audit):
        if not case.is_conditional:
            for lost, total in ((case.lost, own), (judgement.lost, best)):
                for queue, work in lost.items():
                    total[of(case, queue)] += work
    found = (Loss(whose, own[whose], best[whose]) for whose in {**own, **best})
    return sorted(found, key=lambda one: (-one.more, one.whose))


def _week(case: Case, _: str) -> str:
    """Return the Monday of the week that a state is of; nothing where it has no time."""
    return f"{case.now.date() - timedelta(case.now.weekday())}" if case.now else ""


def _costs(audit: Audit) -> Iterator[doc.Block]:
    queues = losses(audit, lambda _, queue: queue)
    weeks = sorted(one for one in losses(audit, _week) if one.whose)
    if not any(one.own or one.best for one in queues):
        return
    yield doc.Only("page", (_loss_table("Queue", queues, _work(audit)),))
    if len(weeks) > 1:
        yield doc.Only("page", (_loss_table("Week", weeks, _work(audit)),))
    said = "Each pending workload of each state is counted by itself, as if it came alone."
    if any(one.more < 0 for one in (*queues, *weeks)):
        said += f" Where the best loses more, it spares another queue, or {NEGATIVE}."
    yield doc.Only("page", (doc.Paragraph(said, "dim"),))


def _loss_table(title: str, rows: Sequence[Loss], work: Work) -> doc.Table:
    def lost(head: str, of: Callable[[Loss], int]) -> Column[Loss]:
        total = work.lost(sum(map(of, rows)))
        return Column(head, lambda one: work.lost(of(one)), total, number=True)

    columns: list[Column[Loss]] = [
        Column(title, lambda one: name(one.whose), "All", folds=True),
        lost("Lost", lambda one: one.own),
        lost("By the best", lambda one: one.best),
        lost("More than the best", lambda one: one.more),
    ]
    caption = f"{work.hours.capitalize()} lost, restarts included, by {title.lower()}"
    return table(caption, columns, rows)


NEGATIVE: Final = "another level comes first in the objective: who is hit, or how many"


def _findings(audit: Audit) -> Iterator[doc.Block]:
    rows: list[tuple[FindingCode, int]] = [
        (code, count) for code, count in audit.summary.findings.items() if count
    ]
    cases = max(1, audit.summary.covered)
    columns: list[Column[tuple[FindingCode, int]]] = [
        Column("Finding", lambda row: row[0]),
        Column("Cases", lambda row: f"{row[1]:,}", number=True),
        Column("Of all", lambda row: f"{row[1] / cases:.1%}", number=True),
        Column("The scheduler's own answer", lambda row: FINDINGS[row[0]], folds=True),
    ]
    if rows:
        yield table("What is wrong with the scheduler's own answers", columns, rows)
    elif audit.summary.covered:
        yield doc.Paragraph("Nothing to find fault with.", "good")


def _objectives(audit: Audit) -> Iterator[doc.Block]:
    if verdicts := audit.summary.verdicts:
        title = "How many of the scheduler's own answers are best"
        yield doc.Fold("How many were judged", (labelled_table(title, verdicts),))
    gaps = [gap for gap in audit.summary.gaps if gap.more or gap.less]
    if gaps:
        work = _work(audit)
        measures: list[Column[Gap]] = [
            Column("Objective", lambda gap: gap.objective, folds=True),
            Column("Measure", lambda gap: gap.title, folds=True, below="Objective"),
            Column("Unit", lambda gap: work.unit(gap.unit), folds=True, below="Measure"),
            Column("Compared", lambda gap: f"{gap.compared:,}", number=True, only="page"),
            Column("Worse", lambda gap: f"{gap.more:,}", number=True),
            Column("Better", lambda gap: f"{gap.less:,}", number=True),
            Column("Mean gap", lambda o: work.amount(o.unit, o.total / o.compared), number=True),
            Column("Worst gap", lambda o: work.amount(o.unit, o.worst), number=True),
        ]
        notes = [work.note] if any(gap.unit == WORK_UNIT for gap in gaps) else []
        yield table("How much more than the optimum, measure by measure", measures, gaps, notes)
        if any(gap.less for gap in gaps):
            said = f"Where the scheduler's own answer has less of a measure, {NEGATIVE}."
            yield doc.Only("page", (doc.Paragraph(said, "dim"),))


def _work(audit: Audit) -> Work:
    """Return the unit for the work that is lost in the states of an audit."""
    return work_in(name for case in audit.cases for name in case.resources)


def _worst(audit: Audit, folder: Path) -> Iterator[doc.Block]:
    shown = found(audit)
    if not shown:
        return
    states, work = {case.state: _state(case.state, folder) for case in shown}, _work(audit)

    def preemptor(case: Case) -> Cell:
        return name(case.names.get(case.pending, case.pending))

    def victims(place: int) -> Column[Case]:
        """Return a column with the number of victims of the optimum under an objective."""

        def cell(case: Case) -> Cell:
            best = case.judgements[place]
            known = best.status in {"optimal", "feasible"}
            return Cell(f"{len(best.victims):,}") if known else NONE

        return Column(shown[0].judgements[place].objective, cell, number=True)

    def fewest(case: Case) -> Cell:
        return NONE if case.fewest is None else Cell(f"{case.fewest:,}")

    def lost(case: Case) -> Cell:
        compared = case.judgements[0].gaps and not case.outside_rules
        return Cell(work.lost(lost_beyond(case))) if compared else NONE

    def needless(case: Case) -> Cell:
        more = len(case.needless) - MAX_NEEDLESS
        under = f"and {more:,} more" if more > 0 else ""
        some = [case.names.get(key, key) for key in case.needless[:MAX_NEEDLESS]]
        return Cell(", ".join(some), under, is_name=bool(some))

    places = range(len(shown[0].judgements))
    columns: list[Column[Case]] = [
        Column("State", lambda case: states[case.state], plural(len(shown), "case"), folds=True),
        Column("Preemptor", preemptor, folds=True, below="State"),
        Column("Evicts", lambda case: f"{len(case.victims):,}", number=True),
        *map(victims, places),
        Column("Fewest", fewest, number=True),
        Column(f"More {work.hours} lost than by the best", lost, number=True, only="page"),
        Column("Findings", lambda case: ", ".join(case.findings), folds=True),
    ]
    if any(case.turn != "next" for case in shown):
        columns.append(Column("Turn", lambda case: TURNS[case.turn], folds=True))
    if any(case.needless for case in shown):
        columns.append(Column("Needless", needless, only="page"))
    caption = "Victims of the scheduler itself and of the optima, most lost beyond the best first"
    cases = table(caption, columns, shown, most=ON_SCREEN)
    yield replace(cases, most_on_page=MAX_CASES)


def failure_table(done: str, failures: Sequence[Failure], folder: Path | None = None) -> doc.Table:
    """Return the states that were not answered, and why; links to them start from a folder."""
    at = folder or Path()
    linked = Column[Failure]("State", lambda one: _state(one.state, at), folds=True)
    caption = f"What could not be {done}"
    return labelled_table(caption, failures, {} if folder is None else {"state": linked})


def _state(state: str, folder: Path) -> Cell:
    """Return the name of a state, with a relative link if it is a file or folder on this disk."""
    try:
        known = Path(state).exists()
    except (OSError, ValueError):  # a name that no file can have
        known = False
    # A name such as javascript:... is a path too: quoting leaves no colon in it.
    href = quote(os.path.relpath(state, folder)) if known else ""
    return Cell(state, is_name=True, href=href)


def found(audit: Audit) -> list[Case]:
    """Return the cases with findings: those that lose most beyond the best, then most victims."""

    def excess(case: Case) -> tuple[int, int]:
        first = case.judgements[0]
        more = len(case.victims) - len(first.victims) if first.gaps else 0
        return lost_beyond(case), more

    return sorted((case for case in audit.cases if case.findings), key=excess, reverse=True)


def lost_beyond(case: Case) -> int:
    """Return how much more the scheduler's own victims lose than the optimum's; 0 if unknown.

    In accelerator-seconds, under the first objective; less than 0 where another level comes first.
    An answer outside the rules is not compared.
    """
    return 0 if case.outside_rules else lost_by(case.judgements[0].gaps)


def distributions(audit: Audit) -> Iterator[doc.Histogram]:
    """Yield the histograms of an audit that has cases to compare.

    All compare those answers of the scheduler itself that keep its rules with the optima under the
    first objective.
    """
    pairs = compared(audit)
    if not pairs:
        return
    objective, work = pairs[0][1].objective, _work(audit)
    lost = [lost_by(best.gaps) * work.each / SECONDS_PER_HOUR for _, best in pairs]
    yield _histogram(
        f"Victims more than the optimum has, under {objective}",
        VICTIMS,
        {"cases": [len(case.victims) - len(best.victims) for case, best in pairs]},
        lambda value: decimal(value).removesuffix(".00"),
    )
    yield _histogram(
        f"Lost work more than the optimum has, restarts included, under {objective}, "
        f"in {work.hours}",
        HOURS,
        {"cases": lost},
        decimal,
    )
    ratios = []
    for case, _ in pairs:
        known = [
            (one.greedy / one.requested, one.optimum / one.requested)
            for one in case.ratios
            if one.optimum is not None and one.requested
        ]
        if known:
            ratios.append(tuple(map(max, zip(*known, strict=True))))
    if ratios:
        own, best = zip(*ratios, strict=True)
        yield _histogram(
            "Evicted for what is requested: the largest ratio of all resources",
            RATIOS,
            {"the scheduler itself": own, f"optimum under {objective}": best},
            decimal,
        )


def _histogram(
    caption: str,
    ranges: Mapping[str, float],
    numbers: dict[str, Sequence[float]],
    show: Callable[[float], str],
) -> doc.Histogram:
    """Count numbers in ranges; empty ranges at both ends are left out."""
    names, ends = list(ranges), list(ranges.values())
    counts = {
        title: Counter(bisect_left(ends, value) for value in values)
        for title, values in numbers.items()
    }
    used = [place for found in counts.values() for place in found]
    shown = range(min(used), max(used) + 1)
    series = (
        doc.Series(title, tuple(count[place] for place in shown)) for title, count in counts.items()
    )
    notes = []
    for title, values in numbers.items():
        said = f"1 case; {show(values[0])}"
        if len(values) > 1:
            found = spread(values)
            said = f"{plural(len(values), 'case')}; mean {show(found.mean)}, median "
            said += f"{show(found.median)}, from {show(min(values))} to {show(found.max)}"
        notes.append(f"{title}: {said}" if len(numbers) > 1 else said)
    return doc.Histogram(
        caption, tuple(names[place] for place in shown), tuple(series), tuple(notes)
    )
