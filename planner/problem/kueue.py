"""Kueue: snapshot to Problem.

Nodes are those of the preemptor's tree, flavor-resources those it requests or contests (under
fair sharing all of the tree, because shares count them), workloads all that hold quota in the
tree's active ClusterQueues: which of them are candidates is for the laws to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from msgspec import Struct

from planner.errors import UnsupportedError
from planner.problem.array import BoolArray, IntArray
from planner.problem.kueue_places import Places, places_of
from planner.quantity import UNLIMITED
from planner.quota.kueue.assignment import (
    Assignment,
    contested,
    total_request,
    whole_request,
)
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.past_use import Contender, Contest
from planner.quota.kueue.placing import placed_groups
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Shares
from planner.state.kueue_configuration import Strategy
from planner.state.queues import Preemption


class FairRules(Struct, frozen=True):
    """What fair sharing adds to a problem (docs/semantics/kueue.md §6).

    - ``strategies``: The configured strategies.
    - ``within_nominal``: Whether shares do not matter, because the preemptor stays within its
      nominal quota.
    - ``known``: (N,) per node the positions of the fr with a quota entry there or below; in older
      releases only of fr of which something can be lent, since others have no part in a share.
    - ``weight_nano``: (N,) weights in nano-units.
    - ``lendable``: Per cohort of the path, what it could use of each resource if nothing ran.
    """

    strategies: Sequence[Strategy]
    within_nominal: bool
    known: Sequence[Sequence[int]]
    weight_nano: Sequence[int]
    lendable: Mapping[int, Mapping[str, int]]


class Problem(Struct, frozen=True):
    """One preemption decision in integers.

    N nodes, F flavor-resources, W workloads. Node tables are Python integers, because quotas may
    be Unlimited (2^63 - 1) and must not wrap; workload arrays are numpy.

    - ``frs``: (F,) the flavor-resources; every other table is in this order.
    - ``request``: (F,) what must be available in the end, in integer units, 0 where only contested:
      REQ, and the number of pods where the queue covers ``pods``.
    - ``contested``: Positions of FRS: the fr whose assigned mode is Preempt.
    - ``parent``, ``children``, ``quota``, ``kept``, ``limit``, ``usage``, ``available``: (N,) and
      (N, F): parent node or -1, nodes below, subtree quota, what is never lent, borrowing limit or
      ``None``, usage before any removal; ``available`` is (F,), at the preemptor's queue.
    - ``path``: The preemptor's ClusterQueue, then the cohorts above it, the root last.
    - ``lca``: (N,) for a node off the path: the first node above it that is on the path.
    - ``advantage``: For each node of the path: whether the preemptor has hierarchical advantage
      over workloads whose lowest common ancestor is that node (docs/semantics/kueue.md §5.3).
    - ``workloads``, ``queue``, ``holding``, ``names_contested``, ``priority``, ``queued_later``,
      ``leaving``, ``order``: (W,): the records; their node; (W, F) their usage; whether they
      name a contested fr; effective priority; whether the preemptor queued strictly earlier;
      whether they go anyway; their rank in the scheduler's candidate order, from 0.
    - ``fair``: The rules of fair sharing where it is on, ``None`` under classical preemption.
    - ``searched``: (F,) REQ, which the search for victims counts: as ``request``, but with pods
      only in older releases.
    - ``zeros``: Positions of the fr of which REQ asks for 0; only older releases count them.
    - ``places``: What the preemptor needs on nodes, where pods are placed; ``None`` where quota
      alone decides.
    """

    frs: Sequence[FlavorResource]
    request: Sequence[int]
    contested: Sequence[int]
    names: Sequence[str]
    parent: Sequence[int]
    children: Sequence[Sequence[int]]
    quota: Sequence[Sequence[int]]
    kept: Sequence[Sequence[int]]
    limit: Sequence[Sequence[int | None]]
    usage: Sequence[Sequence[int]]
    available: Sequence[int]
    path: Sequence[int]
    lca: Sequence[int]
    advantage: Sequence[bool]
    policy: Preemption
    preemptor_priority: int
    workloads: Holders
    queue: IntArray
    holding: IntArray
    names_contested: BoolArray
    priority: IntArray
    queued_later: BoolArray
    leaving: BoolArray
    order: IntArray
    searched: Sequence[int]
    fair: FairRules | None = None
    zeros: Sequence[int] = ()
    places: Places | None = None

    @property
    def rules(self) -> str:
        """The rule set of the decision, as plans name it."""
        return "kueue-classical" if self.fair is None else "kueue-fair"

    @property
    def own_queue(self) -> int:
        """The preemptor's ClusterQueue."""
        return self.path[0]

    @property
    def requested(self) -> tuple[int, ...]:
        """Positions of the fr with a request."""
        return tuple(fr for fr, amount in enumerate(self.request) if amount)

    @property
    def needed(self) -> tuple[int, ...]:
        """Positions of the fr with a positive request.

        The request of a slice of an elastic workload may be negative: that fits in any case.
        """
        return tuple(fr for fr, amount in enumerate(self.request) if amount > 0)

    @property
    def within_nominal(self) -> tuple[int, ...]:
        """Positions of the fr whose nominal quota has to be kept: all of REQ, zeros included."""
        return (*(fr for fr, amount in enumerate(self.searched) if amount), *self.zeros)

    @property
    def from_own_queue(self) -> BoolArray:
        """(W,) whether a workload holds its quota in the preemptor's queue."""
        return np.equal(self.queue, self.own_queue)

    @property
    def has_advantage(self) -> BoolArray:
        """(W,) whether the preemptor has hierarchical advantage over a workload."""
        by_node = np.zeros(len(self.parent), dtype=np.bool_)
        for node, advantage in zip(self.path, self.advantage, strict=True):
            by_node[node] = advantage
        lca = np.asarray(self.lca, dtype=np.int64)
        shared: BoolArray = by_node[lca[self.queue]] & ~self.from_own_queue
        return shared


def build_problem(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    *,
    pods: bool = True,
) -> Problem:
    """Build the problem of one preemptor with its flavors assigned.

    ``pods`` says whether the ``pods`` that the preemptor asks for must be available in the end.
    Where the snapshot looks at topologies, pods need places on nodes, too.

    Raises ``UnsupportedError`` if usage has saturated 64 bits (removals would no longer lower it)
    or is negative, or if an elastic slice gives back quota of its cohort under fair sharing.
    """
    tree, usage = snapshot.tree, snapshot.usage
    searched = total_request(assignment, preemptor, snapshot)
    request = whole_request(assignment, preemptor, snapshot) if pods else searched
    _refuse_given_back(snapshot, preemptor, request)
    wanted = contested(assignment, snapshot)
    root = tree.root(preemptor.queue)
    # Under fair sharing, shares count whatever the tree has quota for, asked for or not.
    shared = tree.known[root] if snapshot.configuration.fair_sharing_on else ()
    frs = sorted({*request, *wanted, *shared})
    nodes = tree.below(root)
    # Inactive queues, too: what they use counts in the cohorts above.
    for node, fr in product(nodes, frs):
        if usage.amount[node][fr] == UNLIMITED:
            raise UnsupportedError(
                snapshot.queue_name(node), f"its usage of {tree.frs[fr]} is beyond 64 bits"
            )
    local = {node: i for i, node in enumerate(nodes)}
    parent = [local.get(tree.nodes[node].parent, NO_PARENT) for node in nodes]
    path = [local[node] for node in tree.path(preemptor.queue)]
    lca: list[int] = []
    for node, above in enumerate(parent):  # parents come before their children
        lca.append(node if node in path else lca[above])
    advantage = _advantage(snapshot, preemptor, searched)
    workloads = snapshot.contenders(preemptor.queue)
    number = np.array([local.get(node, -1) for node in range(len(tree.nodes))], dtype=np.int64)
    queue = number[workloads.columns.queue]
    _refuse_negative(snapshot, workloads)
    holding, names_contested = _held(workloads, frs, wanted)
    later = np.zeros(len(workloads), dtype=np.bool_)
    # The time of queueing decides only among workloads of the preemptor's own priority.
    equal = np.flatnonzero(workloads.columns.priority == preemptor.priority)
    later[equal] = [preemptor.queued_before(workloads[w].queued_at) for w in equal.tolist()]
    return Problem(
        frs=[tree.frs[fr] for fr in frs],
        request=[request.get(fr, 0) for fr in frs],
        contested=[i for i, fr in enumerate(frs) if fr in wanted],
        names=[tree.nodes[node].name for node in nodes],
        parent=parent,
        children=[[local[c] for c in tree.children[node]] for node in nodes],
        quota=[[tree.subtree[node][fr] for fr in frs] for node in nodes],
        kept=[[tree.kept[node][fr] for fr in frs] for node in nodes],
        limit=[[tree.borrowing_limit(node, fr) for fr in frs] for node in nodes],
        usage=[[usage.amount[node][fr] for fr in frs] for node in nodes],
        available=[usage.available(preemptor.queue, fr) for fr in frs],
        path=path,
        lca=lca,
        advantage=advantage,
        policy=snapshot.queues[preemptor.queue].spec.preemption,
        preemptor_priority=preemptor.priority,
        workloads=workloads,
        queue=queue,
        holding=holding,
        names_contested=names_contested,
        priority=workloads.columns.priority,
        queued_later=later,
        leaving=workloads.columns.leaving,
        order=_candidate_order(workloads, queue, lca, dict(zip(path, advantage, strict=True))),
        fair=_fair_rules(snapshot, preemptor, assignment, nodes, frs),
        searched=[searched.get(fr, 0) for fr in frs],
        zeros=[i for i, fr in enumerate(frs) if fr in searched and not searched[fr]],
        places=places_of(snapshot, placed_groups(assignment, preemptor, snapshot), workloads),
    )


def _refuse_given_back(
    snapshot: Snapshot, preemptor: Preemptor, request: Mapping[int, int]
) -> None:
    """Refuse a request below zero where fair sharing counts it as used: Kueue's sums go wrong.

    Adding the request leaves the usage of the cohorts as it is; taking it out, for each test
    whether the preemptor fits, raises that usage, so that every test makes the next one harder.
    """
    tree, usage, queue = snapshot.tree, snapshot.usage, preemptor.queue
    if not snapshot.configuration.fair_sharing_on or tree.nodes[queue].parent == NO_PARENT:
        return
    for fr, amount in request.items():
        if amount < 0 and usage.amount[queue][fr] > tree.kept[queue][fr]:
            raise UnsupportedError(
                preemptor.key,
                f"it gives back {tree.frs[fr]} of the slice that it replaces while it asks for "
                "other resources: under fair sharing Kueue's own sums go wrong on that",
            )


def _fair_rules(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    nodes: Sequence[int],
    frs: Sequence[int],
) -> FairRules | None:
    configuration, tree = snapshot.configuration, snapshot.tree
    if not configuration.fair_sharing_on:
        return None
    usage = snapshot.usage.copy()
    # As in the search itself, which decides this once, with the request in the tree.
    usage.add(preemptor.queue, total_request(assignment, preemptor, snapshot))
    within = usage.within_nominal(preemptor.queue, contested(assignment, snapshot))
    shares, cohorts = Shares(tree, configuration.rules), set(tree.ancestors(preemptor.queue))
    return FairRules(
        strategies=configuration.strategies,
        within_nominal=configuration.gate("FairSharingPreemptWithinNominal") and within,
        known=[[i for i, fr in enumerate(frs) if fr in shares.counted(node)] for node in nodes],
        weight_nano=[tree.nodes[node].weight_nano for node in nodes],
        lendable={i: tree.lendable(n) for i, n in enumerate(nodes) if n in cohorts},
    )


def _refuse_negative(snapshot: Snapshot, workloads: Sequence[Admitted]) -> None:
    """Refuse workloads with negative usage, which older releases permit.

    Removing such a workload leaves less room, and how much less depends on the order of removals.
    """
    if snapshot.configuration.rules.clamps_reclaimable:
        return
    for workload in workloads:
        if any(amount < 0 for amount in workload.usage.values()):
            raise UnsupportedError(
                workload.key,
                f"Kueue {snapshot.configuration.release.name} lets it use less than nothing, for "
                "more of its pods are reclaimable than it has: what is legal then is not known",
            )


def _held(
    workloads: Holders, frs: Sequence[int], wanted: frozenset[int]
) -> tuple[IntArray, BoolArray]:
    """Return (W, F) the usage of workloads, and (W,) whether they name a contested fr."""
    first, which = workloads.alike
    named = [not wanted.isdisjoint(workload.names) for workload in first]
    holding = np.empty((len(first), len(frs)), dtype=np.int64)
    for column, fr in enumerate(frs):
        holding[:, column] = [one.usage.get(fr, 0) for one in first]
    return holding[which], np.array(named, dtype=np.bool_)[which]


def _advantage(snapshot: Snapshot, preemptor: Preemptor, request: dict[int, int]) -> list[bool]:
    """Say for each node of the path whether the request fits in the quota below it.

    Once it fits at a node, the preemptor has advantage at every cohort above (§5.3). The queue
    itself is no common ancestor with others; its entry only completes the list. Fair sharing
    knows no such advantage.
    """
    path = snapshot.tree.path(preemptor.queue)
    if snapshot.configuration.fair_sharing_on:
        return [False] * len(path)
    advantage, seen, remaining = False, [], dict(request)
    for node in path:
        # Before this node's own test: that the request fits at a cohort helps above it only.
        seen.append(advantage)
        fits, remaining = snapshot.usage.fits_in_quota(node, remaining)
        advantage = advantage or fits
    return seen


def _candidate_order(
    workloads: Holders, queue: IntArray, lca: Sequence[int], advantage: dict[int, bool]
) -> IntArray:
    """Rank all workloads as the scheduler would order them as candidates.

    Where ClusterQueues look at the past use of LocalQueues, past use comes before priority. The
    relation can have circles; in these, a workload that precedes more of the others comes first.

    Source: docs/semantics/kueue.md §5.4; docs/semantics/kueue-features.md §3.4.
    """
    own_queue = next(iter(advantage))  # the path starts with the preemptor's queue
    # Kueue's three lists, in its order: under hierarchical advantage, by priority, own queue.
    kinds = [2 if n == own_queue else 0 if advantage[at] else 1 for n, at in enumerate(lca)]
    kind = np.array(kinds, dtype=np.int64)[queue]
    places = np.empty(len(workloads), dtype=np.int64)
    places[workloads.order(kind)] = np.arange(len(workloads))
    if not workloads.columns.dated.any():
        return places
    groups: dict[tuple[bool, int], list[int]] = {}
    for position in np.argsort(places).tolist():
        of = not workloads[position].evicted, int(kind[position])
        groups.setdefault(of, []).append(position)
    arranged: list[int] = []
    for key in sorted(groups):
        group = groups[key]
        some = ((workloads[p], (int(places[p]),)) for p in group)
        contest = Contest([Contender(base, w.queue, w.local_queue, w.past) for w, base in some])
        arranged += [group[position] for position in contest.order()]
    order = np.empty(len(workloads), dtype=np.int64)
    order[arranged] = np.arange(len(workloads))
    return order
