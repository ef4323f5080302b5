"""KEP-83 by its text: workloads removed one at a time, in every order; and its own algorithm.

Everything is written from the KEP's sections "ClusterQueue API changes", "Preemption" and
"Alternatives", with no regard to speed, and with the decisions on what it leaves open that
``planner.research.kep83.laws`` states. Quota arithmetic is ``tests.oracle``'s; of the product only
what was read and the names of the options are used.
"""

from collections.abc import Mapping

from planner.research.kep83.options import Kep83
from tests.brute_force import Gone
from tests.oracle.amounts import plus
from tests.oracle.cluster import Held
from tests.oracle.legality import reachable
from tests.oracle.question import Question


class Kep83Simulation:
    """One preemptor with its flavors assigned, on one snapshot. Keep the workloads few."""

    def __init__(
        self,
        question: Question,
        options: Kep83,
        waited: int = 0,
        cost: Mapping[str, int] | None = None,
    ) -> None:
        self.question, self.tree = question, question.tree
        self.queue, self.contested = question.queue, question.contested
        self.held = question.cluster.held
        self.options = options
        self.waited = waited
        self.cost = cost or {}
        # The defaults of the options are what the ClusterQueue says, in today's words.
        self.within_cohort = (
            options.cohort
            or {
                "Never": "Never",
                "LowerPriority": "ReclaimFromLowerPriority",
                "Any": "ReclaimFromAny",
            }[question.policies["reclaimWithinCohort"]]
        )
        own = options.queue or question.policies["withinClusterQueue"]
        self.within_queue = "Never" if own == "Never" else "LowerPriority"

    def fits_in_quota(self, gone: int) -> bool:
        """Step 4: within the quota; what needs preemption does not borrow, as a rule."""
        for at, asked in self.question.request.items():
            if asked > max(0, self.tree.available(self.queue, at, gone)):
                return False
            if at in self.contested and self.within_cohort != "LowerPriority":
                used = self.tree.usage(self.queue, at, gone)
                if plus(used, asked) > self.tree.nodes[self.queue].nominal.get(at, 0):
                    return False
        return True

    def candidates(self) -> list[int]:
        """Steps 1 and 2: whom the algorithm lists."""
        if self.waited < self.options.wait:
            return []
        return [index for index, held in enumerate(self.held) if self._is_listed(held)]

    def _is_listed(self, held: Held) -> bool:
        if held.uses.isdisjoint(self.contested):
            return False
        queue, lower = ("queue", held.queue), held.priority < self.question.priority
        if queue == self.queue:
            return lower and self.within_queue == "LowerPriority"
        if self.tree.above(queue)[-1:] != self.tree.above(self.queue)[-1:]:
            return False
        node = self.tree.nodes[queue]
        if not node.active or self.within_cohort == "Never":
            return False
        if not lower and self.within_cohort != "ReclaimFromAny":
            return False
        return any(self.tree.usage(queue, at, 0) > node.nominal.get(at, 0) for at in self.contested)

    def is_skipped(self, gone: int, index: int) -> bool:
        """Step 4: a queue already below its min quota for all the involved flavors is skipped."""
        queue = "queue", self.held[index].queue
        nominal = self.tree.nodes[queue].nominal
        return queue != self.queue and all(
            self.tree.usage(queue, at, gone) < nominal.get(at, 0) for at in self.contested
        )

    def legal_sets(self) -> set[Gone]:
        """Return every set that single permitted removals lead to and that makes room."""
        reached = reachable(
            tuple(self.candidates()), lambda gone, index: not self.is_skipped(gone, index)
        )
        found = (gone for gone in reached if gone and self.fits_in_quota(gone))
        return self.question.names(found)

    def in_order(self) -> list[str]:
        """Step 3: return the candidates in order."""
        return [self.held[index].key for index in self._in_order()]

    def _in_order(self) -> list[int]:
        return sorted(self.candidates(), key=lambda index: self._place(self.held[index]))

    def algorithm(self) -> list[str]:
        """Steps 4 and 5: remove in order until it fits, add back in reverse; who is left."""
        gone: list[int] = []
        for index in self._in_order():
            if self.fits_in_quota(_mask(gone)) and gone:
                break
            if not self.is_skipped(_mask(gone), index):
                gone.append(index)
        if not self.fits_in_quota(_mask(gone)):
            return []
        for index in reversed(gone.copy()):
            rest = [other for other in gone if other != index]
            if self.fits_in_quota(_mask(rest)):
                gone = rest
        return [self.held[index].key for index in gone]

    def _place(self, held: Held) -> list[float | str]:
        compared: list[float | str] = [0 if ("queue", held.queue) != self.queue else 1]
        for criterion in self.options.order or ("ByLowestPriority", "ByLowestRuntime"):
            if criterion == "ByLowestPriority":
                compared.append(held.priority)
            elif criterion == "ByLowestDisruptionCost":
                compared.append(self.cost.get(held.key, 0))
            else:
                ran = (self.question.cluster.now - held.reserved_at).total_seconds()
                compared.append(ran if criterion == "ByLowestRuntime" else -ran)
        return [*compared, held.uid]


def _mask(indices: list[int]) -> int:
    return sum(1 << index for index in indices)
