"""The catalogue of laws, disruption terms and objectives, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from planner.plan import Published, Record
from planner.plan.label import Label
from planner.report import document as doc
from planner.report.document import Cell, Section
from planner.report.labelled import labelled_lines, labelled_table, row_lines
from planner.report.style import renderer


class LawEntry(Record):
    """One rule of a scheduler; ``reasons`` are the codes it gives victims that the law permits."""

    id: Annotated[str, Label(role="key")]
    name: Annotated[str, Label()]
    title: Annotated[str, Label(role="text")]
    statement: Annotated[str, Label(role="text")]
    source: Annotated[str, Label(role="text")]
    reasons: Annotated[tuple[str, ...], Label(role="list")] = ()


class RuleSet(Record):
    """The laws under which one scheduler evicts."""

    name: str
    laws: tuple[LawEntry, ...]


class TermEntry(Record):
    """One measure of disruption."""

    id: Annotated[str, Label("Term", "name")]
    name: Annotated[str, Label("Name", "code")]
    title: Annotated[str, Label("Disruption", "text")]
    unit: Annotated[str, Label("Unit", "text")]


class ObjectiveEntry(Record):
    """A profile: measures that are capped at the scheduler's own, and levels in their order."""

    name: Annotated[str, Label("Objective", "code")]
    summary: Annotated[str, Label("What it is", "text")]
    caps: Annotated[tuple[str, ...], Label("Caps", "list", absent="none")]
    levels: Annotated[tuple[str, ...], Label("Levels", "list")]


class Catalogue(Published):
    """The output of ``planner laws``."""

    rule_sets: tuple[RuleSet, ...]
    terms: Annotated[tuple[TermEntry, ...], Label()]
    objectives: Annotated[tuple[ObjectiveEntry, ...], Label()]


def _lines(catalogue: Catalogue) -> Iterator[str]:
    laws = {law.id: law for rules in catalogue.rule_sets for law in rules.laws}
    for law in laws.values():
        rules = ",".join(one.name for one in catalogue.rule_sets if law in one.laws)
        yield from row_lines("law", law, rules=rules)
    yield from labelled_lines(catalogue)


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
