"""A box with its rows in doubles: what may close it, and a linear program over what is left open.

Every row may be missed at a price, so the program always has an optimum: if a row has to be missed,
its duals are multipliers that make the rows contradict one another. They are doubles and prove
nothing: the caller rounds them to integers and checks the sum exactly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import inf, lcm
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from planner.problem.array import FloatArray
from planner.proof.box import Box, Row, is_contradiction
from planner.proof.claims import BETTER
from planner.proof.question import Layers, Question
from planner.solver.deadline import OutOfTime, waited_for

FRACTION: Final = 1e-6
"""Numbers that are less than this away from a whole number count as whole."""

_NONE: Final = np.zeros(0, dtype=np.int64)

NO_LEAST: Final = -1.0
"""The right side of a row without entries that always holds."""

EQUAL: Final = 0.5
"""Whole numbers that differ by less are equal."""

_DOUBT: Final = 1e-9
"""The error that sums in doubles may have, as a part of the largest number in them."""


class Entries(NamedTuple):
    """Rows one after the other: the number of the row, the class and the amount of each entry.

    ``names`` are the names of rows by number, rows that are gone included: these have no entries.
    ``least`` is the right side of each row; ``extra_row``, ``extra_names`` and ``extra_amounts``
    are the number of the row, the name and the coefficient of each further quantity. Classes that
    give nobody are left out: ``most`` (K,) is the most victims of each class. ``own`` are rows of a
    box besides ``rows``; boxes within it have them, too.
    """

    rows: Mapping[str, Row]
    names: Sequence[str]
    row_of: NDArray[np.int64]
    classes: NDArray[np.int64]
    amounts: FloatArray
    least: FloatArray
    extra_row: NDArray[np.int64]
    extra_names: Sequence[str]
    extra_amounts: FloatArray
    most: NDArray[np.int64] | None = None
    own: Mapping[str, Row] = {}

    @classmethod
    def of(cls, rows: Mapping[str, Row], most: NDArray[np.int64] | None = None) -> Entries:
        """Write rows down, without the entries of classes of which ``most`` is 0."""
        listed = list(rows.values())
        row_of = np.repeat(np.arange(len(listed)), [row.classes.size for row in listed])
        classes = np.concatenate([_NONE, *(row.classes for row in listed)]).astype(np.int64)
        amounts = np.concatenate([_NONE, *(row.amounts for row in listed)]).astype(float)
        if most is not None:
            open_ = most[classes] > 0
            row_of, classes, amounts = row_of[open_], classes[open_], amounts[open_]
        least = np.array([float(row.least) for row in listed])
        extra = [
            (i, name, float(c))
            for i, row in enumerate(listed)
            if row.extra
            for name, c in row.extra.items()
        ]
        extra_row = np.array([i for i, _, _ in extra], dtype=np.int64)
        further = np.array([c for _, _, c in extra], dtype=float)
        names = [name for _, name, _ in extra]
        given = rows, [*rows], row_of, classes, amounts, least, extra_row, names, further
        return cls(*given, most)

    def updated(self, rows: Mapping[str, Row]) -> Entries:
        """Return the entries of other rows: those that are written down here are kept."""
        if rows is self.rows:
            return self
        kept = {name for name, row in self.rows.items() if rows.get(name) is row}
        _, names, row_of, classes, amounts, least, extra_row, extra_names, further, most, own = self
        if len(kept) < len(self.rows):
            left = kept | own.keys()
            stale = np.array([name not in left for name in names], dtype=np.bool_)
            fresh, fresh_extra = ~stale[row_of], ~stale[extra_row]
            row_of, classes, amounts = row_of[fresh], classes[fresh], amounts[fresh]
            least = np.where(stale, NO_LEAST, least)
            extra_row, further = extra_row[fresh_extra], further[fresh_extra]
            extra_names = [*compress(extra_names, fresh_extra.tolist())]
        entries = row_of, classes, amounts, least, extra_row, extra_names, further
        written = Entries(rows, names, *entries, most, own)
        return written.beside({name: row for name, row in rows.items() if name not in kept})

    def beside(self, more: Mapping[str, Row]) -> Entries:
        """Return these entries and those of more rows, which are not among ``rows``."""
        if not more:
            return self
        new, already = Entries.of(more, self.most), len(self.names)
        return self._replace(
            names=[*self.names, *new.names],  # one can be there already, of a row in another form
            row_of=np.concatenate([self.row_of, new.row_of + already]),
            classes=np.concatenate([self.classes, new.classes]),
            amounts=np.concatenate([self.amounts, new.amounts]),
            least=np.concatenate([self.least, new.least]),
            extra_row=np.concatenate([self.extra_row, new.extra_row + already]),
            extra_names=[*self.extra_names, *new.extra_names],
            extra_amounts=np.concatenate([self.extra_amounts, new.extra_amounts]),
        )

    def within(self, own: Mapping[str, Row]) -> Entries:
        """Return these entries and those of a box's ``own`` rows, as far as they are not there."""
        more = {name: row for name, row in own.items() if self.own.get(name) is not row}
        return self.beside(more)._replace(own={**self.own, **more}) if more else self


_NOTHING_KNOWN: Final = Entries.of({})


def binding_rows(question: Question, box: Box) -> Layers:
    """Return the rows of a question in a box that a set may break at all, by name."""
    own, common = question.layers(box)
    own = {name: row for name, row in own.items() if row.says_something}
    if not own.keys().isdisjoint(common):
        common = {name: row for name, row in common.items() if name not in own}
    return Layers(own, common)


class BoxRows:
    """The rows of one question in one box.

    ``known`` are rows that were written down before, for a box around this one: only rows that are
    not among them are written down here.
    """

    def __init__(self, question: Question, box: Box, known: Entries | None = None) -> None:
        self.box = box
        self.layers = binding_rows(question, box)
        self.ranges = question.ranges(box)
        common = (_NOTHING_KNOWN if known is None else known).updated(self.layers.common)
        part = common.within(self.layers.own)
        self.names = part.names
        self.row_of, self.classes, self.amounts = part.row_of, part.classes, part.amounts
        self.least: FloatArray = part.least
        self.extra_row, self.extra_amount = part.extra_row, part.extra_amounts
        self.quantities = list(dict.fromkeys(part.extra_names))
        number = {name: q for q, name in enumerate(self.quantities)}
        self.extra_quantity = np.array([number[n] for n in part.extra_names], dtype=np.int64)
        ends = [self.ranges[name] for name in self.quantities]
        self.extra_ends: FloatArray = np.array(ends, dtype=float).reshape(len(ends), 2)

    def row(self, name: str) -> Row:
        """Return the row with a name, which is there."""
        found = self.layers.find(name)
        if found is None:
            raise KeyError(name)
        return found

    @cached_property
    def _reach(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the left side of each row is at most and at least in the box, and their error."""
        rows = len(self.names)
        least = self.amounts * self.box.least[self.classes]
        most = self.amounts * self.box.most[self.classes]
        upper: FloatArray = np.bincount(self.row_of, np.maximum(least, most), rows).astype(float)
        lower: FloatArray = np.bincount(self.row_of, np.minimum(least, most), rows).astype(float)
        if self.extra_row.size:
            ends = self.extra_amount[:, None] * self.extra_ends[self.extra_quantity]
            upper += np.bincount(self.extra_row, ends.max(axis=1), rows)
            lower += np.bincount(self.extra_row, ends.min(axis=1), rows)
        doubt = _DOUBT * (np.abs(upper) + np.abs(lower) + np.abs(self.least) + 1.0)
        return upper, lower, doubt

    def closing_row(self) -> str | None:
        """Return a row that no set in the box satisfies, if there is one."""
        upper, _, doubt = self._reach
        # All numbers are whole: where doubles are that close, equal sides are no contradiction.
        least = self.least - np.where(doubt < EQUAL, EQUAL, -doubt)
        for i in (upper < least).nonzero()[0].tolist():
            if self.contradict({self.names[i]: 1}):
                return self.names[i]
        return None

    def narrowing_row(self) -> str | None:
        """Return the row that by itself leaves least of the box; ``None`` if each leaves all."""
        upper, _, doubt = self._reach
        free = (self.box.most - self.box.least)[self.classes]
        spare = (upper - self.least + doubt)[self.row_of]
        # No more members can leave the end at which they help a row than it has to spare.
        movable = np.full(free.size, inf)
        np.divide(spare, np.abs(self.amounts), out=movable, where=self.amounts != 0)
        left_out = free - np.minimum(free, np.floor(movable + FRACTION))
        gone = np.bincount(self.row_of, left_out, len(self.names))
        most = int(gone.argmax()) if gone.size else 0
        return self.names[most] if gone.size and gone[most] > 0 else None

    @cached_property
    def binding(self) -> Sequence[int]:
        """The rows that a set in the box may break, by their numbers."""
        _, lower, doubt = self._reach
        found: list[int] = (lower < self.least + doubt).nonzero()[0].tolist()
        return found

    @cached_property
    def open(self) -> NDArray[np.int64]:
        """The classes left open that may help a binding row: others need not give victims."""
        helps = np.zeros(self.box.least.size, dtype=np.bool_)
        helps[self.classes[self.binds[self.row_of] & (self.amounts > 0)]] = True
        return np.flatnonzero(helps & (self.box.least < self.box.most))

    @cached_property
    def binds(self) -> NDArray[np.bool_]:
        """Whether a set in the box may break a row, by its number."""
        binds = np.zeros(len(self.names), dtype=np.bool_)
        binds[self.binding] = True
        return binds

    @cached_property
    def size(self) -> int:
        """How many entries a program over the classes left open has."""
        return int((self.binds[self.row_of] & np.isin(self.classes, self.open)).sum())

    def entries(self, row: int) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the classes of a row and their amounts, by its number."""
        part = slice(self._begins[row], self._begins[row + 1])
        return self.classes[part], self.amounts[part]

    @cached_property
    def _begins(self) -> Sequence[int]:
        """Where the entries of each row begin, and where those of the last one end."""
        found: list[int] = np.searchsorted(self.row_of, np.arange(len(self.names) + 1)).tolist()
        return found

    def contradict(self, multipliers: Mapping[str, int]) -> bool:
        """Say whether rows contradict one another with these multipliers, exactly."""
        pairs = [(self.row(name), m) for name, m in multipliers.items()]
        return is_contradiction(pairs, self.box, self.ranges)


GUIDE: Final = 1e-4
"""The weight of the measure beside rows that are missed: it only chooses among points."""


class Suggestion(Struct, frozen=True):
    """Multipliers per row, in doubles; by how much rows are missed in all; the best point: (K,).

    ``least`` is the optimum of the program: what is missed, and a little of the measure;
    ``quantities`` are the values of further quantities at that point.
    """

    multipliers: Mapping[str, float]
    missed: float
    point: FloatArray
    least: float = 0.0
    quantities: Mapping[str, float] = field(default_factory=dict)


LONG: Final = 50_000
"""Entries from which GLOP takes so long that progress has to be told meanwhile."""

ITERATIONS: Final = 20
"""Iterations of the simplex algorithm for each row and column: a program that ends takes a few for
each row, but among amounts from one to 2^60 GLOP may go round in circles for ever."""


def suggest(look: BoxRows, guide: str, seconds: float | None = None) -> Suggestion | None:
    """Suggest by a program that misses rows as little as possible.

    ``guide`` names the measure that leads to a good point; without one, rows are missed only where
    they must be. ``None`` if the solver gives up, or takes longer than so many ``seconds``.
    """
    program = _Program(look, guide)
    if not program.rows:
        return Suggestion({}, 0.0, look.box.least.astype(float))
    return program.solve(seconds)


class _Program:
    """The program: columns are classes left open, further quantities, and what each row misses.

    Classes that no row tells apart have one column, and the measure is made least by a last one.
    Each row is divided by its largest coefficient, each quantity by the largest it can be.
    """

    def __init__(self, look: BoxRows, guide: str) -> None:
        self.look, box, rows = look, look.box, len(look.names)
        binding, self.open = look.binds, look.open
        column = np.full(box.least.size, -1, dtype=np.int64)
        column[self.open] = np.arange(self.open.size)
        # The quantities of binding rows are the columns after the classes.
        inside = binding[look.extra_row]
        used = np.array(sorted({*look.extra_quantity[inside].tolist()}), dtype=np.int64)
        of_quantity = np.full(len(look.quantities), -1, dtype=np.int64)
        of_quantity[used] = self.open.size + np.arange(used.size)
        self.used, self.ends = used, look.extra_ends[used]
        self.scale: FloatArray = np.maximum(1.0, np.abs(look.extra_ends).max(axis=1, initial=1.0))
        free = column[look.classes] >= 0
        fixed = look.amounts[~free] * box.least[look.classes[~free]]
        least = look.least - np.bincount(look.row_of[~free], fixed, rows)
        # Rows that nothing in the box can break are left out: they would bind nothing.
        free &= binding[look.row_of]
        row = np.concatenate([look.row_of[free], look.extra_row[inside]])
        quantity = look.extra_quantity[inside]
        columns = np.concatenate([column[look.classes[free]], of_quantity[quantity]])
        scaled = look.extra_amount[inside] * self.scale[quantity]
        values = np.concatenate([look.amounts[free], scaled])
        self.scale = self.scale[used]
        unit = np.zeros(rows)
        np.maximum.at(unit, row, np.abs(values))
        numbers = np.flatnonzero(unit > 0.0)
        self.rows = [look.names[i] for i in numbers.tolist()]
        self.units: FloatArray = unit[numbers]
        self.least: FloatArray = least[numbers] / self.units
        place = np.full(rows, -1, dtype=np.int64)
        place[numbers] = np.arange(numbers.size)
        order = np.lexsort((columns, row))
        order = order[values[order] != 0.0]
        self.row_of, self.columns = place[row[order]], columns[order]
        self.values: FloatArray = values[order] / unit[row[order]]
        self._merge()
        # The row of the measure, or those of all that it is the largest of.
        of_guide = (f"{name} of ".startswith(f"{guide} of ") for name in self.rows)
        ours = [n for n, mine in enumerate(of_guide) if mine]
        self.guides = np.array(ours, dtype=np.int64)
        # What the measure may be at most, in the unit of each of its rows.
        self.most: FloatArray = -look.least[numbers[self.guides]] / self.units[self.guides]

    def _merge(self) -> None:
        """Make one column of all classes that no row tells apart: ``kinds`` has that of each."""
        classes, quantities = self.open.size, self.scale.size
        # Columns with the same sum of their values, so weighed, are alike: were they not, this
        # program would only suggest something worse.
        weights = np.sin(1.0 + np.arange(len(self.rows)))[self.row_of]
        sums = np.bincount(self.columns, self.values * weights, classes + quantities)[:classes]
        _, first, self.kinds = np.unique(sums, return_index=True, return_inverse=True)
        self.merged = first.size
        kept = np.isin(self.columns, first) | (self.columns >= classes)
        place = np.append(self.kinds, self.merged + np.arange(quantities))
        self.columns = place[self.columns[kept]]
        self.row_of, self.values = self.row_of[kept], self.values[kept]

    @property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """The least and the most of each column."""
        box, further = self.look.box, self.ends / self.scale[:, None]
        least, most = (
            np.bincount(self.kinds, of[self.open], self.merged).astype(float)
            for of in (box.least, box.most)
        )
        return np.append(least, further[:, 0]), np.append(most, further[:, 1])

    def _spread(self, values: FloatArray) -> FloatArray:
        """Return what each open class gives: of each kind the first classes as much as they can."""
        order = np.argsort(self.kinds, kind="stable")
        kinds, box = self.kinds[order], self.look.box
        least, free = (of[self.open[order]] for of in (box.least, box.most - box.least))
        before = free.cumsum() - free
        before -= before[np.searchsorted(kinds, np.arange(self.merged))][kinds]
        beyond = values[: self.merged] - np.bincount(kinds, least, self.merged)
        given = np.zeros(order.size)
        given[order] = least + np.clip(beyond[kinds] - before, 0, free)
        return given

    def solve(self, seconds: float | None) -> Suggestion | None:
        """Solve with GLOP, in doubles: what comes out only suggests."""
        # It takes a tenth of a second to load; many small plans are proved without any program.
        from ortools.linear_solver.python.model_builder_helper import (  # noqa: PLC0415
            ModelBuilderHelper,
            ModelSolverHelper,
            SolveStatus,
        )

        height, width = len(self.rows), self.merged + self.scale.size
        (least, most), missed = self._ends, np.arange(width, width + height)
        program, engine = ModelBuilderHelper(), ModelSolverHelper("GLOP")
        # The last column is the part by which the measure could be less than it may be at most.
        spared, weight = width + height, GUIDE * float(self.most.max(initial=0.0))
        least, most = np.append(least, np.zeros(height + 1)), np.append(most, np.full(height, inf))
        ends = least, np.append(most, 1.0)
        program.add_var_array_with_bounds(*ends, np.zeros(spared + 1, dtype=np.bool_), "")  # type: ignore[arg-type] # its stubs name no arrays
        costs = np.append(np.zeros(width), np.ones(height)).tolist()
        program.set_objective_coefficients([*range(spared + 1)], [*costs, -weight])
        for bound in self.least.tolist():
            row = program.add_linear_constraint()
            program.set_constraint_lower_bound(row, bound)
            program.set_constraint_upper_bound(row, inf)
        # What a row is missed by is a column after all others.
        rows = np.concatenate([self.row_of, np.arange(height), self.guides])
        columns = np.concatenate([self.columns, missed, np.full(self.guides.size, spared)])
        values = np.concatenate([self.values, np.ones(height), -self.most])
        entries = rows.tolist(), columns.tolist(), values.tolist()
        deque(map(program.add_term_to_constraint, *entries), maxlen=0)
        iterations = ITERATIONS * (width + 2 * height)
        engine.set_solver_specific_parameters(
            # Without preprocessing its points are nearer to the measure, and small programs faster.
            f"max_number_of_iterations: {iterations} use_preprocessing: false"
        )
        if seconds is not None:
            engine.set_time_limit_in_seconds(seconds)
        if self.look.size <= LONG:
            engine.solve(program)
        else:
            try:
                waited_for(lambda: engine.solve(program), engine.interrupt_solve, seconds)
            except OutOfTime:
                return None
        # Where the solver was stopped on its way is a matter of chance.
        if engine.status() != SolveStatus.OPTIMAL:
            return None
        point, duals = np.array(engine.variable_values()), np.array(engine.dual_values())
        optimum = weight + engine.objective_value()
        return self._suggestion(point[:width], point[width:spared], duals, optimum)

    def _suggestion(
        self, values: FloatArray, missed: FloatArray, duals: FloatArray, optimum: float
    ) -> Suggestion:
        point = self.look.box.least.astype(float)
        point[self.open] = self._spread(values)
        weighed = zip(self.rows, duals.tolist(), self.units.tolist(), strict=True)
        # Divided by the unit once more: the checker's rows are not scaled.
        multipliers = {name: value / unit for name, value, unit in weighed if value > 0}
        names = (self.look.quantities[q] for q in self.used.tolist())
        further = values[self.merged :] * self.scale
        return Suggestion(
            multipliers,
            float(missed.sum()),
            point,
            optimum,
            dict(zip(names, further.tolist(), strict=True)),
        )


_LONG: Final = 2**31
"""Amounts from this size on take more than half of the 64 bits."""


def plain(multipliers: Sequence[float]) -> list[int]:
    """Return short integers in about the proportions of doubles, the largest of which is not 0."""
    most = max(multipliers)
    parts = [Fraction(m / most).limit_denominator(1000) for m in multipliers]
    common = lcm(*(part.denominator for part in parts))
    return [int(part * common) for part in parts]


def precise(multipliers: Sequence[float], largest: Sequence[int]) -> list[list[int]]:
    """Return integers in the proportions of doubles, of which one is not 0, the closest last.

    ``largest`` has the largest amount of each row.
    """
    most = max(multipliers)
    relative = [m / most for m in multipliers]
    # The smallest becomes 2^30: rounding then moves none by more than one part in 2^31. But sums of
    # rows stay within 64 bits, in which they are added up ten times faster: a multiplier that this
    # rounds to 0 is the noise of a linear program.
    in_all = sum(m * amount for m, amount in zip(relative, largest, strict=True))
    closest, small = 2**30 / min(m for m in relative if m > 0), 2**61 / in_all
    scales = [min(closest, small)]
    if max(largest) >= _LONG:  # amounts leave the multipliers few digits there
        scales.append(min(closest, small * max(largest)))
    return [[round(m * scale) for m in relative] for scale in scales]


SIZES: Final = (1, 2, 3, 4, 6, 10, 30, 100, 300, 1000)
"""How finely multipliers are rounded, beside the largest of them or beside the smallest."""


def readable(look: BoxRows, multipliers: Mapping[str, int]) -> dict[str, int]:
    """Return the shortest multipliers found by which some of the rows still contradict one another.

    A linear program also weighs rows that the sum does not need, and doubles are no round numbers.
    """
    kept = dict(multipliers)
    for name in multipliers:
        fewer = {other: m for other, m in kept.items() if other != name}
        if look.contradict(fewer):
            kept = fewer
    shorter = (rounded for rounded in _rounded(kept) if _digits(rounded) < _digits(kept))
    closing = (each for each in sorted(shorter, key=_digits) if look.contradict(each))
    return next(closing, kept)


def _rounded(multipliers: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield multipliers of about the same proportions, none of them 0, and plain guesses.

    Often several choices of multipliers would do, and a program returns a blend of them.
    """
    smallest, largest = min(multipliers.values()), max(multipliers.values())
    for size in SIZES:
        yield {name: size if name == BETTER else 1 for name in multipliers}
        yield {name: 1 if name == BETTER else size for name in multipliers}
        parts = {n: Fraction(m, largest).limit_denominator(size) for n, m in multipliers.items()}
        common = lcm(*(part.denominator for part in parts.values()))
        if all(parts.values()):
            yield {name: int(part * common) for name, part in parts.items()}
        yield {name: round(Fraction(m * size, smallest)) for name, m in multipliers.items()}


def _digits(multipliers: Mapping[str, int]) -> int:
    return sum(len(str(m)) for m in multipliers.values())
