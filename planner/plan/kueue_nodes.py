"""The nodes around a plan: racks and hosts with their slots, taken, freed and used."""

from __future__ import annotations

from planner.plan.base import Record


class DomainSlots(Record):
    """A domain of a topology, counted in slots: places of one pod of a podset.

    ``domain`` has its values from the highest level down. Of its ``slots`` so many are ``taken``
    today; ``freed`` are those that the victims leave, ``used`` those that the preemptor's pods then
    take, ``reused`` of them for want of others those that were freed. A slot that is only half
    taken is taken. ``hidden`` counts the domains right below it that are not listed.
    """

    domain: tuple[str, ...]
    name: str
    slots: int
    taken: int
    freed: int
    used: int
    reused: int
    hidden: int = 0


class NodesAround(Record):
    """The nodes of one flavor, as the pods of one podset see them, from the highest level down.

    ``slot`` is what one pod asks for. ``placed`` says whether Kueue's own placement finds a place
    for all podsets once the victims are gone. ``hidden`` counts the domains of the highest level
    that are not listed.
    """

    pod_set: str
    flavor: str
    slot: str
    placed: bool
    domains: tuple[DomainSlots, ...]
    hidden: int = 0
