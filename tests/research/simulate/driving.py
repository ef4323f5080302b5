"""Simulations in a few words: events as short texts, and worlds driven by hand."""

from collections.abc import Iterable, Iterator
from typing import Any

from planner.reference.kueue.decision import decide
from planner.research.simulate import Event, Question, Script, Simulation, simulate
from planner.research.simulate.kueue_world import KueueWorld
from planner.research.simulate.script import Leaving
from planner.research.simulate.world import World
from planner.state.kueue import State
from tests.cluster import Object, state_of


def story(events: Iterable[Event]) -> list[str]:
    """Tell events: ``second name kind``, and by whom; without namespaces."""
    return [
        f"{event.at_s} {_bare(event.workload)} {event.kind}"
        + (f" by {_bare(event.by)}" if event.by else "")
        for event in events
    ]


def _bare(key: str) -> str:
    return key.rpartition("/")[2]


def went(*parts: Iterable[Object], **more: Any) -> Simulation:
    """Simulate a few parts, victims gone after a second unless said."""
    return simulate(state_of(*parts), Question(**{"eviction_s": 1, **more}))


def world_of(state: State, script: Script | None = None, eviction_s: int = 1) -> KueueWorld:
    """Return a cluster in which Kueue itself decides."""
    return KueueWorld(state, script or Script(), decide, Leaving(eviction_s))


def as_dumped(world: KueueWorld, at_s: int) -> State:
    """Return a cluster as a dump shows it, which is without what queues remember."""
    now = world.snapshot(at_s)
    # Those who run are counted apart from the snapshot, which tests hold against the dump.
    running = (one.workload for one in world._running.values())  # noqa: SLF001
    workloads = (*running, *now.waiting.values())
    return world.state.model_copy(update={"now": now.now, "workloads": workloads})


def drive(world: World, first_s: int, last_s: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield what happens at each time, from one second to another, both included."""
    at_s: int | None = first_s
    while at_s is not None and at_s <= last_s:
        events = world.happen(at_s)
        ran, moved = world.cycle(at_s)
        yield at_s, [*events, *ran]
        at_s = at_s + 1 if moved else world.next_s()
