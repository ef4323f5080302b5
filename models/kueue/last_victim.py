"""Last victims: what the laws about removals need to know of their order.

Removals never raise usage, so the victims below a node can be removed legally in some order if
and only if some last victim of each touched node, nested along the tree, still finds the node in
the state the law asks for (docs/design/theory.md §2.2 and §2.3). The choice of last victims is part
of the model: of a queue one of its classes, of a cohort the last victim of one touched child.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from math import gcd
from typing import TYPE_CHECKING

from planner.models.shared.builder import ZERO, Builder, Linear, negation, variable
from planner.quantity import UNLIMITED

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation


class LastVictims:
    """The last victims of one formulation; variables are made when a law first needs them."""

    def __init__(self, formulation: Formulation) -> None:
        self._formulation = formulation
        self._builder: Builder = formulation.builder
        self._problem = formulation.problem
        self._below = formulation.columns.below
        self.touched = cache(self._touched)
        self.back = cache(self._back)
        self._last_of_queue = cache(self._choose_class)
        self._last_of_cohort = cache(self._choose_child)

    def side_nodes(self) -> Iterator[int]:
        """Yield the nodes off the preemptor's path that have candidates, parents first."""
        for node in range(len(self._problem.parent)):
            if node not in self._problem.path and node in self._below:
                yield node

    def with_last(self, node: int, fr: int) -> Linear:
        """Return the usage of a node after all removals but that of its last victim."""
        return self._formulation.usage.after(node, fr) + self.back(node, fr)

    def require_over_quota(self, node: int, frs: Iterable[int]) -> None:
        """Require touched => the last victim finds the node over its quota in some fr.

        Nothing is added where some fr stays over quota whatever is removed.
        """
        builder, usage = self._builder, self._formulation.usage
        quota = self._problem.quota[node]
        bounded = [fr for fr in frs if quota[fr] != UNLIMITED]
        if any(builder.bounds(usage.after(node, fr))[0] > quota[fr] for fr in bounded):
            return
        with_last = {fr: self.with_last(node, fr) for fr in bounded}
        possible = (
            (usage_then, quota[fr] + 1)
            for fr, usage_then in with_last.items()
            if builder.bounds(usage_then)[1] > quota[fr]
        )
        builder.any_of([*builder.witnesses(possible), negation(self.touched(node))])

    def _touched(self, node: int) -> int:
        """Return the literal that says whether there is a victim at or below a node."""
        if node in self._formulation.classes_of:
            return self._formulation.touched(node)
        builder = self._builder
        below = [self.touched(child) for child in self._children(node)]
        if builder.is_positive(below):
            return builder.new(1, 1)
        touched = builder.new_bool()
        for child in below:
            builder.add(variable(touched) >= variable(child))
        builder.add(Linear(dict.fromkeys(below, 1)) >= variable(touched))
        return touched

    def _children(self, node: int) -> list[int]:
        return [c for c in self._problem.children[node] if c in self._below]

    def _back(self, node: int, fr: int) -> Linear:
        """Return what putting the last victim back adds to the usage of a node."""
        if node in self._formulation.classes_of:
            holding = self._formulation.columns.holding[:, fr]
            last = self._last_of_queue(node)
            return Linear({v: int(holding[k]) for k, v in last.items() if holding[k]})
        builder = self._builder
        passed = {child: self._passed_up(child, fr) for child in self._children(node)}
        highest = max(builder.bounds(up)[1] for up in passed.values())
        if highest == 0:
            return ZERO
        unit = gcd(*(up.unit for up in passed.values() if up.terms or up.constant))
        added = Linear({builder.new(0, highest // unit): unit})
        for child, literal in self._last_of_cohort(node).items():
            # One literal is true where the cohort is touched, so these rows define the variable.
            builder.add(added.equals(passed[child]), when=[literal])
        builder.add(added.equals(0), when=[negation(self.touched(node))])
        return added

    def _passed_up(self, child: int, fr: int) -> Linear:
        """Return what putting a child's last victim back adds at its parent.

        stored(usage + back) - stored(usage): less than ``back`` while the child has quota of its
        own to spare that it never lends.
        """
        usage, kept = self._formulation.usage, self._problem.kept[child][fr]
        if kept == UNLIMITED:
            return ZERO
        # Nothing is kept, so all that comes back counts at the parent: no new variable.
        if kept == 0:
            return self.back(child, fr)
        with_last = self._builder.positive_part(self.with_last(child, fr) - kept)
        return with_last - usage.stored(child, fr)

    def _choose_class(self, queue: int) -> dict[int, int]:
        """Return a literal per class of a queue: it holds the last victim there."""
        formulation, builder = self._formulation, self._builder
        last = {k: builder.new_bool() for k in formulation.classes_of[queue]}
        for k, literal in last.items():
            builder.add(variable(formulation.take[k]) >= variable(literal))
        self._exactly_one_if_touched(queue, last)
        return last

    def _choose_child(self, cohort: int) -> dict[int, int]:
        """Return a literal per child of a cohort: it holds the last victim below there."""
        builder = self._builder
        last = {child: builder.new_bool() for child in self._children(cohort)}
        for child, literal in last.items():
            touched = variable(self.touched(child))
            # A touched one: its own last victim is then the cohort's, and the choices nest.
            builder.add(touched >= variable(literal))
        self._exactly_one_if_touched(cohort, last)
        return last

    def _exactly_one_if_touched(self, node: int, last: dict[int, int]) -> None:
        chosen = Linear(dict.fromkeys(last.values(), 1))
        self._builder.add(chosen.equals(variable(self.touched(node))))
