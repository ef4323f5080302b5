"""What only Kueue has beside plans, in every format: joint plans, boosts, a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from planner.commands.boost.kueue.find import Boosts, WorkloadBoost
from planner.commands.explain.kueue.record import PreemptionMessage
from planner.commands.replay.kueue_live import LiveReplay, Observed
from planner.errors import SchemaError
from planner.plan.kueue import JointPlan
from planner.quantity import plural
from planner.report import document as doc
from planner.report.document import Cell, Column, Fact, Section, name, table
from planner.report.kueue import explanation, joint
from planner.report.style import Renderer, Said, each, field_lines, fields, free, line, renderer
from planner.report.text import clean
from planner.report.words import noted, remarks, rules_name

BOOST_ANSWERS: Final[dict[str, tuple[str, doc.Tone]]] = {
    "smallest": ("Proved smallest", "good"),
    "found": ("Works, not proved smallest", "warn"),
    "impossible": ("Proved impossible", "bad"),
    "unknown": ("Unknown", "warn"),
}
TURN_ON: Final = (
    "Kueue heeds the annotation only with its feature gate PriorityBoost on; here it is off.\n"
    "Everything above is as with the gate on."
)


def _boosted(answer: Boosts) -> doc.Document:
    count = plural(len(answer.boosts), "workload")
    columns: list[Column[WorkloadBoost]] = [
        Column("Workload", lambda one: name(one.workload), count, folds=True),
        Column("ClusterQueue", lambda one: name(one.cluster_queue), folds=True, below="Workload"),
        Column("In the plan", lambda one: one.role),
        Column("Priority", lambda one: str(one.priority), number=True),
        Column("Boost", lambda one: f"{one.boost:+d}", number=True),
        Column("Effective", lambda one: str(one.effective), number=True),
        Column("Today", lambda one: str(one.effective_before), number=True, rank=1),
    ]
    title = "What each gets, and its priority with it"
    boosts: list[doc.Block] = [table(title, columns, answer.boosts)]
    if answer.boosts and not answer.gate_on:
        boosts.append(doc.Paragraph(TURN_ON, "warn"))
    commands = (doc.Listing(tuple(answer.commands)),) if answer.boosts else ()
    sections = (
        Section("Boosts", tuple(boosts)),
        Section("Commands", commands),
        noted(remarks(answer.plan)),
    )
    plan, (said, tone) = answer.plan, BOOST_ANSWERS[answer.status]
    head = (
        Fact("Preemptor", name(answer.preemptor), "title"),
        Fact("ClusterQueue", name(plan.cluster_queue)),
        Fact("Scheduler", Cell(f"Kueue, {rules_name(plan)}")),
        Fact("Objective", Cell(plan.objective)),
        Fact("Plan", Cell(plan.explanation)),
        *(Fact("", name(key)) for key in plan.keys),
        Fact("Boosts", Cell(said, tone=tone), "verdict"),
        Fact("", Cell(answer.explanation), "answer"),
    )
    return doc.Document("Priority boosts", head, sections)


def _boost_lines(answer: Boosts) -> Iterator[str]:
    yield from field_lines(answer, "preemptor status")
    yield free("explanation", answer.explanation)
    yield line("plan", answer.plan.status, Said(answer.plan.explanation))
    yield line("objective", answer.plan.objective)
    yield from field_lines(answer, "gate_on orders")
    yield from each("victim", answer.plan.keys)
    names = "value=boost before=boost_before effective effective_before priority cluster_queue role"
    for one in answer.boosts:
        yield line("boost", one.workload, **fields(one, names))
    yield from (clean(command) for command in answer.commands)


render_boosts = renderer(_boost_lines, _boosted)


def _live_lines(answer: LiveReplay) -> Iterator[str]:
    for one in answer.preemptors:
        yield line("preemptor", one.preemptor, one.outcome, Said(one.detail))
        yield from each("evicted", one.evicted, one.preemptor)
        yield from each("replayed", one.replayed, one.preemptor)
        for missing in one.coverage:
            yield line("uncovered", one.preemptor, missing.feature, Said(missing.evidence))
    yield line("total", **fields(answer, "equal different skipped"))


def _lived(answer: LiveReplay) -> doc.Document:
    tones: dict[str, doc.Tone] = {"equal": "good", "different": "bad", "skipped": "dim"}
    columns: list[Column[Observed]] = [
        Column("Preemptor", lambda one: name(one.preemptor), folds=True),
        Column("", lambda one: Cell(one.outcome, tone=tones[one.outcome])),
        Column("Kueue evicted", lambda one: ", ".join(map(clean, one.evicted)), folds=True),
        Column("The replay", lambda one: ", ".join(map(clean, one.replayed)), folds=True),
    ]
    title = "Whom Kueue evicted between the two dumps"
    details = (f"{clean(one.preemptor)}: {one.detail}" for one in answer.preemptors if one.detail)
    missing = dict.fromkeys(
        f"{u.title}: {u.evidence}" for o in answer.preemptors for u in o.coverage
    )
    return doc.Document(
        "Replay of a live cluster",
        (Fact("Before", Cell(answer.before)), Fact("After", Cell(answer.after))),
        (
            Section("Victims", (table(title, columns, answer.preemptors),)),
            Section("Differences", tuple(doc.Paragraph(text, "warn") for text in details)),
            Section("What may explain them", tuple(doc.Paragraph(clean(text)) for text in missing)),
        ),
    )


_RENDERERS: Final[Mapping[type, Renderer[Any]]] = {
    Boosts: render_boosts,
    JointPlan: joint.render,
    LiveReplay: renderer(_live_lines, _lived),
    PreemptionMessage: explanation.render_message,
}


def render_own(answer: Any, style: str, *, width: int, color: bool) -> str:  # noqa: ANN401
    """Return a result that only Kueue has, in a style."""
    write = _RENDERERS.get(type(answer))
    if write is None:
        raise SchemaError("", f"{type(answer).__name__} is no answer", "what a verb returned")
    return write(answer, style, width=width, color=color)
