"""Proof trees: why no victim set is better, in steps that need no solver to be checked.

A tree is written in the order in which it is walked: a split is followed by the steps of its
first part, then by those of its second, and so on; a leaf closes its part.
docs/explanation/proof.md leads through one by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from planner.plan.base import Record


class CountSplit(Record):
    """Victims of some classes are together at most so many, or more: two parts, in this order."""

    of: tuple[int, ...]
    most: int


class WholeSplit(Record):
    """A further quantity of the rows that is whole is at most so much, or more: two parts."""

    whole: str
    most: int


class CaseSplit(Record):
    """One part for each case that the verifier itself derives from the state.

    ``attempt``: the attempts that Kueue makes. ``below``: no victim at or below a node, or at
    least one. ``over``: the flavor-resources in which a node stays over its quota until its last
    victim goes. ``dominant``: the resources that may decide the share of a node. ``host``: the
    nodes that can hold the ask of YuniKorn. ``domain``: the domains of a required level that can
    hold a group of podsets. ``first``: the victims of the answer at which a set
    that comes before it can differ from it first.
    """

    split: Literal["attempt", "below", "over", "dominant", "host", "domain", "first"]
    at: str | None = None


class Narrowing(Record):
    """Inequalities that leave less to choose from: one part, without what would break their sum."""

    narrow: dict[str, int]


class ByRows(Record):
    """A leaf that inequalities contradict: their sum, each times its multiplier, cannot hold."""

    rows: dict[str, int]


class ByLaws(Record):
    """A leaf of which the laws, or the limits, refuse every set; ``law`` says which, in words."""

    law: str


Split = CountSplit | WholeSplit | CaseSplit | Narrowing
"""A step that leaves one part or more, each to be closed by the steps that follow."""

Step = Split | ByRows | ByLaws
"""One step of a tree."""


class Tree(Record):
    """The proof of one claim: that no legal victim set is better on a level, or there is none.

    ``claim`` is the term of a level, such as ``D4+D5``, ``infeasible``, or ``ties``: that no set
    which is equal on all levels comes before the plan in the scheduler's candidate order; or
    ``last resort``: that no legal set spares who opted out of YuniKorn's preemption.
    """

    claim: str
    steps: tuple[Step, ...]


def steps_of(trees: Iterable[Tree]) -> int:
    """Return how many steps trees have in all."""
    return sum(len(tree.steps) for tree in trees)
