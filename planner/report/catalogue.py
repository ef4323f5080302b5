"""What there is to look up: laws, disruption terms and objectives, in every format."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Literal

from pydantic import Field
from rich.text import Text

from planner.plan import Record
from planner.report.json import dump
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.text import word


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

    id: str
    title: str
    unit: str


class ObjectiveEntry(Record):
    """A profile: measures that are capped at the scheduler's own, and levels in their order."""

    name: str
    summary: str
    caps: tuple[str, ...]
    levels: tuple[str, ...]


class Catalogue(Record):
    """The output of ``planner laws``."""

    schema_version: Literal["planner/v1"] = Field(default="planner/v1", alias="schema")
    rule_sets: tuple[RuleSet, ...]
    terms: tuple[TermEntry, ...]
    objectives: tuple[ObjectiveEntry, ...]


def render(catalogue: Catalogue, style: str, *, width: int, color: bool) -> str:
    """Return the catalogue as ``json``, ``plain`` or ``table``."""
    if style == "json":
        return dump(catalogue)
    if style == "plain":
        return "".join(f"{line}\n" for line in _lines(catalogue))
    return _table(catalogue, width, color=color)


def _lines(catalogue: Catalogue) -> Iterator[str]:
    laws = {law.id: law for rules in catalogue.rule_sets for law in rules.laws}
    for law in laws.values():
        names = [word(rules.name) for rules in catalogue.rule_sets if law in rules.laws]
        yield f'law {law.id} {law.name} rules={",".join(names)} title="{law.title}"'
        yield f"  {law.statement}"
        yield f"  source: {law.source}"
        if law.reasons:
            yield f"  reason codes: {', '.join(law.reasons)}"
    for term in catalogue.terms:
        yield f'term {term.id} unit="{term.unit}" title="{term.title}"'
    for entry in catalogue.objectives:
        levels, caps = ",".join(entry.levels), ",".join(entry.caps) or "none"
        yield f'objective {entry.name} levels={levels} caps={caps} summary="{entry.summary}"'


def _table(catalogue: Catalogue, width: int, *, color: bool) -> str:
    paper = Paper(width, color=color)
    told: set[str] = set()
    for rules in catalogue.rule_sets:
        paper.add(Text(f"Rules of {rules.name}", "bold"))
        paper.add(grid(_facts(rules, told)))
        told.update(law.id for law in rules.laws)
    terms: list[Column[TermEntry]] = [
        Column("Term", lambda term: term.id),
        Column("Disruption", lambda term: term.title, folds=True),
        Column("Unit", lambda term: term.unit),
    ]
    paper.add(table_of(terms, catalogue.terms))
    objectives: list[Column[ObjectiveEntry]] = [
        Column("Objective", lambda entry: entry.name),
        Column("What it is", lambda entry: entry.summary, folds=True),
        Column("Levels", lambda entry: ", ".join(entry.levels), folds=True),
        Column("Caps", lambda entry: ", ".join(entry.caps) or "-", folds=True),
    ]
    paper.add(table_of(objectives, catalogue.objectives))
    return paper.text()


def _facts(rules: RuleSet, told: Container[str]) -> list[tuple[str, str | Text]]:
    """Return the laws of a rule set; of one that is told already only id and title."""
    facts: list[tuple[str, str | Text]] = []
    for law in rules.laws:
        facts.append((law.id, Text(law.title, "" if law.id in told else "bold")))
        if law.id not in told:
            facts += [
                ("", law.statement),
                ("", Text(f"{law.name}; {law.source}", "dim")),
                *(("", Text(f"reason code {code}", "dim")) for code in law.reasons),
                ("", ""),
            ]
    return facts if facts and facts[-1][1] else facts[:-1]
