"""Proof trees apart from their plan: a line for each tree, and one for each of its steps.

The line of a tree names the preemptor of the plan, the claim, and the number of steps, which are
the lines that follow:

    {"preemptor": "team-a/train", "claim": "D2", "steps": 1}
    {"rows": {"nvidia.com/gpu in flavor h100 at cohort/company": 1, "better": 8}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from planner.errors import SchemaError
from planner.plan.base import Record
from planner.plan.proof import Step, Tree


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
    """Return the trees that lines hold, by the preemptors of their plans.

    Raises
    ------
    SchemaError
        If a line is not what it should be, or steps are missing; ``where`` names the file.
    """
    step: TypeAdapter[Step] = TypeAdapter(Step)
    found: dict[str, list[Tree]] = {}
    number = 0
    while number < len(lines):
        head = _read(TypeAdapter(TreeLine), lines, number, where, "the line of a tree")
        number += 1
        first, last = number, number + head.steps
        if last > len(lines):
            expected = f"{head.steps} steps of the tree of {head.claim} that line {first} begins"
            raise SchemaError(where, f"ends after {len(lines) - first} steps", expected)
        steps = tuple(_read(step, lines, i, where, "a step of a tree") for i in range(first, last))
        found.setdefault(head.preemptor, []).append(Tree(claim=head.claim, steps=steps))
        number = last
    return {preemptor: tuple(trees) for preemptor, trees in found.items()}


def _dump(record: Record) -> str:
    return json.dumps(record.model_dump(), ensure_ascii=True)


def _read(
    adapter: TypeAdapter[Any], lines: Sequence[str], number: int, where: str, expected: str
) -> Any:  # noqa: ANN401 - what the adapter is of
    try:
        return adapter.validate_json(lines[number])
    except ValidationError:
        found = f'"{lines[number][:60]}" stands here'
        raise SchemaError(f"{where}: line {number + 1}", found, expected) from None
