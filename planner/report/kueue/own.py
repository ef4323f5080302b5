"""What only Kueue has beside plans, in every format: joint plans, boosts, a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from planner.commands.boost.kueue.find import Boosts
from planner.commands.explain.kueue.record import PreemptionMessage
from planner.commands.replay.kueue_live import LiveReplay
from planner.plan.kueue import JointPlan
from planner.report import document as doc
from planner.report.document import Cell, Fact, Section, name
from planner.report.kueue import explanation, joint
from planner.report.labelled import (
    labelled_document,
    labelled_lines,
    labelled_table,
)
from planner.report.style import Renderer, Said, each, line, renderer
from planner.report.text import clean
from planner.report.words import noted, remarks, rules_name

TURN_ON: Final = (
    "Kueue heeds the annotation only with its feature gate PriorityBoost on; here it is off.\n"
    "Everything above is as with the gate on."
)


def _boosted(answer: Boosts) -> doc.Document:
    plan = answer.plan
    boosts: list[doc.Block] = [labelled_table("What each gets, and its priority", answer.boosts)]
    if answer.boosts and not answer.gate_on:
        boosts.append(doc.Paragraph(TURN_ON, "warn"))
    asked = (
        Fact("ClusterQueue", name(plan.cluster_queue)),
        Fact("Scheduler", Cell(f"Kueue, {rules_name(plan)}")),
        Fact("Objective", Cell(plan.objective)),
        Fact("Plan", Cell(plan.explanation)),
        *(Fact("", name(key)) for key in plan.keys),
    )
    notes = noted(remarks(plan))
    found = labelled_document("Priority boosts", answer, notes, boosts=boosts)
    return replace(found, head=(found.head[0], *asked, *found.head[1:]))


def _boost_lines(answer: Boosts) -> Iterator[str]:
    yield from labelled_lines(answer)
    yield line("plan", answer.plan.status, Said(answer.plan.explanation))
    yield line("objective", answer.plan.objective)
    yield from each("victim", answer.plan.keys)


render_boosts = renderer(_boost_lines, _boosted)


def _lived(answer: LiveReplay) -> doc.Document:
    missing = dict.fromkeys(
        f"{u.title}: {u.evidence}" for o in answer.preemptors for u in o.coverage
    )
    why = Section("What may explain them", tuple(doc.Paragraph(clean(text)) for text in missing))
    return labelled_document("Replay of a live cluster", answer, why)


RENDERERS: Final[Mapping[type, Renderer[Any]]] = {
    Boosts: render_boosts,
    JointPlan: joint.render,
    LiveReplay: renderer(labelled_lines, _lived),
    PreemptionMessage: explanation.render_message,
}
