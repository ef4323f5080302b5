"""The preemptors of a state: everything pending, and the shapes of what runs submitted once more.

The rule, the same every time:

1. Everything that is pending, as it is, in the order of the dump.
2. Each distinct shape of what runs, submitted once more beside it, at the clock of the state:
   the most frequent shape first, then in the order of the dump. A shape is a queue, an effective
   priority, and everything about the pods that decides where they fit. Priorities are not varied:
   what came before at one priority comes again at that priority.

For Kueue the new workload waits in the LocalQueue of the old one. For YuniKorn the new ask belongs
to the same application and has just waited out the preemption delay of its queue; allocations that
need one node (DaemonSets) and placeholders are no shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeVar, get_args

from planner.commands.risk.record import Origin
from planner.scheduler import Part
from planner.solver.start import AnyPlanning, pending_workloads
from planner.state import AnyState

Shapes = Literal["pending", "running", "all"]
"""Which preemptors: what is pending, what runs submitted once more, or both."""
SHAPES: Final[tuple[Shapes, ...]] = get_args(Shapes)

AGAIN: Final = "-again"
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Hypothetical:
    """A preemptor by its key in the state, and where it comes from.

    ``name`` is what people call the one it is like; empty for what is pending itself.
    """

    key: str
    name: str = ""
    origin: Origin = "pending"
    like: str | None = None
    alike: int = 1


class Running(NamedTuple):
    """What runs: its key, what people call it, its queue, and its priority."""

    key: str
    name: str
    queue: str
    priority: int


class Exposing(Protocol):
    """What counting victims asks of a scheduler."""

    def submitted_again(self, state: AnyState) -> tuple[AnyState, list[Hypothetical]]:
        """Return the state with every shape of what runs submitted once more, and these."""
        ...

    def running(self, state: AnyState) -> Iterator[Running]:
        """Yield everything that runs, in the order of the dump."""
        ...

    def planner(self, state: AnyState, rules: str | None) -> Callable[[str], AnyPlanning]:
        """Return what makes a preemptor, named by its key, ready for planning."""
        ...


EXPOSING: Final = Part[Exposing]("exposure")


def preemptors(state: AnyState, shapes: Shapes) -> tuple[AnyState, list[Hypothetical]]:
    """Return the state with every preemptor pending in it, and the preemptors in their order.

    What only waits holds nothing: the new ones do not change each other's answers.
    """
    waiting = [Hypothetical(key) for key in pending_workloads(state)]
    if shapes == "pending":
        return state, waiting
    changed, again = EXPOSING.of(state).submitted_again(state)
    return changed, again if shapes == "running" else waiting + again


def frequent_first(things: Iterable[tuple[object, Thing]]) -> list[tuple[Thing, int]]:
    """Return the first thing of each shape and how many have it, the most frequent first."""
    counts: Counter[object] = Counter()
    first: dict[object, Thing] = {}
    for shape, thing in things:
        counts[shape] += 1
        first.setdefault(shape, thing)
    ranked = sorted(first, key=counts.__getitem__, reverse=True)  # stable: else as in the dump
    return [(first[shape], counts[shape]) for shape in ranked]


def unused(name: str, used: Collection[str]) -> str:
    """Return a name like another that nothing has."""
    name += AGAIN
    while name in used:
        name += AGAIN
    return name
