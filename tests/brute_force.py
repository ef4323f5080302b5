"""The second implementation, asked about what the product has read.

Quotas, holders, the request and the flavors that are assigned are the product's; what is legal then
is said by ``tests.oracle`` alone, which removes candidates one by one, in every order.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from planner.quota.kueue.assignment import Assignment, contested, total_request, whole_request
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from tests.oracle.cluster import Cluster, Held, Node, NodeId
from tests.oracle.fair import fair as shared_fairly
from tests.oracle.legality import classical, collected, reached
from tests.oracle.question import Question
from tests.oracle.tree import Tree

Gone = frozenset[str]
"""The workloads removed so far, as namespace/name."""

BySets = dict[bool, set[Gone]]
"""Sets by the attempt, which is named by whether borrowing is permitted."""


def node_id(snapshot: Snapshot, at: int) -> NodeId:
    """Return the id of a node."""
    node = snapshot.tree.nodes[at]
    return "queue" if node.is_queue else "cohort", node.name


class AsRead(Cluster):
    """The nodes and holders of a snapshot. Keep the workloads few."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.now = snapshot.now
        configuration, gate = snapshot.configuration, "FairSharingPreemptWithinNominal"
        self.configuration = {
            "featureGates": {gate: configuration.gate(gate)},
            "fairSharing": {"preemptionStrategies": configuration.strategies},
        }
        self.nodes = {node.id: node for node in map(self._read, range(len(snapshot.tree.nodes)))}
        holders = (one for held in snapshot.admitted.values() for one in held)
        self.held = tuple(map(self._holder, holders))

    def _read(self, at: int) -> Node:
        node, frs = self.snapshot.tree.nodes[at], self.snapshot.tree.frs
        policies = self.snapshot.queues[at].spec.preemption if node.is_queue else None
        limits = {frs[fr]: quota for fr, quota in node.quotas.items()}
        borrowing = {fr: quota.borrowing_limit for fr, quota in limits.items()}
        lending = {fr: quota.lending_limit for fr, quota in limits.items()}
        return Node(
            node_id(self.snapshot, at),
            node_id(self.snapshot, node.parent) if node.parent >= 0 else None,
            {fr: quota.nominal for fr, quota in limits.items()},
            {fr: limit for fr, limit in borrowing.items() if limit is not None},
            {fr: limit for fr, limit in lending.items() if limit is not None},
            node.weight,
            node.active,
            policies.model_dump(by_alias=True) if policies else {},
        )

    def _holder(self, one: Admitted) -> Held:
        frs = self.snapshot.tree.frs
        return Held(
            one.key,
            one.uid,
            self.snapshot.tree.nodes[one.queue].name,
            {frs[fr]: amount for fr, amount in one.usage.items()},
            frozenset(frs[fr] for fr in one.names),
            one.priority,
            one.queued_at,
            datetime.fromtimestamp(one.reserved_s, UTC),
            one.evicted,
            {},
        )


def question_of(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Question:
    """Put the question of a preemptor with its flavors assigned."""
    cluster, frs = AsRead(snapshot), snapshot.tree.frs
    request, whole = (
        {frs[fr][:2]: amount for fr, amount in ask(assignment, preemptor, snapshot).items()}
        for ask in (total_request, whole_request)
    )
    queue = node_id(snapshot, preemptor.queue)
    return Question(
        cluster,
        queue,
        preemptor.priority,
        preemptor.queued_at,
        request,
        frozenset(frs[fr] for fr in contested(assignment, snapshot)),
        Tree(cluster, queue, request, whole),
    )


def legal_by_attempt(question: Question, attempts: Iterable[bool] | None = None) -> BySets:
    """Return all legal sets of each attempt that is made, or of those that are asked for.

    An attempt is named by whether borrowing is permitted; the empty set is legal if the preemptor
    fits at once.
    """
    candidates, made = collected(question)
    return {
        borrow: question.names(reached(question, candidates, borrow=borrow))
        for borrow in (made if attempts is None else attempts)
    }


def legal_sets(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment, *, fair: bool
) -> set[Gone]:
    """Return every legal set; the empty one if the preemptor fits at once."""
    question = question_of(snapshot, preemptor, assignment)
    return (shared_fairly if fair else classical)(question).named
