"""The next thing to do in a cohort tree, from the tree as it is now: nothing here reads or writes.

One preemptor of a tree is served at a time, until it has its quota, and only while nobody else is
leaving: two whose gates open together would want the same victims. Its plan is made; boosts make
Kueue choose the plan, unless it does so by itself; and the gate is opened only if the replay of
Kueue's decision on the latest state names exactly the planned victims, and nobody was admitted or
evicted since the plan was made. All that is remembered from one step to the next is what we did
ourselves; what is ours in the cluster beyond that is of an earlier run, and is taken back.

Source: docs/design/steering.md, the recipe and why it is the one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from planner.operations.steer.kueue.marks import Marked, Patch

Otherwise = Literal["kueue", "wait"]
"""What to do where a plan cannot be carried out: let Kueue choose, or wait."""


BY_ITSELF: Final = "as Kueue chooses by itself"
STALLED_S: Final = 30.0
"""Seconds after which an open gate that Kueue does nothing about does not hold up other workloads:
its turn may never come."""


class Policy(Struct, frozen=True):
    """How many seconds a preemptor may take whose turn it is, and what is done after that."""

    patience_s: float = 5.0
    otherwise: Otherwise = "kueue"


class Holder(NamedTuple):
    """A workload that holds quota: its key, its UID, and whether it is being evicted."""

    key: str
    uid: str
    evicted: bool


class Tree(Struct, frozen=True):
    """What counts in a cohort tree.

    ``gated`` are the workloads with our gate that are not admitted, in the order in which Kueue
    would take them; ``boosted`` those with a boost of ours; ``standing`` all who hold quota.
    """

    gated: tuple[Marked, ...]
    boosted: tuple[Marked, ...]
    standing: frozenset[Holder]


class Replay(NamedTuple):
    """What Kueue would do for a workload whose gates are open: whom it evicts, if it acts at all.

    ``acts`` also where it fits.
    """

    victims: frozenset[str] = frozenset()
    acts: bool = False


class Intent(Struct, frozen=True):
    """What is to be done for a preemptor: the victims, and the boosts that make Kueue take them.

    ``why`` says why no plan can be carried out, where none can; ``standing`` is who held quota when
    the plan was made.
    """

    victims: frozenset[str]
    boosts: Mapping[str, int]
    standing: frozenset[Holder]
    why: str = ""


class Memory(NamedTuple):
    """What we did: the intent for each preemptor, by its UID, and since when it is its turn."""

    intents: dict[str, Intent]
    turns: dict[str, float]

    def forget(self, uid: str) -> None:
        """Forget an intent that did not come about."""
        self.intents.pop(uid, None)


Do = Literal["plan", "boost", "look", "open", "wait", "take back", "nothing"]


class Action(Struct, frozen=True):
    """The next thing to do, for whom, with what changes, and why.

    ``as_planned`` says of an open gate that Kueue is known to choose what was planned.
    """

    do: Do
    why: str
    preemptor: Marked | None = None
    boosts: Mapping[str, int] = {}
    patches: tuple[Patch, ...] = ()
    as_planned: bool = False


class Now(NamedTuple):
    """When a tree is looked at.

    ``replay`` answers for a key on the same state, ``seconds`` is now by the clock of the turns,
    and ``looked`` says that no newer state is to be had.
    """

    replay: Callable[[str], Replay]
    seconds: float
    looked: bool = False


def next_action(  # noqa: PLR0911 - all that decides, and nothing else does
    tree: Tree, now: Now, memory: Memory, policy: Policy
) -> Action:
    """Return the next thing to do in a tree."""
    current = _served(tree, now, memory) or _next(tree, now, memory, policy)
    uid = "" if current is None else current.uid
    known = current is not None and (current.is_open or uid in memory.intents)
    ours = [one for one in tree.boosted if current and one.boosted_for == current.key]
    if strays := [one for one in tree.boosted if not known or one not in ours]:
        return _take_back(current, strays, "they are of no preemptor that is being served")
    if current is None:
        return Action("nothing", "nobody is blocked that Kueue would preempt for")
    if current.is_open:
        return Action("wait", "until it has its quota", current)
    if leaving := [one.key for one in tree.standing if one.evicted]:
        why = f"{min(leaving)} is leaving"
        return _take_back(current, ours, why) if ours else Action("wait", why)
    waits = policy.otherwise == "wait"
    if not waits and now.seconds - memory.turns.get(uid, now.seconds) >= policy.patience_s:
        return _unboosted("open", current, ours, f"{BY_ITSELF}: {policy.patience_s:g} s are over")
    intent = memory.intents.get(uid)
    if intent is None:
        return Action("plan", "it is blocked, and Kueue would preempt for it", current)
    # Somebody who has finished changes no plan; but there may be one now where there was none.
    moved = tree.standing ^ intent.standing if intent.why else tree.standing - intent.standing
    gone = intent.boosts.keys() - {one.key for one in tree.standing}
    if moved or gone:
        names = ", ".join(sorted({one.key for one in moved} | gone))
        why = f"admitted, evicted or gone meanwhile: {names}"
        return _unboosted("plan", current, ours, why)
    if intent.why:
        if waits:
            return Action("wait", f"as asked: {intent.why}", current)
        return _unboosted("open", current, ours, f"{BY_ITSELF}: {intent.why}")
    return _as_planned(current, intent, ours, now)


def _served(tree: Tree, now: Now, memory: Memory) -> Marked | None:
    """Return the workload whose gate is open and that Kueue is about to serve, if there is one.

    Where nobody is leaving and nothing happens for long, it does not hold up the others.
    """
    leaving = any(one.evicted for one in tree.standing)
    for one in tree.gated:
        lately = now.seconds - memory.turns.get(one.uid, now.seconds) < STALLED_S
        if one.is_open and (leaving or lately) and now.replay(one.key).acts:
            return one
    return None


def _next(tree: Tree, now: Now, memory: Memory, policy: Policy) -> Marked | None:
    """Return the workload whose turn it is: the one that was begun with, or the first.

    Those that wait, as asked, because there is no way to have their plan come last.
    """
    blocked = [
        one
        for one in tree.gated
        if not one.is_open and one.blocked_since is not None and not [*one.other_gates]
    ]

    def turn(one: Marked) -> int:
        intent = memory.intents.get(one.uid)
        return 1 if intent is None else 2 if intent.why and policy.otherwise == "wait" else 0

    blocked.sort(key=turn)
    return next((one for one in blocked if now.replay(one.key).victims), None)


def _as_planned(current: Marked, intent: Intent, ours: Sequence[Marked], now: Now) -> Action:
    """Return the next step of a plan that still holds: boost, look, open; or plan anew."""
    there = {one.key: one.boost for one in ours}
    if missing := {key: n for key, n in intent.boosts.items() if there.get(key) != str(n)}:
        return Action("boost", "so that Kueue chooses as planned", current, missing)
    if now.replay(current.key).victims != intent.victims:
        return _unboosted("plan", current, ours, "Kueue would choose otherwise by now")
    if not now.looked:
        return Action("look", "before the gate opens", current)
    return Action("open", "Kueue chooses just the planned victims", current, as_planned=True)


def _unboosted(do: Do, current: Marked, ours: Sequence[Marked], why: str) -> Action:
    """Return what to do without boosts; as long as there are any they are taken back."""
    return _take_back(current, ours, why) if ours else Action(do, why, current)


def _take_back(current: Marked | None, boosted: Sequence[Marked], why: str) -> Action:
    return Action("take back", why, current, patches=tuple(one.unboosted() for one in boosted))
