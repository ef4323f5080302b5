"""What a watch tells, line by line: to be read, or as JSON lines."""

from __future__ import annotations

import json

from planner.commands.watch.record import Decision, Line, Note, Preemption
from planner.report.style import Repeated, Said, Value, line


def json_of(told: Line) -> str:
    """Return a line of JSON in ASCII, so that no name can steer a terminal."""
    return json.dumps(json.loads(told.model_dump_json(by_alias=True)), allow_nan=False) + "\n"


def text_of(told: Line) -> str:
    """Return a line to be read."""
    at = told.at.isoformat(timespec="seconds")
    if isinstance(told, Note):
        lost = None if told.connected else "no"
        return line("note", at, Said(told.text), connected=lost) + "\n"
    facts: dict[str, Value] = {"queue": told.queue}
    if isinstance(told, Preemption):
        facts |= {"outcome": told.outcome, "evicted": Repeated(told.evicted)}
        if told.outcome == "different":
            facts["replayed"] = Repeated(told.replayed)
        facts |= {"recording": told.recording or None}
    conditional = told.conditional if isinstance(told, Preemption) else ()
    if (found := told.measured) is not None:
        if isinstance(told, Decision):
            facts["evicts"] = Repeated(found.victims)
        facts |= {
            "victims": len(found.victims),
            "needless": "unsettled" if found.needless is None else len(found.needless),
            "fewest": "unsettled" if found.fewest is None else found.fewest,
            "lost_s": found.lost_s,
            "least_lost_s": found.least_lost_s,
            "status": found.status,
        }
        if found.optimum != found.victims:
            facts["instead"] = Repeated(found.optimum)
        conditional = conditional or found.conditional
    if conditional:
        facts["conditional"] = Repeated(conditional)
    detail = Said(told.detail) if isinstance(told, Preemption) and told.detail else None
    return line(told.kind, at, told.preemptor, detail, **facts) + "\n"
