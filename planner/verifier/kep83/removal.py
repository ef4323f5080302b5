r"""In which order the victims can go, by KEP-83: built for the last ones, proved by a replay.

A victim of another queue may go unless its queue is below its min of all involved flavors
already. Nothing but the victims of a queue lowers its usage, so per queue the last victim meets
the hardest test; where some victim v passes it,

    usage(q, S \ {v}) >= nominal(q)   in some involved fr,

all others of that queue may go before it, in any order. Victims of the own queue are
unconditional.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.quota.kueue.amount import add
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import Usage
from planner.verifier.kep83.setting import Kep83Setting
from planner.verifier.kueue.removal import Removal
from planner.verifier.kueue.wording import say_amount, say_node
from planner.verifier.wording import say_some


def remove_kep83(setting: Kep83Setting, victims: Sequence[Admitted]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if none is."""
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    # Victims of the own queue may stand anywhere: nothing is asked of them, and they lower no other
    # queue's usage.
    order = [victim for victim in victims if not setting.side(victim.queue)]
    by_queue: dict[int, list[Admitted]] = {}
    for victim in victims:
        if setting.side(victim.queue):
            by_queue.setdefault(victim.queue, []).append(victim)
    for queue, group in by_queue.items():
        last = next((v for v in group if _may_be_last(setting, after, v)), None)
        if last is None:
            obstacle = f"whichever goes last, {_say_below(setting, queue, group)}"
            return Removal((), obstacle, after)
        order += [victim for victim in group if victim is not last]
        order.append(last)
    return replay_kep83(setting, order)


def replay_kep83(setting: Kep83Setting, order: Sequence[Admitted]) -> Removal:
    """Remove one victim after the other; stop judging at the first that the KEP would skip."""
    usage = setting.snapshot.usage.copy()
    obstacle = ""
    for victim in order:
        if not obstacle and setting.side(victim.queue) and _is_below(setting, usage, victim.queue):
            obstacle = f"at its turn {_say_below(setting, victim.queue, [victim])}"
        usage.remove(victim.queue, victim.usage)
    return Removal(() if obstacle else tuple(order), obstacle, usage)


def _is_below(setting: Kep83Setting, usage: Usage, queue: int) -> bool:
    nominal = setting.snapshot.tree.nominal
    # The KEP stops below min, Kueue today at it: no `<=` here (docs/semantics/kep83.md §7).
    return all(usage.amount[queue][fr] < nominal(queue, fr) for fr in setting.contested)


def _may_be_last(setting: Kep83Setting, after: Usage, victim: Admitted) -> bool:
    """Say whether its queue is at its min or above with only this victim put back."""
    queue, nominal = victim.queue, setting.snapshot.tree.nominal
    return any(
        add(after.amount[queue][fr], victim.usage.get(fr, 0)) >= nominal(queue, fr)
        for fr in setting.contested
    )


def _say_below(setting: Kep83Setting, queue: int, victims: Sequence[Admitted]) -> str:
    snapshot = setting.snapshot
    minima = [
        say_amount(snapshot, fr, snapshot.tree.nominal(queue, fr))
        for fr in sorted(setting.contested)
    ]
    return (
        f"{say_node(snapshot, queue)} is below its min ({say_some(minima)}) in all involved "
        f"flavors, so KEP-83 would skip {say_some([victim.key for victim in victims])}"
    )
