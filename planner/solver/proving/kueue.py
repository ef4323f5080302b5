"""Which cases of Kueue's laws to split: attempts, domains, and in what a node is over its quota."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec.structs import replace

from planner.plan.proof import CaseSplit
from planner.proof.box import Box
from planner.proof.kueue import KueueRules
from planner.proof.kueue.inequalities import may_dominate
from planner.proof.kueue.rules import stuck
from planner.quota.classes import IntArray
from planner.solver.proving.program import Suggestion
from planner.solver.proving.rows import FRACTION


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
