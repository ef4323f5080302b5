"""What an answer leaves out of its state, in every style: it comes before the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from planner.plan import Assume, Status, Uncovered
from planner.report.document import Block, Cell, Column, Fact, Tone, table
from planner.report.style import Said, line
from planner.report.text import clean

BEST: Final = ("Best, if what is not modelled decides nothing", "warn")
NONE: Final = ("Infeasible, if what is not modelled decides nothing", "warn")
KINDS: Final[Mapping[str, str]] = {
    "unmodelled": "Not modelled",
    "contradiction": "Contradicted",
    "assumed": "Assumed",
}


def answer_in_words(
    status: Status, claim: Status, answers: Mapping[str, tuple[str, Tone]]
) -> tuple[str, Tone]:
    """Return what a status is called, and its tone; a conditional one says its condition."""
    if status != "conditional":
        return answers[status]
    said, tone = NONE if claim == "infeasible" else BEST
    return said, "warn" if tone == "warn" else ""


def assumed(coverage: Sequence[Uncovered], assume: Assume | None = None) -> Iterator[Fact]:
    """Yield the first lines: what is not modelled, and what shows that it is there."""
    for one in coverage:
        yield Fact(KINDS[one.kind], Cell(f"{one.title}: {clean(one.evidence)}", tone="warn"))
    if coverage and assume is not None:
        yield Fact("", Cell(f"--assume {assume}: you say that it decides nothing", tone="warn"))


def effects(coverage: Sequence[Uncovered]) -> Iterator[Block]:
    """Yield a table of what each can change, and of the objects that show it."""
    if coverage:
        columns: list[Column[Uncovered]] = [
            Column("What", lambda one: one.title, folds=True),
            Column("", lambda one: KINDS[one.kind].lower()),
            Column("It can change", lambda one: one.effect, folds=True, least=24),
            Column("Objects", _objects, folds=True),
        ]
        yield table("What is not modelled, or not known", columns, coverage)


def _objects(one: Uncovered) -> str:
    shown = ", ".join(map(clean, one.objects))
    left_out = one.count - len(one.objects)
    return f"{shown} and {left_out:,} more" if left_out > 0 else shown


def uncovered_lines(coverage: Sequence[Uncovered], assume: Assume | None = None) -> Iterator[str]:
    """Yield a plain line for each."""
    for one in coverage:
        found = Said(one.evidence)
        yield line("uncovered", one.feature, one.kind, objects=one.count, evidence=found)
    if coverage and assume is not None:
        yield line("assume", assume)
