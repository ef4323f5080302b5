"""What a plan takes more of than the scheduler's own, in measures that no cap binds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

from planner.plan.base import Record

FIELD: Final = "more_than_greedy"

_Measure = Literal["pods", "queues", "highest_priority"]
_TERMS: Final[tuple[tuple[_Measure, str], ...]] = (("pods", "D2p"), ("queues", "D8"))


class Excess(Record):
    """A measure in which a plan has more than the scheduler's own answer on the same state.

    ``pods`` and ``queues`` are the terms D2p and D8. ``highest_priority`` counts the victims of
    the highest ``priority`` that either of the two hits, what is being evicted already left out.
    """

    measure: _Measure
    plan: int
    greedy: int
    priority: int | None = None


class Measured(Protocol):
    """A plan whose victims are measured."""

    @property
    def keys(self) -> Sequence[str]:
        """The victims."""
        ...

    @property
    def terms(self) -> Mapping[str, int]:
        """What they cost."""
        ...

    @property
    def priorities(self) -> Sequence[int]:
        """The priorities of those that go for the plan only."""
        ...


def excesses(plan: Measured, greedy: Measured | None) -> Iterator[Excess]:
    """Yield what a plan takes more of than the scheduler's own, where that evicts anybody."""
    if greedy is None or not greedy.keys:
        return
    for measure, term in _TERMS:
        ours, theirs = plan.terms.get(term, 0), greedy.terms.get(term, 0)
        if ours > theirs:
            yield Excess(measure=measure, plan=ours, greedy=theirs)
    highest = max([*plan.priorities, *greedy.priorities], default=0)
    ours, theirs = plan.priorities.count(highest), greedy.priorities.count(highest)
    if ours > theirs:
        yield Excess(measure="highest_priority", plan=ours, greedy=theirs, priority=highest)


def without_excess(value: object) -> object:
    """Return what is read as a plan without what follows from the rest of it."""
    if isinstance(value, dict) and FIELD in value:
        return {name: part for name, part in value.items() if name != FIELD}
    return value
