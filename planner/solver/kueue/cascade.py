"""Whether the victims of a plan would preempt again, by Kueue's own decision.

After the plan all its victims are gone and the preemptor holds what it was assigned. Each victim
then waits in its LocalQueue, with its own priority and its place in the queue; whom Kueue would
evict for it, alone, is replayed exactly. Other workloads that wait are not admitted in between.
What is being evicted already goes whatever the plan: as a victim it is not asked, and evicting it
is no new eviction.

Source: docs/design/objectives.md §3 (D11); docs/semantics/kueue.md §2.4, §4 to §7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.assignment import Assignment
from planner.plan import Cascade
from planner.quota.preemptor import as_preemptor
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.reference.kueue.decision import decide
from planner.solver.engine import OutOfTime, never
from planner.solver.kueue.aftermath import admit, evicted, snapshot_after
from planner.state import State


def cascades(  # noqa: PLR0913, PLR0917 - the state before, the plan, and the time
    state: State,
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    victims: Sequence[tuple[Admitted, str]],
    is_late: Callable[[], bool] = never,
) -> tuple[Cascade, ...]:
    """Return which victims would preempt again, in the order given.

    Parameters
    ----------
    state, snapshot
        The state before the plan, and its snapshot.
    preemptor, assignment
        Who is admitted by the plan, and with which flavors.
    victims
        Everyone who goes, with the reason code.
    is_late
        Whether time is up, asked before each decision.

    Raises
    ------
    LookupFailed
        If a victim's LocalQueue or ClusterQueue is not in the dump.
    OutOfTime
        If time is up before everybody was asked.
    """
    holder = admit(snapshot, preemptor, assignment)
    after = snapshot_after(snapshot, holder, [victim for victim, _ in victims])
    told = []
    for victim, reason in victims:
        if is_late():
            raise OutOfTime
        if not victim.evicted:
            waiting = pending_again(state, snapshot, victim, reason)
            told.append(cascade(after, preemptor, waiting))
    return tuple(one for one in told if one is not None)


def pending_again(state: State, snapshot: Snapshot, victim: Admitted, reason: str) -> Preemptor:
    """Return a victim as what waits once it is gone; ``reason`` is its reason code.

    Raises
    ------
    LookupFailed
        If its LocalQueue or ClusterQueue is not in the dump.
    """
    return as_preemptor(state, snapshot, evicted(victim, reason, snapshot.now))


def cascade(after: Snapshot, preemptor: Preemptor, waiting: Preemptor) -> Cascade | None:
    """Return whom a victim that waits would preempt after the plan; ``None`` for nobody."""
    found = decide(after, waiting).search.targets
    targets = tuple(one.workload.key for one in found if not one.workload.evicted)
    if not targets:
        return None
    return Cascade(victim=waiting.key, targets=targets, preemptor=preemptor.key in targets)
