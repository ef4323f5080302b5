r"""In which order the victims can go: built backwards, then replayed removal by removal.

The core takes a victim only while its queue has no guaranteed on its path, or less than nothing
left of it in some type of the ask (docs/semantics/yunikorn.md §5, ``takeable``). What is left
only grows while victims go, in every queue. So read backwards, from the state without any
victim: whoever can be put back now, which is to be the last one to go, can still be put back
after others. Putting back whatever can be, until nothing moves, therefore finds an order if
there is one; if some cannot be put back, no order is legal.

Within a queue only the first one to be put back matters: with it the queue is over its
guaranteed, and all others of that queue follow. Cost: leaves with victims × victims × depth at
most, and victims × depth as a rule.

Sums must not saturate for this, and amounts not be negative. The replay still accepts nothing but
a legal order then, but another legal order may be missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.snapshot import Snapshot
from planner.verifier.wording import say_some
from planner.verifier.yunikorn.victim import Victim
from planner.verifier.yunikorn.wording import say_amounts, say_queue


@dataclass(frozen=True, slots=True)
class Removal:
    """What comes of removing the victims.

    ``order`` is a legal order, empty if there is none (or no victim); ``obstacle`` says in words
    why there is none.
    """

    order: tuple[Victim, ...]
    obstacle: str


def remove_all(snapshot: Snapshot, victims: Sequence[Victim]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if none is."""
    state = snapshot.fresh()
    for victim in victims:
        state.remove(victim.queue, victim.resource)
    waiting: dict[str, list[Victim]] = {}
    for victim in victims:
        waiting.setdefault(victim.queue.path, []).append(victim)
    backwards: list[Victim] = []
    moved = True
    while waiting and moved:
        moved = False
        for path, group in list(waiting.items()):
            last = _possible_last(state, group)
            if last is not None:
                back = [last, *(victim for victim in group if victim is not last)]
                for victim in back:
                    state.add(victim.queue, victim.resource)
                backwards += back
                del waiting[path]
                # One group that goes back may let others follow: guaranteed of a common ancestor
                # binds both.
                moved = True
    if waiting:
        return Removal((), _say_stuck(state, list(waiting.values())))
    return replay(snapshot, backwards[::-1])


def replay(snapshot: Snapshot, order: Sequence[Victim]) -> Removal:
    """Remove one victim after the other, up to the first that the core would not take."""
    state = snapshot.fresh()
    for victim in order:
        if not state.takeable(victim.queue):
            left = _say_left(state, victim.queue)
            return Removal((), f"at the turn of {victim.key}, {say_queue(victim.queue)} has {left}")
        state.remove(victim.queue, victim.resource)
    return Removal(tuple(order), "")


def _possible_last(state: Snapshot, group: Sequence[Victim]) -> Victim | None:
    """Return a victim of a queue that can be the last of them to go, if there is one."""
    for victim in group:
        state.add(victim.queue, victim.resource)
        takeable = state.takeable(victim.queue)
        state.remove(victim.queue, victim.resource)
        if takeable:
            return victim
    return None


def _say_stuck(state: Snapshot, groups: Sequence[Sequence[Victim]]) -> str:
    """Say of one queue what is left to it before the last of its victims goes."""
    group = groups[0]
    victim = group[0]
    state.add(victim.queue, victim.resource)
    left = _say_left(state, victim.queue)
    keys = say_some([one.key for one in group])
    others = "" if len(group) == 1 else f", with only {victim.key} of them still there"
    return f"the core would not take {keys}: {say_queue(victim.queue)} has {left}{others}"


def _say_left(state: Snapshot, queue: Queue) -> str:
    left = state.remaining(queue) or {}
    return f"{say_amounts(left, state.ask)} left of its guaranteed, not less than nothing"
