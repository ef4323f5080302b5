"""Joint plans by the definition: all orders of serving, and in each step all sets.

After a step the state is read anew from its objects: victims are deleted, the preemptor is
written as admitted. Flavors are those of the reference, which recorded answers keep honest; the
sets of a step are those of the brute force.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.plan.kueue import JointPlan
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.decision import decide
from planner.state.kueue import State
from tests.brute_force import Gone, legal_sets, question_of
from tests.random_trees import NOW
from tests.solver.ping_pong import admission

Json = dict[str, Any]
Order = tuple[str, ...]


def is_best(plan: JointPlan) -> bool:
    """Say whether a joint plan is proved best, or is by the solver's word: it has no trees."""
    return plan.status == "optimal" or plan.certificate.claimed


@dataclass
class JointTruth:
    """What can be reached from some objects: per order of those served, all that can be gone.

    ``within`` bounds how many states are looked at; ``complete`` says that these were all.
    """

    objects: Sequence[Json]
    within: int = 3000
    reached: dict[Order, set[Gone]] = field(default_factory=dict)
    looked: int = 0

    def __post_init__(self) -> None:
        """Look at every order and every set."""
        self.state = self._state(self.objects)
        pending = [w.key for w in self.state.workloads if w.is_pending]
        self.pending = sorted(pending, key=self._precedence)
        self._seen: set[tuple[Order, Gone, str]] = set()
        self._go(self.objects, (), frozenset(), "")

    @property
    def complete(self) -> bool:
        """Whether every state was looked at."""
        return self.looked <= self.within

    def sets(self, *, in_order: bool = False) -> dict[frozenset[str], set[Gone]]:
        """Return, per set of those admitted, what can be gone; in order of precedence or any."""
        found: dict[frozenset[str], set[Gone]] = {}
        for order, gone in self.reached.items():
            if not in_order or list(order) == sorted(order, key=self.pending.index):
                found.setdefault(frozenset(order), set()).update(gone)
        return found

    def admitted(self) -> frozenset[str]:
        """Return who is admitted at best: lexicographically, the first in precedence first."""
        return max(self.sets(), key=lambda who: [key in who for key in self.pending])

    def _precedence(self, key: str) -> tuple[int, str, str]:
        item = next(w for w in self.state.workloads if w.key == key)
        created = item.metadata.creation_timestamp
        return -(item.spec.priority or 0), str(created), item.metadata.uid

    def _state(self, objects: Sequence[Json]) -> State:
        return read_kueue_objects(list(objects), where="joint", now=NOW)

    def _go(self, objects: Sequence[Json], order: Order, gone: Gone, earlier: str) -> None:
        if (order, gone, earlier) in self._seen or not self.complete:
            return
        self._seen.add((order, gone, earlier))
        self.looked += 1
        self.reached.setdefault(order, set()).add(gone)
        state = self._state(objects)
        snapshot = take_snapshot(state)
        for key in self.pending:
            if key in order:
                continue
            preemptor = find_preemptor(state, snapshot, key)
            assignment = decide(snapshot, preemptor).assignment
            for victims in legal(snapshot, preemptor, assignment):
                if victims.isdisjoint(order):
                    admitted = admission(snapshot, preemptor, assignment)
                    after = _after(objects, key, admitted, victims)
                    flavors = f"{earlier}{key}{assignment.model_dump_json()}"
                    self._go(after, (*order, key), gone | victims, flavors)


def legal(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> set[Gone]:
    """Return every set that may go for a preemptor: nobody if it fits, else by preemption."""
    if assignment.mode == "NoFit" or len(assignment.pod_sets) < len(preemptor.pod_sets):
        return set()
    if assignment.mode == "Preempt":
        fair = snapshot.configuration.fair_sharing_on
        return legal_sets(snapshot, preemptor, assignment, fair=fair)
    fits = question_of(snapshot, preemptor, assignment).fits(0, borrow=True)
    return {frozenset()} if fits else set()


def _after(objects: Sequence[Json], key: str, admitted: Json, victims: Gone) -> list[Json]:
    """Return the objects with the victims deleted and the preemptor admitted."""
    reserved = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": NOW}
    status = {"admission": admitted, "conditions": [{**reserved, "reason": "QuotaReserved"}]}
    kept = []
    for item in objects:
        metadata = item.get("metadata", {})
        name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        if item["kind"] != "Workload" or name not in {key, *victims}:
            kept.append(item)
        elif name == key:
            kept.append({**item, "status": status})
    return kept
