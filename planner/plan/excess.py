"""What a plan takes more of than the scheduler's own, in measures that no cap binds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

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


def excesses(
    terms: Mapping[str, int],
    greedy_terms: Mapping[str, int],
    priorities: Sequence[int],
    greedy_priorities: Sequence[int],
) -> Iterator[Excess]:
    """Yield what a plan has more of; priorities are those of the victims that go for it."""
    for measure, term in _TERMS:
        ours, theirs = terms.get(term, 0), greedy_terms.get(term, 0)
        if ours > theirs:
            yield Excess(measure=measure, plan=ours, greedy=theirs)
    highest = max([*priorities, *greedy_priorities], default=0)
    ours, theirs = priorities.count(highest), greedy_priorities.count(highest)
    if ours > theirs:
        yield Excess(measure="highest_priority", plan=ours, greedy=theirs, priority=highest)


def without_excess(value: object) -> object:
    """Return what is read as a plan without what follows from the rest of it."""
    if isinstance(value, dict) and FIELD in value:
        return {name: part for name, part in value.items() if name != FIELD}
    return value
