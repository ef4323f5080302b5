"""All rules of a state's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from planner.commands.lint.record import Finding, Lint
from planner.scheduler import Part
from planner.state import AnyState

RULES: Final = Part[Callable[[AnyState], Iterable[Finding]]]("lint")
"""What yields the findings in a state."""


def lint(state: AnyState) -> Lint:
    """Return what is found in the configuration of a cluster, each with an example that shows it.

    Parameters
    ----------
    state
        What ``planner.read`` returned: ClusterQueues, Cohorts and Kueue's Configuration, or
        YuniKorn's queues. Workloads are looked at for their priorities and annotations only.

    Raises
    ------
    InputError
        If a workload names a flavor, or an application a queue, that nothing knows.
    """
    found = RULES.of(state)(state)
    return Lint(scheduler=state.scheduler, digest=state.digest, findings=tuple(found))
