"""Sums of rows, rounded to whole victims, that the point of a linear program breaks.

Victims are whole, and points of a program are not. For each class of which a point takes a part
there is a sum of the rows that it just keeps in which nothing else counts that is not at an end:
rounded, that sum is a row that the point breaks. So do some rows alone, divided by an amount of
theirs. The checker does the rounding (`rounded_sum`); here is guessed what is worth it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from planner.plan.proof import Rounding
from planner.problem.array import FloatArray
from planner.proof.box import rounded_sum
from planner.proof.question import MOST_ROUNDED, ROUNDED
from planner.solver.proving.program import FRACTION, BoxRows, Suggestion
from planner.solver.proving.split import MANY

MOST_ROWS: Final = 300
"""Binding rows up to which sums are looked for: it takes the third power of their number."""

MOST_NUMBERS: Final = 10**7
"""Rows times classes up to which sums are looked for: so many doubles are 80 MB."""

MOST_NEW: Final = 30
"""Rows that cut off one point."""

MOST_SUMS: Final = 100
"""Rounded rows in all: each is a step of a tree, whose depth the checker bounds."""

BROKEN: Final = 1e-4
"""How far from a row a point has to be on its wrong side."""

LIKE: Final = 0.95
"""The cosine of the angle between rows that say about the same."""

SPAN: Final = 1e-6
"""The smallest amount of a row beside its largest: a program in doubles makes no sense of less."""

PRECISE: Final = 2.0**40
"""The smallest multiplier: what cancels out in a sum is less than one part of that."""

LARGEST: Final = 2.0**60
"""The largest multiplier and divisor."""

_NOISE: Final = 1e-9
"""What a multiplier may be beside the largest to be an error of doubles."""


def roundings(look: BoxRows, found: Suggestion) -> list[Rounding]:
    """Return roundings whose rows a point is far beyond, the farthest first."""
    numbers = len(look.names) * (look.box.least.size + len(look.quantities))
    if len(look.binding) > MOST_ROWS or numbers > MOST_NUMBERS:
        return []
    values = np.array([found.quantities.get(name, 0.0) for name in look.quantities])
    scale: FloatArray = np.maximum(1.0, np.abs(look.extra_ends).max(axis=1, initial=1.0))
    point = np.concatenate([found.point, values / scale])
    known = len(look.box.sums)
    # Nor does the checker add any number of rows over many classes.
    room = min(MOST_NEW, min(MOST_SUMS, MOST_ROUNDED // look.box.least.size) - known)
    beyond: list[tuple[float, Rounding, FloatArray]] = []
    for multipliers, by in _sums(look, point, scale):
        step = _counted(look, multipliers, by, point, scale)
        pairs = [(look.row(name), m) for name, m in multipliers.items()]
        try:
            row = rounded_sum(pairs, step, look.box, look.ranges, look.whole)
        except ValueError:  # there is nothing to round
            continue
        direction = np.zeros(point.size)
        direction[row.classes] = row.amounts.astype(float)
        for name, amount in row.extra.items():
            number = look.quantities.index(name)
            direction[found.point.size + number] = amount * scale[number]
        sizes = np.abs(direction[direction != 0.0])
        if not sizes.size or sizes.min() < SPAN * sizes.max():
            continue
        length = float(np.linalg.norm(direction))
        distance = (float(row.least) - float(direction @ point)) / length
        if distance > BROKEN:
            beyond.append((distance, step, direction / length))
    chosen: list[Rounding] = []
    directions: list[FloatArray] = []
    for _, step, direction in sorted(beyond, key=lambda one: -one[0])[: 10 * MOST_NEW]:
        if len(chosen) < room and all(direction @ other < LIKE for other in directions):
            name = f"{ROUNDED}{known + len(chosen) + 1}"
            chosen.append(step.model_copy(update={"row": name}))
            directions.append(direction)
    return chosen


def _counted(
    look: BoxRows, multipliers: Mapping[str, int], by: int, point: FloatArray, scale: FloatArray
) -> Rounding:
    """Return the rounding of a sum in which all is counted from the end that is nearer."""
    box, classes = look.box, look.box.least.size
    extra: dict[str, int] = {}
    for name, multiplier in multipliers.items():
        for quantity, amount in look.row(name).extra.items():
            extra[quantity] = extra.get(quantity, 0) + multiplier * amount
    ends = look.extra_ends / scale[:, None]
    low = 2 * point[classes:] < ends.sum(axis=1)
    at_least = dict(zip(look.quantities, low.tolist(), strict=True))
    down = (2 * point[:classes] > box.least + box.most) & (box.least < box.most)
    return Rounding(
        row=f"{ROUNDED}0",
        round=dict(multipliers),
        by=by,
        down=tuple(np.flatnonzero(down).tolist()),
        # A quantity that takes from the sum gives it most at its least.
        out=tuple(name for name, c in extra.items() if c and (c < 0) == at_least[name]),
    )


def _sums(
    look: BoxRows, point: FloatArray, scale: FloatArray
) -> Iterator[tuple[Mapping[str, int], int]]:
    """Yield sums of rows, by their multipliers, and what each is to be divided by."""
    classes, box = look.box.least.size, look.box
    whole = [True] * classes + [name in look.whole for name in look.quantities]
    sizes = np.append(np.ones(classes), scale)
    matrix = np.zeros((len(look.names), point.size))
    matrix[look.row_of, look.classes] = look.amounts
    further = classes + look.extra_quantity
    matrix[look.extra_row, further] = look.extra_amount * scale[look.extra_quantity]
    units: FloatArray = np.maximum(1.0, np.abs(matrix).max(axis=1, initial=1.0))
    tight = np.flatnonzero(look.binds & ((matrix @ point - look.least) / units < FRACTION))
    ends = look.extra_ends / scale[:, None]
    least, most = np.append(box.least, ends[:, 0]), np.append(box.most, ends[:, 1])
    inside = np.flatnonzero(np.minimum(point - least, most - point) > FRACTION)
    weights = np.linalg.pinv(matrix[np.ix_(tight, inside)] / units[tight, None])
    weights[np.abs(weights) < _NOISE * np.abs(weights).max(initial=0.0)] = 0.0
    names = [look.names[i] for i in tight.tolist()]
    for k, mine in zip(inside.tolist(), weights * sizes[inside, None] / units[tight], strict=True):
        size = np.abs(mine[mine != 0.0])
        value = float(point[k] * sizes[k])
        if whole[k] and abs(value - round(value)) > FRACTION and size.size:
            by = min(PRECISE / float(size.min()), LARGEST / max(1.0, float(size.max())))
            these = {name: round(one * by) for name, one in zip(names, mine, strict=True)}
            yield {name: m for name, m in these.items() if m}, round(by)
    for i in look.binding:
        amounts = np.unique(np.abs(look.entries(i)[1]))
        few = amounts if amounts.size <= MANY else amounts[:0]
        divisors = few[(few > 1) & (few <= LARGEST)].tolist()
        yield from (({look.names[i]: 1}, int(by)) for by in divisors)
