"""What only explanations about Kueue have: room on nodes; texts about a preemption taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from planner.commands.explain.kueue.record import (
    DomainRoom,
    Explanation,
    FlavorRoom,
    Opening,
    PreemptionMessage,
    Standing,
)
from planner.plan.base import name_some
from planner.quantity import plural
from planner.report import document as doc
from planner.report.document import MAX_NAMES, NOTHING, Cell, Column, name, named, table
from planner.report.explanation import Explained
from planner.report.kueue.plan import slots_in
from planner.report.labelled import labelled_document, labelled_lines
from planner.report.style import renderer
from planner.report.text import short


def explained(answer: Explanation) -> Explained:
    """Return the parts of an explanation that only explanations about Kueue have."""

    def place_in_order(one: Standing) -> str:
        return NOTHING if one.position is None else f"{one.position}/{one.candidates}"

    columns: list[Column[Standing]] = [
        Column("Workload", lambda one: name(one.workload), folds=True),
        Column("ClusterQueue", lambda one: name(one.cluster_queue), folds=True, below="Workload"),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", place_in_order, number=True, rank=4),
    ]
    return Explained(columns, "workload", (), _blocks(answer))


def _blocks(answer: Explanation) -> Iterator[doc.Block]:
    """Yield the room that the nodes have for the workload, domain by domain."""
    nodes = answer.nodes
    if nodes is None:
        return
    if nodes.unknown:
        yield doc.Paragraph(f"Not known: {nodes.unknown}", "warn")
        return

    def lacks(one: DomainRoom) -> Cell:
        return Cell(f"{one.lacks:,}", tone="bad" if one.lacks else "good")

    columns: list[Column[DomainRoom]] = [
        Column("Domain", lambda one: name(one.name), folds=True),
        Column("Has", lambda one: f"{one.holds:,}", number=True),
        Column("Lacks", lacks, number=True),
        Column("Empty", lambda one: f"{one.empty:,}", number=True, rank=3),
        Column("Candidates to go", lambda one: _to_go(one, one.candidates), folds=True),
        Column("Whoever it is", lambda one: _to_go(one, one.whoever), folds=True, rank=2),
    ]
    for room in nodes.flavors:
        yield doc.Paragraph(_asked(room) + ("" if room.closest else ": there is none"))
        if room.closest:
            yield table("Room, domain by domain", columns, room.closest, _notes(room))
    if nodes.together is not None:
        yield doc.Paragraph(nodes.together.text[:1].upper() + nodes.together.text[1:] + ".", "warn")
    elif sum(one.assigned for one in nodes.flavors) > 1:
        yield doc.Paragraph("Each by itself: placed one after the other they may need more.", "dim")
    said = {"Fit": "admits it at once", "Preempt": "finds nobody to evict"}
    does = said.get(nodes.mode or "", "has no room for it, whoever goes")
    if nodes.victims:
        does = f"evicts {named(nodes.victims, {})}"
    yield doc.Facts((("Kueue itself", Cell(does)),))
    yield from slots_in(nodes.around)


def _asked(room: FlavorRoom) -> str:
    who = " and ".join(short(one) for one in room.pod_sets)
    many = f"{plural(room.wanted, 'slot')} of {short(room.slot)}"
    if room.size > 1:
        many = f"{plural(room.wanted, 'slice')} of {room.size} slots of {short(room.slot)}"
    flavor = f"flavor {short(room.flavor)}" + ("" if room.assigned else ", which is not assigned")
    manners = {"required": "required in one", "preferred": "preferred in one"}
    if room.manner in manners:
        return f"{who}: {many}, {manners[room.manner]} {short(room.level)}, in {flavor}"
    return f"{who}: {many}, anywhere in {flavor}"


def _notes(room: FlavorRoom) -> Iterator[str]:
    listed = sum(bool(one.domain) for one in room.closest)
    if 0 < listed < room.domains:
        yield f"The closest {listed:,} of {room.domains:,}."
    others = dict.fromkeys(chain.from_iterable(one.others for one in room.closest))
    if others:
        yield f"Not placed by Kueue, and not to be evicted: {name_some(others, MAX_NAMES)}."
    openings = [found for one in room.closest for found in (one.candidates, one.whoever) if found]
    if any(not found.proved for found in openings):
        yield "≤: a smaller set was not ruled out."


def _to_go(one: DomainRoom, opening: Opening | None) -> Cell:
    """Return the workloads that would have to be evicted, cut where they are many."""
    if opening is None:
        return Cell("nobody" if not one.lacks else NOTHING, tone="dim")
    if opening.victims is None:
        return Cell("no set", tone="bad")
    least = "" if opening.proved else "≤ "
    return Cell(f"{least}{len(opening.victims):,}: {named(opening.victims, {})}")


def _taken_apart(message: PreemptionMessage) -> doc.Document:
    return labelled_document("Message about a preemption", message)


render_message = renderer(labelled_lines, _taken_apart)
