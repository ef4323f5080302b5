"""What a watch tells, line by line: to be read, or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from planner.commands.watch.record import Decision, Line, Measured, Note, Preemption
from planner.report.style import Repeated, Said, Value, line


def text_of(told: Line) -> str:
    """Return a line to be read."""
    return _text(told) + "\n"


def json_of(told: Line) -> str:
    """Return a line of JSON in ASCII, so that no name can steer a terminal."""
    return json.dumps(json.loads(told.model_dump_json(by_alias=True)), allow_nan=False) + "\n"


def _text(told: Line) -> str:
    at = told.at.isoformat(timespec="seconds")
    if isinstance(told, Note):
        lost = None if told.connected else "no"
        return line("note", at, Said(told.text), connected=lost)
    facts: dict[str, Value] = {"queue": told.queue}
    if isinstance(told, Preemption):
        facts |= {"outcome": told.outcome, "evicted": Repeated(told.evicted)}
        if told.outcome == "different":
            facts["replayed"] = Repeated(told.replayed)
        facts |= {"recording": told.recording or None}
    conditional = told.conditional if isinstance(told, Preemption) else ()
    if told.measured is not None:
        facts |= dict(_measured(told.measured, whom=isinstance(told, Decision)))
        conditional = conditional or told.measured.conditional
    if conditional:
        facts["conditional"] = Repeated(conditional)
    detail = Said(told.detail) if isinstance(told, Preemption) and told.detail else None
    return line(told.kind, at, told.preemptor, detail, **facts)


def _measured(found: Measured, *, whom: bool) -> Iterator[tuple[str, Value]]:
    if whom:
        yield "evicts", Repeated(found.victims)
    yield "victims", len(found.victims)
    yield "needless", "unsettled" if found.needless is None else len(found.needless)
    yield "fewest", "unsettled" if found.fewest is None else found.fewest
    yield "lost_s", found.lost_s
    yield "least_lost_s", found.least_lost_s
    yield "status", found.status
    if found.optimum != found.victims:
        yield "instead", Repeated(found.optimum)
