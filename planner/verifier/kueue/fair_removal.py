r"""In which order victims can go under fair sharing: constructed, then replayed step by step.

Kueue tests each removal at its moment, with the preemptor's request REQ counted in its queue
(docs/semantics/kueue.md §6.3 to §6.6). A victim of another queue may go only while its queue
and every cohort from there up to, but without, the lowest common ancestor A borrow, in whichever
flavor-resource; and, unless the preemptor stays within its nominal quota, only if a configured
strategy permits it. With a and b the children of A on the victim's and on the preemptor's side:

    LessThanOrEqualToFinalShare   share(b) <= share(a) once the victim is gone
    LessThanInitialShare          share(b) <  share(a) before

Removals lower usage and shares, never raise them. What is below b is not below a, so all of it
may go before anything below a does, which makes share(b) as low as it can be: the own queue's
victims first, then side by side, the nearest common ancestor first. Below a, the last removal
meets the hardest test of both kinds. So, with S all victims and v the last one below a:

    can(n)  = { v below n : m borrows in u(S \ {v}) for every m from the queue of v up to n }
    fair(a) = { v in can(a) : share(b; S) <= share(a; S), or share(b; S) < share(a; S \ {v}) }

An order exists exactly if no can(n) and no fair(a) is empty: choose from the top down, from
fair(a) at a, then the parent's choice where it lies below and any of can(n) where it does not.
FS-06 alone is about can(n); FS-07 about fair(a), where can(a) leaves anything to choose from.

Sums must not saturate for this, see ``removal``; nothing but a legal order passes the replay.
Shares are doubles and compared exactly, as Kueue does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.quota.kueue.share import Share
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import Usage
from planner.verifier.kueue.fair_setting import FINAL_SHARE, INITIAL_SHARE, FairSetting
from planner.verifier.kueue.removal import (
    LastVictims,
    Removal,
    arrange,
    lowest_stuck,
    say_stuck,
    say_within,
)
from planner.verifier.kueue.wording import say_node, say_shares
from planner.verifier.wording import say_some


@dataclass(frozen=True, slots=True)
class FairRemoval(Removal):
    """What comes of removing the victims under fair sharing.

    ``obstacle`` is split: ``stuck`` says who no longer borrows (FS-06), ``unfair`` which shares
    stand in the way (FS-07). ``usage`` does not count the preemptor's request.
    """

    stuck: str
    unfair: str


class Sides(NamedTuple):
    """What the victims' sides look like at the end.

    ``last`` is can(n); ``before`` are, per node a just below a common ancestor and per victim
    below it, the shares of a with everything gone but that victim.
    """

    last: LastVictims
    before: Mapping[int, Mapping[int, Share]]


def remove_fairly(setting: FairSetting, victims: Sequence[Admitted]) -> FairRemoval:
    """Find a legal order of removals and replay it; say what stands in the way if none is."""
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    end = setting.with_request(after)
    sides = look_at_sides(setting, victims, end)
    choice = {top: fair_last_victims(setting, sides, top, end) for top in sides.before}
    stuck = _say_who_is_stuck(setting, victims, sides, end)
    unfair = next(
        (
            _say_unfair_side(setting, victims, sides, top, end)
            for top, positions in choice.items()
            if not positions
        ),
        "",
    )
    order: list[Admitted] = []
    if not (stuck or unfair):
        # From fair(a) where there is one: a choice that only borrows may fail by its shares.
        order = arrange(setting, victims, {**sides.last, **choice})
        # Nearest first, and stable: the last of each side stays the last. What is nearer than a
        # victim runs on the preemptor's side, and lowers the share that it is compared with.
        order.sort(key=lambda victim: setting.distance(victim.queue))
        stuck, unfair = replay_fairly(setting, order)
    obstacle = stuck or unfair
    return FairRemoval(() if obstacle else tuple(order), obstacle, after, stuck, unfair)


def replay_fairly(setting: FairSetting, order: Sequence[Admitted]) -> tuple[str, str]:
    """Remove one victim after the other, up to the first that Kueue would not take.

    Returns what is in the way: of FS-06, and of FS-07.
    """
    usage = setting.with_request(setting.snapshot.usage)
    for victim in order:
        side = setting.side(victim.queue)
        # By shares, in any flavor-resource; contested quota is asked for once, by FS-05 (§6.4).
        idle = next((n for n in side if not setting.shares.of(usage, n).borrowing), None)
        if idle is not None:
            used = {fr: usage.amount[idle][fr] for fr in _told(setting, idle, [victim])}
            within = say_within(setting, idle, used, (victim.key,))
            return f"{say_node(setting.snapshot, idle)} is {within}", ""
        if not side or setting.stays_within_nominal:
            usage.remove(victim.queue, victim.usage)
            continue
        # The same after the removal: what runs below the victim's side is not below the rival.
        mine = setting.shares.of(usage, setting.rival(side[-1]))
        before = setting.shares.of(usage, side[-1])
        usage.remove(victim.queue, victim.usage)
        after = setting.shares.of(usage, side[-1])
        if not setting.is_fair(mine, before, after):
            return "", _say_unfair(setting, side[-1], [victim.key], (mine, before, after))
    return "", ""


def look_at_sides(setting: FairSetting, victims: Sequence[Admitted], end: Usage) -> Sides:
    """Put every victim back alone; ``end`` is the usage without any, the request counted."""
    last: dict[int, list[int]] = {}
    before: dict[int, dict[int, Share]] = {}
    for position, victim in enumerate(victims):
        path = setting.snapshot.tree.path(victim.queue)
        # Put back by the rows kept, not by a removal: where a sum saturated that would not be the
        # same.
        kept = [end.amount[node].copy() for node in path]
        end.add(victim.queue, victim.usage)
        borrows = True
        for node in setting.side(victim.queue):
            share = setting.shares.of(end, node)
            borrows = borrows and share.borrowing
            positions = last.setdefault(node, [])
            if borrows:
                positions.append(position)
            if node == setting.side(victim.queue)[-1]:
                before.setdefault(node, {})[position] = share
        for node, row in zip(path, kept, strict=True):
            end.amount[node] = row
    return Sides(last, before)


def fair_last_victims(setting: FairSetting, sides: Sides, top: int, end: Usage) -> Sequence[int]:
    """Return fair(a) of a node just below a common ancestor."""
    # Where nobody can be last by borrowing, FS-06 is broken; FS-07 is still judged by itself.
    contenders = sides.last[top] or list(sides.before[top])
    if setting.stays_within_nominal:
        return contenders
    mine, after = setting.shares.of(end, setting.rival(top)), setting.shares.of(end, top)
    return [p for p in contenders if setting.is_fair(mine, sides.before[top][p], after)]


def _say_who_is_stuck(
    setting: FairSetting, victims: Sequence[Admitted], sides: Sides, end: Usage
) -> str:
    node = lowest_stuck(setting, sides.last)
    if node is None:
        return ""
    below = [victim for victim in victims if node in setting.side(victim.queue)]
    told = _told(setting, node, below)
    return say_stuck(setting, victims, end, sides.last, node, told)


def _told(setting: FairSetting, node: int, victims: Sequence[Admitted]) -> list[int]:
    """Return the flavor-resources of a node worth telling: with quota, and held by victims."""
    held = {fr for victim in victims for fr, amount in victim.usage.items() if amount}
    return sorted(setting.shares.counted(node) & held)


def _say_unfair_side(
    setting: FairSetting, victims: Sequence[Admitted], sides: Sides, top: int, end: Usage
) -> str:
    """Say why none of the victims below a node can be the last one there."""
    contenders = sides.last[top] or list(sides.before[top])
    # The share before the removal depends on who is last; the best of them is told.
    before = max((sides.before[top][p] for p in contenders), key=lambda share: share.order)
    mine, after = setting.shares.of(end, setting.rival(top)), setting.shares.of(end, top)
    keys = [victims[position].key for position in contenders]
    return _say_unfair(setting, top, keys, (mine, before, after))


def _say_unfair(
    setting: FairSetting, top: int, keys: Sequence[str], shares: tuple[Share, Share, Share]
) -> str:
    mine, before, after = say_shares(*shares)
    snapshot = setting.snapshot
    which = keys[0] if len(keys) == 1 else f"the last of {say_some(keys)}"
    compared = {
        FINAL_SHARE: f"more than {after} after it ({FINAL_SHARE})",
        INITIAL_SHARE: f"not less than {before} before it ({INITIAL_SHARE})",
    }
    return (
        f"Kueue would not take {which} from {say_node(snapshot, top)}: with "
        f"{setting.preemptor.key}, {say_node(snapshot, setting.rival(top))} has share "
        f"{mine}, {' and '.join(compared[name] for name in setting.strategies)}"
    )
