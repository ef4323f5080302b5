"""What lint says of a toy scheduler, which has it as a part."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from planner.commands.whatif.edit import edit
from planner.operations.lint.lint import Example, Finding, Looked, lint
from planner.scheduler import record, register, schedulers
from tests.scheduler.toy import TOY, Job, ToyState


def findings(state: ToyState) -> Iterator[Finding]:
    for job in state.waiting:
        if job.size > state.slots:
            yield Finding(
                code="TL-01",
                family="impossible",
                severity="error",
                title="never fits",
                objects=(job.name,),
                reason=f"{job.size} slots of {state.slots}",
                hint="ask for less",
                example=Example(state={}, pending=job.name, shows=()),
            )


def look(state: ToyState) -> Looked:
    return Looked(findings(state))


def test_lint_is_a_part_of_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_REGISTERED", {one.id: one for one in schedulers()})
    register(TOY)
    monkeypatch.setattr(sys.modules[lint.__module__], "looks", lambda: {"toy": look})
    state: Any = ToyState(6, (), (Job("wants", 3, 5), Job("huge", 7, 9)))
    found = lint(state)
    assert (found.scheduler, [one.objects for one in found.findings]) == ("toy", [("huge",)])
    assert lint(edit(state, ["slots=9"])).findings == ()
