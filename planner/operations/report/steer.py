"""What a steering tells, line by line, to be read."""

from __future__ import annotations

from planner.operations.report import watch
from planner.operations.steer.record import Act, Finding, Line
from planner.operations.watch.record import Note
from planner.report.style import Repeated, Said, fields, line


def text_of(record: Line) -> str:
    """Return a line to be read."""
    if isinstance(record, Note):
        return watch.text_of(record)
    if isinstance(record, Finding):
        holds = "there" if record.holds else "missing"
        cure = Said(record.cure) if record.cure else None
        return line("check", Said(record.what), holds, Said(record.found), cure) + "\n"
    at = record.at.isoformat(timespec="seconds")
    if isinstance(record, Act):
        lists = {"victims": record.victims, "own": record.own}
        boosts = tuple(f"{key}:{n:+d}" for key, n in record.boosts.items())
        facts = {name: Repeated(some) for name, some in {**lists, "boosts": boosts}.items() if some}
        dry = "yes" if record.dry_run else None
        return line(record.act, at, record.preemptor, Said(record.why), dry_run=dry, **facts) + "\n"
    names = "queue came steered admitted replans spared_s blocked_s used_s"
    evicted = Repeated(record.evicted)
    return line("steered", at, record.preemptor, **fields(record, names), evicted=evicted) + "\n"
