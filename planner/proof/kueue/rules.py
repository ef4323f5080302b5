"""The laws of one decision as a checker of trees uses them: rows, cases and refusals.

A refusal says that a law refuses every set of a box. Removals only lower usage. So the preemptor
fits best, and its side's share is least, with the most victims of the box gone; every other side
uses most with only the least victims gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from planner.objective.terms import TermTable
from planner.proof.box import Box, Row, numbered
from planner.proof.claims import RulesFor
from planner.proof.kueue.frame import Frame, variants
from planner.proof.kueue.inequalities import (
    excess_rows,
    fit_rows,
    may_dominate,
    nominal_rows,
    share_rows,
    stays_over,
)
from planner.quantity import format_units
from planner.quota.classes import IntArray, group
from planner.quota.kueue.amount import saturating_add
from planner.quota.kueue.holders import Holders
from planner.verifier.kueue.case import remove_all, usage_with
from planner.verifier.kueue.fair_sharing import FairSetting
from planner.verifier.kueue.setting import Setting


def stuck(frame: Frame, box: Box) -> tuple[int, str] | None:
    """Return a node that has no possible last victim in any set of a box, and by which law.

    The law is ``over``, as the node is not over its quota (KQ-07, FS-06), or ``share``
    (FS-07). A class with certain victims is judged with one of them put back; a box requires no
    victim of any other class, and a further one that is put back changes nothing.
    """
    touched = frame.touched(box)
    can: set[int] = set()
    fair: set[int] = set()
    for top in {frame.setting.side(int(frame.queue[frame.below[n][0]]))[-1] for n in touched}:
        below, asked = frame.below[top], touched.intersection([top, *frame.strictly_below(top)])
        for k in below[box.most[below] > 0].tolist():
            reached = _may_be_last(frame, box, k)
            can.update(reached)
            if top in reached and (top in fair or _is_fair(frame, box, k, top)):
                fair.add(top)
            # Every node that is asked about has its last victim: the other classes need no look.
            if top in fair and asked <= can:
                break
    for node in sorted(touched):
        if node not in can and frame.setting.is_asked(node):
            return node, "over"
        if frame.fair is not None and node in frame.tops and node not in fair:
            return node, "share"
    return None


def _may_be_last(frame: Frame, box: Box, k: int) -> list[int]:
    """Return the nodes, from the queue of a class up, of which it may have the last victim."""
    usage, victim = frame.usage_after(box.least), frame.first[k]
    side = frame.setting.side(victim.queue)
    if box.least[k] > 0:
        frs = sorted({fr for node in side for fr in frame.watched[node]})
        # The class has a certain victim, which the usage after the least removals lacks.
        used = dict(usage_with(frame.setting, victim, usage, frs))
    else:
        used = {n: {fr: usage.amount[n][fr] for fr in frame.watched[n]} for n in side}
    reached = []
    for node in side:
        watched = [box.over[node]] if node in box.over else frame.watched[node]
        over = any(used[node][fr] > frame.setting.enough(node, fr) for fr in watched)
        # The last victim of a node is the last one of all nodes between it and its queue, too.
        if not over and frame.setting.is_asked(node):
            break
        reached.append(node)
    return reached


def _is_fair(frame: Frame, box: Box, k: int, top: int) -> bool:
    """FS-07: say whether some strategy may permit a victim of a class to be the last."""
    if frame.fair is None or frame.fair.stays_within_nominal:
        return True
    shares, usage = frame.fair.shares, frame.usage_after(box.least)
    # The two ends of the box at once: no set has a lower share on the preemptor's side or a higher
    # one on the victim's.
    mine = shares.share_of(frame.usage_after(box.most), frame.fair.rival(top))
    after = before = shares.share_of(usage, top)
    if box.least[k] > 0:
        back = usage.copy()
        back.add(int(frame.queue[k]), frame.first[k].usage)
        before = shares.share_of(back, top)
    return frame.fair.is_fair(mine, before, after)


def _refused_set(frame: Frame, box: Box) -> str:
    """Judge the one set of a box step by step; say what is in its way."""
    victims = [frame.workloads[at] for at in frame.classes.take(box.least)]
    if not frame.setting.floor.finds(victims):
        return "some podset finds no place on the nodes"
    obstacle = remove_all(frame.setting, victims).obstacle
    if obstacle:
        return obstacle
    queue = frame.setting.queue
    used = frame.usage_after(box.most).amount[queue]
    over = (  # KQ-02
        f"{frame.tree.frs[fr]} would be above the nominal quota"
        for fr, asked in sorted(frame.setting.kept_nominal.items())
        if saturating_add(used[fr], asked) > frame.tree.nominal(queue, fr)
    )
    restricted = bool(frame.restricted[box.least > 0].any())
    reasons = {
        True: "a victim may not go while borrowing" if restricted else "",
        False: next(over, ""),
    }
    # A set that is legal in one attempt is legal.
    attempts = frame.setting.attempts if box.attempt is None else (box.attempt,)
    return reasons[attempts[0]] if all(reasons[one] for one in attempts) else ""


class KueueRules(Frame):
    """The laws of classical preemption, fair sharing, or other rules, by the setting."""

    scheduler: str = "kueue"

    def root(self) -> Box:
        """Return the box of all victim sets."""
        return Box(np.zeros_like(self.classes.sizes), self.classes.sizes)

    def alternative(self, box: Box) -> int | None:  # noqa: ARG002 - the protocol's
        """Return 0: whatever the victims, the same has to be freed."""
        return 0

    def certain(self, box: Box) -> Iterator[IntArray]:
        """Yield groups of classes of which at least one has a victim."""
        yield from (self.below[node] for node in box.touched)

    def fixed_rows(self, most: IntArray) -> Mapping[str, Row]:
        """Return the rows that legal sets with at most ``most`` of each class satisfy."""
        key = most.tobytes()
        if key not in self.written:
            rows = {name: row.rounded().among(most) for name, row in self._always(most)}
            self.written[key] = rows
        return self.written[key]

    def _always(self, most: IntArray) -> Iterator[tuple[str, Row]]:
        yield from self._fit.items()
        if not any(self.setting.attempts):  # the only one does not borrow
            yield from nominal_rows(self)
        after, enough = self.usage_after(most).amount, self.setting.enough
        for node in self.side_nodes:
            watched = self.watched[node]
            # A node that stays over whoever goes refuses nobody.
            stays = any(after[node][fr] > enough(node, fr) for fr in watched)
            if watched and not stays and most[self.below[node]].any():
                yield from excess_rows(self, node, most)
        yield from self.rooms.fixed_rows()

    @cached_property
    def _fit(self) -> Mapping[str, Row]:
        return dict(fit_rows(self))

    @property
    def needs(self) -> Mapping[str, str]:
        """What must be freed on the path of the preemptor, in words, by the name of the row."""
        found = {}
        for name, row in self._fit.items():
            what, at, _ = name.partition(" at ")
            if at:
                found[name] = f"{format_units(row.least, what.partition(' ')[0])} {what}"
        return found

    def rows(self, box: Box) -> Iterator[tuple[str, Row]]:
        """Yield the further rows that hold for every legal set in a box."""
        for node in sorted(box.touched):
            below = self.below[node]
            yield f"touched {self.name(node)}", Row(below, np.ones_like(below), 1)
        for node, fr in box.over.items():
            yield from self._stays_over(node, fr, box.most).items()
        if box.attempt is False:
            yield from nominal_rows(self)
        yield from share_rows(self, box)
        yield from self.rooms.rows(box)

    def _stays_over(self, node: int, fr: int, most: IntArray) -> Mapping[str, Row]:
        """Return the rows of a node that is over in a fr; the last are kept for the next box."""
        key = most[self.below[node]].tobytes()
        known = self._over.get((node, fr))
        if known is None or known[0] != key:
            known = self._over[node, fr] = key, dict(stays_over(self, node, fr, most))
        return known[1]

    def refusal(self, box: Box) -> str:
        """Say which law refuses every set of a box, if one does; empty if none was found to."""
        setting = self.setting
        # Usage without the request, which the frame counts under fair sharing: it must fit here.
        if self.fair is None:
            least_used = self.usage_after(box.most)
        else:
            least_used = self.remove(box.most, setting.snapshot.usage)
        for fr, asked in sorted(setting.request.items()):
            if asked > max(0, least_used.available(setting.queue, fr)):
                return f"{self.tree.frs[fr]} does not fit, whoever goes"
        nowhere = self.rooms.refusal(box)
        if nowhere:
            return nowhere
        found = stuck(self, box)
        if found is not None:
            what = "is not over its quota" if found[1] == "over" else "has too small a share"
            return f"{self.name(found[0])} {what} before its last victim goes"
        return _refused_set(self, box) if box.is_single else ""

    def parts(self, box: Box, split: str, at: str | None) -> Sequence[Box]:
        """Return the parts of a box, one for each case; a legal set is in one of them.

        Raises ``ValueError`` if there is no such split here.
        """
        parts: Sequence[Box] = ()
        if split == "attempt":
            # KQ-06: the attempt with borrowing takes none that only the one without may take.
            spared = box.without(np.flatnonzero(self.restricted))
            parts = [
                replace(spared if borrowing else box, attempt=borrowing)
                for borrowing in self.setting.attempts
            ]
        elif split == "domain" and at is not None and at in self.rooms.groups:
            domains = self.rooms.open_domains(at, box)
            parts = [replace(box, domain={**box.domain, at: domain}) for domain in domains]
        elif split == "below":
            node = self._node(at)
            touched = replace(box, touched=box.touched | {node})
            parts = [box.without(self.below[node]), touched]
        elif (node := self._node(at)) in self.touched(box):
            if split == "over":
                parts = [replace(box, over={**box.over, node: fr}) for fr in self.watched[node]]
            elif split == "dominant" and node in self.tops:
                some = may_dominate(self, node)
                parts = [replace(box, dominant={**box.dominant, node: each}) for each in some]
        if not parts:
            raise ValueError(f"no cases {split} of {at} are all there is")
        return parts

    @cached_property
    def _named(self) -> Mapping[str, int]:
        return {self.name(node): node for node in self.below}

    def _node(self, name: str | None) -> int:
        node = self._named.get(name or "")
        if node is None:
            raise ValueError(f"no node {name} has candidates")
        return node


def lawful(setting: Setting) -> Holders:
    """Return the candidates whose side is over its quota at the start: no other is ever a victim.

    Classical candidates all are, by definition. Under fair sharing Kueue lists more, as it looks at
    the cohorts of a candidate only at its turn (docs/semantics/kueue.md §6.2 and §6.4); usage never
    rises.
    """
    if not isinstance(setting, FairSetting):
        return setting.candidates
    usage, tree, going = setting.snapshot.usage, setting.snapshot.tree, setting.candidates
    # Off the path the request does not count, so the plain usage is the one that shares look at.
    over = np.zeros(len(tree.nodes), dtype=np.bool_)
    for queue in sorted({*going.columns.queue.tolist()}):
        side = setting.side(queue)
        over[queue] = not any(usage.within_nominal(node, tree.known[node]) for node in side)
    return going.at(np.flatnonzero(over[going.columns.queue]))


def kueue_rules(setting: Setting, workloads: Holders, order: Sequence[int]) -> RulesFor:
    """Return what makes the rules for the questions of claims.

    - ``workloads``: (W,) all of them.
    - ``order``: (W,) the rank of each position in the scheduler's candidate order.
    """
    positions, ranks = workloads.places_of(lawful(setting)), np.array(order, dtype=np.int64)
    frs = sorted({*setting.request, *setting.contested})
    fair = isinstance(setting, FairSetting)  # shares count all that is held; there are no variants
    some, alike = workloads.alike
    holds = numbered(
        tuple(sorted(one.usage.items()) if fair else [one.usage.get(fr, 0) for fr in frs])
        for one in some
    )
    columns = [workloads.columns.queue, holds[alike], workloads.columns.leaving.astype(np.int64)]
    if not fair:
        columns.append(variants(setting, workloads))
    if setting.floor.groups:
        columns.append(np.zeros_like(ranks))
        columns[-1][positions] = numbered(setting.floor.marks(workloads.at(positions)))

    def rules_for(table: TermTable, terms: Iterable[str], marks: Sequence[IntArray]) -> KueueRules:
        telling = [*columns, *table.telling_apart(terms), *marks]
        return KueueRules(setting, workloads, ranks, group(ranks, positions, telling))

    return rules_for
