"""YuniKorn's laws by the definition, with only some of them.

Written from docs/semantics/yunikorn.md §3 to §8 and §15, over the queues themselves, as
tests/yunikorn/brute_force.py is: no problem arrays, no masks, no adjusted priorities.
"""

from collections.abc import Collection, Iterator

from planner.quota.yunikorn.cluster import Asking, Cluster, is_usable
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import fits_in, ge_known, plus, share_type
from planner.reference.yunikorn.candidates import Candidate
from tests.subsets import subsets
from tests.yunikorn.brute_force import Trial, Victims, freed, is_first, is_on


class RelaxedAsk:
    """One ask; laws that are not kept permit everything."""

    def __init__(self, cluster: Cluster, asking: Asking, kept: Collection[str]) -> None:
        self.cluster = cluster
        self.asking = asking
        self.kept = kept
        self.trial = Trial(asking)

    def has_plan(self) -> bool:
        """Say whether any set of allocations, on any node, keeps to the laws."""
        return any(
            self._fits(victims)
            and ("YK-05" not in self.kept or self.trial.has_order(frozenset(victims)))
            and ("YK-04" not in self.kept or self.trial.within_guaranteed(victims))
            and ("YK-09" not in self.kept or self.trial.within_limits(victims))
            and ("YK-02" not in self.kept or self.trial.keeps_guaranteed(self.cluster, victims))
            for victims in self._sets()
        )

    def _sets(self) -> Iterator[Victims]:
        if "YK-10" not in self.kept:
            yield ()
        yield from subsets([one for one in self._allocations() if self._may_go(one)], 1)

    def _allocations(self) -> Iterator[Candidate]:
        for application in self.cluster.partition.applications:
            leaf = self.cluster.tree.leaf_of(application)
            for allocation in application.allocations:
                if not allocation.x.not_in_app:
                    yield Candidate(allocation, leaf, application.application_id)

    def _may_go(self, one: Candidate) -> bool:
        """Say whether the laws that are kept permit an allocation on its own."""
        ask, held, own = self.asking.ask, one.allocation, self.asking.leaf
        inside = self._fence() in one.queue.lineage
        refused = {
            "YK-03": one.queue is own,
            "YK-06": not self._is_low(one),
            "YK-07": not inside or (one.queue.properties.disabled and one.queue is not own),
            "YK-10": not share_type(ask.resource, held.resource)
            or bool(held.required_node)
            or held.x.released
            or held.preempted,
            "YK-11": not (
                self.cluster.partition.preemption.enabled
                and ask.x.allow_preempt_other
                and is_first(self.cluster, self.asking)
            ),
        }
        return not any(refused[law] for law in self.kept & refused.keys())

    def _fence(self) -> Queue:
        """Walk up from the leaf of the ask to the first queue that stops preemption."""
        for queue in reversed(self.asking.leaf.lineage):
            limit, wanted = queue.effective_max, plus(queue.allocated, self.asking.ask.resource)
            if queue.properties.preemption_fence or (limit and not ge_known(limit, wanted)):
                return queue
        return self.asking.leaf.lineage[0]

    def _is_low(self, one: Candidate) -> bool:
        """Walk up with the ask's priority to the queue in common, then down to the victim."""
        worth = self.asking.ask.priority
        common = next(q for q in reversed(self.asking.leaf.lineage) if q in one.queue.lineage)
        for queue in reversed(self.asking.leaf.lineage):
            fenced, offset = queue.properties.priority_fence, queue.properties.priority_offset
            worth = offset if fenced else worth + offset
            if queue is common:
                break
        below = one.queue.lineage[one.queue.lineage.index(common) + 1 :]
        everything = False
        for queue in below:
            if queue.properties.priority_fence:
                if queue.properties.priority_offset > worth:
                    return False
                everything = True
            else:
                worth -= queue.properties.priority_offset
        return everything or one.allocation.priority <= worth

    def _fits(self, victims: Victims) -> bool:
        """Say whether some node takes the ask once the victims, all of them there, are gone."""
        if "YK-08" not in self.kept:
            return True
        wanted = self.asking.ask.resource
        return any(
            fits_in(room.available, wanted)
            or (all(is_on(v, room) for v in victims) and fits_in(freed(room, victims), wanted))
            for room in self.cluster.nodes
            if is_usable(self.cluster, room, self.asking.ask)
        )
