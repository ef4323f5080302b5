"""When a victim is certain to preempt again, whoever goes beside it, unless it fits at once.

Of one plan the scheduler says which victims would preempt. Here it is said of all plans at once
that evict a victim v. Removals only lower usage, so these bounds hold whoever else goes:

- What is available to v grows by no more than what all victims hold in its tree.
- The share of v's side, with v's request counted, is at most what it is where v goes alone.
- A search that gives up has taken every candidate but those that it dismissed. It dismisses one
  only because a node between it and v's side is within its quota, and then that node stays so; or,
  under fair sharing, because the share of its side is too low for v's side, and then it is no
  higher at the end. So what a node uses at the end is bounded by its quota, by that share, or by
  what is held there that v may not take (`_Ending`).

Where v fits even at these bounds no search gives up, whoever goes: v preempts, or fits at once.

Source: docs/semantics/kueue.md §4.1 to §4.3, §5.2 to §5.6 and §6.2 to §6.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from planner.quota.classes import IntArray
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import replaced_slice
from planner.quota.kueue.request import PODS
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import NO_TOPOLOGIES
from planner.quota.kueue.tree import Share, Shares, Usage
from planner.reference.kueue.aftermath import pending_again, snapshot_after
from planner.reference.kueue.decision import decide
from planner.reference.kueue.eligibility import taste_of
from planner.state.kueue import State

ROUNDING: Final = 1 + 2**-40
"""More than what the few roundings of a share in doubles amount to."""


@dataclass
class Persistence:
    """What `lacking` says of victims, by name, and what each of the W ``workloads`` counts of it.

    ``state`` and ``snapshot`` are before the plan, ``holder`` the preemptor as the plan admits it;
    ``reason`` returns the reason code of the workload at a position, as a victim. ``holding`` has
    each name that was said of any victim, (W,).
    """

    state: State
    snapshot: Snapshot
    holder: Admitted
    workloads: Holders
    reason: Callable[[int], str]
    holding: dict[str, IntArray] = field(default_factory=dict, init=False)
    _spared: dict[int, Mapping[str, int]] = field(default_factory=dict, init=False)

    def again(self, victim: int) -> Preemptor:
        """Return a workload, given by its position, as it waits once it was a victim."""
        one = self.workloads[victim]
        return pending_again(self.state, self.snapshot, one, self.reason(victim))

    def spared(self, victim: int) -> Mapping[str, int]:
        """Return how much victims have to hold so that one, given by its position, stays so."""
        if victim not in self._spared:
            waiting = self.again(victim)
            found = lacking(self.snapshot, self.holder, self.workloads[victim], waiting)
            root = self.snapshot.tree.root(waiting.queue)
            self._spared[victim] = {self._named(fr, root): least for fr, least in found.items()}
        return self._spared[victim]

    def _named(self, fr: int, root: int) -> str:
        """Return the name of an fr in a tree, which ``holding`` has from then on."""
        tree, columns = self.snapshot.tree, self.workloads.columns
        kind = "queue" if tree.nodes[root].is_queue else "cohort"
        name = f"{tree.frs[fr]} at {kind}/{tree.nodes[root].name}"
        if name not in self.holding:
            counts = np.isin(columns.queue, tree.below(root)) & ~columns.leaving
            self.holding[name] = np.where(counts, _held(self.workloads, fr), 0)
        return name


def _held(holders: Holders, fr: int) -> IntArray:
    """(H,) what each of H holders holds of an fr."""
    shapes, which = holders.alike
    return np.array([one.usage.get(fr, 0) for one in shapes], dtype=np.int64)[which]


def lacking(
    snapshot: Snapshot, holder: Admitted, victim: Admitted, waiting: Preemptor
) -> Mapping[int, int]:
    """Return how much victims have to hold, per fr, so that one of them preempts nobody.

    ``snapshot`` is before the plan, ``holder`` the preemptor as the plan admits it, ``waiting`` the
    victim once it is pending. All victims in its tree count, itself included, but for those that
    go anyway. Empty where the scheduler has to be asked, set by set.
    """
    request = None if victim.leaving else _request(snapshot, waiting)
    if request is None or replaced_slice(snapshot, holder.queue, holder.workload) is not None:
        return {}
    # What does not depend on usage the scheduler itself says: which flavors its pods may have, and
    # whether it could ever have so much.
    idle = replace(snapshot, usage=Usage(snapshot.tree), admitted={}, topologies=NO_TOPOLOGIES)
    if decide(idle, waiting).assignment.mode != "Fit":
        return {}
    alone = snapshot_after(snapshot, holder, [victim])
    if not any(
        _Ending(alone, waiting, request, b).fits for b in _attempts(alone, waiting, request)
    ):
        return {}
    usage = snapshot.usage.copy()
    usage.add(holder.queue, holder.usage)
    holders = snapshot.contenders(waiting.queue)
    # It preempts nobody whose only targets go anyhow.
    for one in holders.at(np.flatnonzero(holders.columns.leaving)):
        usage.remove(one.queue, one.usage)
    short = {fr: amount - usage.available(waiting.queue, fr) for fr, amount in request.items()}
    return {fr: amount for fr, amount in short.items() if amount > 0}


def _request(snapshot: Snapshot, waiting: Preemptor) -> Mapping[int, int] | None:
    """Return what a workload asks for per fr; ``None`` where usage decides about more than room."""
    spec, configuration = snapshot.queues[waiting.queue].spec, snapshot.configuration
    groups = spec.resource_groups
    if (
        snapshot.tree.arithmetic.wraps
        or replaced_slice(snapshot, waiting.queue, waiting.workload) is not None
        # A workload that lacks room may count as fitting then (§4.1, point 6).
        or taste_of(spec.flavor_fungibility, configuration).level_first
        or any(len(one.flavors) != 1 or PODS in one.covered_resources for one in groups)
    ):
        return None
    flavor = {resource: g.flavors[0].name for g in groups for resource in g.covered_resources}
    request: dict[int, int] = {}
    for pods in waiting.pod_sets:
        for resource, amount in pods.totals.items():
            if amount and resource in flavor:
                fr = snapshot.fr_or_none(flavor[resource], resource)
                if fr is None:
                    return None
                request[fr] = snapshot.tree.arithmetic.add(request.get(fr, 0), amount)
    policy, nominal = spec.preemption, snapshot.tree.nominal
    # Else the height of the subtree that would lend decides, too (§4.3).
    preempts = policy.borrow_within_cohort.policy != "Never" or (
        configuration.fair_sharing_on and policy.reclaim_within_cohort != "Never"
    )
    within = all(amount <= nominal(waiting.queue, fr) for fr, amount in request.items())
    return request if within or preempts else None


def _attempts(alone: Snapshot, waiting: Preemptor, request: Mapping[int, int]) -> list[bool]:
    """Return attempts that are made whoever goes, each as whether it may borrow.

    Where the request is within nominal quota all candidates may be taken: by the attempt without
    borrowing, or, if there are none in other queues, by the only one that there is.
    """
    if alone.configuration.fair_sharing_on:
        return [True]
    used, nominal, queue = alone.usage.amount, alone.tree.nominal, waiting.queue
    within = all(used[queue][fr] + asked <= nominal(queue, fr) for fr, asked in request.items())
    return [False, True] if within else [True]


@dataclass(frozen=True)
class _Ending:
    """The most that nodes can use once a search has given up, if the victim that waits went alone.

    ``alone`` is the snapshot after that; ``borrowing`` is whether the attempt may borrow.
    """

    alone: Snapshot
    waiting: Preemptor
    request: Mapping[int, int]
    borrowing: bool

    @property
    def fits(self) -> bool:
        """Whether the request would fit."""
        usage, queue = self.alone.usage.copy(), self.waiting.queue
        for fr in self.request:
            for node in self._path:
                usage.amount[node][fr] = self._left(node, fr)
        return all(asked <= usage.available(queue, fr) for fr, asked in self.request.items())

    def _left(self, node: int, fr: int) -> int:
        """Return the most that a node can use of an fr."""
        tree, now = self.alone.tree, self.alone.usage.amount[node][fr]
        if tree.nodes[node].is_queue:
            left = now - int(self._taken[fr][node])
        else:
            passed = (self._left(n, fr) - tree.kept[n][fr] for n in tree.children[node])
            left = sum(max(0, amount) for amount in passed)
        if node in self._path:
            return left
        if self._shares is not None:
            if fr not in self._shares.counted(node):
                return now
            if tree.nodes[node].parent in self._path:
                left = max(left, self._by_share(self._shares, node, fr))
        return min(now, max(left, tree.subtree[node][fr]))

    def _by_share(self, shares: Shares, node: int, fr: int) -> int:
        """Return how much a node beside the path uses at most whose share is too low to lose more.

        Its ``over / lendable / weight`` is at most the share of the waiting workload's side, at
        first only without any one candidate that is left. The second strategy then asks for one of
        them: it goes as well, or the share is too low with it.
        """
        tree = self.alone.tree
        parent = tree.nodes[node].parent
        mine = self._share(shares, self._path[self._path.index(parent) - 1])
        lendable = tree.lendable(parent)[tree.frs[fr].resource]
        if lendable <= 0 or mine.weighted == inf:
            return self.alone.usage.amount[node][fr]
        over = ceil(mine.weighted * tree.nodes[node].weight * lendable / 1000 * ROUNDING) + 1
        first, *others = self.alone.configuration.strategies
        keeps = any(tree.kept[n][fr] for n in tree.below(node)[1:])
        if first == "LessThanOrEqualToFinalShare" and (keeps or not others):
            below = np.isin(self._queue, tree.below(node)) & self._candidates
            over += int(_held(self._holders, fr)[below].max(initial=0))
        return tree.subtree[node][fr] + over

    def _share(self, shares: Shares, node: int) -> Share:
        """Return the share of a node on the path, with the request counted."""
        usage = self.alone.usage.copy()
        usage.add(self.waiting.queue, self.request)
        return shares.share_of(usage, node)

    @cached_property
    def _path(self) -> tuple[int, ...]:
        return self.alone.tree.path(self.waiting.queue)

    @property
    def _without_advantage(self) -> Sequence[int]:
        """The nodes from which others have to borrow what they take elsewhere, of v's side.

        From the rest of the tree an attempt that may borrow takes whom it takes without: once the
        request is within the quota of v's side somewhere below, as it is then whoever goes besides.
        """
        tree, usage, remaining = self.alone.tree, self.alone.usage, self.request
        for node in self._path:
            fits, remaining = usage.fits_in_quota(node, remaining)
            if fits:
                return tree.below(node)
        return tree.below(self._path[-1])

    @cached_property
    def _shares(self) -> Shares | None:
        configuration = self.alone.configuration
        fair = configuration.fair_sharing_on
        return Shares(self.alone.tree, configuration.rules) if fair else None

    @cached_property
    def _holders(self) -> Holders:
        return self.alone.contenders(self.waiting.queue)

    @property
    def _queue(self) -> IntArray:
        return self._holders.columns.queue

    @cached_property
    def _taken(self) -> Mapping[int, IntArray]:
        """(N,) what candidates hold at each of N nodes, by fr that is asked for."""
        found = {}
        for fr in self.request:
            found[fr] = np.zeros(len(self.alone.tree.nodes), dtype=np.int64)
            held = _held(self._holders, fr)[self._candidates]
            np.add.at(found[fr], self._queue[self._candidates], held)
        return found

    @cached_property
    def _candidates(self) -> NDArray[np.bool_]:
        """(H,) whom policies permit to take whoever goes, older ones of equal priority left out."""
        policy, mine = self.alone.queues[self.waiting.queue].spec.preemption, self.waiting.priority
        priority, own = self._holders.columns.priority, self._queue == self.waiting.queue
        lower: NDArray[np.bool_] = priority < mine

        def permitted(rule: str) -> NDArray[np.bool_]:
            return lower | (rule == "Any") if rule != "Never" else np.zeros_like(lower)

        others = permitted(policy.reclaim_within_cohort)
        if self._shares is None and self.borrowing:
            borrow = policy.borrow_within_cohort
            below = (
                mine - 1 if borrow.max_priority_threshold is None else borrow.max_priority_threshold
            )
            while_borrowing = lower & (priority <= below) & (borrow.policy != "Never")
            others &= while_borrowing | ~np.isin(self._queue, self._without_advantage)
        found: NDArray[np.bool_] = np.where(own, permitted(policy.within_cluster_queue), others)
        return found
