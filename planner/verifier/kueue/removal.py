r"""In which order the victims can go: built for the last ones, proved by replaying every removal.

Kueue tests each removal at its moment (docs/semantics/kueue.md §5.6). A victim of another
queue may go only while its queue, and every cohort between that and the lowest common ancestor,
is over quota in some contested flavor-resource. Usage only falls while victims go, and usage of
a node depends on nothing but the victims below it; so below each such node n the last victim
meets the hardest test, that n is over quota with nothing left to remove but that victim.

A victim can be the last one below n exactly if it passes this test at n and, as it is then also
the last one further down, at every node between its queue and n. Walking every victim up once,
until it fails, therefore finds for every node all victims that can be its last one:

    can(n) = { v below n : u(m, S \ {v}) over quota for every m from the queue of v up to n }

If some can(n) is empty, no order is legal. Otherwise choose from the top down: a node takes its
parent's choice if that lies below it, and any of can(n) if not; remove at each node its last
child's victims after those of the others. Every other removal below n happens with more left to
remove, so it passes too. Cost: victims × depth × contested flavor-resources.

Sums must not saturate for this: usage at the limit of 64 bits does not fall. The replay still
accepts nothing but a legal order then, but another legal order may be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.quota.kueue.amount import add, subtract
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import Usage
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue.wording import say_amount, say_node
from planner.verifier.wording import say_some

LastVictims = Mapping[int, Sequence[int]]
"""Per touched node off the preemptor's path: positions of the victims that can be last there."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What comes of removing the victims.

    ``order`` is a legal order, empty if there is none (or no victim); ``obstacle`` says in words
    why there is none. ``usage`` is what is left after all victims are gone, legally or not.
    """

    order: tuple[Admitted, ...]
    obstacle: str
    usage: Usage


def remove_all(setting: Setting, victims: Sequence[Admitted]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if none is."""
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    # All are gone first: then each is put back alone, and no order need be guessed.
    last = possible_last_victims(setting, victims, after)
    stuck = lowest_stuck(setting, last)
    if stuck is not None:
        obstacle = say_stuck(setting, victims, after, last, stuck, setting.contested)
        return Removal((), obstacle, after)
    return replay(setting, arrange(setting, victims, last))


def replay(setting: Setting, order: Sequence[Admitted]) -> Removal:
    """Remove one victim after the other; stop judging at the first that Kueue would not take."""
    usage = setting.snapshot.usage.copy()
    obstacle = ""
    for victim in order:
        if not obstacle:
            side = setting.side(victim.queue)
            # Tested before the removal, as Kueue does: a queue may end within its quota, but not
            # begin so.
            within = next((n for n in side if usage.within_nominal(n, setting.contested)), None)
            if within is not None:
                used = {fr: usage.amount[within][fr] for fr in setting.contested}
                obstacle = f"{say_node(setting.snapshot, within)} is " + say_within(
                    setting, within, used, (victim.key,)
                )
        usage.remove(victim.queue, victim.usage)
    return Removal(() if obstacle else tuple(order), obstacle, usage)


def possible_last_victims(
    setting: Setting, victims: Sequence[Admitted], after: Usage
) -> LastVictims:
    """Return can(n) of every touched node; ``after`` is the usage without any victim."""
    subtree = setting.snapshot.tree.subtree
    last: dict[int, list[int]] = {}
    for position, victim in enumerate(victims):
        over = True
        for node, left in usage_with(setting, victim, after, setting.contested):
            # Once it fails at a node it cannot be last further up either: it would be last here,
            # too.
            over = over and any(left[fr] > subtree[node][fr] for fr in left)
            positions = last.setdefault(node, [])
            if over:
                positions.append(position)
    return last


def usage_with(
    setting: Setting, victim: Admitted, after: Usage, frs: Iterable[int]
) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield the nodes above a victim, up to the common ancestor, as used with this one put back.

    A node passes on to its parent what exceeds the free part of what it keeps for itself.
    """
    rise = {fr: victim.usage.get(fr, 0) for fr in frs}
    for node in setting.side(victim.queue):
        yield node, {fr: add(after.amount[node][fr], more) for fr, more in rise.items()}
        # What is put back fills the part that is never lent first, and only the rest rises (§3).
        rise = {fr: max(0, subtract(more, after.local_free(node, fr))) for fr, more in rise.items()}


def arrange(setting: Setting, victims: Sequence[Admitted], last: LastVictims) -> list[Admitted]:
    """Order the victims: the own queue's first, then per node the last child's at the end."""
    tree = setting.snapshot.tree
    chosen: dict[int, int] = {}
    # From the top down: a choice above binds all nodes between it and the queue of the victim.
    for node in sorted(last, key=lambda touched: len(tree.path(touched))):
        above = chosen.get(tree.nodes[node].parent)
        # Choices must be nested: whoever goes last below a cohort goes last in its own queue, too.
        inherits = above is not None and node in setting.side(victims[above].queue)
        chosen[node] = above if above is not None and inherits else last[node][-1]

    def key(position: int) -> tuple[tuple[bool, int], ...]:
        # From the top down: is this the branch that must go last, and which branch is it?
        steps = []
        above = -1
        for node in reversed(setting.side(victims[position].queue)):
            steps.append((above == chosen[node], node))
            above = chosen[node]
        return (*steps, (above == position, position))

    own = [v for v in victims if not setting.side(v.queue)]
    others = [i for i, v in enumerate(victims) if setting.side(v.queue)]
    return own + [victims[i] for i in sorted(others, key=key)]


def lowest_stuck(setting: Setting, last: LastVictims) -> int | None:
    """Return the lowest node at which no victim can be the last one, if there is one."""
    stuck = [node for node, positions in last.items() if not positions]
    return max(stuck, key=lambda node: len(setting.snapshot.tree.path(node)), default=None)


def say_stuck(  # noqa: PLR0913, PLR0917 - what the search knows, and about which node
    setting: Setting,
    victims: Sequence[Admitted],
    after: Usage,
    last: LastVictims,
    node: int,
    frs: Iterable[int],
) -> str:
    """Say for a node without a possible last victim what is left there at best."""
    tree = setting.snapshot.tree
    if tree.nodes[node].is_queue:
        contenders = [v for v in victims if v.queue == node]
    else:
        positions = {i for child in tree.children[node] for i in last.get(child, ())}
        contenders = [victims[i] for i in sorted(positions)]
    best: dict[int, int] = {}
    for victim in contenders:
        left = dict(usage_with(setting, victim, after, frs))[node]
        best = {fr: max(amount, best.get(fr, amount)) for fr, amount in left.items()}
    whichever = "" if len(contenders) == 1 else ", whichever of them that is"
    return (
        f"before its last victim goes{whichever}, {say_node(setting.snapshot, node)} is "
        + say_within(setting, node, best, [v.key for v in contenders])
    )


def say_within(setting: Setting, node: int, used: Mapping[int, int], victims: Sequence[str]) -> str:
    """Say that a node is not over its quota, with what it uses of each flavor-resource."""
    snapshot = setting.snapshot
    kind = "nominal" if snapshot.tree.nodes[node].is_queue else "subtree"
    amounts = [
        f"uses {say_amount(snapshot, fr, used[fr])} of {kind} quota "
        f"{say_amount(snapshot, fr, snapshot.tree.subtree[node][fr], named=False)}"
        for fr in sorted(used)
    ]
    nothing = ": nothing is contested" if not setting.contested else ""
    detail = f" ({say_some(amounts)})" if amounts else nothing
    return f"not over its quota{detail}, so Kueue would not take {say_some(victims)}"
