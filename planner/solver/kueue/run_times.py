"""What a dump leaves open of how long the victims of a plan have run.

Source: docs/design/objectives.md §2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from planner.plan.base import name_some
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.slices import Slices
from planner.state.kueue import State, Workload
from planner.state.kueue_workload import NEVER_READY

MOST_NAMED: Final = 5
"""How many victims one remark names at most."""


def on_run_times(state: State, victims: Iterable[Admitted]) -> Iterator[str]:
    """Yield remarks on the victims of which the dump does not tell how long they have run."""
    some = [one for one in victims if not one.evicted]
    slices = Slices(state.workloads)
    cut = [one.key for one in some if one.workload.replaces and slices.missing(one.workload)]
    if cut:
        yield (
            "the slice that it replaced is not in the dump: how long the job ran before is not "
            f"known, and not counted as lost: {name_some(cut, MOST_NAMED)}"
        )
    ready = {one.key: one.workload.condition("PodsReady") for one in some if one.started_at}
    failed = [
        key
        for key, one in ready.items()
        if one is not None and one.status == "False" and one.reason not in NEVER_READY
    ]
    if failed:
        yield (
            "PodsReady is False, and not because the pods have yet to start: how long they ran is "
            "not known, and all time since the admission counts as lost: "
            f"{name_some(failed, MOST_NAMED)}"
        )
    undated = [one.key for one in some if one.started_at is None and _is_undated(one.workload)]
    if undated:
        yield (
            "the dump does not tell since when it holds its quota: no run time counts as lost: "
            f"{name_some(undated, MOST_NAMED)}"
        )


def _is_undated(workload: Workload) -> bool:
    """Say whether neither the reservation nor the admission of a holder has a time."""
    conditions = workload.condition("QuotaReserved"), workload.condition("Admitted")
    return all(one is None or one.last_transition_time is None for one in conditions)
