"""All rules of a state's scheduler."""

from __future__ import annotations

from planner.linting import kueue, yunikorn
from planner.linting.record import Lint
from planner.state import AnyState, YuniKornState


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
    if isinstance(state, YuniKornState):
        found = yunikorn.findings_in(state)
        return Lint(scheduler="yunikorn", digest=state.digest, findings=tuple(found))
    return Lint(scheduler="kueue", digest=state.digest, findings=tuple(kueue.findings_in(state)))
