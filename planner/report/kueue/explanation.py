"""What only explanations about Kueue have: workloads and their ClusterQueues."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.explain.kueue.record import Explanation, Standing
from planner.report.document.block import Cell, Column, name
from planner.report.plain_lines import line
from planner.report.table_parts import NOTHING
from planner.report.text import word


def about(answer: Explanation) -> Iterator[tuple[str, Cell]]:
    """Yield facts that no other scheduler has: none."""
    del answer
    yield from ()


def columns() -> list[Column[Standing]]:
    """Return the columns that say what runs where."""
    return [
        Column("Workload", lambda one: name(one.workload), folds=True),
        Column("ClusterQueue", lambda one: name(one.cluster_queue), folds=True),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", _place, number=True, rank=4),
    ]


def _place(one: Standing) -> str:
    return NOTHING if one.position is None else f"{one.position}/{one.candidates}"


def asking(answer: Explanation) -> Iterator[str]:
    """Yield the lines on where the preemptor is."""
    yield line("cluster_queue", word(answer.cluster_queue))


def standings(answer: Explanation) -> Iterator[tuple[str, Standing, list[str]]]:
    """Yield what is explained: what a line calls it, itself, and facts of this scheduler."""
    for one in answer.workloads:
        reason = [f"reason={word(one.reason)}"] if one.reason else []
        facts = [word(one.workload), f"cluster_queue={word(one.cluster_queue)}", *reason]
        yield "workload", one, facts
