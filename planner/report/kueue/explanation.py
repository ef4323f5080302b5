"""What only explanations about Kueue have, and its texts about a preemption taken apart."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.explain.kueue.record import Explanation, Party, PreemptionMessage, Standing
from planner.report.document import NOTHING, Cell, Column, Document, Fact, name
from planner.report.style import fields, line, renderer
from planner.report.text import short


def about(answer: Explanation) -> Iterator[tuple[str, Cell]]:
    """Yield facts that no other scheduler has: none."""
    del answer
    yield from ()


def columns() -> list[Column[Standing]]:
    """Return the columns that say what runs where."""
    return [
        Column("Workload", lambda one: name(one.workload), folds=True),
        Column("ClusterQueue", lambda one: name(one.cluster_queue), folds=True),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", _place, number=True, rank=4),
    ]


def _place(one: Standing) -> str:
    return NOTHING if one.position is None else f"{one.position}/{one.candidates}"


def asking(answer: Explanation) -> Iterator[str]:
    """Yield the lines on where the preemptor is."""
    yield line("cluster_queue", answer.cluster_queue)


def standings(answer: Explanation) -> Iterator[tuple[Standing, str]]:
    """Yield what is explained, and the start of its line: who it is, and where it runs."""
    for one in answer.workloads:
        where = {"cluster_queue": one.cluster_queue, "reason": one.reason or None}
        yield one, line("workload", one.workload, **where)


def _taken_apart(message: PreemptionMessage) -> Document:
    """Return everything that a text of Kueue says."""
    head = [
        Fact("Text", Cell(message.text), "answer"),
        Fact("Reason", Cell(message.reason or NOTHING)),
        Fact("Law", Cell(message.law or NOTHING)),
    ]
    for title, party in (("Preemptor", message.preemptor), ("Victim", message.victim)):
        head += [Fact(title if not n else "", Cell(fact)) for n, fact in enumerate(_said_of(party))]
    return Document("Message about a preemption", tuple(head), ())


def _message_lines(message: PreemptionMessage) -> Iterator[str]:
    yield line("kind", message.kind)
    yield line("reason", message.reason or "none")
    yield line("law", message.law or "none")
    for label, party in (("preemptor", message.preemptor), ("victim", message.victim)):
        yield line(
            label,
            **fields(party, "workload uid job_uid cluster_queue"),
            path="/".join(party.path) or None,
            **fields(party, "priority=effective_priority base=base_priority boost"),
        )


def _said_of(party: Party) -> list[str]:
    """Return what a text says of one side, a fact a line."""
    said = []
    if party.workload:
        said.append(short(party.workload))
    if party.uid:
        said.append(f"UID {short(party.uid)}")
    if party.job_uid:
        said.append(f"UID of the job {short(party.job_uid)}")
    if party.path:
        said.append(f"ClusterQueue path {short('/'.join(party.path))}")
    elif party.cluster_queue:
        said.append(f"ClusterQueue {short(party.cluster_queue)}")
    if party.effective_priority is not None:
        parts = f"base {party.base_priority}, boost {party.boost}"
        said.append(f"priority {party.effective_priority} ({parts})")
    return said or [NOTHING]


render_message = renderer(_message_lines, _taken_apart)
