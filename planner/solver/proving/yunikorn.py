"""Which cases of YuniKorn's laws to split: the node."""

from __future__ import annotations

import numpy as np

from planner.plan.proof import CaseSplit
from planner.proof.box import Box
from planner.proof.yunikorn import YuniKornRules
from planner.quota.classes import IntArray
from planner.solver.proving.program import Suggestion
from planner.solver.proving.rows import FRACTION


def cases(
    rules: YuniKornRules, box: Box, found: Suggestion | None
) -> tuple[CaseSplit | None, IntArray | None]:
    """Return the split by nodes, or the classes of a queue with no possible last victim."""
    if rules.host(box) is None:
        return CaseSplit(split="host"), None
    if found is None:
        return None, None
    point = found.point
    counts = np.clip(np.ceil(point - 0.5 + FRACTION).astype(np.int64), box.least, box.most)
    leaf = rules.stuck(counts)
    return None, None if leaf is None else np.flatnonzero(rules.queue == leaf)
