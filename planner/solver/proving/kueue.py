"""Which cases of Kueue's laws to split: attempts, domains, and in what a node is over its quota."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec.structs import replace

from planner.plan.proof import CaseSplit
from planner.proof.box import Box
from planner.proof.kueue import KueueRules
from planner.proof.kueue.inequalities import may_dominate, room_in, some_over
from planner.proof.kueue.rules import stuck
from planner.quota.classes import IntArray
from planner.solver.proving.program import FRACTION, Suggestion


def cases(
    rules: KueueRules, box: Box, found: Suggestion | None
) -> tuple[CaseSplit | None, IntArray | None]:
    """Return a split by cases that are open, and the classes that break a law at a point."""
    # Without candidates that borrowing spares, it permits all that the other attempt permits.
    if box.attempt is None and len(rules.setting.attempts) > 1 and box.most[rules.restricted].any():
        return CaseSplit(split="attempt"), None
    unsettled = (name for name in rules.rooms.groups if name not in box.domain)
    group = next((name for name in unsettled if rules.rooms.open_domains(name, box)), None)
    if group is not None:
        return CaseSplit(split="domain", at=group), None
    if found is None:
        return None, None
    point = found.point
    counts = np.clip(np.ceil(point - 0.5 + FRACTION).astype(np.int64), box.least, box.most)
    broken = stuck(rules, replace(box, least=counts, most=counts))
    if broken is None:
        return None, None
    node, law = broken
    kind: Literal["below", "over", "dominant"] | None = None
    if node not in rules.touched(box):
        kind = "below"
    elif node not in box.over and len(rules.watched[node]) > 1:
        kind = "over"
    elif law == "share" and node not in box.dominant and len(may_dominate(rules, node)) > 1:
        kind = "dominant"
    case = None if kind is None else CaseSplit(split=kind, at=rules.name(node))
    return case, rules.below[node]


def _priced_over(rules: KueueRules, box: Box, found: Suggestion) -> int | None:
    """Return the node for which it is worth most to settle in what it stays over its quota.

    While that is open, what its victims hold is bounded by a mixture of all flavor-resources that
    it may be over in, which bounds little. The multiplier of the row that asks for one of these
    says what it is worth to settle them; where it says nothing, a point may still take more than
    any of them permits.
    """
    worth, dearest = (0.0, FRACTION), None
    for node in rules.side_nodes:
        if node in box.over or len(rules.watched[node]) <= 1:
            continue
        price = found.multipliers.get(some_over(rules, node), 0.0)
        beyond = min(_beyond(rules, box, node, fr, found) for fr in rules.watched[node])
        if (price, beyond) > worth:
            worth, dearest = (price, beyond), node
    return dearest


def _beyond(rules: KueueRules, box: Box, node: int, fr: int, found: Suggestion) -> float:
    """Return by what part a point takes more than a node may give in which it stays over in fr."""
    room = room_in(rules, node, fr)
    below = rules.counting(node, fr, room)
    held = rules.held(fr)[below]
    room += int(held[box.most[below] > 0].max(initial=0))
    return float(held @ found.point[below]) / max(1, room) - 1.0
