"""Sums of rows, rounded to whole victims, that the point of a linear program breaks.

Victims are whole, and points of a program are not. For each class or whole quantity of which a
point takes a part there is a sum of the rows that it just keeps in which nothing else counts that
is not at an end: divided by one of its amounts and rounded, that sum may be a row that the point
breaks. So may a row alone. The checker does the rounding (`rounded_sum`); here is guessed what is
worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from planner.plan.proof import Rounding
from planner.problem.array import FloatArray
from planner.proof.box import Box, Row, rounded_sum
from planner.proof.question import MOST_ROUNDED, ROUNDED, Question
from planner.quota.classes import IntArray
from planner.solver.proving.program import Suggestion
from planner.solver.proving.rows import FRACTION, BoxRows, Entries
from planner.solver.proving.split import MANY

MOST_NUMBERS: Final = 10**7
"""Rows times classes up to which sums are looked for: a matrix of so many doubles is 80 MB."""

MOST_ROWS: Final = 300
"""Binding rows up to which sums are looked for: it takes the third power of their number."""

MOST_NEW: Final = 30
"""Rows that cut off one point."""

MOST_INSIDE: Final = 6
"""Rows that cut off the point of a box within the root: each makes all programs below larger."""

MOST_SUMS: Final = 100
"""Sums of a box in all: each is a step of a tree, whose depth the checker bounds."""

BROKEN: Final = 1e-4
"""How far from a row a point has to be on its wrong side."""

LIKE: Final = 0.95
"""The cosine of the angle between rows that say about the same."""

SPAN: Final = 1e-6
"""The smallest amount of a row beside its largest: a program in doubles makes no sense of less."""

PRECISE: Final = 2.0**20
"""The smallest multiplier: what cancels out in a sum is less than one part of that."""

LARGEST: Final = 2.0**60
"""The largest multiplier and divisor."""

RESTS: Final = 1e-3
"""The part of a divisor that must be left, and be missing: doubles would not tell it from none."""

_NOISE: Final = 1e-9
"""What a multiplier may be beside the largest to be an error of doubles."""

PATIENCE: Final = 2
"""How often rounded sums may hardly make the measure dearer one after the other."""

DEARER: Final = 1.001
"""How much dearer is more than hardly."""


def rounded(
    question: Question,
    look: BoxRows,
    known: Entries | None,
    ask: Callable[[BoxRows], Suggestion | None],
    *,
    once: bool = False,
) -> tuple[Sequence[Rounding], Box]:
    """Return rounded sums as long as they make the measure dearer, and the box that has their rows.

    ``ask`` asks a program; ``known`` are rows written down before. Where a few sums for one point
    will do, it is done ``once``. Nothing is rounded where there are too many rows and classes.
    """
    least, waited, steps, box, wider = -1.0, 0, list[Rounding](), look.box, look.box
    whole, used, most = question.whole(box), set[str](), MOST_INSIDE if once else MOST_NEW
    # Before a program is asked: in a large state it takes long.
    numbers = len(look.names) * (box.least.size + len(look.quantities))
    if len(look.binding) > MOST_ROWS or numbers > MOST_NUMBERS:
        return steps, box
    while (found := ask(look)) is not None:
        waited = 0 if found.least > DEARER * least else waited + 1
        least = max(least, found.least)
        is_over = waited > PATIENCE or found.missed > FRACTION or (once and steps)
        new = [] if is_over else roundings(look, found, whole, most)
        if not new:
            # What the last point does not lean on would only make all that follows larger.
            kept = _Columns(look, found, whole).tight.tolist() if steps else []
            used = {look.names[number] for number in kept}
            break
        for step in new:
            (box,) = question.parts(box, step)
        look, steps = BoxRows(question, box, known), [*steps, *new]
    for step in reversed(steps):
        if step.row in used:
            used.update(step.round)
    steps = [step for step in steps if step.row in used]
    for step in steps:
        (wider,) = question.parts(wider, step)
    return steps, wider


def roundings(
    look: BoxRows, found: Suggestion, whole: AbstractSet[str], most: int
) -> list[Rounding]:
    """Return up to ``most`` roundings whose rows a point is far beyond, the farthest first.

    ``whole`` has the names of quantities that are.
    """
    columns = _Columns(look, found, whole)
    sums = look.box.sums
    # Nor does the checker add any number of rows over many classes.
    room = min(most, min(MOST_SUMS, MOST_ROUNDED // look.box.least.size) - len(sums))
    # Some numbers before the last are those of rows that were not kept.
    numbers = (int(name.removeprefix(ROUNDED)) for name in sums if name.startswith(ROUNDED))
    last = max(numbers, default=0)
    beyond: list[tuple[float, Rounding, FloatArray]] = []
    for multipliers, by in columns.sums():
        step = columns.counted(multipliers, by)
        pairs = [(look.row(name), m) for name, m in multipliers.items()]
        try:
            row = rounded_sum(pairs, step, look.box, look.ranges, whole)
        except ValueError:  # there is nothing to round
            continue
        direction = columns.direction(row)
        sizes = np.abs(direction[direction != 0.0])
        if not sizes.size or sizes.min() < SPAN * sizes.max():
            continue
        length = float(np.linalg.norm(direction))
        distance = (float(row.least) - float(direction @ columns.point)) / length
        if distance > BROKEN:
            beyond.append((distance, step, direction / length))
    chosen: list[Rounding] = []
    directions: list[FloatArray] = []
    for _, step, direction in sorted(beyond, key=lambda one: -one[0])[: 10 * MOST_NEW]:
        if len(chosen) < room and all(direction @ other < LIKE for other in directions):
            name = f"{ROUNDED}{last + len(chosen) + 1}"
            chosen.append(step.model_copy(update={"row": name}))
            directions.append(direction)
    return chosen


class _Columns:
    """The rows of a box as a matrix in doubles; its columns are classes, then further quantities.

    Quantities that need not be whole are divided by the largest that they can be. ``base`` is the
    end of each column that is nearer to the ``point``, ``sign`` is -1 where that is its most. Of
    the rows that the point just keeps ``tight`` are the numbers, ``units`` the largest amounts.
    """

    def __init__(self, look: BoxRows, found: Suggestion, whole: AbstractSet[str]) -> None:
        self.look, self.classes = look, look.box.least.size
        further = [name in whole for name in look.quantities]
        self.whole = np.array([True] * self.classes + further)
        largest = np.maximum(1.0, np.abs(look.extra_ends).max(axis=1, initial=1.0))
        self.scale: FloatArray = np.where(further, 1.0, largest)
        values = np.array([found.quantities.get(name, 0.0) for name in look.quantities])
        self.point = np.concatenate([found.point, values / self.scale])
        self.matrix = np.zeros((len(look.names), self.point.size))
        self.matrix[look.row_of, look.classes] = look.amounts
        scaled = look.extra_amount * self.scale[look.extra_quantity]
        self.matrix[look.extra_row, self.classes + look.extra_quantity] = scaled
        ends = look.extra_ends / self.scale[:, None]
        self.least = np.append(look.box.least, ends[:, 0])
        self.most = np.append(look.box.most, ends[:, 1])
        falling = 2 * self.point > self.least + self.most
        self.base = np.where(falling, self.most, self.least)
        self.sign = np.where(falling, -1.0, 1.0)
        units: FloatArray = np.maximum(1.0, np.abs(self.matrix).max(axis=1, initial=1.0))
        spare = (self.matrix @ self.point - look.least) / units
        self.tight = np.flatnonzero(look.binds & (spare < FRACTION))
        self.units = units[self.tight]

    def counted(self, multipliers: Mapping[str, int], by: int) -> Rounding:
        """Return the rounding of a sum in which all is counted from the end that is nearer."""
        extra: dict[str, int] = {}
        for name, multiplier in multipliers.items():
            for quantity, amount in self.look.row(name).extra.items():
                extra[quantity] = extra.get(quantity, 0) + multiplier * amount
        falling = self.sign < 0
        of_classes = falling[: self.classes] & (self.look.box.least < self.look.box.most)
        ends = dict(zip(self.look.quantities, falling[self.classes :].tolist(), strict=True))
        return Rounding(
            row=f"{ROUNDED}0",
            round=dict(multipliers),
            by=by,
            down=tuple(np.flatnonzero(of_classes).tolist()),
            # A quantity that takes from the sum gives it most at its least.
            out=tuple(name for name, c in extra.items() if c and (c < 0) != ends[name]),
        )

    def direction(self, row: Row) -> FloatArray:
        """Return a row as one of the matrix."""
        direction = np.zeros(self.point.size)
        direction[row.classes] = row.amounts.astype(float)
        for name, amount in row.extra.items():
            number = self.look.quantities.index(name)
            direction[self.classes + number] = amount * self.scale[number]
        return direction

    def sums(self) -> Iterator[tuple[Mapping[str, int], int]]:
        """Yield sums of rows, by their multipliers, and what each is best divided by."""
        point, tight, units = self.point, self.tight, self.units
        inside = np.flatnonzero(np.minimum(point - self.least, self.most - point) > FRACTION)
        weights = np.linalg.pinv(self.matrix[np.ix_(tight, inside)] / units[:, None])
        weights[np.abs(weights) < _NOISE * np.abs(weights).max(initial=0.0)] = 0.0
        doubtful = self.whole[inside] & (np.abs(point - np.round(point))[inside] > FRACTION)
        for mine in weights[doubtful] / units:
            yield from self._divided(tight, mine)
        for i in self.look.binding:
            yield from self._divided(np.array([i]), np.ones(1))

    def _divided(
        self, rows: IntArray, weights: FloatArray
    ) -> Iterator[tuple[Mapping[str, int], int]]:
        """Yield the sum of some rows, with the divisor for which the point is farthest beyond.

        Nothing is yielded where no divisor takes the point beyond.
        """
        rows, weights = rows[weights != 0.0], weights[weights != 0.0]
        if not rows.size:
            return
        given, needed = weights @ self.matrix[rows], float(weights @ self.look.least[rows])
        amounts = given * self.sign
        amounts[~self.whole] = np.maximum(amounts[~self.whole], 0.0)
        away = np.abs(self.point - self.base)
        sizes = np.abs(amounts[self.whole & (away > FRACTION)])
        divisors = np.unique(sizes[sizes > SPAN * np.abs(given).max()])
        divisors = divisors[:: 1 + divisors.size // MANY]
        divisors = np.concatenate([divisors, divisors / 2, divisors / 4, divisors / 8])[:, None]
        if not divisors.size:
            return
        counting = np.flatnonzero(amounts)
        amounts, away = amounts[counting], away[counting]
        # Not `divmod`, which takes ten times as long, and is as far off by errors of doubles.
        missing = needed - float(given @ self.base)
        above, parts = np.floor(missing / divisors), np.floor(amounts / divisors)
        rest = missing - above * divisors
        rests = np.minimum(amounts - parts * divisors, rest)
        rounded = np.where(self.whole[counting], parts * rest + rests, amounts)
        missed = (rest * (above + 1))[:, 0] - rounded @ away
        far = missed / np.maximum(np.linalg.norm(rounded, axis=1), _NOISE)
        far[(rest < RESTS * divisors)[:, 0] | (rest > (1 - RESTS) * divisors)[:, 0]] = 0.0
        best = int(far.argmax())
        if far[best] <= BROKEN:
            return
        by, size = float(divisors[best, 0]), np.abs(weights)
        times = min(PRECISE / min(by, float(size.min())), LARGEST / max(by, float(size.max()), 1.0))
        numbers: list[int] = rows.tolist()
        whole = zip(numbers, (weights * times).tolist(), strict=True)
        these = {self.look.names[row]: round(one) for row, one in whole}
        yield {name: m for name, m in these.items() if m}, round(by * times)
