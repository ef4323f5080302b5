"""What a queue remembers from cycle to cycle: who preempted last, and how far walks came.

Kueue ff69552e pkg/cache/queue/cluster_queue.go ``preemptorWorkload`` and
pkg/scheduler/scheduler.go ``lastAssignmentOutdated``, ``reserveCapacityForUnreclaimablePreempt``.
"""

from collections.abc import Iterable

import pytest

from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import Progress, waiting_queues
from planner.state.kueue_configuration import Configuration
from tests.cluster import Object, cohort, configuration, queue, running, state_of
from tests.reference.cycles import waits

GATE = "PrioritizePreemptorWorkloads"


def ran(*parts: Iterable[Object], preemptor: str) -> list[str]:
    """Run a cycle in which a workload is remembered as the preemptor of its queue."""
    state = state_of(*parts)
    snapshot = take_snapshot(state)
    queues = waiting_queues(state, snapshot)
    for waiting in queues.values():
        if any(pending.key == preemptor for pending in waiting.active):
            waiting.preemptor = preemptor
    entries = schedule(state, snapshot, queues).entries
    return [f"{entry.preemptor.workload.metadata.name} {entry.outcome}" for entry in entries]


@pytest.mark.parametrize(("gate", "first"), [(False, ["fair", "old"]), (True, ["old", "fair"])])
@pytest.mark.parametrize("fairly", [False, True])
def test_whoever_preempted_before_comes_first_by_a_gate(
    *, gate: bool, first: list[str], fairly: bool
) -> None:
    """Fair borrows less than old, or nothing: it comes first by either order without the gate."""
    more: dict[str, object] = {"fairSharing": {}} if fairly else {}
    entries = ran(
        queue("a", 0, "c"),
        queue("b", 1, "c"),
        cohort("c", nominal=7),
        waits("old", "a", 4, 10),
        waits("fair", "b", 1),
        configuration(featureGates={GATE: gate}, **more),
        preemptor="ns/old",
    )
    assert entries == [f"{name} admitted" for name in first]


@pytest.mark.parametrize(("gate", "second"), [(False, "admitted"), (True, "skipped")])
def test_a_preemptor_that_finds_nobody_keeps_room_by_a_gate(*, gate: bool, second: str) -> None:
    """Two of four are free, and large wants all. It may reclaim from anybody, but nobody borrows.

    With the gate all it wants counts as used, and small has to wait.
    """
    entries = ran(
        queue("a", 2, "c", reclaim="Any", borrow="LowerPriority"),
        queue("b", 2, "c"),
        running("there", "b", 2),
        waits("large", "a", 4, 10),
        queue("z", 0, "c"),
        waits("small", "z", 1),
        configuration(featureGates={GATE: gate}),
        preemptor="ns/large",
    )
    assert entries == ["large noCandidates", f"small {second}"]


@pytest.mark.parametrize(
    ("cycle", "generation", "keeps", "outdated"),
    [
        # Noted in cycle 5 at generation 3.
        (6, 3, True, False),
        (6, 4, True, False),  # of the cycle before: whatever happened since
        (7, 4, True, True),
        (7, 3, True, False),  # nothing was given back since
        (6, 4, False, True),
        (6, 3, False, False),
    ],
)
def test_when_a_walk_begins_anew(
    *, cycle: int, generation: int, keeps: bool, outdated: bool
) -> None:
    gates = {"featureGates": {"FlavorFungibilityPreserveScanProgress": keeps}}
    configured = Configuration.model_validate(gates)
    progress = Progress(({"gpu": 0},), cycle=5, generation=3)
    assert progress.is_outdated(cycle, generation, configured) == outdated
    assert progress.has_untried
    assert not Progress(({"gpu": -1},), cycle=5, generation=3).has_untried
