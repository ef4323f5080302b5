"""The model of one Kueue problem: its variables, and what they mean.

The decision variables say how many victims there are of each class: workloads of the same queue,
usage, variant and cost are one integer variable.

A queue's usage falls by what its victims hold. A cohort's usage is the sum of what its children
use beyond what they keep for themselves: max(0, usage - kept). Where the sign is settled by the
bounds this stays linear; elsewhere it costs one auxiliary variable.

Removals never raise usage, so the victims below a node can be removed legally in some order if
and only if some last victim of each touched node, nested along the tree, still finds the node in
the state the law asks for (docs/design/theory.md §2.2 and §2.3). The choice of last victims is part
of the model: for a queue one of its classes, for a cohort the last victim of one touched child.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import gcd

import numpy as np

from planner.models.shared import classes as shared
from planner.models.shared.builder import (
    ZERO,
    Builder,
    Linear,
    made_once,
    negation,
    total,
    variable,
)
from planner.models.shared.classes import new_takes
from planner.models.shared.measure import hit_where_taken
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue import FairRules, Problem
from planner.quantity import UNLIMITED
from planner.quota.classes import Classes, by_value, group
from planner.quota.kueue.tree import NO_PARENT


class Columns(shared.Columns[Problem], frozen=True):
    """K classes; ``restricted_workloads`` is (W,): whom no attempt with borrowing may take."""

    restricted_workloads: BoolArray

    @cached_property
    def below(self) -> Mapping[int, IntArray]:
        """Per node with candidates at or below it: their classes."""
        found: dict[int, list[IntArray]] = {}
        for queue, classes in by_value(self.queue, np.arange(len(self))).items():
            node = queue
            while node != NO_PARENT:
                found.setdefault(node, []).append(classes)
                node = self.problem.parent[node]
        return {node: np.sort(np.concatenate(parts)) for node, parts in found.items()}

    def of_queue(self, queue: int) -> list[int]:
        """Return the classes of a queue."""
        found: list[int] = self.below[queue].tolist() if queue in self.below else []
        return found

    @cached_property
    def restricted(self) -> BoolArray:
        """(K,) whether no attempt with borrowing may take members of a class."""
        return self.restricted_workloads[self.classes.first]


def build_classes(
    problem: Problem, eligible: BoolArray, restricted: BoolArray, costs: Sequence[IntArray]
) -> Classes:
    """Group the eligible workloads into classes.

    - ``eligible``: (W,) workloads that no law excludes.
    - ``restricted``: (W,) workloads that no attempt with borrowing may take.
    - ``costs``: Arrays, (W,) each, whose values must be equal within a class, as queue, usage and
      places on nodes must.
    """
    kinds = [] if problem.places is None else [problem.places.kind]
    # A workload that goes anyway costs nothing new.
    flags = [restricted.astype(np.int64), problem.leaving.astype(np.int64)]
    columns = [problem.queue, *flags, *costs, *kinds, problem.holding]
    return group(problem.order, np.flatnonzero(eligible), columns)


class TreeUsage:
    """The usage expressions of one model, made when first asked for.

    - ``request``: (F,) what to add to the usage of the preemptor's queue, nothing by default.
    """

    def __init__(
        self,
        builder: Builder,
        problem: Problem,
        columns: Columns,
        take: Sequence[int],
        request: Sequence[int] | None = None,
    ) -> None:
        self._builder = builder
        self._problem = problem
        self._columns = columns
        self._request = request or [0] * len(problem.frs)
        self._take = take
        self._held = cache(lambda fr: columns.holding[:, fr].tolist())
        self.after = made_once(self._after)
        self.local_free = made_once(self._local_free)

    def _after(self, node: int, fr: int) -> Linear:
        before = self._problem.usage[node][fr]
        if node == self._problem.own_queue:
            before += self._request[fr]
        if not self._problem.children[node]:
            holding, take = self._held(fr), self._take
            classes = self._columns.of_queue(node)
            return Linear({take[k]: -holding[k] for k in classes if holding[k]}, before)
        changes = []
        # Only changes are added to the usage before: children that cannot change cost no terms.
        for child in self._problem.children[node]:
            if self._may_change(child):
                used, kept = self._problem.usage[child][fr], self._problem.kept[child][fr]
                changes.append(self.stored(child, fr) - max(0, used - kept))
        return total(changes) + before

    def _may_change(self, node: int) -> bool:
        """Say whether a node has candidates at or below it, or is on the preemptor's path."""
        return node in self._columns.below or node in self._problem.path

    def _local_free(self, node: int, fr: int) -> Linear:
        """Return what the node keeps and does not use: max(0, kept - usage)."""
        kept = self._problem.kept[node][fr]
        return self._builder.positive_part(-self.after(node, fr) + kept) if kept else ZERO

    def stored(self, node: int, fr: int) -> Linear:
        """Return what the node uses of its parent: max(0, usage - kept).

        It is usage - kept + `local_free`, so one auxiliary variable serves both.
        """
        kept = self._problem.kept[node][fr]
        if kept == UNLIMITED:
            return ZERO
        return self.after(node, fr) - kept + self.local_free(node, fr)


@dataclass
class Formulation:
    """The model of one problem, and what its variables mean.

    ``take[k]`` is the number of victims of class k; ``borrowing`` the literal that says
    whether the attempt borrows. Variables of last victims are made when a law first needs them;
    ``touched`` returns the literal that says whether there is a victim at or below a node.
    """

    problem: Problem
    columns: Columns
    builder: Builder
    take: list[int]
    borrowing: int
    alternatives: Sequence[int] = ()  # terms depend on the victims only

    def __post_init__(self) -> None:
        """Make each literal and each expression of last victims once."""
        self.touched = made_once(self._touched)
        self._back = made_once(self._put_back)
        self._last_of = made_once(self._choose_last)

    @classmethod
    def begun(cls, problem: Problem, columns: Columns, attempts: Collection[bool]) -> Formulation:
        """Return a model of these attempts without any laws yet."""
        builder = Builder()
        take = new_takes(builder, columns.classes)
        borrowing = builder.new(int(min(attempts)), int(max(attempts)))
        return cls(problem, columns, builder, take, borrowing)

    @property
    def classes(self) -> Classes:
        """The classes of candidates."""
        return self.columns.classes

    @cached_property
    def usage(self) -> TreeUsage:
        """The usage of every node after all removals."""
        return TreeUsage(self.builder, self.problem, self.columns, self.take)

    @cached_property
    def usage_with_request(self) -> TreeUsage:
        """The usage after all removals, with the preemptor's request counted at its queue."""
        request = self.problem.searched
        return TreeUsage(self.builder, self.problem, self.columns, self.take, request)

    @property
    def fair(self) -> FairRules:
        """The rules of fair sharing.

        Raises ``ValueError`` if the problem is one of classical preemption.
        """
        if self.problem.fair is None:
            raise ValueError("a law of fair sharing on a problem without it")
        return self.problem.fair

    def side_nodes(self) -> Iterator[int]:
        """Yield the nodes off the preemptor's path that have candidates, parents first."""
        for node in range(len(self.problem.parent)):
            if node not in self.problem.path and node in self.columns.below:
                yield node

    def with_last(self, node: int, fr: int) -> Linear:
        """Return the usage of a node after all removals but that of its last victim."""
        return self.usage.after(node, fr) + self._back(node, fr)

    def require_over_quota(self, node: int, frs: Iterable[int], *, beyond: int = 1) -> None:
        """Require touched => the last victim finds the node ``beyond`` over quota in some fr.

        Nothing is added if in some fr the node stays so far over quota whatever is removed.
        """
        builder, usage = self.builder, self.usage
        quotas = self.problem.quota[node]
        least = {fr: quotas[fr] + beyond for fr in frs if quotas[fr] != UNLIMITED}
        if any(builder.bounds(usage.after(node, fr))[0] >= least[fr] for fr in least):
            return
        then = [(self.with_last(node, fr), bound) for fr, bound in least.items()]
        possible = (each for each in then if builder.bounds(each[0])[1] >= each[1])
        builder.any_of([*builder.witnesses(possible), negation(self.touched(node))])

    def _touched(self, node: int) -> int:
        """Return the literal that says whether there is a victim at or below a node."""
        builder, parts = self.builder, self._parts(node)
        of_queue = not self.problem.children[node]
        below = [self.take[part] if of_queue else self.touched(part) for part in parts]
        if builder.is_positive(below):
            return builder.new(1, 1)
        touched = builder.new_bool()
        if of_queue:
            builder.add(Linear(dict.fromkeys(below, 1)) >= variable(touched))
            hit_where_taken(self, parts, touched)
            return touched
        for child in below:
            builder.add(variable(touched) >= variable(child))
        builder.add(Linear(dict.fromkeys(below, 1)) >= variable(touched))
        return touched

    def _parts(self, node: int) -> list[int]:
        """Return the classes of a queue, or the children of a cohort that have candidates."""
        children = self.problem.children[node]
        if not children:
            return self.columns.of_queue(node)
        return [child for child in children if child in self.columns.below]

    def _put_back(self, node: int, fr: int) -> Linear:
        """Return what putting the last victim back adds to the usage of a node."""
        builder = self.builder
        if not self.problem.children[node]:
            holding = self.columns.holding[:, fr]
            last = self._last_of(node)
            return Linear({v: int(holding[k]) for k, v in last.items() if holding[k]})
        passed = {child: self._passed_up(child, fr) for child in self._parts(node)}
        highest = max(builder.bounds(up)[1] for up in passed.values())
        if highest == 0:
            return ZERO
        unit = gcd(*(up.unit for up in passed.values() if up.terms or up.constant))
        added = Linear({builder.new(0, highest // unit): unit})
        for child, literal in self._last_of(node).items():
            # Exactly one literal is true if the cohort is touched, so these rows define ``added``.
            builder.add(added.equals(passed[child]), when=[literal])
        builder.add(added.equals(0), when=[negation(self.touched(node))])
        return added

    def _passed_up(self, child: int, fr: int) -> Linear:
        """Return what putting a child's last victim back adds at its parent.

        It is stored(usage + back) - stored(usage): less than ``back`` while the child does not use
        all of the quota that it keeps for itself.
        """
        usage, kept = self.usage, self.problem.kept[child][fr]
        if kept == UNLIMITED:
            return ZERO
        # Nothing is kept, so all that comes back counts at the parent: no new variable.
        if kept == 0:
            return self._back(child, fr)
        with_last = self.builder.positive_part(self.with_last(child, fr) - kept)
        return with_last - usage.stored(child, fr)

    def _choose_last(self, node: int) -> dict[int, int]:
        """Return a literal per class of a queue or child of a cohort: it has the last victim.

        Exactly one of these literals is true if the node is touched.
        """
        builder, of_queue = self.builder, not self.problem.children[node]
        last = {part: builder.new_bool() for part in self._parts(node)}
        for part, literal in last.items():
            # The last victim of a cohort is that of the chosen child, which has to be touched.
            any_there = self.take[part] if of_queue else self.touched(part)
            builder.add(variable(any_there) >= variable(literal))
        chosen = Linear(dict.fromkeys(last.values(), 1))
        builder.add(chosen.equals(variable(self.touched(node))))
        return last
