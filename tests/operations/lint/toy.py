"""What lint says of the toy scheduler."""

from collections.abc import Iterator

from planner.operations.lint.lint import Example, Finding, Looked
from tests.scheduler.toy import ToyState


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
