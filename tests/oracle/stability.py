"""Which victims would preempt again: each is asked alone, in the objects as they are after a plan.

All victims wait again then, and the pending workload holds what it asked for. Somebody who is
being evicted already is not asked, and to evict such a one is no new eviction. Classical only.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.oracle.afterwards import admitted, requeued
from tests.oracle.assignment import asked
from tests.oracle.cluster import Cluster, Json
from tests.oracle.greedy import kueue
from tests.oracle.legality import BORROWING, WITHIN, Legal, collected
from tests.oracle.objectives import Enumeration, legal_sets
from tests.oracle.question import Question
from tests.oracle.random_states import NOW

STABLE: Final = (
    "unstable last_resort highest_priority workloads priority_weight past_preemptions "
    "lost_work+restart_cost excess_freed queues"
)
"""The levels of the objective ``stable``."""

RELAPSES: Final = "unstable"
REASONS: Final = {WITHIN: "InClusterQueue", BORROWING: "InCohortReclaimWhileBorrowing"}


class Stability:
    """All legal sets of a question, with what follows from each of them."""

    def __init__(
        self,
        objects: Sequence[Json],
        pending: str,
        question: Question,
        costs: Mapping[str, int] | None = None,
    ) -> None:
        self.question = question
        self.legal: Legal = legal_sets(question)
        self.after = admitted(objects, pending, question)
        self.reasons = {
            each.held.key: REASONS.get(each.variant, "InCohortReclamation")
            for each in collected(question)[0]
        }
        self.all = Enumeration(self.legal, costs)
        for victims, terms in self.all.known.items():
            terms[RELAPSES] = len(self.cascade_replay(self.legal.keys(victims)))

    def cascade_replay(self, victims: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return whom each of some victims would preempt, where it would preempt anybody."""
        gone = {key: self.reasons[key] for key in victims}
        cluster = Cluster(requeued(self.after, gone), NOW)
        going = {held.key for held in self.question.cluster.held if held.evicted}
        found = {}
        for key in victims:
            question = None if key in going else asked(cluster, key)
            targets = kueue(question) if question is not None and question.contested else ()
            new = tuple(target for target in targets if target not in going)
            if new:
                found[key] = new
        return found

    def stable(self) -> Enumeration:
        """Return the sets after which nobody would preempt again."""
        kept = Enumeration(self.legal, self.all.terms.costs)
        kept.known = {
            victims: terms for victims, terms in self.all.known.items() if not terms[RELAPSES]
        }
        return kept
