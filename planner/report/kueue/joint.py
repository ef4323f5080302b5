"""A joint plan, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from planner.plan import JointPending, JointPlan, Victim
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Names,
    Paragraph,
    Section,
    Sheet,
    Tone,
    filled,
    name,
    sheet,
)
from planner.report.document.measure import unit_of, value_of
from planner.report.document.plan import ANSWERS
from planner.report.kueue.table import EVICTING
from planner.report.plain_lines import line, quoted, term_lines, yes
from planner.report.proof import proof_in_words
from planner.report.style import in_style
from planner.report.table_parts import (
    BOTH,
    CLOSED,
    INSTEAD,
    NOTHING,
    RARELY_SHOWN,
    SHORT_DIGEST,
    SPARED,
)
from planner.report.terminal import CUT, MAX_NAMES
from planner.report.text import age, clean, hours, moment, plural, short, word
from planner.report.words import TermRow, level_rows
from planner.scheduler import scheduler_of

JOINT: Final = "Joint plan"
ADMITTED: Final = "admitted"
EVICTED_AGAIN: Final = "evicted again"
LEFT_OUT: Final = "left out"
NOBODY: Final = "(it fits: nobody)"
BESIDE: Final = "Served one by one, Kueue would admit {greedy} and evict {theirs}; this plan {ours}"
FOR_NOTHING: Final = "{who}: in the end {victims} would fit again, evicted for nothing"
PREEMPTORS: Final = "One by one, {preemptors} would be admitted and then evicted for another"


class _Row(NamedTuple):
    """One line of the steps: the first of a step names its preemptor."""

    step: str
    preemptor: str
    victim: Victim | None


def render(answer: JointPlan, style: str, *, width: int, color: bool) -> str:
    """Return a joint plan: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    return in_style(answer, style, _lines, document, width=width, color=color)


def document(answer: JointPlan) -> Document:
    """Return everything there is to say: who starts in which step, and what serving each gives."""
    sections = filled(
        Section("Who is admitted", (_pending_table(answer),)),
        Section("Steps", (_step_table(answer),) if answer.steps else ()),
        Section("One by one", tuple(_beside(answer))),
        Section("Disruption", (_disruption(answer),) if answer.terms else ()),
        Section("Certificate", (Facts(tuple(_certificate(answer))),)),
    )
    return Document(JOINT, tuple(_head(answer)), sections)


def _head(answer: JointPlan) -> Iterator[Fact]:
    said, tone = ANSWERS[answer.status]
    called = scheduler_of(answer).words
    rules = f"{called.name}, {called.rules[answer.rules]}   at {moment(answer.now)}"
    yield Fact("Joint plan", Cell(plural(len(answer.pending), "pending workload")), "title")
    yield Fact("Scheduler", Cell(rules))
    yield Fact("Objective", Cell(answer.objective))
    yield Fact("Answer", Cell(said, tone=tone), "verdict")
    yield Fact("", Cell(answer.explanation), "answer")
    for one in answer.skipped:
        yield Fact("Left out", Cell(f"{short(one.workload)}: {one.explanation}", tone="warn"))


def _pending_table(answer: JointPlan) -> Sheet:
    places = {step.preemptor: str(n) for n, step in enumerate(answer.steps, start=1)}
    lost = set(answer.greedy.preemptors_evicted)

    def one_by_one(row: JointPending) -> Cell:
        if row.greedy:
            return Cell(ADMITTED)
        again = row.workload in lost
        return Cell(EVICTED_AGAIN if again else LEFT_OUT, tone="warn")

    def here(row: JointPending) -> Cell:
        return Cell(ADMITTED, tone="good") if row.admitted else Cell(LEFT_OUT, tone="warn")

    columns: list[Column[JointPending]] = [
        Column("Pending", lambda row: name(row.workload), folds=True),
        Column("ClusterQueue", lambda row: name(row.cluster_queue), folds=True),
        Column("Priority", lambda row: str(row.priority), number=True),
        Column("This plan", here),
        Column("Step", lambda row: places.get(row.workload, NOTHING), number=True),
        Column("One by one", one_by_one),
    ]
    return sheet("Who waits, and who may start", columns, answer.pending)


def _step_table(answer: JointPlan) -> Sheet:
    rows = []
    for number, step in enumerate(answer.steps, start=1):
        label = str(number), step.preemptor
        for victim in step.victims or (None,):
            rows.append(_Row(*label, victim))
            label = "", ""
    victims = answer.victims
    lost = sum(victim.costs.get("D4", 0) for victim in victims)
    columns: list[Column[_Row]] = [
        Column("Step", lambda row: row.step, number=True),
        Column("Serves", lambda row: name(row.preemptor) if row.step else "", folds=True),
        Column("Victim", _victim, plural(len(victims), "victim"), folds=True),
        Column("ClusterQueue", lambda row: _of(row, lambda v: v.cluster_queue), folds=True),
        Column("Priority", lambda row: _of(row, lambda v: str(v.priority)), number=True),
        Column("Age", lambda row: _of(row, lambda v: age(v.age_s)), number=True),
        Column("Reason", lambda row: _of(row, lambda v: v.reason), rank=1),
        Column(
            "Lost acc-h",
            lambda row: _of(row, lambda v: hours(v.costs.get("D4", 0))),
            hours(lost),
            number=True,
        ),
    ]
    return sheet("Whom to evict for whom, step by step", columns, rows)


def _of(row: _Row, show: Callable[[Victim], str]) -> str:
    return NOTHING if row.victim is None else show(row.victim)


def _victim(row: _Row) -> Cell:
    if row.victim is None:
        return Cell(NOBODY, tone="dim")
    return Cell(row.victim.workload, EVICTING if row.victim.evicted else "", is_name=True)


def _beside(answer: JointPlan) -> Iterator[Block]:
    """Say what serving one by one gives: in common, in addition, instead, and for nothing."""
    greedy = answer.greedy
    ours = [victim.workload for victim in answer.victims]
    admitted = sum(one.greedy for one in answer.pending)
    said = BESIDE.format(
        greedy=f"{admitted:,} of {len(answer.pending):,}",
        theirs=plural(len(greedy.victims), "workload"),
        ours=f"admits {len(answer.steps):,} and evicts {len(ours):,}",
    )
    lists: tuple[tuple[str, list[str], Tone], ...] = (
        (BOTH, [key for key in ours if key in greedy.victims], ""),
        (SPARED, [key for key in greedy.victims if key not in ours], "good"),
        (INSTEAD, [key for key in ours if key not in greedy.victims], "warn"),
    )
    names = [Names(label, tuple(keys), tone) for label, keys, tone in lists if keys]
    yield Paragraph(f"{said}:" if names else f"{said}.")
    yield from names
    yield from _in_vain(answer)


def _in_vain(answer: JointPlan) -> Iterator[Paragraph]:
    """Say what is evicted, or admitted, in vain."""
    greedy = answer.greedy
    for who, keys in (("One by one", greedy.fit_again), ("This plan", answer.fit_again)):
        if keys:
            yield Paragraph(FOR_NOTHING.format(who=who, victims=_named(keys)), "warn")
    if keys := greedy.preemptors_evicted:
        yield Paragraph(PREEMPTORS.format(preemptors=_named(keys)), "warn")


def _named(keys: Sequence[str]) -> str:
    text = ", ".join(map(short, keys[:MAX_NAMES]))
    more = len(keys) - MAX_NAMES
    return f"{text} {CUT.format(count=more)}" if more > 0 else text


def _rows(answer: JointPlan) -> list[TermRow]:
    """Return the levels of the objective, then the other terms, beside those of one by one."""
    comparable = all(one.greedy == one.admitted for one in answer.pending)
    greedy = answer.greedy.terms if comparable and answer.greedy.victims else None
    return level_rows(answer.certificate.levels, answer.terms, greedy)


def _disruption(answer: JointPlan) -> Sheet:
    rows = [row for row in _rows(answer) if row.level or row.id not in RARELY_SHOWN]
    columns: list[Column[TermRow]] = [
        Column("Level", lambda row: str(row.level or ""), number=True),
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: row.title, folds=True),
        Column("This plan", lambda row: value_of(row, row.value), number=True),
        Column("One by one", lambda row: value_of(row, row.greedy), number=True),
        Column("Bound", lambda row: value_of(row, row.bound), number=True),
        Column("Unit", unit_of),
    ]
    if all(row.greedy is None for row in rows):
        del columns[4]
    return sheet("Disruption, the levels of the objective first", columns, rows)


def _laws(answer: JointPlan) -> tuple[int, int]:
    verdicts = [verdict for step in answer.steps for verdict in step.verdicts]
    return sum(verdict.holds for verdict in verdicts), len(verdicts)


def _certificate(answer: JointPlan) -> Iterator[tuple[str, Cell]]:
    certificate = answer.certificate
    levels = certificate.levels
    closed = sum(level.value == level.bound for level in levels)
    held, checked = _laws(answer)
    said = [
        answer.status,
        CLOSED.format(closed=closed, levels=plural(len(levels), "level")) if levels else "",
        f"laws {held}/{checked} hold in {plural(len(answer.steps), 'step')}" if checked else "",
        f"{certificate.wall_time_s:.2f} s",
    ]
    yield "CERTIFICATE", Cell("   ".join(part for part in said if part))
    if proof := proof_in_words(certificate, ties=False):
        yield "Proof", Cell(proof)
    if certificate.cut_off:
        steps = plural(certificate.cut_off, "step")
        yield "Cut off", Cell(f"{steps} that the model permits and Kueue's own replay does not")
    solver = f"{certificate.solver}, seed {certificate.seed}"
    yield "Solver", Cell(f"{solver}   input {certificate.digest[:SHORT_DIGEST]}")


def _lines(answer: JointPlan) -> Iterator[str]:
    yield line("status", answer.status)
    yield line("explanation", " ".join(map(clean, answer.explanation.split("\n"))))
    yield line("scheduler", answer.scheduler)
    yield line("rules", word(answer.rules))
    yield line("objective", word(answer.objective))
    yield line("now", moment(answer.now))
    yield from _pending_lines(answer)
    yield line("victims", str(len(answer.victims)))
    for number, step in enumerate(answer.steps, start=1):
        yield line("step", str(number), word(step.preemptor), f"victims={len(step.victims)}")
        for victim in step.victims:
            yield line(
                "victim",
                str(number),
                word(victim.workload),
                f"cluster_queue={word(victim.cluster_queue)}",
                f"priority={victim.priority}",
                f"reason={word(victim.reason)}",
                f"age_s={victim.age_s}",
                f"evicting={yes(victim.evicted)}",
                *(f"{word(term)}={value}" for term, value in victim.costs.items()),
            )
    yield from (line("fit_again", word(key)) for key in answer.fit_again)
    yield from _greedy_lines(answer)
    yield from term_lines(_rows(answer), answer.scheduler)
    yield _certificate_line(answer)


def _pending_lines(answer: JointPlan) -> Iterator[str]:
    for one in answer.pending:
        yield line(
            "pending",
            word(one.workload),
            f"admitted={yes(one.admitted)}",
            f"one_by_one={yes(one.greedy)}",
            f"cluster_queue={word(one.cluster_queue)}",
            f"priority={one.priority}",
            quoted(one.explanation),
        )
    yield from (line("skipped", word(o.workload), quoted(o.explanation)) for o in answer.skipped)


def _greedy_lines(answer: JointPlan) -> Iterator[str]:
    greedy = answer.greedy
    for number, turn in enumerate(greedy.turns, start=1):
        facts = f"admitted={yes(turn.admitted)}", f"victims={len(turn.victims)}"
        yield line("kueue_turn", str(number), word(turn.preemptor), *facts)
        yield from (line("kueue_victim", str(number), word(key)) for key in turn.victims)
    yield from (line("kueue_evicts_again", word(key)) for key in greedy.preemptors_evicted)
    yield from (line("kueue_fit_again", word(key)) for key in greedy.fit_again)


def _certificate_line(answer: JointPlan) -> str:
    certificate = answer.certificate
    closed = sum(level.value == level.bound for level in certificate.levels)
    held, checked = _laws(answer)
    return line(
        "certificate",
        answer.status,
        f"levels={closed}/{len(certificate.levels)}",
        f"laws={held}/{checked}",
        f"cut_off={certificate.cut_off}",
        f"seconds={certificate.wall_time_s:.3f}",
        f"seed={certificate.seed}",
        f"solver={quoted(certificate.solver)}",
        f"digest={word(certificate.digest)}",
    )
