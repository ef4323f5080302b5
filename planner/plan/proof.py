"""Proof trees: why no victim set is better, in steps that need no solver to be checked.

A tree is written in the order in which it is walked: a split is followed by the steps of its
first part, then by those of its second, and so on; a leaf closes its part.
docs/explanation/proof.md leads through one by hand.

Apart from its plan, a tree begins with a line that names the preemptor of the plan, the claim, and
the number of steps; the steps follow, one on each line:

    {"preemptor": "team-a/train", "claim": "workloads", "steps": 1}
    {"rows": {"nvidia.com/gpu in flavor h100 at cohort/company": 1, "better": 8}}
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from planner.errors import SchemaError
from planner.plan.base import Record
from planner.quantity import plural


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


class Rounding(Record):
    """A sum of inequalities that is rounded, as victims are whole: one part, with a further row.

    ``round`` has their multipliers; where one is negative, what its inequality has to spare is part
    of the sum. ``by`` is what the sum is divided by, and ``row`` the name of the further row. Of
    the classes ``down`` victims are counted from the most down; the quantities ``out`` are counted
    from the end at which they give the sum most, or, if they need not be whole, taken to be there.
    """

    row: str
    round: dict[str, int]
    by: int
    down: tuple[int, ...] = ()
    out: tuple[str, ...] = ()


class ByRows(Record):
    """A leaf that inequalities contradict: their sum, each times its multiplier, cannot hold."""

    rows: dict[str, int]


class ByLaws(Record):
    """A leaf of which the laws, or the limits, refuse every set; ``law`` says which, in words."""

    law: str


Split = CountSplit | WholeSplit | CaseSplit | Narrowing | Rounding
"""A step that leaves one part or more, each to be closed by the steps that follow."""

Step = Split | ByRows | ByLaws
"""One step of a tree."""

LineT = TypeVar("LineT")


class Tree(Record):
    """The proof of one claim: that no legal victim set is better on a level, or there is none.

    ``claim`` is the term of a level, such as ``lost_work+restart_cost``, ``infeasible``, or
    ``ties``: that no set which is equal on all levels comes before the plan in the scheduler's
    candidate order; ``last resort``: that no legal set spares who opted out of YuniKorn's
    preemption; or, such as ``cap of workloads``, that no legal set keeps a cap which the plan
    drops.
    """

    claim: str
    steps: tuple[Step, ...]

    @property
    def rows(self) -> Mapping[str, int]:
        """The inequalities of a tree that is one sum of them, each with its multiplier."""
        leaf = self.steps[0] if len(self.steps) == 1 else None
        return leaf.rows if isinstance(leaf, ByRows) else {}


def steps_of(trees: Iterable[Tree]) -> int:
    """Return how many steps trees have in all."""
    return sum(len(tree.steps) for tree in trees)


class TreeLine(Record):
    """The line of a tree: whose plan it belongs to, its claim, and how many steps follow."""

    preemptor: str
    claim: str
    steps: int = Field(ge=0)


def lines_of(preemptor: str, trees: Iterable[Tree]) -> Iterator[str]:
    """Yield the lines of the trees of one plan."""
    for tree in trees:
        head = TreeLine(preemptor=preemptor, claim=tree.claim, steps=len(tree.steps))
        yield _dump(head)
        yield from map(_dump, tree.steps)


def trees_of(lines: Sequence[str], where: str) -> Mapping[str, tuple[Tree, ...]]:
    """Read trees from lines; return them by the preemptors of their plans.

    Raises ``SchemaError`` if a line is not what it should be, or steps are missing; ``where`` names
    the file.
    """
    step: TypeAdapter[Step] = TypeAdapter(Step)
    tree = TypeAdapter(TreeLine)
    found: dict[str, list[Tree]] = {}
    number = 0
    while number < len(lines):
        head = _read(tree, lines, number, where, "the line of a tree")
        first, last = number + 1, number + 1 + head.steps
        if last > len(lines):
            expected = (
                f"{plural(head.steps, 'step')} of the tree of {head.claim} that line {first} begins"
            )
            raise SchemaError(where, f"ends after {plural(len(lines) - first, 'step')}", expected)
        steps = tuple(_read(step, lines, i, where, "a step of a tree") for i in range(first, last))
        found.setdefault(head.preemptor, []).append(Tree(claim=head.claim, steps=steps))
        number = last
    return {preemptor: tuple(trees) for preemptor, trees in found.items()}


def _dump(record: Record) -> str:
    return json.dumps(record.model_dump(), ensure_ascii=True)


def _read(
    adapter: TypeAdapter[LineT], lines: Sequence[str], number: int, where: str, expected: str
) -> LineT:
    try:
        return adapter.validate_json(lines[number])
    except ValidationError:
        found = f'"{lines[number][:60]}" stands here'
        raise SchemaError(f"{where}: line {number + 1}", found, expected) from None
