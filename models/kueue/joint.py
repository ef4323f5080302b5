"""Several preemptors served one after another: their ways, and the variables of the model.

Each step serves one preemptor in one of its ways. What a single plan knows of its state
beforehand, and a step does not, is part of the way: a way supposes it.

Source: docs/semantics/kueue.md §4.3, §5.3, §5.5 and §6.3, for what a way supposes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from planner.laws.kueue import FS_BORROWING, FS_BORROWS_CONTESTED, KQ_OVER_QUOTA
from planner.models.kueue.candidates import eligible, restricted_while_borrowing
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Classes
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.kueue.tree import FlavorResource

_LATER: Final = frozenset({KQ_OVER_QUOTA.id, FS_BORROWS_CONTESTED.id, FS_BORROWING.id})
"""Laws whose masks look at usage, which a step does not know beforehand."""


@dataclass(frozen=True)
class Way:
    """One way to serve a preemptor: its flavors, and what it supposes of the usage it finds.

    Attributes
    ----------
    problem
        The decision as it would be at the start, with what is supposed in it: exactly the
        ``contested`` are short, hierarchical advantage as ``advantage_at`` says, and under fair
        sharing whether the request stays within nominal quota.
    flavors
        The number of the flavors among those that this preemptor may get.
    asked
        Per fr of the problem, what flavor assignment compares with what is available: the
        request and, where covered, the pods.
    reserved
        What the preemptor holds once it is admitted.
    advantage_at
        The position in the path of a node in whose quota the request fits, so that there is
        advantage above it; ``None`` supposes nothing.
    by_reclaim
        The contested fr in which it may preempt only if some cohort below the root could give
        the amount back (docs/semantics/kueue.md §4.3).
    """

    problem: Problem
    flavors: int
    asked: Mapping[int, int]
    reserved: Mapping[FlavorResource, int]
    advantage_at: int | None = None
    by_reclaim: Sequence[int] = ()

    @cached_property
    def allowed(self) -> BoolArray:
        """(W,) who may be a victim, whatever the usage."""
        if not self.problem.contested:
            return np.zeros(len(self.problem.workloads), dtype=np.bool_)
        return eligible(self.problem, without=_LATER)

    @cached_property
    def restricted(self) -> BoolArray:
        """(W,) what no attempt with borrowing may take."""
        return restricted_while_borrowing(self.problem)


@dataclass(frozen=True)
class Entrant:
    """A pending workload with all its ways.

    ``tree`` tells apart the trees of cohorts; ``first`` is where the workloads of its tree begin
    among all.
    """

    tree: int
    first: int
    ways: Sequence[Way]

    def place(self, position: int) -> int | None:
        """Return where a workload stands in this entrant's problems, if it does."""
        # Trees follow one another in the list of all workloads, each in the order of its problems.
        local = position - self.first
        return local if self.ways and 0 <= local < len(self.ways[0].problem.workloads) else None

    def may_take(self, way: int, position: int) -> bool:
        """Say whether a workload may be a victim in a way, whatever the usage."""
        place = self.place(position)
        return place is not None and bool(self.ways[way].allowed[place])


@dataclass(frozen=True)
class Cut:
    """What the scheduler's own replay said of a step: in one state some ways are none.

    In the tree of the entrant those in ``before`` (entrant and number of its flavors) were
    served and exactly ``gone`` were evicted; then ``entrant`` is not served in the ways
    ``forbidden``: at all, or, if ``taken`` is given, with exactly these victims.
    """

    entrant: int
    before: frozenset[tuple[int, int]]
    gone: frozenset[int]
    forbidden: frozenset[int]
    taken: frozenset[int] | None = None


@dataclass
class JointFormulation:
    """The model of a joint plan while it is being built.

    ``take[k]`` is how many of class k go in all steps together; ``taken[step, k]`` in one;
    ``serve[step, entrant, way]`` the literal of who is served when, and in which way;
    ``admitted`` whether each entrant is served at all.
    """

    entrants: Sequence[Entrant]
    classes: Classes
    in_order: bool
    builder: Builder = field(default_factory=Builder)
    take: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    taken: dict[tuple[int, int], int] = field(default_factory=dict)
    serve: dict[tuple[int, int, int], int] = field(default_factory=dict)

    @property
    def alternatives(self) -> Sequence[int]:
        """Nothing that the disruption terms depend on is chosen besides the victims."""
        return ()

    @property
    def steps(self) -> range:
        """One step for each entrant; some may serve nobody."""
        return range(len(self.entrants))

    @cached_property
    def tree_of(self) -> list[int]:
        """(K,) the tree of each class."""
        found = {k: tree for (tree, _), there in self.classes_at.items() for k, _ in there}
        return [found[k] for k in range(len(self.classes))]

    @cached_property
    def classes_at(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Per tree and queue, the classes there, and where each stands in that tree's problems."""
        trees = {entrant.tree: entrant for entrant in self.entrants if entrant.ways}
        found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for k, position in enumerate(self.classes.first.tolist()):
            for tree, entrant in trees.items():
                place = entrant.place(position)
                if place is not None:
                    node = int(entrant.ways[0].problem.queue[place])
                    found.setdefault((tree, node), []).append((k, place))
        return found

    def served(self, step: int, entrant: int) -> Linear:
        """Return whether an entrant is served in a step, 0 or 1."""
        ways = range(len(self.entrants[entrant].ways))
        return Linear(
            {self.serve[step, entrant, w]: 1 for w in ways if (step, entrant, w) in self.serve}
        )
