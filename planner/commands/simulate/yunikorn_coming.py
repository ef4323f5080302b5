"""Asks of YuniKorn that are not there at the start, and arrive later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from planner.commands.simulate.script import Arrivals, Script
from planner.errors import LookupFailed, SchemaError
from planner.quota.yunikorn.properties import SECOND
from planner.reference.yunikorn.flow import asked_as
from planner.state.yunikorn import Application, Ask, Claim, YuniKornState


class Coming(NamedTuple):
    """An ask that arrives in an application of a partition, in seconds after the start."""

    key: str
    at_s: int
    tree: int
    application: str
    ask: Ask


def comings(state: YuniKornState, script: Script) -> tuple[YuniKornState, dict[str, Coming]]:
    """Return the state without the asks that come later, and these by their keys.

    Raises
    ------
    LookupFailed
        If the script copies what is not there.
    SchemaError
        If a copy would have the key of what is there.
    """
    later = list(_later(state, script))
    copies = [copy for rows in script.arrival for copy in _copies(state, rows)]
    found: dict[str, Coming] = {}
    known = {claim.allocation_key for _, _, claim in _claims(state)} - {one.key for one in later}
    for coming in (*later, *copies):
        if coming.key in known or coming.key in found:
            raise SchemaError("arrival", f"{coming.key} is there already", hint="copy another one")
        found[coming.key] = coming
    gone = {one.key for one in later}
    partitions = tuple(
        one.model_copy(
            update={"applications": tuple(_without(each, gone) for each in one.applications)}
        )
        for one in state.partitions
    )
    return state.model_copy(update={"partitions": partitions}), found


def _claims(state: YuniKornState) -> Iterator[tuple[int, Application, Claim]]:
    for tree, partition in enumerate(state.partitions):
        for application in partition.applications:
            for claim in (*application.allocations, *application.requests):
                yield tree, application, claim


def _without(application: Application, gone: set[str]) -> Application:
    kept = tuple(ask for ask in application.requests if ask.allocation_key not in gone)
    return application.model_copy(update={"requests": kept})


def _later(state: YuniKornState, script: Script) -> Iterator[Coming]:
    for tree, application, claim in _claims(state):
        at_s = script.arrive_s(claim.allocation_key)
        if isinstance(claim, Ask) and at_s is not None:
            ask = claim.model_copy(update={"request_time": state.now + at_s * SECOND})
            yield Coming(ask.allocation_key, at_s, tree, application.application_id, ask)


def _copies(state: YuniKornState, rows: Arrivals) -> Iterator[Coming]:
    claims = _claims(state)
    found = next((row for row in claims if row[2].allocation_key == rows.like), None)
    if found is None:
        raise LookupFailed("arrival.like", f"there is no ask or allocation {rows.told}")
    tree, application, claim = found
    for number in range(1, rows.count + 1):
        at_s = rows.at_seconds + (number - 1) * rows.every_seconds
        key = f"{claim.allocation_key}-{number}"
        ask = asked_as(key, claim, state.now + at_s * SECOND)
        yield Coming(key, at_s, tree, application.application_id, ask)
