"""Racks and hosts with their slots, as a picture for pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.plan.kueue import DomainSlots, NodesAround
from planner.report.document import Only, SlotRow, Slots
from planner.report.text import short

NOT_PLACED = "With these victims gone, Kueue's own placement finds no place for all podsets."


def slots_in(pictures: Sequence[NodesAround]) -> Iterator[Only]:
    """Yield a picture for each podset; a screen has none."""
    for one in pictures:
        notes = [f"A slot is the place of a pod of {short(one.slot)}."]
        notes += [] if one.placed else [NOT_PLACED]
        notes += [f"{one.hidden:,} more are not shown."] if one.hidden else []
        caption = f"{one.pod_set} in flavor {one.flavor}"
        yield Only("page", (Slots(caption, tuple(map(_row, one.domains)), tuple(notes)),))


def _row(one: DomainSlots) -> SlotRow:
    freed = one.freed - one.reused
    stays = one.taken - one.freed
    return SlotRow(
        name=one.name,
        depth=len(one.domain) - 1,
        stays=stays,
        used=one.used,
        freed=freed,
        free=one.slots - stays - one.used - freed,
        notes=(f"{one.hidden:,} not shown",) if one.hidden else (),
    )
