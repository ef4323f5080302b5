"""The entry of a simulation, from a state and a script to a ``Simulation``; and its main loop.

In each turn the due appointments happen, the scheduler runs, and the clock goes on. A scheduling
cycle takes a second. Where a further cycle would do the same as the last, the clock goes on to
when something happens by itself.

A loop is a state that comes back after evictions. States are compared by all that decides, without
the clock: see ``Mark``. No state from before an arrival or the end of a run comes back after it,
so no round contains such an event; every such event begins the history of its tree anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from msgspec import Struct

from planner.coverage.answer import covering
from planner.errors import InputError, SchemaError
from planner.garbage import tidy
from planner.objective.profile_file import find_profile
from planner.objective.profiles import DEFAULT_PROFILE, Profile
from planner.plan import AnyPlan
from planner.research.simulate.record import Ended, Event, Feud, Loop, Simulation, Storm, Use
from planner.research.simulate.script import MOST_S, NOTHING_SAID, Leaving, Script
from planner.research.simulate.world import Mark, World, fates, totals_of
from planner.research.wing import worlds
from planner.scheduler import scheduler_of
from planner.state import AnyState
from planner.verb import AnyQuestion, verb


def story(
    events: Sequence[Event], start_s: int, period_s: int, names: Mapping[str, str]
) -> tuple[str, ...]:
    """Tell the events of a round in words; seconds count from the beginning of the round.

    ``names`` has the names of workloads whose keys are no names. A round ends with the evictions
    of its last cycle, and so did the round before: these evictions are told first, at 0 s.
    """
    end_s = start_s + period_s
    last = [event for event in events if event.at_s == end_s and event.kind == "preempted"]
    rest = [event for event in events if event not in last]
    return (
        *(_sentence(event, event.at_s - end_s, names) for event in last),
        *(_sentence(event, event.at_s - start_s, names) for event in rest),
        f"after {period_s} s everything is as it was at the beginning of the round",
    )


def _sentence(event: Event, at_s: int, names: Mapping[str, str]) -> str:
    name = names.get(event.workload, event.workload)
    who = f"at {at_s} s {name}"
    match event.kind:
        case "admitted":
            where = f" on node {event.node}" if event.node else ""
            return f"{who} is admitted by {event.queue}{where}"
        case "preempted":
            why = f" ({event.reason})" if event.reason else ""
            lost = f" and loses {event.lost_s} s of its run" if event.lost_s else ""
            by = f"{names.get(event.by or '', event.by)} of {event.by_queue}"
            return f"at {at_s} s {by} preempts {name} of {event.queue}{why}, which goes{lost}"
        case "requeued":
            return f"{who} waits again in {event.queue}"
        case _:
            return f"{who} has {event.kind}"


OUTSIDE: Final = frozenset({"arrived", "finished"})

_Step = tuple[str, str, str | None]


class _Visit(Struct, frozen=True):
    """When a state was seen: the events of its tree and the cycles until then, and the clock."""

    events: int
    cycle: int
    at_s: int
    mark: Mark


@dataclass(slots=True)
class _History:
    """The events and visited states of a tree since its last event from outside (``OUTSIDE``)."""

    events: list[Event] = field(default_factory=list)
    visits: dict[bytes, _Visit] = field(default_factory=dict)
    anchor: bytes = b""
    round: tuple[_Step, ...] = ()


class Watch:
    """Finds loops, feuds and storms in the events and the states of trees."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._histories: dict[int, _History] = {}
        self._loops: dict[tuple[_Step, ...], Loop] = {}
        self._by: dict[str, Counter[str]] = {}
        self.endless: Final[set[int]] = set()

    def see(self, tree: int, event: Event) -> None:
        """Note an event in a tree."""
        if event.kind in OUTSIDE:
            self._histories.pop(tree, None)
            self.endless.discard(tree)
            return
        self._histories.setdefault(tree, _History()).events.append(event)
        if event.kind == "preempted" and event.by is not None:
            self._by.setdefault(event.workload, Counter())[event.by] += 1

    def look(self, tree: int, mark: Mark, cycle: int, at_s: int) -> None:
        """Note the state of a tree after a cycle that evicted a workload in it."""
        history = self._histories.setdefault(tree, _History())
        visit = _Visit(len(history.events), cycle, at_s, mark)
        before = history.visits.get(mark.state)
        # A round begins at the last visit of the state, not at the first.
        history.visits[mark.state] = visit
        if before is None:
            return
        # Rounds are counted at one of their states, the anchor: the others come back as often.
        if not history.anchor:
            history.anchor = mark.state
            events = tuple(history.events[before.events : visit.events])
            steps = [(event.kind, event.workload, event.by) for event in events]
            # A round may be entered at any of its events: its smallest rotation identifies it.
            history.round = min(tuple(steps[i:] + steps[:i]) for i in range(len(steps)))
            if history.round not in self._loops:
                period_s = at_s - before.at_s
                self._loops[history.round] = Loop(
                    first_s=before.at_s,
                    period_s=period_s,
                    cycles=cycle - before.cycle,
                    rounds=0,
                    endless=False,
                    evictions=sum(event.kind == "preempted" for event in events),
                    workloads=tuple(sorted({event.workload for event in events})),
                    events=events,
                    story=story(events, before.at_s, period_s, self._names),
                )
        # With the same appointments after the same times as well, nothing leads out of the loop.
        endless = before.mark.to_come == mark.to_come
        self.endless.update({tree} if endless else ())
        loop = self._loops[history.round]
        rounds = loop.rounds + (history.anchor == mark.state)
        now = {"rounds": rounds, "endless": endless or loop.endless}
        self._loops[history.round] = loop.model_copy(update=now)

    def loops(self) -> tuple[Loop, ...]:
        """Return the loops, the shortest rounds first."""
        found = self._loops.values()
        return tuple(sorted(found, key=lambda one: (len(one.events), one.first_s, one.workloads)))

    def feuds(self) -> tuple[Feud, ...]:
        """Return the pairs that evicted each other, by evictions of the first, most first."""
        found = [
            Feud(
                first=first,
                second=second,
                first_evicted=count,
                second_evicted=self._by[second][first],
            )
            for first, by in self._by.items()
            for second, count in by.items()
            if first < second and self._by.get(second, Counter())[first]
        ]
        return tuple(sorted(found, key=lambda one: (-one.first_evicted, one.first, one.second)))

    def storms(self, limit: int) -> tuple[Storm, ...]:
        """Return the workloads evicted more often than the limit, most evictions first."""
        found = [
            Storm(workload=key, evictions=by.total(), by=dict(by.most_common()))
            for key, by in self._by.items()
            if by.total() > limit
        ]
        return tuple(sorted(found, key=lambda one: (-one.evictions, one.workload)))


CYCLE_S: Final = 1

Report = Callable[[int, int], None]
"""Called with the clock, in seconds after the start, and the number of cycles."""


class Run:
    """A run of a world so far: its events, how much was in use, and why it ended."""

    def __init__(self, world: World) -> None:
        self.world: Final = world
        self.at_s = 0
        self.ended: Ended = "settled"
        self.timeline: Final[list[Event]] = []
        self.watch: Final = Watch(world.names)
        self._sums = [0] * len(world.used())

    def step(self) -> bool:
        """Let what is due happen, and the scheduler run; say whether it is to run again at once."""
        world = self.world
        self._note(world.happen(self.at_s))
        events, moved = world.cycle(self.at_s)
        self._note(events)
        for tree in sorted({world.tree_of(one) for one in events if one.kind == "preempted"}):
            self.watch.look(tree, world.mark(tree, self.at_s), world.cycles, self.at_s)
        return moved

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            self.timeline.append(event)
            self.watch.see(self.world.tree_of(event), event)

    def wait(self, at_s: int) -> None:
        """Set the clock."""
        pairs = zip(self._sums, self.world.used(), strict=True)
        self._sums = [total + used * (at_s - self.at_s) for total, used in pairs]
        self.at_s = at_s

    @property
    def use(self) -> Iterator[Use]:
        """The use of each resource, on average over the time so far."""
        now = self.world.used()
        amounts = [total / self.at_s for total in self._sums] if self.at_s else now
        pairs = zip(self.world.capacities(), amounts, strict=True)
        for (flavor, resource, capacity), amount in pairs:
            share = round(amount / capacity, 6) if capacity and capacity > 0 else None
            yield Use(flavor=flavor, resource=resource, capacity=capacity, share=share)


def run(world: World, until_s: int, cycles: int, report: Report) -> Run:
    """Run a world until nothing moves, only endless loops are left, or a limit is reached."""
    going = Run(world)
    while True:
        next_s = going.at_s + CYCLE_S if going.step() else world.next_s()
        over: Ended | None = None
        if next_s is None:
            over = "settled"
        # While a tree without an endless loop is busy, the run goes on to show what happens there.
        elif going.watch.endless and going.watch.endless.issuperset(world.busy()):
            over = "loop"
        elif next_s > until_s:
            over = "until"
        elif world.cycles >= cycles:
            over = "cycles"
        if next_s is not None and over in {None, "until"}:
            going.wait(min(next_s, until_s))
        report(going.at_s, world.cycles)
        if over is not None:
            going.ended = over
            return going


OPTIMUM: Final = "optimum"
"""A decider: the least disruptive plan in the place of the scheduler's own victims."""
STABLE: Final = "stable"
BOOST: Final = "boost"
"""Deciders in the place of Kueue only: see ``simulate``."""
CYCLES: Final = 100_000
STORM: Final = 3
EVICTION_S: Final = 30
"""Kubernetes' own default of terminationGracePeriodSeconds."""


class Question(AnyQuestion, frozen=True):
    """How a cluster is to go on.

    Parameters
    ----------
    decider
        Who chooses the victims: the scheduler itself, ``kueue`` or ``yunikorn``, also when left
        out; or ``optimum``: the least disruptive plan in its place. For Kueue also ``stable``:
        the least disruptive of the plans after which no victim would preempt again, or of all
        plans if there is none; and ``boost``: the least disruptive plan where priority boosts
        would lead Kueue to that plan, Kueue's own victims elsewhere.
    script
        Run times, checkpoints and arrivals, as ``planner.research.simulate.read_script``
        returns them.
    until_s, cycles
        After how many seconds, at most 2^31, and after how many scheduling cycles, to end at the
        latest.
    eviction_s
        Kueue: how many seconds a victim keeps its quota, at least 1.
    apart_s
        Kueue: how many seconds longer each victim of a decision takes than the victim before.
    storm
        How many evictions of one workload do not count as a storm yet.
    objective, time_limit, rules
        For all deciders but the scheduler itself: what to minimise, the seconds that one plan may
        take, and the laws of YuniKorn: ``design``, also when left out, or ``code``.
    """

    decider: str | None = None
    script: Script = NOTHING_SAID
    until_s: int = MOST_S
    cycles: int = CYCLES
    eviction_s: int = EVICTION_S
    apart_s: int = 0
    storm: int = STORM
    objective: str | Profile = DEFAULT_PROFILE
    time_limit: float | None = None
    rules: str | None = None

    @property
    def leaving(self) -> Leaving:
        """How long victims keep their quota."""
        return Leaving(self.eviction_s, self.apart_s)


AS_IT_IS: Final = Question()


@dataclass(slots=True)
class Plans:
    """What the plans of a simulation are asked; how many there are, and how many are not proved."""

    decider: str
    profile: Profile
    time_limit: float | None = None
    count: int = 0
    unproved: int = 0

    def note(self, plan: AnyPlan) -> None:
        """Count a plan, also as unproved if it is; tidy memory after every hundredth plan."""
        self.unproved += plan.status in {"feasible", "unknown"}
        self.count += 1
        tidy(self.count)


S_contra = TypeVar("S_contra", contravariant=True)


class Simulated(Protocol[S_contra]):
    """What a simulation asks of a scheduler; ``INSTEAD`` are the deciders that may replace it."""

    INSTEAD: tuple[str, ...]

    def world(self, state: S_contra, asked: Question, plans: Plans) -> World:
        """Return a cluster in which the scheduler chooses the victims itself, or plans do.

        InputError if the state cannot be simulated so.
        """
        ...


@verb
def simulate(
    state: AnyState, asked: Question = AS_IT_IS, report: Report = lambda *_: None
) -> Simulation:
    """Let a cluster go on from a state, scheduling cycle after scheduling cycle.

    Victims come back as pending, and all pending workloads compete by the scheduler's own rules.
    States that come back, workloads that evict each other, and workloads evicted too often are
    found on the way. The same input gives the same answer.

    Parameters
    ----------
    state
        What ``planner.read`` returned; its clock is the start.
    asked
        Who decides, what is known of run times, and where to end.
    report
        Called with the clock and the number of cycles now and then.

    Raises
    ------
    InputError
        If the decider is not for this scheduler, or a parameter, the script or an annotation
        cannot be used.
    """
    if not isinstance(asked.script, Script):
        expected = "what planner.research.simulate.read_script returns"
        raise SchemaError("script", f"{type(asked.script).__name__} cannot be used", expected)
    seconds, counts = (asked.until_s, *asked.leaving), (asked.cycles, asked.eviction_s, asked.storm)
    if min(counts) < 1 or not all(0 <= s <= MOST_S for s in seconds):
        expected = f"1 or more, until_s 0 or more, seconds up to {MOST_S}"
        raise SchemaError("simulate", "a limit is out of range", expected)
    profile = find_profile(asked.objective)
    simulated = scheduler_of(state).found_in(worlds(), "simulation")
    plans = Plans(asked.decider or state.scheduler, profile, asked.time_limit)
    known = (state.scheduler, *simulated.INSTEAD)
    if plans.decider not in known:
        found = f'"{plans.decider}" does not decide in this cluster'
        raise InputError("decider", found, " or ".join(known))
    world = simulated.world(state, asked, plans)
    entered, notes = [*world.entered()], world.notes
    went = run(world, asked.until_s, asked.cycles, report)
    became = tuple(fates(entered, went.timeline, went.at_s))
    return Simulation(
        scheduler=state.scheduler,
        decider=plans.decider,
        objective=None if plans.decider == state.scheduler else profile.name,
        digest=state.digest,
        start=world.start,
        duration_s=went.at_s,
        cycles=world.cycles,
        ended=went.ended,
        eviction_s=asked.eviction_s,
        apart_s=asked.apart_s,
        storm=asked.storm,
        coverage=world.left_out(covering(state).everything()),
        unproved=plans.unproved,
        endless_runs=len(world.endless),
        totals=totals_of(became),
        names=dict(world.names),
        use=tuple(went.use),
        loops=went.watch.loops(),
        feuds=went.watch.feuds(),
        storms=went.watch.storms(asked.storm),
        workloads=became,
        timeline=tuple(went.timeline),
        notes=notes,
    )
