"""What an answer leaves out of its state, in every style; such lines come before the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from planner.plan import Assume, Covered, Uncovered
from planner.report.document import Block, Cell, Column, Fact, Tone, table
from planner.report.labelled import row_lines
from planner.report.style import line
from planner.report.text import clean, some_of

ANSWERS: Final[Mapping[str, tuple[str, Tone]]] = {
    "optimal": ("Proved optimal", "good"),
    "feasible": ("Legal, not proved optimal", "warn"),
    "infeasible": ("Proved infeasible", "bad"),
    "unknown": ("Unknown", "warn"),
}
KINDS: Final[Mapping[str, str]] = {
    "unmodelled": "Not modelled",
    "contradiction": "Contradicted",
    "assumed": "Assumed",
}


def answer_cell(answer: Covered, answers: Mapping[str, tuple[str, Tone]] = ANSWERS) -> Cell:
    """Return the status of an answer in words."""
    if answer.status != "conditional":
        said, tone = answers[answer.status]
        return Cell(said, tone=tone)
    return Cell(f"Conditionally {answer.claim}", tone="warn")


def assumed(coverage: Sequence[Uncovered], assume: Assume | None = None) -> Iterator[Fact]:
    """Yield the first facts: the features that are not modelled, and the evidence of each."""
    for one in coverage:
        yield Fact(KINDS[one.kind], Cell(f"{one.title}: {clean(one.evidence)}", tone="warn"))
    if coverage and assume is not None:
        yield Fact("", Cell(f"--assume {assume}: you vouch that it plays no part", tone="warn"))


def effects(coverage: Sequence[Uncovered]) -> Iterator[Block]:
    """Yield a table of what each feature not modelled can change, with the objects that show it."""
    if coverage:

        def objects(one: Uncovered) -> str:
            return some_of([clean(each) for each in one.objects], one.count)

        columns: list[Column[Uncovered]] = [
            Column("What", lambda one: one.title, folds=True),
            Column("", lambda one: KINDS[one.kind].lower()),
            Column("It can change", lambda one: one.effect, folds=True, least=24),
            Column("Objects", objects, folds=True),
        ]
        yield table("What is not modelled, or not known", columns, coverage)


def uncovered_lines(coverage: Sequence[Uncovered], assume: Assume | None = None) -> Iterator[str]:
    """Yield a plain line for each feature that is not modelled."""
    for one in coverage:
        yield from row_lines("uncovered", one)
    if coverage and assume is not None:
        yield line("assume", assume)
