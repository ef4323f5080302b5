"""Rows of terms that only the scheduler tells: what victims hold where few of them may count.

Of some victims it is known, whoever goes beside them, that they count unless all victims hold so
much together (`planner.objective.terms.Replayed.spared`). Where a set has more of these than may
count, it holds what one of them asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from planner.objective.terms import TermTable
from planner.proof.box import Box, Row
from planner.proof.measures import Bounded
from planner.quota.classes import IntArray


class Spared(NamedTuple):
    """What a victim of each of K classes holds, and what all hold if one of the class is spared.

    Both are (K,); ``least`` is 0 where nothing is known.
    """

    amounts: IntArray
    least: IntArray


class Limit(NamedTuple):
    """How many victims may count in a term that is replayed, and when they are spared, by name."""

    most: int
    spared: Mapping[str, Spared]


def limits(table: TermTable, first: IntArray, bounds: Iterable[Bounded]) -> Iterator[Limit]:
    """Yield the limits among bounds; ``first`` has the only member of each of K classes."""
    for term, replay in table.replayed.items():
        most = [bounded.most for bounded in bounds if bounded.measure == (term,)]
        if not most:
            continue
        spared: dict[str, Spared] = {}
        for k, position in enumerate(first.tolist()):
            for name, least in replay.spared(position).items():
                if name not in spared:
                    spared[name] = Spared(replay.holding[name][first], np.zeros_like(first))
                spared[name].least[k] = least
        yield Limit(min(most), spared)


def spared_rows(limit: Limit, box: Box) -> Iterator[tuple[str, Row]]:
    """Yield what every set of a box holds because more victims are certain than may count."""
    certain, going = box.least.nonzero()[0], box.most > 0
    sums = (row for row in box.sums.values() if row.least > limit.most and not row.extra)
    some = [row.classes[going[row.classes]] for row in sums if (row.amounts == 1).all()]
    for name, (amounts, least) in limit.spared.items():
        # Those that ask for most may be the ones that count.
        asked = np.sort(least[certain])[::-1][limit.most :]
        needed = max(
            [*asked[:1].tolist(), *(int(least[of].min()) for of in some if of.size)], default=0
        )
        if needed > 0:
            holding = amounts.nonzero()[0]
            yield f"{name} to spare", Row(holding, amounts[holding], needed)
