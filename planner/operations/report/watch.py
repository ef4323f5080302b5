"""What a watch tells, line by line: to be read, or as JSON lines."""

from __future__ import annotations

import json

from planner.operations.watch.record import Decision, Line, Note, Preemption
from planner.plan import Record
from planner.report.style import Repeated, Said, Value, line


def json_of(record: Record) -> str:
    """Return a line of JSON in ASCII, so that no name can steer a terminal."""
    return json.dumps(json.loads(record.model_dump_json(by_alias=True)), allow_nan=False) + "\n"


def text_of(record: Line) -> str:
    """Return a line to be read."""
    at = record.at.isoformat(timespec="seconds")
    if isinstance(record, Note):
        lost = None if record.connected else "no"
        return line("note", at, Said(record.text), connected=lost) + "\n"
    facts: dict[str, Value] = {"queue": record.queue}
    if isinstance(record, Preemption):
        facts |= {"outcome": record.outcome, "evicted": Repeated(record.evicted)}
        if record.outcome == "different":
            facts["replayed"] = Repeated(record.replayed)
        facts |= {"recording": record.recording or None}
    conditional = record.conditional if isinstance(record, Preemption) else ()
    if (found := record.measured) is not None:
        if isinstance(record, Decision):
            facts["evicts"] = Repeated(found.victims)
        facts |= {
            "victims": len(found.victims),
            "needless": "unsettled" if found.needless is None else len(found.needless),
            "fewest": "unsettled" if found.fewest is None else found.fewest,
            "lost_s": found.lost_s,
            "least_lost_s": found.least_lost_s,
            "status": found.status,
        }
        if found.least_lost_s is not None and {*found.optimum} != {*found.victims}:
            facts["instead"] = Repeated(found.optimum)
        conditional = conditional or found.conditional
    if conditional:
        facts["conditional"] = Repeated(conditional)
    detail = Said(record.detail) if isinstance(record, Preemption) and record.detail else None
    return line(record.kind, at, record.preemptor, detail, **facts) + "\n"
