"""Bounds on disruption terms as rows: what a set that is better, or no worse, satisfies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.objective.profiles import Measure, measure_name
from planner.objective.terms import PER_MILLE, TermTable, counted_as_borrowed
from planner.proof.box import Row, exact, sum_of_products
from planner.quota.classes import IntArray, by_value
from planner.term import MORE, RATED, priority_of

SINGLE_ROWS = 40
"""Classes of a queue up to which each of them has a row of its own in ``queues``."""


class Bounded(NamedTuple):
    """A measure that is to be at most ``most``; the name of its row says why.

    ``least`` is the least that every set in question has of it, where another tree proves that.
    """

    name: str
    measure: Measure
    most: int
    least: int = 0

    @property
    def is_of_a_priority(self) -> bool:
        """Whether it counts the victims of one priority."""
        return len(self.measure) == 1 and priority_of(self.measure[0]) is not None


@dataclass
class Measures:
    """The terms of K classes.

    - ``table``: The terms of all workloads.
    - ``first``, ``sizes``: (K,) the position of a representative of each class in the table, and
      how many members each has.
    - ``need``: What victims must free, per resource of the table: more is over-freed. Empty where
      it is not known; then ``excess_freed`` is only taken to be at least 0.
    - ``ranges``: The least and the largest value of every further quantity of the rows so far.
    - ``touched``: The classes of each queue that the rows so far count by ``queues``, and of each
      namespace by ``namespaces``: by term, then by the name of its quantity. That is 1 in a set
      with a victim of these classes, and else 0.
    """

    table: TermTable
    first: IntArray
    sizes: IntArray
    need: Sequence[int]
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    _known: dict[Bounded, Mapping[str, Row]] = field(default_factory=dict)
    _among: IntArray | None = None
    touched: dict[str, dict[str, IntArray]] = field(default_factory=dict)
    _rows_of_touched: dict[str, list[tuple[str, Row]]] = field(default_factory=dict)

    def most_of(self, bounded: Bounded) -> IntArray:
        """Return the most victims of each class that a bound on priorities permits: (K,)."""
        # A bound on one priority bounds each class of it; the row of the measure bounds their sum.
        if bounded.is_of_a_priority:
            counted = self.table.separable[bounded.measure[0]][self.first] > 0
            return np.where(counted, np.minimum(self.sizes, max(bounded.most, 0)), self.sizes)
        if bounded.measure == (MORE,):
            # There may be no victims above the highest priority that the scheduler takes from: the
            # first would already be more, and no higher priority has fewer.
            highest = max((p for p, count in (self.table.own or {}).items() if count), default=None)
            above = self._going()
            if highest is not None:
                above &= self.table.priority[self.first] > highest
            return np.where(above, 0, self.sizes)
        if bounded.measure != ("highest_priority",):
            return self.sizes
        above = (self.table.rank[self.first] > bounded.most) & ~self.table.leaving[self.first]
        return np.where(above, 0, self.sizes)

    def rows_of(self, bounded: Bounded, most: IntArray) -> Mapping[str, Row]:
        """Return the rows, rounded, that every set within a bound satisfies, by name.

        ``most`` is the most victims of each class: (K,).
        """
        if self._among is None or not np.array_equal(self._among, most):
            self._among, self._known = most, {}
        if bounded not in self._known:
            rows = {name: row.rounded().among(most) for name, row in self.rows(bounded)}
            self._known[bounded] = rows
        return self._known[bounded]

    def rows(self, bounded: Bounded) -> Iterator[tuple[str, Row]]:
        """Yield rows, by name, that every set within a bound satisfies."""
        measure, most = bounded.measure, bounded.most
        if measure == ("unfairness",):
            yield from self._unfairness(bounded.name, most)
            return
        if measure == (MORE,):
            yield from self._more_than_own(bounded.name)
            return
        rates, separable = self._rates(measure), self.table.separable
        each = [(rate, separable[term][self.first]) for term, rate in rates if term in separable]
        reach = sum(rate * int(of.max(initial=0)) for rate, of in each)
        costs = exact(np.zeros_like(self.first), reach)
        for rate, of in each:
            costs += rate * of.astype(costs.dtype, copy=False)
        extra: dict[str, int] = {}
        for term, rate in rates:
            if term in separable:
                continue
            if term == "disruption_budgets" or (term == "excess_freed" and self.need):
                yield from self._beyond(term, extra, rate)
            elif term in {"queues", "namespaces"}:
                yield from self._touched(term, extra, rate)
            # Other terms within a sum add at least 0: leaving them out is valid.
        classes = np.flatnonzero(costs)
        negated = {name: -rate for name, rate in extra.items()}
        yield bounded.name, Row(classes, -costs[classes], -most, negated)
        if bounded.least > 0 and all(term in separable for term in measure):
            name = f"{measure_name(measure)} >= {bounded.least}"
            yield name, Row(classes, costs[classes], bounded.least)

    def _rates(self, measure: Measure) -> list[tuple[str, int]]:
        rates: dict[str, int] = {}
        for term in measure:
            opened = term == RATED and term not in self.table.separable
            for each, rate in self.table.rates.items() if opened else ((term, 1),):
                rates[each] = rates.get(each, 0) + rate
        return list(rates.items())

    def _going(self) -> NDArray[np.bool_]:
        """(K,) whether the members of each class are not being evicted already."""
        going: NDArray[np.bool_] = ~self.table.leaving[self.first]
        return going

    def _beyond(self, term: str, extra: dict[str, int], rate: int) -> Iterator[tuple[str, Row]]:
        """Bound terms by quantities of at least what victims hold less the need, or the budget.

        ``excess_freed`` has one for each resource, ``disruption_budgets`` for the pods of each
        budget.
        """
        table = self.table
        if term == "excess_freed":
            counted = [
                (f"over-freed {fr}", table.holding[:, fr], self.need[fr], table.weight[fr])
                for fr in table.contested
                if table.weight[fr]
            ]
        else:
            counted = [
                (f"beyond budget {number}", budget.pods, budget.allowed, 1)
                for number, budget in enumerate(table.budgets or ())
            ]
        for name, amounts, most, weight in counted:
            # A workload that is being evicted already costs nothing in any term.
            held = np.where(self._going(), amounts[self.first], 0)
            classes = np.flatnonzero(held)
            self.ranges[name] = 0, sum_of_products(held, self.sizes)
            extra[name] = extra.get(name, 0) + rate * weight
            yield name, Row(classes, -held[classes], -most, {name: 1})

    def _touched(self, term: str, extra: dict[str, int], rate: int) -> Iterator[tuple[str, Row]]:
        """By queue or namespace a quantity in 0..1, at least the part taken of a class."""
        if term not in self.touched:
            going = np.flatnonzero(self._going())
            groups: Mapping[Any, IntArray]
            if term == "queues":
                groups = by_value(self.table.queue[self.first], going)
            else:
                tenants = np.array([self.table.tenant(p) for p in self.first[going].tolist()])
                named = dict.fromkeys(tenants.tolist())
                groups = {tenant: going[tenants == tenant] for tenant in named if tenant}
            self.touched[term] = {f"touched {name}": classes for name, classes in groups.items()}
            rows = self._rows_of_touched[term] = []
            for name, classes in self.touched[term].items():
                self.ranges[name] = 0, 1
                # A row for each class is tighter: x_k <= size_k * touched. Of many classes one row
                # for all is enough to be valid, and keeps the program small.
                alone = [classes[i : i + 1] for i in range(classes.size)]
                for part in alone if classes.size <= SINGLE_ROWS else [classes]:
                    extent = {name: int(self.sizes[part].sum())}
                    row = Row(part, np.full(part.size, -1, dtype=np.int64), 0, extent)
                    rows.append((f"{name} by {part[0]}", row))
        for name in self.touched[term]:
            extra[name] = extra.get(name, 0) + rate
        yield from self._rows_of_touched[term]

    def touched_by(self, classes: IntArray) -> Iterator[str]:
        """Yield the quantities that are 1 if each of some classes has a victim."""
        those = self.first[classes]
        those = those[~self.table.leaving[those]]
        if "queues" in self.touched:
            yield from (f"touched {queue}" for queue in {*self.table.queue[those].tolist()})
        if "namespaces" in self.touched:
            tenants = (self.table.tenant(position) for position in those.tolist())
            yield from (f"touched {tenant}" for tenant in tenants if tenant)

    def queue_of(self, classes: IntArray) -> str:
        """Return the quantity of a queue that is 1 if one of these has a victim; else empty."""
        queues = {*self.table.queue[self.first[classes]].tolist()}
        alone = len(queues) == 1 and bool(self._going()[classes].all())
        return f"touched {queues.pop()}" if alone else ""

    def _more_than_own(self, name: str) -> Iterator[tuple[str, Row]]:
        """more@each <= 0: at most the given victims of a priority, unless a higher one has fewer.

        A quantity from 0 to 1 says whether this priority or a higher one has fewer: it adds to the
        victims, and where it is 1 the next priority may have any number.
        """
        given, going = self.table.own or {}, self._going()
        priorities = self.table.priority[self.first]
        before: dict[str, int] = {}
        for priority in sorted({*given, *priorities[going].tolist()}, reverse=True):
            classes = np.flatnonzero((priorities == priority) & going)
            fewer = f"fewer of {priority} or above"
            self.ranges[fewer] = 0, 1
            # Big enough for all candidates of this priority and for the quantity itself: with
            # fewer above, this row then says nothing.
            slack = int(self.sizes[classes].sum()) + 1
            extra = {fewer: -1, **dict.fromkeys(before, slack)}
            amounts = np.full(classes.size, -1, dtype=np.int64)
            yield f"{name} at {priority}", Row(classes, amounts, -given.get(priority, 0), extra)
            # Only the quantity of the priority before, which also says it of all above that.
            before = {fewer: 1}

    def _unfairness(self, name: str, most: int) -> Iterator[tuple[str, Row]]:
        """Unfairness <= most: 1000 times the size of a queue's victims <= most times its loan."""
        queues, going = self.table.queue[self.first], self._going()
        below: dict[int, list[int]] = {}
        for queue in sorted({*queues[going].tolist()}):
            for sharer in self.table.sharers[queue]:
                below.setdefault(sharer, []).append(queue)
        for sharer, those in below.items():
            classes = np.flatnonzero(np.isin(queues, those) & going)
            # Sizes times a thousand may leave 64 bits.
            taken = self.table.size[self.first[classes]].astype(object) * -PER_MILLE
            whole = counted_as_borrowed(self.table.borrowed[sharer])
            yield f"{name} of queue {sharer}", Row(classes, taken, -most * whole)
