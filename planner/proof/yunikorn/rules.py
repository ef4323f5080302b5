"""What the verifier derives from a state of YuniKorn, for trees to stand on.

Nothing here knows how a plan was found. Candidates are the allocations that no law refuses by
itself (frame.py). Rows state the laws that tie victims together: YK-02, YK-04, YK-08, YK-09, YK-10
and YK-13 exactly, once the node is known. YK-05 is judged by who goes for certain (frame.py), a
single set by the verifier itself. Source:
docs/semantics/yunikorn.md §3 to §7, §11.1 and §15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from planner.laws.yunikorn import (
    YK_LEAVES_GUARANTEED,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_UNDER_GUARANTEED,
    YK_WITHIN_GUARANTEED,
    YK_WITHIN_LIMITS,
    YK_WITHIN_MAX,
)
from planner.objective.terms import TermTable
from planner.proof.box import Box, Row, numbered, sum_of_products
from planner.proof.claims import RulesFor
from planner.proof.yunikorn.frame import (
    NOWHERE,
    Frame,
    Setting,
    candidates,
    counting,
    integers,
    key_of,
    used_between,
)
from planner.quota.classes import IntArray, group
from planner.quota.yunikorn.lowered import excess
from planner.quota.yunikorn.resource import clamped
from planner.state.yunikorn_release import V1_8
from planner.term import RATED
from planner.verifier.yunikorn import verify_yunikorn_case
from planner.verifier.yunikorn.case import YuniKornCase
from planner.verifier.yunikorn.laws import CHECKS, room_faults

NamedRow = tuple[str, Row]


class YuniKornRules(Frame):
    """The laws of one ask, over K classes of its candidates.

    A box with a host holds the sets whose over-freeing (``excess_freed``) counts for that node: the
    node that all victims are on, if they make room there, else the first node that has room without
    victims.

    No quantity has to be whole, and no row has words of its own.
    """

    scheduler: str = "yunikorn"
    whole: AbstractSet[str] = frozenset()
    needs: Mapping[str, str] = {}

    @cached_property
    def _hosts(self) -> list[int]:
        """The nodes that legal sets can be for."""
        return self.hosts(self.root())

    def host(self, box: Box) -> int | None:
        """Return the node that all legal sets of a box are for, ``None`` if that is open."""
        return self._hosts[0] if box.host is None and len(self._hosts) == 1 else box.host

    def alternative(self, box: Box) -> int | None:
        """Return the position of the need that counts for ``excess_freed`` in a box.

        Where no measure counts ``excess_freed`` the need is left open: rows are then the same for
        every node.
        """
        return self.host(box) if self.over_freed else None

    # Boxes and their parts.

    def root(self) -> Box:
        """Return the box of all victim sets."""
        most = self.classes.sizes.copy()
        # Spared candidates are not in the box, instead of only dear: YK-01 holds at any cost.
        most[[one.is_spared(self.spare) for one in self.first]] = 0
        box = Box(np.zeros_like(most), most)
        if self.anywhere is None and most.any():
            most[~np.isin(self.node, self.hosts(box))] = 0
        return box

    def parts(self, box: Box, split: str, at: str | None) -> Sequence[Box]:
        """Return the parts of a box, one for each case; a legal set is in one of them.

        Raises ``ValueError`` if there is no such split here.
        """
        parts: list[Box] = []
        paths = [queue.path for queue in self.leaves]
        if split == "host" and at is None and box.host is None:
            for host in self.hosts(box):
                # For a node with room victims may be on any node: only the need of `excess_freed`
                # is fixed.
                there = box
                if host != self.anywhere:
                    there = box.without(np.flatnonzero(self.node != host))
                parts.append(replace(there, host=host))
        elif split == "below" and at in paths:
            leaf = paths.index(at)
            untouched = box.without(np.flatnonzero(self.queue == leaf))
            parts = [untouched, replace(box, touched=box.touched | {leaf})]
        if not parts:
            raise ValueError(f"no cases {split} of {at} are all there is")
        return parts

    def certain(self, box: Box) -> Iterator[IntArray]:
        """Yield groups of classes of which at least one has a victim."""
        yield from (np.flatnonzero(self.queue == leaf) for leaf in box.touched)
        host = self.host(box)
        if host is not None and host != self.anywhere:
            mine = self.of_node[host]
            yield mine[box.most[mine] > 0]  # YK-10: there is a victim

    # Inequalities.

    def fixed_rows(self, most: IntArray) -> Mapping[str, Row]:
        """Return the rows that legal sets with at most ``most`` of each class satisfy."""
        return {name: row.rounded() for name, row in self._whatever_node(np.flatnonzero(most))}

    def rows(self, box: Box) -> Iterator[NamedRow]:
        """Yield the further rows that hold for every legal set in a box.

        The rows of ``fixed_rows`` are there again, over the classes of the node alone.
        """
        for leaf in sorted(box.touched):
            classes = np.flatnonzero(self.queue == leaf)
            yield f"touched {self.name(leaf)}", Row(classes, np.ones_like(classes), 1)
        host = self.host(box)
        if host is not None:
            if host not in self.written:
                self.written[host] = [(name, row.rounded()) for name, row in self._for_node(host)]
            yield from self.written[host]

    def _for_node(self, host: int) -> Iterator[NamedRow]:
        if host == self.anywhere:
            mine = np.arange(self.node.size, dtype=np.int64)
        else:
            mine = self.of_node[host]
            room = self.cluster.nodes[host]
            for t, missing in self.missing(room).items():
                yield f"YK-08 {t} on {room.node_id}", self._freeing(mine, t, missing)
        yield from self._whatever_node(mine)
        if YK_LEAVES_GUARANTEED.id in self.laws:
            yield from self._guaranteed_rows(mine)

    def _whatever_node(self, mine: IntArray) -> Iterator[NamedRow]:
        """Yield the rows for any node: what must be freed in queues, and that there are victims."""
        if YK_PREEMPTABLE.id in self.laws:
            yield "YK-10", Row(mine, np.ones_like(mine), 1)
        if YK_WITHIN_MAX.id in self.laws:
            # All candidates are at or below the queue.
            for t, amount in sorted(excess(self.asking.leaf).items()):
                yield f"YK-13 {t} of {self.asking.leaf.path}", self._freeing(mine, t, amount)
        if YK_WITHIN_GUARANTEED.id in self.laws:
            yield from self._within_guaranteed_rows(mine)
        if YK_UNDER_GUARANTEED.id in self.laws:
            # This law does not look at victims: any will do.
            any_victims = tuple(self.first)
            case = YuniKornCase(self.cluster, self.asking, self.rule_set, None, any_victims)
            if not CHECKS[YK_UNDER_GUARANTEED.id](case).holds:
                yield "YK-12", Row(mine[:0], mine[:0], 1)
        if YK_WITHIN_LIMITS.id in self.laws:
            yield from self._limit_rows(mine)

    def _freeing(self, classes: IntArray, t: str, missing: int) -> Row:
        holding = classes[self.held(t)[classes] > 0]
        return Row(holding, self.held(t)[holding], missing)

    def _within_guaranteed_rows(self, mine: IntArray) -> Iterator[NamedRow]:
        """YK-04: at the end, with the ask, no guarantee that counts at its queue is exceeded.

        Where the ask fits into what is left of one now, no victims are needed, and there is no row.
        Up to 1.7 types that it does not want count as well.
        Where nothing is guaranteed from the root to the queue no victims help: the row cannot hold.
        """
        counts, older = counting(self.asking.leaf, self.asking.leaf), self.cluster.release < V1_8
        if counts is None:
            yield "YK-04", Row(mine[:0], mine[:0], 1)
        for one in counts or ():
            if one.type in self.ask or older:
                used, _ = used_between(one.queue, one.type)
                missing = clamped(used + self.ask.get(one.type, 0)) - one.amount
                if missing > 0:
                    classes = self.inside(mine, one.queue)
                    yield f"YK-04 {one.name}", self._freeing(classes, one.type, missing)

    def _limit_rows(self, mine: IntArray) -> Iterator[NamedRow]:
        """YK-09: allocated - victims + ask <= maximum; a type that the root's lacks counts as 0.

        With a required node the ask is compared as with headroom: a type that any maximum lacks is
        not limited, and one of which the ask has 0 is not compared (§11.1).
        """
        for queue in self.asking.leaf.lineage:
            most = queue.max or {}
            for t in sorted(self.ask):
                limited = t in most or (queue.parent is None and not self.required)
                limited &= self.ask[t] > 0 or not self.required
                missing = clamped(queue.allocated.get(t, 0) + self.ask[t]) - most.get(t, 0)
                if limited and missing > 0:
                    classes = self.inside(mine, queue)
                    yield f"YK-09 {t} of {queue.path}", self._freeing(classes, t, missing)

    def _guaranteed_rows(self, mine: IntArray) -> Iterator[NamedRow]:
        """YK-02: victims <= max(0, used - guaranteed), plus the ask in its own queue and above.

        That is, after >= min(guaranteed, used) with after = used - victims + ask. Where all
        candidates together hold no more than permitted there is no row.
        """
        present = {*self.queue[mine].tolist()}
        queues = {step.path: step for leaf in sorted(present) for step in self.leaves[leaf].lineage}
        for queue in queues.values():
            classes = self.inside(mine, queue) if queue.guaranteed else mine[:0]
            for t, amount in sorted((queue.guaranteed or {}).items()):
                # Of a type that a queue has none allocated of, nothing is taken off either.
                held_now = queue.allocated.get(t)
                used = 0 if held_now is None else held_now - queue.preempting.get(t, 0)
                may_go = max(0, used - amount)
                may_go += self.ask.get(t, 0) if queue in self.asking.leaf.lineage else 0
                holding = classes[self.held(t)[classes] > 0]
                held = self.held(t)[holding]
                if sum_of_products(held, self.classes.sizes[holding]) > may_go:
                    yield f"YK-02 {t} of {queue.path}", Row(holding, -held, -may_go)

    # Refusals.

    def refusal(self, box: Box) -> str:
        """Say which law refuses every set of a box, if one is found to.

        All laws but YK-05 are rows, exactly: one row alone says that a box has too little or too
        much of something. YK-05 is judged by the certain victims, see ``Turns.stuck``.
        """
        if box.host is None and not self.hosts(box):
            return "YK-08: candidates hold too little on every node"
        stuck = self.stuck(box.least)
        if stuck is not None:
            return f"YK-05: {self.name(stuck)} is never over its guaranteed at its last turn"
        return self._refused_set(box) if box.is_single else ""

    def stuck(self, least: IntArray) -> int | None:
        """YK-05: return a leaf of whose victims none can be the last removed, if there is one."""
        return self.turns.stuck(least) if YK_OVER_GUARANTEED.id in self.laws else None

    def _refused_set(self, box: Box) -> str:
        """Judge the one set of a box by the verifier; say what is in its way."""
        victims = tuple(self.victims[position] for position in self.classes.take(box.least))
        if not victims:
            return "YK-10, YK-13: nobody goes"
        # The node that the set is for: what is freed beyond the need is counted there.
        own, host = sorted({*self.node[box.least > 0].tolist()}), self.anywhere
        if len(own) == 1 and own[0] != NOWHERE:
            here = self.case(own[0], victims)
            host = host if any(room_faults(here, self.cluster.nodes[own[0]])) else own[0]
        if host is None:
            return "YK-08: there is no node for them"
        if box.host not in {None, host}:
            return f"they make room on {self.cluster.nodes[host].node_id}: another part has them"
        found = verify_yunikorn_case(self.case(host, victims))
        broken = (verdict for verdict in found.verdicts if not verdict.holds)
        return next((f"{verdict.law}: {verdict.detail}" for verdict in broken), "")


def yunikorn_rules(setting: Setting) -> RulesFor:
    """Return what makes the rules for the questions of claims about an ask.

    Questions raise ``UnsupportedError`` if the core itself cannot add amounts up exactly.
    """
    cluster, asking = setting.cluster, setting.asking
    listed = candidates(cluster, asking, setting.rules)
    found = {one.key: (position, one) for position, one in listed}
    victims = dict(found.values())
    positions, kinds = integers(victims), np.zeros_like(setting.order)
    kinds[positions] = numbered(
        (key_of(cluster, asking, one), one.is_spared(setting.spare)) for one in victims.values()
    )

    def rules_for(
        table: TermTable, terms: Iterable[str], marks: Sequence[IntArray]
    ) -> YuniKornRules:
        asked = set(terms)
        classes = group(setting.order, positions, [kinds, *table.telling_apart(asked), *marks])
        over_freed = "excess_freed" in asked or (RATED in asked and "excess_freed" in table.rates)
        return YuniKornRules(setting, victims, classes, over_freed=over_freed)

    return rules_for
