"""The text of Kueue about a preemption, taken apart, in every format."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.explain.kueue.record import Party, PreemptionMessage
from planner.report.document.block import Cell, Document, Fact
from planner.report.plain_lines import line
from planner.report.style import in_style
from planner.report.table_parts import NOTHING
from planner.report.text import short, word


def render_message(message: PreemptionMessage, style: str, *, width: int, color: bool) -> str:
    """Return what a text of Kueue says: ``table``, ``plain``, ``json``, ``markdown``, ``html``."""
    return in_style(message, style, _lines, document, width=width, color=color)


def document(message: PreemptionMessage) -> Document:
    """Return everything that a text of Kueue says."""
    head = [
        Fact("Text", Cell(message.text), "answer"),
        Fact("Reason", Cell(message.reason or NOTHING)),
        Fact("Law", Cell(message.law or NOTHING)),
    ]
    for title, party in (("Preemptor", message.preemptor), ("Victim", message.victim)):
        head += [Fact(title if not n else "", Cell(fact)) for n, fact in enumerate(_told(party))]
    return Document("Message about a preemption", tuple(head), ())


def _lines(message: PreemptionMessage) -> Iterator[str]:
    yield line("kind", message.kind)
    yield line("reason", message.reason or "none")
    yield line("law", message.law or "none")
    for label, party in (("preemptor", message.preemptor), ("victim", message.victim)):
        known = {
            "workload": party.workload,
            "uid": party.uid,
            "job_uid": party.job_uid,
            "cluster_queue": party.cluster_queue,
            "path": "/".join(party.path) or None,
            "priority": party.effective_priority,
            "base": party.base_priority,
            "boost": party.boost,
        }
        facts = (f"{name}={word(str(fact))}" for name, fact in known.items() if fact is not None)
        yield line(label, *facts)


def _told(party: Party) -> list[str]:
    """Return what a text tells of one side, a fact a line."""
    told = []
    if party.workload:
        told.append(short(party.workload))
    if party.uid:
        told.append(f"UID {short(party.uid)}")
    if party.job_uid:
        told.append(f"UID of the job {short(party.job_uid)}")
    if party.path:
        told.append(f"ClusterQueue path {short('/'.join(party.path))}")
    elif party.cluster_queue:
        told.append(f"ClusterQueue {short(party.cluster_queue)}")
    if party.effective_priority is not None:
        parts = f"base {party.base_priority}, boost {party.boost}"
        told.append(f"priority {party.effective_priority} ({parts})")
    return told or [NOTHING]
