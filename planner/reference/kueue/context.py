"""The context of a preemption search, its result, and what was assigned by a decision before.

Source: docs/semantics/kueue.md §4.1, §5.7 and §7.5; kueue ff69552e
pkg/scheduler/preemption/preemption.go ``fillBackWorkloads``, ``restoreSnapshot``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field

from planner.laws.kueue import KQ_FITS, KQ_WITHOUT_BORROWING
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.topology.assigning import PlaceTest
from planner.reference.laws import keeps
from planner.state.queues import Preemption

if TYPE_CHECKING:
    from planner.reference.kueue.topology.find import Placement


class Context(Struct, frozen=True):
    """One preemption search: the preemptor, its request, and the contested fr.

    ``usage`` is changed by the search and restored at its end. ``request`` is REQ, amounts per
    fr; ``contested`` is FRS (docs/semantics/kueue.md §5.1). ``chance`` decides where Kueue's own
    order does not. ``places`` tests whether there is room on the nodes, where that matters.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    request: Mapping[int, int]
    contested: frozenset[int]
    chance: Chance = field(default_factory=Chance)
    places: PlaceTest | None = None

    @property
    def queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.preemptor.queue

    @property
    def policy(self) -> Preemption:
        """The preemption policies of the preemptor's ClusterQueue."""
        return self.snapshot.queues[self.preemptor.queue].spec.preemption

    @keeps(KQ_FITS, KQ_WITHOUT_BORROWING)
    def workload_fits(self, *, borrowing: bool) -> bool:
        """Say whether the request fits in what is available, and in nominal quota unless borrowing.

        Where pods are placed on nodes, there must be room for them, too.
        """
        usage, queue, tree = self.usage, self.queue, self.usage.tree
        for fr, amount in self.request.items():
            if not borrowing:
                used = tree.arithmetic.add(usage.amount[queue][fr], amount)
                if used > tree.nominal(queue, fr):
                    return False
            # Clamped as in Kueue: a request of 0 fits even where the tree is over-admitted.
            if amount > max(0, usage.available(queue, fr)):
                return False
        # Last, as in Kueue, as it is expensive: in most steps of a search quota says no.
        return self.places is None or self.places.fits()

    def take_out(self, workload: Admitted) -> None:
        """Let a workload give back its quota and its places."""
        self.usage.remove(workload.queue, workload.usage)
        if self.places is not None:
            self.places.take_out(workload)

    def put_back(self, workload: Admitted) -> None:
        """Let a workload have its quota and its places again."""
        self.usage.add(workload.queue, workload.usage)
        if self.places is not None:
            self.places.put_back(workload)


class Target(NamedTuple):
    """A workload the scheduler would preempt, and its reason code."""

    workload: Admitted
    reason: str


class Search(NamedTuple):
    """What the search found: targets in Kueue's order, empty if none; its attempts, in order.

    An attempt is given as whether it permits borrowing; ``borrowing`` is the successful attempt.
    """

    targets: tuple[Target, ...]
    attempts: tuple[bool, ...]
    borrowing: bool | None = None


def fill_back(context: Context, targets: list[Target], *, borrowing: bool) -> None:
    """Put back targets that are not needed, last but one first (§5.7); swaps change the order."""
    # Not the last target: before its removal the preemptor did not fit. A target that moves into a
    # gap is not tested again, nor is the validity of any target: both as in Kueue.
    for position in range(len(targets) - 2, -1, -1):
        workload = targets[position].workload
        context.put_back(workload)
        if context.workload_fits(borrowing=borrowing):
            targets[position] = targets[-1]
            targets.pop()
        else:
            context.take_out(workload)


def restore(context: Context, targets: list[Target]) -> None:
    """Put the targets back into the usage."""
    for target in targets:
        context.put_back(target.workload)


Tried = Sequence[Mapping[str, int]]
"""Where walks stopped: podset by podset, the place of a flavor per resource."""

# As in Kueue: the next walk begins one place behind -1, at the first flavor.
LAST: Final = -1


class Assigned(Struct, frozen=True):
    """An assignment with all that a scheduling cycle needs of it.

    ``usage`` is per fr over all podsets, zeros and the request for ``pods`` included; ``tried``
    has, podset by podset, for each resource that got a flavor the place at which its walk stopped,
    from 0, or -1 for the last flavor; ``reason`` is Kueue's reason for NoFit, empty for every other
    mode; ``message`` is what Kueue writes on the workload. All four are empty where no walk was
    made: the flavors were given, or the queue is inactive. ``placements`` has the places of the
    pods by podset, where they are decided; ``delayed`` are the podsets that are placed later.
    """

    assignment: Assignment
    usage: Mapping[int, int] = field(default_factory=dict)
    tried: Tried = ()
    reason: str = ""
    message: str = ""
    placements: Mapping[str, Placement] = field(default_factory=dict)
    delayed: frozenset[str] = frozenset()
