"""What every step of a preemption search looks at, what a search finds, and what is known of it.

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


class Recalled(Struct, frozen=True):
    """What one search of a decision found and the next would find again.

    ``permitted`` is whom a policy permits of a queue, by place; ``naming`` says whether who holds
    something names contested quota, ``contesting`` who of a queue does; ``ordered`` are
    candidates, each list with the same in Kueue's order, but for past use.
    """

    permitted: dict[tuple[int, str], Sequence[int]] = field(default_factory=dict)
    naming: dict[frozenset[int], dict[int, bool]] = field(default_factory=dict)
    contesting: dict[tuple[int, str, frozenset[int]], Sequence[Admitted]] = field(
        default_factory=dict
    )
    ordered: list[tuple[list[Admitted], list[Admitted]]] = field(default_factory=list)


class Context(Struct, frozen=True):
    """One preemption search: who wants in, with what request, contesting which fr.

    ``usage`` is changed by the search and restored at its end. ``request`` is REQ, amounts per
    fr; ``contested`` is FRS (docs/semantics/kueue.md §5.1). ``chance`` decides where Kueue's own
    order does not. ``places`` tests whether there is room on the nodes, where that matters.
    ``recalled`` is what all searches of a decision have in common.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    request: Mapping[int, int]
    contested: frozenset[int]
    chance: Chance = field(default_factory=Chance)
    places: PlaceTest | None = None
    recalled: Recalled = field(default_factory=Recalled)

    @property
    def queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.preemptor.queue

    @property
    def policy(self) -> Preemption:
        """The preemption policies of the preemptor's ClusterQueue."""
        return self.snapshot.queues[self.preemptor.queue].spec.preemption

    @keeps(KQ_FITS, KQ_WITHOUT_BORROWING)
    def fits(self, *, borrowing: bool) -> bool:
        """Say whether the request fits in what is available, and in nominal unless borrowing.

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
        # Last, as in Kueue, and it is what costs: quota says no in most steps of a search.
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

    An attempt is named by whether it permits borrowing. ``borrowing`` is the successful one.
    """

    targets: tuple[Target, ...]
    attempts: tuple[bool, ...]
    borrowing: bool | None = None


def fill_back(context: Context, targets: list[Target], *, borrowing: bool) -> None:
    """Give back what is not needed, last but one first (§5.7); the swap decides the order."""
    # Not the last: until it went, the preemptor did not fit. What moves into a gap is not looked
    # at again, and nobody's validity is tested anew: both as in Kueue.
    for position in range(len(targets) - 2, -1, -1):
        workload = targets[position].workload
        context.put_back(workload)
        if context.fits(borrowing=borrowing):
            targets[position] = targets[-1]
            targets.pop()
        else:
            context.take_out(workload)


def restore(context: Context, targets: list[Target]) -> None:
    """Put the targets back into the usage."""
    for target in targets:
        context.put_back(target.workload)


Tried = Sequence[Mapping[str, int]]
"""How far walks came: podset by podset, the place of a flavor per resource."""

# As in Kueue, where the next walk begins one behind it: at the first flavor.
LAST: Final = -1


class Assigned(Struct, frozen=True):
    """An assignment with what a scheduling cycle asks of it.

    ``usage`` is per fr over all podsets, zeros and the request for ``pods`` included; ``tried``
    says, podset by podset, at which of its flavors the walk for a resource that got one stopped,
    from 0, or -1 for the last; ``reason`` is Kueue's reason for NoFit, empty for every other
    mode; ``message`` is what Kueue writes on the workload. All four are empty where no walk was
    made: the flavors were given, or the queue is inactive. ``placements`` says by podset where the
    pods go, where that is decided, and ``delayed`` for which podsets that is done later.
    """

    assignment: Assignment
    usage: Mapping[int, int] = field(default_factory=dict)
    tried: Tried = ()
    reason: str = ""
    message: str = ""
    placements: Mapping[str, Placement] = field(default_factory=dict)
    delayed: frozenset[str] = frozenset()
