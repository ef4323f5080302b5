"""Inequalities that every legal victim set satisfies: what it must free, and may hold at most.

The inequalities of fair sharing, FS-07, are between dominant resource shares.

Source: docs/semantics/kueue.md §3, §5.1, §5.6, §6.1 to §6.5; docs/design/theory.md §2.2 and §2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd, inf
from typing import Final, NamedTuple

import numpy as np

from planner.proof.box import Box, Numbers, Row, exact, sum_of_products
from planner.proof.kueue.frame import Frame, Freed
from planner.quantity import MAX_INT64, UNLIMITED
from planner.quota.classes import IntArray
from planner.quota.kueue.amount import saturating_add, subtract
from planner.verifier.kueue.fair_sharing import INITIAL_SHARE, FairSetting

_NOBODY: Final = np.zeros(0, dtype=np.int64)


def fit_rows(frame: Frame) -> Iterator[tuple[str, Row]]:
    """KQ-01, FS-01: yield what victims must free, per fr and per limit of the path.

    With n_0 the preemptor's queue, n_1, n_2, ... above it, ``available``
    (docs/semantics/kueue.md §3) says for every n_i with a borrowing limit, and for the root with
    its quota as cap:

        REQ - sum(local_free(n_j), j <= i) + stored(n_i) <= quota - kept + limit

    What victims free at n_j either fills what n_j keeps or lowers what it stores above, so each
    unit that reaches the path counts once, at the node where it does:

        sum(what reaches n_j, j <= i) >= what is missing now.
    """
    path, usage, tree = frame.setting.path, frame.setting.snapshot.usage, frame.tree
    rows: dict[str, Row] = {}
    for fr, asked in sorted(frame.setting.request.items()):
        need, freed = asked, _Freed(frame, fr, rows)
        for node in path if asked > 0 else ():
            freed.reach(node)
            quota, kept = tree.subtree[node][fr], tree.kept[node][fr]
            used, limit = usage.amount[node][fr], tree.borrowing_limit(node, fr)
            if node == path[-1]:
                cap, missing = quota, need + used - quota
            # A node that keeps everything to itself has all it may use, and takes nothing above.
            elif kept == UNLIMITED:
                break
            else:
                # What the node keeps and does not use serves the request there, and only the rest
                # goes up.
                need -= max(0, kept - used)
                cap = UNLIMITED if limit is None else saturating_add(subtract(quota, kept), limit)
                missing = need + max(0, used - kept) - cap
            # Where nothing is missing every set satisfies the row: it would say nothing.
            if UNLIMITED not in {cap, quota} and missing > 0:
                yield f"{tree.frs[fr]} at {frame.name(node)}", freed.row(missing)
    yield from rows.items()


class _Freed:
    """What victims at some nodes of the path, or below them off the path, free there, at most.

    It is what the ``classes`` hold, none of them twice, and multiples of ``further`` quantities.
    Usage of quota that a node keeps for itself does not count at its parent: only what the node
    stores there, by docs/semantics/kueue.md §3, can be freed there. Where that binds, what is freed
    there is a quantity of its own: at most what is stored, and by one of the ``rows`` at most what
    is freed at the node.
    """

    def __init__(self, frame: Frame, fr: int, rows: dict[str, Row]) -> None:
        self.frame, self.fr, self.rows = frame, fr, rows
        self.classes: list[IntArray] = []
        self.further: dict[str, int] = {}

    def row(self, least: int) -> Row:
        """Return the row that at least ``least`` is freed."""
        classes = np.sort(np.concatenate([_NOBODY, *self.classes]))
        held = self.frame.held(self.fr)[classes]
        return Row(classes[held != 0], held[held != 0], least, dict(self.further))

    def reach(self, node: int) -> None:
        """Add what victims at a node, or below it off the path, free there."""
        frame, fr = self.frame, self.fr
        if frame.tree.nodes[node].is_queue:
            self.classes.append(frame.below.get(node, _NOBODY))
        for child in frame.tree.children[node]:
            kept, used = frame.tree.kept[child][fr], frame.before.amount[child][fr]
            # Where it uses nothing of its parent, nothing that is freed at it reaches the parent.
            nothing = kept == UNLIMITED or used <= kept
            if nothing or child not in frame.below or child in frame.setting.path:
                continue
            # Unless what is stored binds, the part that is kept takes nothing: all freed passes up.
            held, sizes = (of[frame.below[child]] for of in (frame.held(fr), frame.classes.sizes))
            binds = kept != 0 and sum_of_products(held, sizes) > used - kept
            here = _Freed(frame, fr, self.rows) if binds else self
            here.reach(child)
            if binds:
                name = f"{frame.tree.frs[fr]} freed by {frame.name(child)}"
                frame.ranges[name] = 0, used - kept
                here.further[name] = -1
                self.rows[name] = here.row(0)
                self.further[name] = 1


def nominal_rows(frame: Frame) -> Iterator[tuple[str, Row]]:
    """KQ-02: without borrowing the queue ends within its nominal quota."""
    queue = frame.setting.queue
    own = np.flatnonzero(frame.queue == queue)
    for fr, asked in sorted(frame.setting.kept_nominal.items()):
        nominal = frame.tree.nominal(queue, fr)
        missing = frame.before.amount[queue][fr] + asked - nominal
        if nominal != UNLIMITED and missing > 0:
            name = f"{frame.tree.frs[fr]} within nominal"
            yield name, Row(own, frame.held(fr)[own], missing)


def excess_rows(frame: Frame, node: int, most: IntArray) -> Iterator[tuple[str, Row]]:
    """KQ-07, FS-06: yield what victims below a node off the path hold at most.

    ``most`` bounds the victims of each class: (K,). With several fr there is a quantity for each, 1
    for one in which the node is over until its last victim goes, and 0 for all others. Of any fr
    the victims then hold at most as much as they can where they hold no more of that one than there
    is room for. The last one's size is a quantity where it is large: else there would be too many.
    """
    watched = frame.watched[node]
    if len(watched) == 1:
        yield from stays_over(frame, node, watched[0], most)
        return
    counted = {
        f"{frame.tree.frs[fr]} over at {frame.name(node)}": Counted.at_node(frame, node, fr, most)
        for fr in watched
    }
    if any(each.says_nothing for each in counted.values()):
        return
    frame.choose(counted.keys())
    for fr, (name, each) in zip(watched, counted.items(), strict=True):
        reach = {over: each.most_beside(other) for over, other in counted.items()}
        what = f"{frame.tree.frs[fr]} of {frame.name(node)}"
        large = [size for size in each.sizes if LARGE * size >= each.sizes[-1]]
        small = max((size for size in each.sizes if size not in large), default=0)
        last = {f"last {size} {what}": size for size in large}
        frame.choose(last)
        reach |= {name: each.room + small, **{one: size - small for one, size in last.items()}}
        yield name, Row(each.classes, -each.held, 0, reach | each.passed)
        yield f"one last {what}", Row(_NOBODY, _NOBODY, 0, {name: 1, **dict.fromkeys(last, -1)})
        yield from each.last_rows(last)
        yield from each.rows
    yield f"one over at {frame.name(node)}", Row(_NOBODY, _NOBODY, -1, dict.fromkeys(counted, -1))


LARGE: Final = 4
"""A last victim is large that holds at least one such part of what any holds."""

SIZES: Final = 40
"""Different sizes of victims up to which each size has a quantity of its own."""


class Counted(NamedTuple):
    """What the victims below a node hold of a fr that free all of it there, in a common unit.

    ``classes`` are theirs, ``held`` is what one member of each holds, ``most`` how many there are;
    ``everybody`` are the classes of all who may free anything there, and ``of_all`` is what each of
    these holds. What others free there are the quantities ``passed``, each with -1, which ``rows``
    define; together they are at most ``further``. While the node stays over, all victims but the
    last free at most the ``room``, and that one holds one of the ``sizes``, or nothing.
    """

    classes: IntArray
    held: IntArray
    most: IntArray
    everybody: IntArray
    of_all: IntArray
    room: int
    sizes: Sequence[int]
    passed: dict[str, int]
    further: int
    rows: Sequence[tuple[str, Row]]

    @classmethod
    def at_node(cls, frame: Frame, node: int, fr: int, most: IntArray) -> Counted:
        """Return what counts of a fr at a node, with at most ``most`` victims of each class."""
        room = frame.before.amount[node][fr] - frame.setting.enough(node, fr) - 1
        freed = frame.freed(node, fr, room, most)
        classes, everybody, held = freed.classes, freed.everybody, frame.held(fr)
        # Whatever several victims hold together is a multiple of their common divisor: a bound is
        # as good in whole units, and in a linear program far better.
        unit = max(1, int(np.gcd.reduce(held[everybody])))
        of_all = held[everybody] // unit
        sizes = sorted({*of_all[(most[everybody] > 0) & (of_all > 0)].tolist()})
        passing = _Passing(frame, f"{frame.tree.frs[fr]} of {frame.name(node)}", fr, unit, most)
        passed, further = passing.up(freed)
        alone = classes, held[classes] // unit, most[classes], everybody, of_all
        return cls(*alone, room // unit, sizes, passed, further, passing.rows)

    def last_rows(self, last: Mapping[str, int]) -> Iterator[tuple[str, Row]]:
        """Yield rows by which the last victim has a size only if a victim of that size goes."""
        for name, size in last.items():
            these = self.everybody[self.of_all == size]
            yield name, Row(these, np.ones_like(these), 0, {name: -1})

    @property
    def in_all(self) -> int:
        """What all candidates free."""
        return sum_of_products(self.held, self.most) + self.further

    @property
    def possible(self) -> int:
        """What the victims free at most: the largest last one permits the most."""
        return self.room + max(self.sizes, default=0)

    @property
    def says_nothing(self) -> bool:
        """Whether the node stays over whoever the victims are."""
        return self.in_all <= self.possible

    def most_beside(self, other: Counted) -> int:
        """Return a bound on what victims hold of this that hold no more of another than possible.

        With p and q the amounts that some class holds of this and of the other,

            q * sum(held * x) <= p * possible + sum(max(0, q * held - p * beside) * most),

        whichever class that is. The bound is best for the class that no longer fits whole into a
        knapsack which is filled with those that hold most of this for what they hold of the other.
        """
        if other is self:
            return self.possible
        held, beside = self.held, np.zeros_like(self.held)
        both = np.intersect1d(self.classes, other.classes, assume_unique=True, return_indices=True)
        beside[both[1]] = other.held[both[2]]
        worth = np.divide(held, beside, out=np.full(held.size, inf), where=beside > 0)
        order = np.argsort(-worth, kind="stable")
        filled = (beside[order].astype(float) * self.most[order]).cumsum()
        end = int(filled.searchsorted(float(other.possible)))
        p, q = (int(of[order[end]]) if end < order.size else 0 for of in (held, beside))
        if not q:
            return self.in_all
        reach = q * int(held.max()) + p * int(beside.max())
        gained = np.maximum(0, q * exact(held, reach) - p * exact(beside, reach))
        beyond = (p * other.possible + sum_of_products(gained, self.most)) // q + self.further
        return min(self.in_all, beyond)


class _Passing:
    """What nodes below a node pass up to it of a fr, in whole units; its ``rows`` define that.

    A node that stores s passes up p = min(f, s) of what is freed at it, f. With z = 1 where f is
    more than s, and F the most that can be freed there,

        p >= f - (F - s) * z  and  p >= s * z.

    In whole units each of p and s is rounded down: the rows then hold for these, too.
    """

    def __init__(self, frame: Frame, what: str, fr: int, unit: int, most: IntArray) -> None:
        self.frame, self.what, self.unit = frame, what, unit
        self.held, self.most = frame.held(fr), most
        self.rows: list[tuple[str, Row]] = []

    def up(self, freed: Freed) -> tuple[dict[str, int], int]:
        """Return the quantities that nodes pass up, each with -1, and their largest sum."""
        passed, further = dict[str, int](), 0
        for node, (stored, below) in freed.passed.items():
            beneath, at_most = self.up(below)
            classes, stores = below.classes, stored // self.unit
            held = self.held[classes] // self.unit
            in_all = sum_of_products(held, self.most[classes]) + at_most
            name = f"passed up by {self.frame.name(node)}: {self.what}"
            full = f"all of it {name}"
            self.frame.choose([full])
            extra = {name: 1, full: max(0, in_all - stores), **beneath}
            self.rows.append((name, Row(classes, -held, 0, extra)))
            self.rows.append((full, Row(_NOBODY, _NOBODY, 0, {name: 1, full: -stores})))
            self.frame.ranges[name] = 0, stores
            passed[name] = -1
            further += min(in_all, stores)
        return passed, further


def stays_over(frame: Frame, node: int, fr: int, most: IntArray) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a node that is over its quota in a given fr until its last victim goes.

    All victims but that one hold at most the excess less one. For the size s of that one there are
    quantities last_s, each at most 1 and at most the number of victims of size s, and together at
    most 1:

        sum(held * x) - sum(s * last_s) <= excess - 1

    all in units of their common divisor. Only victims count of whom nodes between take up nothing.
    """
    counted, what = (
        Counted.at_node(frame, node, fr, most),
        f"{frame.tree.frs[fr]} of {frame.name(node)}",
    )
    if counted.says_nothing:
        return
    classes, held = counted.classes, counted.held
    yield from counted.rows
    # One size for all of them keeps fewer quantities.
    if len(counted.sizes) > SIZES:
        yield f"excess {what}", Row(classes, -held, -counted.possible, counted.passed)
        return
    last = {f"last {size} {what}": size for size in counted.sizes}
    frame.choose(last)
    yield f"excess {what}", Row(classes, -held, -counted.room, last | counted.passed)
    # At most one, not one: the last victim may hold nothing of this, and then all of them count.
    yield f"one last {what}", Row(_NOBODY, _NOBODY, -1, dict.fromkeys(last, -1))
    yield from counted.last_rows(last)


ROUNDING: Final = 2**48
"""If one share is at most another in doubles, it is in exact numbers by at most one part in this
larger: either is the result of at most six roundings, each within one part in 2^53."""


def may_dominate(frame: Frame, top: int) -> list[str]:
    """Return the resources that can decide the share of a node just below the path.

    A resource with nothing over or nothing lendable decides only where all others are at 0, too:
    then any of these may be taken for it.
    """
    lendable = _lendable(frame, top)
    over = {frame.tree.frs[fr].resource for fr in frame.watched[top]}
    return [resource for resource in sorted(over) if lendable.get(resource, 0) > 0]


def share_rows(frame: Frame, box: Box) -> Iterator[tuple[str, Row]]:
    """FS-07 where a node has a victim, and its dominant resource is known."""
    fair = frame.fair
    if fair is None or fair.stays_within_nominal:
        return
    for top in sorted(frame.touched(box).intersection(frame.tops)):
        resources = may_dominate(frame, top)
        known = resources[0] if len(resources) == 1 else box.dominant.get(top)
        if known is not None:
            yield from _compared(frame, fair, box, top, known)


def _lendable(frame: Frame, top: int) -> Mapping[str, int]:
    if frame.fair is None or frame.fair.stays_within_nominal:
        return {}
    return frame.tree.lendable(frame.tree.nodes[top].parent)


def _compared(
    frame: Frame, fair: FairSetting, box: Box, top: int, dominant: str
) -> Iterator[tuple[str, Row]]:
    """FS-07: no resource of the preemptor's side is above the dominant one of the victim's.

    In doubles ``over / lendable / weight`` of mine is at most that of theirs, with the last
    victim back unless only the final share counts. Cross-multiplied, with room for rounding:

        over(mine, r) * lendable(d) * weight(theirs) * ROUNDING
            <= over(theirs, d) * lendable(r) * weight(mine) * (ROUNDING + 1)

    Two weights of 0 are compared as if they were equal; where only one is 0 there is no row.
    """
    mine, lendable = fair.rival(top), _lendable(frame, top)
    my_weight, their_weight = (frame.tree.nodes[node].weight_nano for node in (mine, top))
    if my_weight == their_weight == 0:
        my_weight = their_weight = 1
    if 0 in {my_weight, their_weight}:
        return
    theirs, constant, scale = _over_at_most(frame, fair, box, top, dominant)
    below = frame.below.get(mine, _NOBODY)
    for resource, amount in sorted(lendable.items()):
        # Cross-multiplied in Python's integers: quotas in bytes, weights and 2^48 leave 64 bits at
        # once.
        left = lendable[dominant] * their_weight * ROUNDING * scale
        right = amount * my_weight * (ROUNDING + 1)
        unit = gcd(left, right)
        amounts = theirs * (right // unit)
        least = -constant * (right // unit)
        frs = _over_at_least(frame, box, mine, resource) if amount > 0 else []
        excess = sum(frame.before.amount[mine][fr] - frame.tree.subtree[mine][fr] for fr in frs)
        # Kueue's own sum over the flavors ends there: the row would ask for more than it does.
        if excess > MAX_INT64:
            continue
        for fr in frs:
            amounts[below] += frame.held(fr)[below].astype(object) * (left // unit)
        least += excess * (left // unit)
        if frs:
            classes = np.flatnonzero(amounts)
            name = f"share of {frame.name(top)}, {resource}"
            yield name, Row(classes, amounts[classes], least)


def _over_at_least(frame: Frame, box: Box, mine: int, resource: str) -> list[int]:
    """Return fr of a resource in which the preemptor's side may borrow at the end.

    What it borrows of the resource is at least the sum of usage less quota over any of its fr: here
    over the fr in which it certainly borrows if there are any, over all in which it may otherwise.
    Usage falls by at most what victims below hold.
    """
    quota, frs = frame.tree.subtree[mine], frame.tree.frs
    those = [fr for fr in sorted(frame.tree.known[mine]) if frs[fr].resource == resource]
    now, after = frame.before.amount[mine], frame.usage_after(box.most).amount[mine]
    certain = [fr for fr in those if after[fr] > quota[fr]]
    return certain or [fr for fr in those if now[fr] > quota[fr]]


def _over_at_most(
    frame: Frame, fair: FairSetting, box: Box, top: int, resource: str
) -> tuple[Numbers, int, int]:
    """Return what a node borrows of a resource at most, with its last victim back.

    Returned are amounts, constant and scale of ``(sum(amounts * x) + constant) / scale``.

    The excess max(0, u) is convex in the usage u, which lies between two bounds in the box: it is
    at most the chord between them, the line through (least, 0) and (largest, largest).
    """
    high, low = frame.usage_after(box.least), frame.usage_after(box.most)
    amounts: Numbers = np.zeros(frame.queue.size, dtype=object)
    constant, scale, below = 0, 1, frame.below[top]
    for fr in frame.watched[top]:
        if frame.tree.frs[fr].resource != resource:
            continue
        held = frame.held(fr)[below]
        back = int(held[box.most[below] > 0].max(initial=0))
        above = (back if INITIAL_SHARE in fair.strategies else 0) - frame.tree.subtree[top][fr]
        largest = high.amount[top][fr] + above
        least = low.amount[top][fr] + above
        now = frame.before.amount[top][fr] + above
        # Never over here, so it adds nothing.
        if largest <= 0:
            continue
        if not frame.counts_fully(top, fr):
            # What is freed below need not reach this node: only its usage without the certain
            # victims is a bound.
            constant += largest * scale
            continue
        # Certainly over: the excess itself. Otherwise the chord, rise / run * (u - least).
        rise, run = (1, 1) if least >= 0 else (largest, largest - least)
        factor = rise * scale
        amounts, constant, scale = amounts * run, constant * run, scale * run
        amounts[below] -= held.astype(object) * factor
        constant += factor * (now - min(0, least))
    return amounts, constant, scale
