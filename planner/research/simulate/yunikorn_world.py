"""A cluster of YuniKorn in which time passes.

Within a second the asks are looked at one after the other, in the order of the state, until none
moves: an ask moves if it finds room, or preempts. Victims vanish at once, the ask takes its node,
and each victim comes back as an ask of its application, made now: it has to wait for the delay of
its queue before it may preempt. An ask that tried to preempt and found no victims tries again
after 15 seconds, if anything changed. Who is preempted in the dump is gone at the start, and asks a
second later: the core keeps the room for the ask that preempted.

The ``state`` of a mark has times by their order only. How long an ask has waited decides until it
may preempt, and is in ``to_come``.

Source: docs/semantics/yunikorn.md §3 and §14 (flow mode), and the design document's "Preemption
Loop Prevention"; yunikorn-core be3bb487.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from planner.errors import InputError, LookupFailed, SchemaError
from planner.objective.terms import work
from planner.quota.yunikorn.cluster import Asking, Cluster, prepare
from planner.quota.yunikorn.resource import Resource, plus
from planner.reader.show import shown
from planner.reference.yunikorn.decision import Decision, decide
from planner.reference.yunikorn.flow import Look, after, asked_as, looks, reserved, unreserved
from planner.reference.yunikorn.turn import CHECK_INTERVAL
from planner.research.simulate.record import Event, Kind, Standing
from planner.research.simulate.script import Arrivals, Leaving, Script
from planner.research.simulate.simulate import EVICTION_S, OPTIMUM, Plans, Question
from planner.research.simulate.world import (
    Appointment,
    Cycle,
    Due,
    Entered,
    Mark,
    Text,
    World,
    digest,
    ranks,
)
from planner.state.clock import SECOND, from_nanoseconds
from planner.state.yunikorn import (
    POD_NAME_TAG,
    Allocation,
    Application,
    Ask,
    Claim,
    Partition,
    YuniKornState,
)
from planner.term import unit_weight


class Coming(NamedTuple):
    """An ask that arrives in an application of a partition, in seconds after the start.

    ``again`` says that it is the ask of a victim of before.
    """

    key: str
    at_s: int
    tree: int
    application: Application
    ask: Ask
    again: bool = False


AGAIN_S: Final = 1
"""Seconds after the start until who is preempted in the dump asks again."""


def comings(state: YuniKornState, script: Script) -> tuple[YuniKornState, dict[str, Coming]]:
    """Return the state without the asks that arrive later, and these by their keys.

    LookupFailed if the script copies an ask or an allocation that is not there, SchemaError if a
    copy would have the key of one that is there.
    """
    later = []
    for tree, application, claim in _claims(state):
        at_s = script.arrive_s(*filter(None, (claim.allocation_key, claim.pod)))
        if isinstance(claim, Ask) and at_s is not None:
            ask = claim.model_copy(update={"request_time": state.now + at_s * SECOND})
            later.append(Coming(ask.allocation_key, at_s, tree, application, ask))
    gone = {one.key for one in later}
    known = {claim.allocation_key for _, _, claim in _claims(state)} - gone
    copies = (copy for rows in script.arrival for copy in _copies(state, rows))
    found: dict[str, Coming] = {}
    for coming in (*later, *copies):
        if coming.key in known or coming.key in found:
            raise SchemaError(
                "script: arrival", f"{coming.key} is there already", hint="copy another one"
            )
        found[coming.key] = coming

    def now(application: Application) -> tuple[Ask, ...]:
        return tuple(ask for ask in application.requests if ask.allocation_key not in gone)

    # What the core said of what runs, and of what users have, does not stay so.
    counted: dict[str, object] = {"queue_states": {}, "usage": None}
    partitions = tuple(
        _asked(one, now).model_copy(update={"nodes": tuple(unreserved(one.nodes, gone)), **counted})
        for one in state.partitions
    )
    return state.model_copy(update={"partitions": partitions}), found


def _asked(partition: Partition, requests: Callable[[Application], tuple[Ask, ...]]) -> Partition:
    """Return a partition whose applications have the asks that ``requests`` returns."""

    def now(one: Application) -> Application:
        asks = requests(one)
        return one if asks is one.requests else one.model_copy(update={"requests": asks})

    return partition.model_copy(update={"applications": tuple(map(now, partition.applications))})


def _claims(state: YuniKornState) -> Iterator[tuple[int, Application, Claim]]:
    for tree, partition in enumerate(state.partitions):
        for application in partition.applications:
            for claim in (*application.allocations, *application.requests):
                yield tree, application, claim


def _copies(state: YuniKornState, rows: Arrivals) -> Iterator[Coming]:
    claims = _claims(state)
    found = next((row for row in claims if rows.like in {row[2].allocation_key, row[2].pod}), None)
    if found is None:
        raise LookupFailed(
            "script: arrival.like", f"there is no ask or allocation {shown(rows.like)}"
        )
    tree, application, claim = found
    for number in range(1, rows.count + 1):
        key, at_s = f"{claim.allocation_key}-{number}", rows.at_s(number)
        ask = asked_as(key, claim, state.now + at_s * SECOND)
        if claim.pod:
            tags = claim.allocation_tags | {POD_NAME_TAG: f"{claim.pod.partition('/')[2]}-{number}"}
            ask = ask.model_copy(update={"allocation_tags": tags})
        yield Coming(key, at_s, tree, application, ask)


def state_mark(cluster: Cluster, kept: Mapping[str, int]) -> Text:
    """Return all that decides in a partition; ``kept`` is the progress that victims have kept."""
    applications = cluster.partition.applications
    made = ranks(one.allocation_time for each in applications for one in each.allocations)
    rooms = tuple(
        (room.node_id, tuple(sorted(room.available.items())), tuple(sorted(room.node.reservations)))
        for room in cluster.nodes
    )
    parts = []
    for each in applications:
        held = tuple(
            sorted(
                (one.allocation_key, one.node_id, made[one.allocation_time], one.preempted)
                for one in each.allocations
            )
        )
        asks = tuple((one.allocation_key, one.triggered_preemption) for one in each.requests)
        keys = [one.allocation_key for one in (*each.allocations, *each.requests)]
        kept_by = tuple((key, kept[key]) for key in sorted(keys) if kept.get(key))
        parts.append((each.application_id, held, asks, kept_by))
    return (*rooms, *parts)


def ages(cluster: Cluster) -> Text:
    """Return how long asks have waited, as far as it makes a difference, in nanoseconds."""
    found = []
    for application, ask in cluster.partition.asks:
        delay = cluster.tree.leaf_of(application).properties.delay
        checked = ask.x.preempt_check_time
        # More time than delay and interval changes nothing, and is cut: else no state comes back.
        age = CHECK_INTERVAL if checked is None else min(cluster.now - checked, CHECK_INTERVAL)
        found.append((ask.allocation_key, min(cluster.now - ask.request_time, delay), age))
    return tuple(found)


Decider = Callable[[YuniKornState, Cluster, Asking], Decision]
"""Decides for an ask without room whether it preempts, and which victims."""


class YuniKornWorld(World):
    """The partitions of a cluster, each a tree of its own."""

    def __init__(self, state: YuniKornState, script: Script, decider: Decider) -> None:
        """Set up a cluster; errors are those of ``comings``, and of a queue that is not there."""
        self._state, self._coming = comings(state, script)
        asks = [coming.ask for coming in self._coming.values()]
        claims = [*(claim for _, _, claim in _claims(state)), *asks]
        names = {one.allocation_key: one.pod for one in claims if one.pod}
        super().__init__(from_nanoseconds(state.now), script, names)
        self._first_ns: Final = state.now
        self._decider = decider
        self._tree_of: dict[str, int] = {}
        self._changes = 0
        self._tried: dict[str, int] = {}
        self._clusters = [prepare(self._state, one.name) for one in self._state.partitions]
        for tree, application, claim in _claims(self._state):
            self._tree_of[claim.allocation_key] = tree
            if isinstance(claim, Allocation) and claim.preempted:
                # It is gone at the start; its ask comes.
                key = claim.allocation_key
                self._lose(key, self._ran_s(claim, 0))
                self._put(tree, _without(self._clusters[tree], claim), 0)
                ask = asked_as(key, claim, self._first_ns + AGAIN_S * SECOND)
                self._coming[key] = Coming(key, AGAIN_S, tree, application, ask, again=True)
            elif isinstance(claim, Allocation):
                self._plan_end(claim.allocation_key, tree, -self._ran_s(claim, 0), 0)
        for coming in self._coming.values():
            self._tree_of[coming.key] = coming.tree
            self._agenda.set(coming.at_s, Due.ARRIVE, coming.key, coming.tree)

    def _put(self, tree: int, partition: Partition, at_s: int) -> None:
        """Put a changed partition in the place of the partition before, and set the clock."""
        partitions = list(self._state.partitions)
        partitions[tree] = partition
        now = self._first_ns + at_s * SECOND
        self._state = self._state.model_copy(update={"partitions": tuple(partitions), "now": now})
        self._clusters[tree] = prepare(self._state, partition.name)

    def _ran_s(self, one: Allocation, at_s: int) -> int:
        now = self._first_ns + at_s * SECOND
        return max(0, now - one.allocation_time) // SECOND

    # What happens by itself

    def next_s(self) -> int | None:
        """Return when something happens by itself; ``None`` if nothing is to come."""
        times = [self._agenda.next_s(), *(at_s for at_s, _ in self._attempts())]
        return min((at_s for at_s in times if at_s is not None), default=None)

    def _attempts(self) -> Iterator[tuple[int, int]]:
        """Yield when asks are to try preemption, and in which tree."""
        for tree, cluster in enumerate(self._clusters):
            for application, ask in cluster.partition.asks:
                due = ask.request_time + cluster.tree.leaf_of(application).properties.delay
                checked = ask.x.preempt_check_time
                if checked is not None:
                    if self._tried.get(ask.allocation_key) == self._changes:
                        continue  # nothing has changed since
                    due = max(due, checked + CHECK_INTERVAL)
                # An ask due now was looked at in this cycle; one that triggered preemption never
                # does so again.
                if due > cluster.now and not ask.triggered_preemption:
                    yield -((self._first_ns - due) // SECOND), tree

    def happen(self, at_s: int) -> list[Event]:
        """Carry out all appointments that are due."""
        for tree, partition in enumerate(self._state.partitions):
            # Only the clock changes: how long asks have waited depends on it.
            self._put(tree, partition, at_s)
        return [self._happen(due, at_s) for due in self._agenda.take(at_s)]

    def _happen(self, due: Appointment, at_s: int) -> Event:
        self._changes += 1
        partition = self._state.partitions[due.tree]
        if due.due is Due.ARRIVE:
            coming = self._coming.pop(due.key)
            there = coming.application.application_id

            def now(one: Application) -> tuple[Ask, ...]:
                return (*one.requests, coming.ask) if one.application_id == there else one.requests

            self._put(due.tree, _asked(partition, now), at_s)
            kind: Kind = "requeued" if coming.again else "arrived"
            return self._event(kind, at_s, coming.key, coming.application.queue_name)
        application, one = next(
            (application, one)
            for application in partition.applications
            for one in application.allocations
            if one.allocation_key == due.key
        )
        self._kept.pop(due.key, None)
        self._put(due.tree, _without(self._clusters[due.tree], one), at_s)
        return self._event("finished", at_s, due.key, application.queue_name)

    # What the scheduler does

    def cycle(self, at_s: int) -> Cycle:
        """Look at all asks until none moves any more."""
        events: list[Event] = []
        for tree in range(len(self._clusters)):
            while (look := self._look(tree, at_s)) is not None:
                events += self._events(look, at_s)
        # All that could move has moved: until something is due a further look would find the same.
        return Cycle(events, moved=False)

    def _look(self, tree: int, at_s: int) -> Look | None:
        """Let the first ask of a partition move that can, and return how it moved.

        Asks before it that tried to preempt and found no victims are noted to have tried.
        """
        failed, moving = set(), None
        cluster = reserved(self._clusters[tree])
        for look in looks(cluster, partial(self._decider, self._state)):
            if look.step is not None:
                moving = look
                break
            if look.attempted:
                failed.add(look.asking.ask.allocation_key)
        self._tried |= dict.fromkeys(failed, self._changes)
        partition = cluster.partition
        if moving is not None:
            # A victim asks again under its own key: its pod is made anew as the same pod.
            partition = after(
                cluster, moving, lambda one, now: asked_as(one.allocation_key, one, now)
            )
            self.cycles += 1
            self._changes += 1
        if failed or moving is not None:
            # These asks have tried preemption now.
            def tried(ask: Ask) -> Ask:
                if ask.allocation_key not in failed:
                    return ask
                return ask.model_copy(
                    update={"x": ask.x.model_copy(update={"preempt_check_time": cluster.now})}
                )

            self._put(tree, _asked(partition, lambda one: tuple(map(tried, one.requests))), at_s)
        return moving

    def _events(self, look: Look, at_s: int) -> Iterator[Event]:
        """Yield the events of a step: victims are preempted and ask again, the ask gets a node."""
        asking, step = look.asking, look.step
        key, queue = asking.ask.allocation_key, asking.leaf.path
        for victim in look.victims:
            lost_s = self._lose(victim.key, self._ran_s(victim.allocation, at_s))
            size = sum(unit_weight(t) * n for t, n in victim.resource.items())
            lost = {"lost_s": lost_s, "lost_work": work(size, lost_s)}
            path = victim.queue.path
            yield self._event("preempted", at_s, victim.key, path, by=key, by_queue=queue, **lost)
        for victim in look.victims:
            yield self._event("requeued", at_s, victim.key, victim.queue.path)
        self._plan_end(key, self._tree_of[key], at_s, at_s)
        node = step.node if step is not None else None
        yield self._event("admitted", at_s, key, queue, node=node)

    # What is reported of it

    def tree_of(self, event: Event) -> int:
        """Return the number of the partition in which an event happened."""
        return self._tree_of[event.workload]

    def busy(self) -> Collection[int]:
        """Return the partitions that have appointments, or asks that are to try preemption."""
        return self._agenda.trees() | {tree for _, tree in self._attempts()}

    def mark(self, tree: int, at_s: int) -> Mark:
        """Return the mark of a partition at a time."""
        cluster = self._clusters[tree]
        coming = self._agenda.after(at_s, tree)
        return Mark(digest(state_mark(cluster, self._kept)), digest((ages(cluster), coming)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader noted of the state that it begins with."""
        return self._state.notes

    def entered(self) -> Iterator[Entered]:
        """Yield all asks and allocations that are there, or arrive later."""
        for _, application, one in _claims(self._state):
            standing: Standing = "running" if isinstance(one, Allocation) else "pending"
            yield Entered(one.allocation_key, application.queue_name, one.priority, standing)
        for coming in self._coming.values():
            at: tuple[Standing, int] = ("pending", 0) if coming.again else ("to come", coming.at_s)
            queue = coming.application.queue_name
            yield Entered(coming.key, queue, coming.ask.priority, *at)

    def used(self) -> Sequence[int]:
        """Return how much of each resource is in use, in the order of ``capacities``."""
        roots = [cluster.tree.root.allocated for cluster in self._clusters]
        return [sum(root.get(name, 0) for root in roots) for _, name, _ in self.capacities()]

    def capacities(self) -> list[tuple[str, str, int | None]]:
        """Return each resource that nodes have, and how much all of them have."""
        total: Resource = {}
        for partition in self._state.partitions:
            for node in partition.nodes:
                total = plus(total, node.capacity)
        return [("", name, total[name]) for name in sorted(total)]


def _without(cluster: Cluster, gone: Allocation) -> Partition:
    """Return a partition without an allocation, its room free."""
    rooms = {room.node_id: room.available for room in cluster.nodes}
    rooms[gone.node_id] = plus(rooms.get(gone.node_id), gone.resource)
    nodes = tuple(
        one.model_copy(update={"available": dict(rooms[one.node_id])})
        for one in cluster.partition.nodes
    )

    def now(application: Application) -> Application:
        kept = tuple(one for one in application.allocations if one is not gone)
        return application.model_copy(update={"allocations": kept})

    applications = tuple(map(now, cluster.partition.applications))
    return cluster.partition.model_copy(update={"nodes": nodes, "applications": applications})


INSTEAD: tuple[str, ...] = (OPTIMUM,)


def world(state: YuniKornState, asked: Question, plans: Plans) -> YuniKornWorld:
    """Return a cluster in which the core chooses the victims, or plans do; they leave at once.

    InputError if a side on laws is given where the core chooses, or victims are to leave later.
    """
    if asked.leaving != Leaving(EVICTION_S):
        hint = "leave out how long they take: eviction and apart"
        raise InputError("simulate", "YuniKorn's victims vanish at once", hint=hint)
    script = asked.script
    if plans.decider == state.scheduler:
        if asked.rules is not None:
            found = f'"{asked.rules}" means nothing where YuniKorn itself decides'
            raise InputError("rules", found, hint="decider=optimum takes a side")
        return YuniKornWorld(state, script, lambda _, cluster, asking: decide(cluster, asking))
    # Only plans need a solver, which takes longer to load than a small simulation.
    from planner.research.simulate.yunikorn_optimum import optimum  # noqa: PLC0415
    from planner.solver.yunikorn.planning import side_of  # noqa: PLC0415

    return YuniKornWorld(state, script, partial(optimum, side_of(asked.rules), plans))
