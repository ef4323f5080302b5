"""What is found in a configuration, as records."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from planner.plan.base import Record
from planner.plan.record import SCHEMA_VERSION, SchedulerId

Family = Literal["ping-pong", "impossible", "useless"]
"""ping-pong: workloads evict one another, again and again. impossible: a preemption that the
configuration seems to ask for finds nobody. useless: a setting that changes nothing."""

Severity = Literal["error", "warning", "note"]
"""error: the scheduler refuses the object, or it can never do what it says. warning: it can
surprise. note: it does nothing."""


class Example(Record):
    """A smallest state in which a finding shows, made of the objects concerned.

    ``state`` is an input of every command that reads a state; ``pending`` is who wants in
    there, as ``planner solve --pending`` takes it; ``shows`` says what the scheduler's own
    algorithm, replayed, does in it, step by step.
    """

    state: dict[str, Any]
    pending: str
    shows: tuple[str, ...]


class Finding(Record):
    """Something that a configuration makes possible, impossible or pointless.

    ``objects`` are those concerned as kubectl names them, ``clusterqueue/team-a``, or queues of
    YuniKorn by their paths, ``queue/root.a``. ``hint`` is a change after which the example does
    not show it any more.
    """

    code: str
    family: Family
    severity: Severity
    title: str
    objects: tuple[str, ...]
    reason: str
    hint: str
    example: Example


class Lint(Record):
    """All findings of a state, in the order of their codes."""

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    scheduler: SchedulerId
    digest: str
    findings: tuple[Finding, ...]
