"""Inequalities between the dominant resource shares of fair sharing: FS-07.

Source: docs/semantics/kueue.md §6.1 to §6.5; docs/design/theory.md §2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Final, NamedTuple

import numpy as np

from planner.proof.box import Box, Numbers, Row
from planner.proof.kueue.frame import Frame
from planner.verifier.kueue.fair_case import INITIAL_SHARE, FairSetting

ROUNDING: Final = 2**48
"""If one share is at most another in doubles, it is in exact numbers by at most one part in this
larger: either is the result of at most six roundings, each within one part in 2^53."""


class _Upper(NamedTuple):
    """``(sum(amounts * x) + constant) / scale``."""

    amounts: Numbers
    constant: int
    scale: int


def may_dominate(frame: Frame, top: int) -> list[str]:
    """Return the resources that can decide the share of a node just below the path.

    One with nothing over or nothing lendable does only where all others are at 0, too: then any
    of them may be taken for it.
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
    return frame.fair.shares.lendable(frame.tree.nodes[top].parent)


def _compared(
    frame: Frame, fair: FairSetting, box: Box, top: int, dominant: str
) -> Iterator[tuple[str, Row]]:
    """FS-07: no resource of the preemptor's side is above the dominant one of the victim's.

    In doubles ``over / lendable / weight`` of mine is at most that of theirs, with the last
    victim back unless only the final share counts. Cross-multiplied, with room for rounding:

        over(mine, r) * lendable(d) * weight(theirs) * ROUNDING
            <= over(theirs, d) * lendable(r) * weight(mine) * (ROUNDING + 1)

    Two weights of 0 are compared as if they were equal; nothing is said where one of them is.
    """
    mine, lendable = fair.rival(top), _lendable(frame, top)
    my_weight, their_weight = (frame.tree.nodes[node].weight_nano for node in (mine, top))
    if my_weight == their_weight == 0:
        my_weight = their_weight = 1
    if 0 in {my_weight, their_weight}:
        return
    theirs = _over_at_most(frame, fair, box, top, dominant)
    below = frame.below.get(mine, np.zeros(0, dtype=np.int64))
    for resource, amount in sorted(lendable.items()):
        # Cross-multiplied in Python's integers: quotas in bytes, weights and 2^48 leave 64 bits at
        # once.
        left = lendable[dominant] * their_weight * ROUNDING * theirs.scale
        right = amount * my_weight * (ROUNDING + 1)
        unit = gcd(left, right)
        amounts = theirs.amounts * (right // unit)
        least = -theirs.constant * (right // unit)
        frs = _over_at_least(frame, box, mine, resource) if amount > 0 else []
        for fr in frs:
            amounts[below] += frame.held(fr)[below].astype(object) * (left // unit)
            excess = frame.before.amount[mine][fr] - frame.tree.subtree[mine][fr]
            least += excess * (left // unit)
        if frs:
            classes = np.flatnonzero(amounts)
            name = f"share of {frame.name(top)}, {resource}"
            yield name, Row(classes, amounts[classes], least)


def _over_at_least(frame: Frame, box: Box, mine: int, resource: str) -> list[int]:
    """Return fr of a resource in which the preemptor's side may borrow at the end.

    What it borrows of the resource is at least the sum of usage less quota over any of its fr:
    over those that are certain if there are any, over all that are possible otherwise. Usage
    falls by at most what victims below hold.
    """
    quota, frs = frame.tree.subtree[mine], frame.tree.frs
    those = [fr for fr in sorted(frame.tree.known[mine]) if frs[fr].resource == resource]
    now, after = frame.before.amount[mine], frame.usage_after(box.most).amount[mine]
    certain = [fr for fr in those if after[fr] > quota[fr]]
    return certain or [fr for fr in those if now[fr] > quota[fr]]


def _over_at_most(frame: Frame, fair: FairSetting, box: Box, top: int, resource: str) -> _Upper:
    """Return what a node borrows of a resource at most, its last victim back.

    The excess max(0, u) is convex in the usage u, which lies between two bounds in the box: it is
    at most the chord between them, the line through (least, 0) and (largest, largest).
    """
    high, low = frame.usage_after(box.least), frame.usage_after(box.most)
    amounts: Numbers = np.zeros(len(frame.first), dtype=object)
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
            # What is freed below need not reach this node: only its usage with the least gone is a
            # bound.
            constant += largest * scale
            continue
        # Certainly over: the excess itself. Otherwise the chord, rise / run * (u - least).
        rise, run = (1, 1) if least >= 0 else (largest, largest - least)
        factor = rise * scale
        amounts, constant, scale = amounts * run, constant * run, scale * run
        amounts[below] -= held.astype(object) * factor
        constant += factor * (now - min(0, least))
    return _Upper(amounts, constant, scale)
