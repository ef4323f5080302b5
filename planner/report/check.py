"""What came of checking plans, in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pydantic import Field

from planner.commands.check.plan import Check, CheckedClaim
from planner.plan import Record, Verdict
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Paragraph,
    Section,
    Tone,
    name,
    sheet,
)
from planner.report.json import dump
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import written
from planner.report.table_parts import NOTHING
from planner.report.text import plural, word

CERTIFIED: Final = "certified"
OPEN: Final = "not certified"
ACCEPTED: Final = "ACCEPTED"
REFUSED: Final = "NOT ACCEPTED"


class Checks(Record):
    """What holds of the plans of a file; ``accepted`` says that everything holds of all."""

    schema_version: Literal["planner/v1"] = Field(default="planner/v1", alias="schema")
    accepted: bool
    checks: tuple[Check, ...]


def render(answer: Checks, style: str, *, width: int, color: bool) -> str:
    """Return the result in a style: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    if style == "json":
        return dump(answer)
    if style == "plain":
        return "".join(f"{text}\n" for text in _lines(answer))
    documents = list(map(_document, answer.checks))
    return written(documents, style, width=width, color=color, noun="checked plan")


def conclusion(answer: Check) -> str:
    """Return the last line: accepted or not, and why."""
    certified = sum(claim.certified for claim in answer.claims)
    held = sum(verdict.holds for verdict in answer.verdicts)
    said = ACCEPTED if answer.accepted else REFUSED
    claims = plural(len(answer.claims), "claim")
    verdicts = plural(len(answer.verdicts), "verdict")
    return f"{said}: {certified} of {claims} certified, {held} of {verdicts} hold"


def _broken(answer: Check) -> Sequence[Verdict]:
    return [verdict for verdict in answer.verdicts if not verdict.holds]


def _value(claim: CheckedClaim) -> str:
    return NOTHING if claim.value is None else f"{claim.value:,}"


def _lines(answer: Checks) -> Iterator[str]:
    for number, one in enumerate(answer.checks):
        if number:
            yield ""
        yield from _lines_of(one)


def _lines_of(one: Check) -> Iterator[str]:
    yield line("preemptor", word(one.preemptor))
    yield line("objective", word(one.objective))
    yield line("status", one.status)
    for claim in one.claims:
        facts = [f"certified={yes(claim.certified)}"]
        if claim.value is not None:
            facts.append(f"value={claim.value}")
        facts += [f"how={quoted(claim.detail)}", f"title={quoted(claim.title)}"]
        yield line("claim", word(claim.claim), *facts)
    for verdict in one.verdicts:
        detail = [quoted(verdict.detail)] if verdict.detail and not verdict.holds else []
        yield line("law", word(verdict.law), f"holds={yes(verdict.holds)}", *detail)
    yield from (line("note", quoted(note)) for note in one.notes)
    certified = sum(claim.certified for claim in one.claims)
    held = sum(verdict.holds for verdict in one.verdicts)
    counts = f"claims={certified}/{len(one.claims)}", f"laws={held}/{len(one.verdicts)}"
    yield line("accepted", yes(one.accepted), *counts)


def _document(one: Check) -> Document:
    sections = [Section("Claims", (_sheet(one.claims),))] if one.claims else []
    broken: tuple[Block, ...] = tuple(
        Paragraph(f"{verdict.law} {verdict.title}: {verdict.detail}", "bad")
        for verdict in _broken(one)
    )
    if broken:
        sections.append(Section("Does not hold", broken))
    if one.notes:
        notes: tuple[Block, ...] = tuple(Paragraph(note, "warn") for note in one.notes)
        sections.append(Section("Notes", notes))
    badge, _, answer = conclusion(one).partition(": ")
    tone: Tone = "good" if one.accepted else "bad"
    return Document(
        kind="Checked plan",
        head=(
            Fact("Preemptor", name(one.preemptor), "title"),
            Fact("Objective", Cell(one.objective)),
            Fact("Status", Cell(f"{one.status}, as the plan says")),
            Fact("Answer", Cell(badge.capitalize(), tone=tone), "verdict"),
            Fact("", Cell(answer), "answer"),
        ),
        sections=tuple(sections),
        answer_last=True,
    )


def _sheet(claims: Sequence[CheckedClaim]) -> Block:
    def proof(claim: CheckedClaim) -> Cell:
        return Cell(CERTIFIED, tone="good") if claim.certified else Cell(OPEN, tone="bad")

    columns: list[Column[CheckedClaim]] = [
        Column("Claim", lambda claim: claim.claim),
        Column("What", lambda claim: claim.title, folds=True),
        Column("Value", _value, number=True),
        Column("Proof", proof),
        Column("How", lambda claim: claim.detail, folds=True),
    ]
    return sheet("What the plan claims", columns, claims)
