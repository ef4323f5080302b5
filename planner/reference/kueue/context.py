"""What every step of a preemption search looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.laws.kueue import KQ_FITS, KQ_WITHOUT_BORROWING
from planner.quota.kueue.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.topology.assigning import PlaceTest
from planner.reference.laws import keeps
from planner.state.queues import Preemption


@dataclass(frozen=True, slots=True)
class Context:
    """One preemption search: who wants in, with what request, contesting which fr.

    ``usage`` is changed by the search and restored at its end. ``request`` is REQ, amounts per
    fr; ``contested`` is FRS (docs/semantics/kueue.md §5.1). ``chance`` decides where Kueue's own
    order does not. ``places`` tests whether there is room on the nodes, where that matters.
    ``permitted`` remembers whom a policy permits of a queue: it is the same for all searches of a
    decision.
    """

    snapshot: Snapshot
    usage: Usage
    preemptor: Preemptor
    request: Mapping[int, int]
    contested: frozenset[int]
    chance: Chance = field(default_factory=Chance)
    places: PlaceTest | None = None
    permitted: dict[tuple[int, str], list[Admitted]] = field(default_factory=dict)

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
