"""A joint plan, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from planner.plan import Verdict
from planner.plan.kueue import JointPending, JointPlan, Victim
from planner.quantity import plural
from planner.report import document as doc
from planner.report import plan as shared
from planner.report import words
from planner.report.covered import answer_cell, assumed
from planner.report.document import NOTHING, Cell, Column, Fact, Section, name, named, table
from planner.report.kueue.plan import LEAVING, release_facts, release_lines
from planner.report.labelled import labelled_lines
from planner.report.style import line, renderer
from planner.report.text import age, moment, short
from planner.scheduler import scheduler_of


class _Row(NamedTuple):
    """One line of the steps: the first of a step names its preemptor, the others its victims."""

    step: str
    preemptor: str
    victim: Victim | None
    fits: bool = False

    def show(self, shown: Callable[[Victim], str]) -> str:
        """Return a text about the victim; empty in a row without one."""
        return "" if self.victim is None else shown(self.victim)


def _document(answer: JointPlan) -> doc.Document:
    """Return the document: who starts in which step, beside what serving one by one gives."""
    rows, lost = _rows(answer), set(answer.greedy.preemptors_evicted)
    places = {step.preemptor: str(n) for n, step in enumerate(answer.steps, start=1)}
    not_admitted = Cell("left out", tone="warn")

    def one_by_one(row: JointPending) -> Cell:
        if row.greedy:
            return Cell("admitted")
        return Cell("evicted again", tone="warn") if row.workload in lost else not_admitted

    def here(row: JointPending) -> Cell:
        return Cell("admitted", tone="good") if row.admitted else not_admitted

    waiting: list[Column[JointPending]] = [
        Column("Pending", lambda row: name(row.workload), folds=True),
        Column("ClusterQueue", lambda row: name(row.cluster_queue), folds=True, below="Pending"),
        Column("Priority", lambda row: str(row.priority), number=True),
        Column("This plan", here),
        Column("Step", lambda row: places.get(row.workload, NOTHING), number=True),
        Column("One by one", one_by_one),
    ]
    pending = table("Who waits, and who may start", waiting, answer.pending)
    sections = (
        Section("Who is admitted", (pending,)),
        Section("Steps", (_step_table(answer),)),
        Section("One by one", tuple(_beside(answer))),
        Section("Disruption", tuple(words.terms_tables(rows, "One by one", _work(answer)))),
        Section("Certificate", (doc.Facts(tuple(_certificate(answer))),)),
        words.noted(answer.notes),
    )
    called = scheduler_of(answer).words
    rules = f"{called.name}, {called.rules[answer.rules]}   at {moment(answer.now)}"
    left_out = (f"{short(one.workload)}: {one.explanation}" for one in answer.skipped)
    head = (
        *assumed(answer.coverage, answer.assume),
        Fact("Joint plan", Cell(plural(len(answer.pending), "pending workload")), "title"),
        Fact("Scheduler", Cell(rules)),
        *(Fact(*said) for said in release_facts(answer)),
        Fact("Objective", Cell(answer.objective)),
        Fact("Answer", answer_cell(answer), "verdict"),
        Fact("", Cell(answer.explanation), "answer"),
        *(Fact("Left out", Cell(said, tone="warn")) for said in left_out),
    )
    return doc.Document("Joint plan", head, sections)


def _step_table(answer: JointPlan) -> doc.Table:
    rows = []
    for number, step in enumerate(answer.steps, start=1):
        rows.append(_Row(str(number), step.preemptor, None, fits=not step.victims))
        rows += [_Row("", "", victim) for victim in step.victims]
    victims, work = answer.victims, _work(answer)
    total = work.lost(sum(victim.costs.get("lost_work", 0) for victim in victims))

    def who(row: _Row) -> Cell:
        if row.victim is None:
            return Cell("(it fits: nobody)" if row.fits else "", tone="dim")
        return Cell(row.victim.workload, LEAVING if row.victim.evicted else "", is_name=True)

    def queue(row: _Row) -> str:
        return row.show(lambda victim: victim.cluster_queue)

    def lost(row: _Row) -> str:
        return row.show(lambda victim: work.lost(victim.costs.get("lost_work", 0)))

    columns: list[Column[_Row]] = [
        Column("Step", lambda row: row.step, number=True),
        Column("Serves", lambda row: name(row.preemptor) if row.step else "", folds=True),
        Column("Victim", who, plural(len(victims), "victim"), folds=True, below="Serves"),
        Column("ClusterQueue", queue, folds=True, below="Victim"),
        Column("Priority", lambda row: row.show(lambda v: str(v.priority)), number=True),
        Column("Age", lambda row: row.show(lambda v: age(v.age_s)), number=True),
        Column("Reason", lambda row: row.show(lambda v: v.reason), rank=1),
        Column(f"Lost {work.short}", lost, total, number=True),
    ]
    return table("Whom to evict for whom, step by step", columns, rows)


def _work(answer: JointPlan) -> words.Work:
    return words.work_in(one.resource for victim in answer.victims for one in victim.usage)


def _beside(answer: JointPlan) -> Iterator[doc.Block]:
    """Yield the victims in common with serving one by one, spared or added, and those in vain."""
    greedy = answer.greedy
    ours = [victim.workload for victim in answer.victims]
    admitted = sum(one.greedy for one in answer.pending)
    said = (
        f"Served one by one, Kueue would admit {admitted:,} of {len(answer.pending):,} and evict "
        f"{plural(len(greedy.victims), 'workload')}; this plan admits {len(answer.steps):,} and "
        f"evicts {len(ours):,}"
    )
    lists = (
        doc.Names(shared.BOTH, tuple(key for key in ours if key in greedy.victims)),
        doc.Names(shared.SPARED, tuple(key for key in greedy.victims if key not in ours), "good"),
        doc.Names(shared.INSTEAD, tuple(key for key in ours if key not in greedy.victims), "warn"),
    )
    names = [one for one in lists if one.names]
    yield doc.Paragraph(f"{said}:" if names else f"{said}.")
    yield from names
    # Say what is evicted, or admitted, in vain.
    for who, keys in (("One by one", greedy.fit_again), ("This plan", answer.fit_again)):
        if keys:
            said = f"in the end {named(keys, {})} would fit again, evicted for nothing"
            yield doc.Paragraph(f"{who}: {said}", "warn")
    if keys := greedy.preemptors_evicted:
        said = f"{named(keys, {})} would be admitted and then evicted for another"
        yield doc.Paragraph(f"One by one, {said}", "warn")


def _rows(answer: JointPlan) -> list[words.TermRow]:
    comparable = all(one.greedy == one.admitted for one in answer.pending)
    greedy = answer.greedy.terms if comparable and answer.greedy.victims else None
    return words.level_rows(answer.certificate.levels, answer.terms, greedy, answer.scheduler)


def _verdicts(answer: JointPlan) -> list[Verdict]:
    return [verdict for step in answer.steps for verdict in step.verdicts]


def _certificate(answer: JointPlan) -> Iterator[tuple[str, Cell]]:
    certificate = answer.certificate
    held, checked = words.laws_held(_verdicts(answer))
    said = [
        answer.status,
        shared.closed_in_words(certificate),
        f"laws {held}/{checked} hold in {plural(len(answer.steps), 'step')}" if checked else "",
        f"{certificate.wall_time_s:.2f} s",
    ]
    yield "CERTIFICATE", Cell("   ".join(part for part in said if part))
    if proof := words.proof_in_words(certificate, ties=False):
        yield "Proof", Cell(proof)
    if certificate.cut_off:
        steps = plural(certificate.cut_off, "step")
        yield "Cut off", Cell(f"{steps} that the model permits and Kueue's own replay does not")
    solver = f"{certificate.solver}, seed {certificate.seed}"
    yield "Solver", Cell(f"{solver}   input {certificate.digest[: shared.SHORT_DIGEST]}")


def _lines(answer: JointPlan) -> Iterator[str]:
    yield from labelled_lines(answer)
    yield from release_lines(answer)
    yield line("victims", answer.victims)
    yield from labelled_lines(answer.greedy)
    yield from shared.term_lines(_rows(answer), answer.scheduler)
    certificate = answer.certificate
    yield shared.certificate_line(
        answer.status, certificate, _verdicts(answer), certificate.cut_off
    )


render = renderer(_lines, _document)
