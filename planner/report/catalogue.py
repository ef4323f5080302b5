"""The catalogue of laws, disruption terms and objectives, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from planner.plan import Published, Record
from planner.plan.label import Label
from planner.report import document as doc
from planner.report.document import Cell, Section
from planner.report.labelled import labelled_table
from planner.report.style import Said, renderer, words


class LawEntry(Record):
    """One rule of a scheduler; ``reasons`` are the codes it gives victims that the law permits."""

    id: str
    name: str
    title: str
    statement: str
    source: str
    reasons: tuple[str, ...] = ()


class RuleSet(Record):
    """The laws under which one scheduler evicts."""

    name: str
    laws: tuple[LawEntry, ...]


class TermEntry(Record):
    """One measure of disruption."""

    id: Annotated[str, Label("Term", "code")]
    name: Annotated[str, Label("Name", "code")]
    title: Annotated[str, Label("Disruption", "text")]
    unit: Annotated[str, Label("Unit")]


class ObjectiveEntry(Record):
    """A profile: measures that are capped at the scheduler's own, and levels in their order."""

    name: Annotated[str, Label("Objective", "code")]
    summary: Annotated[str, Label("What it is", "text")]
    caps: Annotated[tuple[str, ...], Label("Caps", "text")]
    levels: Annotated[tuple[str, ...], Label("Levels", "text")]


class Catalogue(Published):
    """The output of ``planner laws``."""

    rule_sets: tuple[RuleSet, ...]
    terms: tuple[TermEntry, ...]
    objectives: tuple[ObjectiveEntry, ...]


def _lines(catalogue: Catalogue) -> Iterator[str]:
    laws = {law.id: law for rules in catalogue.rule_sets for law in rules.laws}
    for law in laws.values():
        rules = ",".join(one.name for one in catalogue.rule_sets if law in one.laws)
        yield f"law {words(law.id, law.name, rules=rules, title=Said(law.title))}"
        yield f"  {law.statement}"
        yield f"  source: {law.source}"
        if law.reasons:
            yield f"  reason codes: {', '.join(law.reasons)}"
    for term in catalogue.terms:
        names = words(term.name, term.id or None, unit=Said(term.unit), title=Said(term.title))
        yield f"term {names}"
    for entry in catalogue.objectives:
        levels, caps = ",".join(entry.levels), ",".join(entry.caps) or "none"
        facts = words(entry.name, levels=levels, caps=caps, summary=Said(entry.summary))
        yield f"objective {facts}"


def _document(catalogue: Catalogue) -> doc.Document:
    sections = []
    known: set[str] = set()
    for rules in catalogue.rule_sets:
        title = f"Rules of {rules.name}"
        heading = doc.Only("screen", (doc.Paragraph(title, "strong"),))
        rows: list[tuple[str, Cell]] = []
        for law in rules.laws:  # a law of an earlier rule set has only its id and title
            rows.append((law.id, Cell(law.title, tone="" if law.id in known else "strong")))
            if law.id not in known:
                rows += [
                    ("", Cell(law.statement)),
                    ("", Cell(f"{law.name}; {law.source}", tone="dim")),
                    *(("", Cell(f"reason code {code}", tone="dim")) for code in law.reasons),
                    ("", Cell("")),
                ]
        laws = doc.Facts(tuple(rows if rows[-1][1].text else rows[:-1]))
        sections += [Section(title, (heading,)), Section(title, (laws,))]
        known.update(law.id for law in rules.laws)
    sections += [
        Section("Terms", (labelled_table("What disruption is measured by", catalogue.terms),)),
        Section("Objectives", (labelled_table("What is minimised", catalogue.objectives),)),
    ]
    return doc.Document("Laws, disruption terms and objectives", (), tuple(sections))


render = renderer(_lines, _document)
