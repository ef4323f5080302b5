"""Bounds of whole levels by one sum of inequalities: what a reader can follow without a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from planner.objective.profiles import Measure, measure_id, measure_title
from planner.plan.proof import ByRows, Step
from planner.plan.record import OWN_ROW, BoundByRows, Reaching, WeighedRow
from planner.proof.box import Sum, add_up
from planner.proof.question import Question

LISTED: Final = 50
"""How much of what a sum reaches is listed: the largest."""

TOLD: Final = 6
"""Rows up to which a statement names all; the record has them, however many."""


def bound_by_rows(
    question: Question, steps: Sequence[Step], measure: Measure, value: int
) -> BoundByRows | None:
    """Return what a tree says of a level as a sum of rows; ``None`` if it takes more than one.

    Parameters
    ----------
    question
        Whether any set has less than ``value`` of ``measure``.
    steps
        The tree, or what claims to be one: only a leaf that closes the whole question counts.
    """
    # Checked again, and not only looked at: what is printed as a sum must be one.
    leaf = steps[0] if len(steps) == 1 else None
    if not isinstance(leaf, ByRows) or not question.closes(question.root, leaf):
        return None
    box = question.root
    rows = question.rows(box)
    added = add_up([(rows[name], m) for name, m in leaf.rows.items()], box, question.ranges(box))
    weighed = tuple(
        WeighedRow(row=name, times=times, least=rows[name].least)
        for name, times in leaf.rows.items()
    )
    parts = sorted(_reaching(question, added), key=lambda part: -abs(part.count * part.amount))
    return BoundByRows(
        term=measure_id(measure),
        rows=weighed,
        needed=added.needed,
        reached=added.reached,
        reaching=tuple(islice(parts, LISTED)),
        bound=value,
        statement=_statement(weighed, added, measure, value),
    )


def _reaching(question: Question, added: Sum) -> Iterator[Reaching]:
    """Yield what the left side of a sum is largest by."""
    first = question.rules.members.representatives
    listed = added.classes.tolist(), added.upper.tolist(), added.amounts.tolist()
    for k, count, amount in zip(*listed, strict=True):
        if count:
            yield Reaching(of=first[k].key, count=count, amount=amount)
    for name, coefficient in added.extra.items():
        if coefficient and added.ends[name]:
            yield Reaching(of=name, count=added.ends[name], amount=coefficient)


def _statement(rows: Sequence[WeighedRow], added: Sum, measure: Measure, value: int) -> str:
    told = [f"{each.times} x {each.least} ({_name(each, measure, value)})" for each in rows[:TOLD]]
    if len(rows) > TOLD:
        told.append(f"{len(rows) - TOLD} more")
    return (
        f"{' + '.join(told)} = {added.needed} must be reached, and no better set reaches more than "
        f"{added.reached}, so {measure_title(measure)} is at least {value}"
    )


def _name(row: WeighedRow, measure: Measure, value: int) -> str:
    """Return the name of a row; that of the level itself by what it says."""
    return f"{measure_id(measure)} <= {value - 1}" if row.row == OWN_ROW else row.row
