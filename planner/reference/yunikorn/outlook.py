"""What becomes of an ask in the cycles to come: who acts first, and what is left to chance.

A decision is for an ask in a state as it stands. In the core's cycles other asks may act before it
and take the room or the victims, or bring the core to lock itself; and what has no order in the
core may come in another one than here.

Source: docs/semantics/yunikorn-features.md §17, docs/semantics/yunikorn.md §12.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from planner.errors import UnsupportedError
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.cycle import Event, run_cycles
from planner.reference.yunikorn.decision import CoreHangs, Decision, decide
from planner.reference.yunikorn.order import NO_TIES
from planner.state.yunikorn import YuniKornState

SMALL: Final = 300
"""Allocations and asks up to which cycles are looked at that nobody asked for."""
MOST_LOOKED_AT: Final = 100
"""So many cycles are looked at, in all orders together."""
ORDERS, RACES = 8, 2
"""So many orders are tried of what has none in the core, and of nodes of equal score."""

Outcome = Literal["preempts", "allocated", "replaces", "waits", "hangs", "panics"]


class Course(NamedTuple):
    """What becomes of an ask, and ``before``: the asks that acted before it.

    ``node`` is where it goes, or what is made free for it; ``replaces`` is a placeholder; ``why``
    says why the core hangs.
    """

    outcome: Outcome
    node: str | None = None
    victims: tuple[str, ...] = ()
    replaces: str | None = None
    before: tuple[str, ...] = ()
    why: str = ""

    @property
    def choice(self) -> tuple[object, ...]:
        """What a plan tells of it: where an ask goes that is allocated it does not say."""
        node = self.node if self.outcome == "preempts" else None
        return self.outcome, node, frozenset(self.victims), self.replaces


class Outlook(Struct, frozen=True):
    """What the cycles to come make of a decision, where they make another thing of it.

    ``course`` is what becomes of the ask, as others act first, or the core hangs; ``chance`` what
    else the core may do, by what has no order in it, or as another of the nodes of equal score
    answers first: a ``race``. ``unknown`` says why nobody looked.
    """

    course: Course | None = None
    chance: Course | None = None
    race: bool = False
    unknown: str = ""


@dataclass
class _Courses:
    """The courses of an ask in several orders; ``left`` bounds the cycles of all of them."""

    state: YuniKornState
    cluster: Cluster
    asking: Asking
    left: int

    def course(self, ties: Mapping[str, int]) -> Course:
        """Return what becomes of the ask if what has no order has these ranks.

        A queue above its maximum has no turn, nor has an ask of a record that calls its preemptor.
        """
        cluster, key = self.cluster, self.asking.ask.allocation_key
        if self.asking.shares is not None or cluster.x.direct is not None:
            return decided(decide(cluster, self.asking, ties=ties))
        try:
            events = run_cycles(self.state, cluster.partition.name, key, ties, self.left)
        except CoreHangs as hang:
            return Course("hangs", why=hang.found)
        self.left -= len(events)
        return course_of(cluster, events, key)

    def alone(self) -> Course:
        """Return the course of the ask if no other ask waited.

        A decision is for the state as it stands: a required node is reserved in a cycle of its own.
        """
        partition, mine = self.cluster.partition, self.asking.application.application_id
        quiet = partition.model_copy(
            update={
                "applications": tuple(
                    one.model_copy(
                        update={"requests": (self.asking.ask,)[: one.application_id == mine]}
                    )
                    for one in partition.applications
                )
            }
        )
        state = self.state.model_copy(update={"partitions": (quiet,)})
        return replace(self, state=state).course(NO_TIES)

    def other(self, known: Course, names: Sequence[str], most: int) -> Course | None:
        """Return the first course that is another, in as many orders of names."""
        courses = map(self.course, islice(orders(names), most))
        return next((one for one in courses if self.left > 0 and one.choice != known.choice), None)


class _Rank(int):
    """The rank 0 of what has none, and whether it was ``compared`` with another.

    Nothing else is done with ranks: sorts and minima compare them where all that comes before is
    equal, and of what no comparison asked, no sort depends. A course in which none of some names
    was compared is therefore, step by step, the same whatever the ranks of these names are.
    """

    compared = False
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        self.compared = True
        return super().__eq__(other)

    def __lt__(self, other: int) -> bool:
        self.compared = True
        return super().__lt__(other)

    def __sub__(self, other: int) -> int:
        self.compared = True
        return super().__sub__(other)


def look_ahead(
    state: YuniKornState, cluster: Cluster, asking: Asking, decision: Decision
) -> Outlook:
    """Replay the cycles around an ask, and in other orders, and compare with its decision."""
    held = sum(len(one.allocations) for one in cluster.partition.applications)
    if held + len(cluster.asks) > SMALL:
        return Outlook(unknown=f"{held + len(cluster.asks):,} allocations and asks are too many")
    courses = _Courses(state, cluster, asking, MOST_LOOKED_AT)
    names, nodes = without_order(cluster), [room.node_id for room in cluster.nodes]
    ranks = {name: _Rank() for name in (*names, *nodes)}
    try:
        first = courses.course(ranks)
    except UnsupportedError as refused:
        return Outlook(unknown=f"of {refused.where}, {refused.found}")
    if courses.left <= 0:
        return Outlook(unknown=f"it is not decided in {MOST_LOOKED_AT} cycles")
    differs = bool(first.before) and first.choice != decided(decision).choice
    if first.outcome == "hangs" or (differs and first.choice != courses.alone().choice):
        return Outlook(first)
    conditions = decision.conditions
    if first.outcome == "waits" and conditions is not None and not conditions.attempted:
        return Outlook()
    tied, raced = (any(ranks[one].compared for one in some) for some in (names, nodes))
    chance, race = courses.other(first, names, ORDERS if tied else 0), False
    if chance is None:
        chance = courses.other(first, nodes, RACES if raced else 0)
        race = chance is not None
    return Outlook(chance=chance, race=race)


def decided(decision: Decision) -> Course:
    """Return what becomes of an ask by a decision that is for it alone."""
    if decision.kind in {"panic", "hangs"}:
        return Course("panics" if decision.kind == "panic" else "hangs")
    if decision.replaces is not None:
        return Course("replaces", replaces=decision.replaces.allocation_key)
    if decision.triggered:
        return Course("preempts", decision.node, decision.victim_keys)
    conditions = decision.conditions
    fits = decision.fits_at_once and conditions is not None and not conditions.held_back
    return Course("allocated" if fits else "waits")


def course_of(cluster: Cluster, events: Sequence[Event], key: str) -> Course:
    """Return what became of an ask in the last of some cycles."""
    last, before = events[-1] if events else Event(), dict[str, None]()
    node = next((room.node_id for room in cluster.nodes if room.reserved_for(key)), None)
    for one in events:
        node = one.reserved.get(key, None if key in one.unreserved else node)
        acted = (*one.triggered, *one.reserved, *([one.ask] if one.result else []))
        before |= dict.fromkeys(who for who in acted if who != key)
    victims, replaced = (
        tuple(one for one, why in last.released if why == kind)
        for kind in ("PREEMPTED_BY_SCHEDULER", "PLACEHOLDER_REPLACED")
    )
    if key in last.triggered:
        return Course("preempts", node, victims, before=(*before,))
    if last.ask != key:
        return Course("waits", before=(*before,))
    found: Outcome = "replaces" if replaced else "allocated"
    return Course(found, last.node, replaces=next(iter(replaced), None), before=(*before,))


def without_order(cluster: Cluster) -> list[str]:
    """Return the names of all that may have no order in the core, but for nodes."""
    applications = cluster.partition.applications
    names = [held.allocation_key for one in applications for held in one.allocations]
    names += [*cluster.asks, *(one.application_id for one in applications), *cluster.tree.by_path]
    return names


def orders(names: Sequence[str]) -> Iterator[Mapping[str, int]]:
    """Yield ranks for names: first turned around, then at random, the same in every run."""
    order = [*reversed(names)]
    shuffler = random.Random(0)  # noqa: S311 - orders to try, not secrets
    while True:
        yield {name: rank for rank, name in enumerate(order)}
        shuffler.shuffle(order)
