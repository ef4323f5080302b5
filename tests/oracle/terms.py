"""The disruption terms of a set of victims, as README.md lists them.

A workload that is being evicted already costs nothing, except in ``count`` and ``cost``; what it
holds is as good as free, which ``excess_freed`` takes into account. Work is in accelerators: a
device counts 1, a core 1/32, memory nothing.
"""

import math
import statistics
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from functools import cache, cached_property
from typing import Final

from tests.oracle.budgets import beyond_budgets
from tests.oracle.cluster import FlavorResource, Held, NodeId, annotation, moment
from tests.oracle.legality import Legal

ACCELERATOR: Final = 32_000
"""Work is counted in 1/32000 of an accelerator: a milli-core."""

OURS: Final = "preemption-planner.io/"
GRACE_SECONDS: Final = 30
RESTART_SECONDS: Final = 60
TOLL_SECONDS: Final = 600
TOLL_SECONDS_LAST: Final = 86_400
HEAVIEST: Final = 2**20

SUMS: Final = (
    *(
        "last_resort",
        "workloads",
        "pods",
        "priority_weight",
        "lost_work",
        "restart_cost",
        "milestone_cost",
        "past_preemptions",
        "candidate_order",
    ),
    *("priority_sum", "toll", "run_time", "victims", "cost"),
)
NAMES: Final = (
    *SUMS,
    "highest_priority",
    "excess_freed",
    "queues",
    "namespaces",
    "unfairness",
    "disruption_budgets",
)


class Terms:
    """Measures sets of victims of one question."""

    def __init__(
        self,
        legal: Legal,
        costs: Mapping[str, int] | None = None,
        *,
        by_median: bool = False,
        saving_counts: bool = False,
        weighted: bool = True,
    ) -> None:
        self.legal = legal
        self.weighted = weighted and legal.question.cluster.fair
        self.by_median = by_median
        self.saving_counts = saving_counts
        self.cluster = legal.question.cluster
        self.costs = costs or {}
        priorities = {self.cluster.held[index].priority for index in legal.candidates}
        self.ranks = {priority: rank for rank, priority in enumerate(sorted(priorities), 1)}
        self.places = {index: place for place, index in enumerate(legal.candidates, 1)}
        # The same sets are asked about again and again, and of the whole state nothing changes.
        self.of = cache(self._of)
        self._needed = cache(self._need)
        self._lenders = cache(self._lending)
        self._borrowed = cache(self._borrowing)
        self._entitled = cache(self._entitlement)

    def _of(self, victims: int) -> Mapping[str, int]:
        """Return all terms of a set."""
        chosen = [index for index in self.places if victims >> index & 1]
        going = [index for index in chosen if not self.cluster.held[index].evicted]
        total: dict[str, int] = dict.fromkeys(map(str, NAMES), 0)
        for index in going:
            for term, amount in self._each[index].items():
                total[term] += amount
        held = [self.cluster.held[index] for index in chosen]
        total["victims"] = len(held)
        total["cost"] = sum(self.costs.get(each.key, 1) for each in held)
        total["highest_priority"] = max(
            (self.ranks[self.cluster.held[i].priority] for i in going), default=0
        )
        for priority in self.ranks:
            equal = sum(self.cluster.held[index].priority == priority for index in going)
            total[f"victims@{priority}"] = equal
        total["excess_freed"] = self._over_freed(going)
        total["queues"] = len({self.cluster.held[index].queue for index in going})
        total["namespaces"] = len(
            {self.cluster.held[index].key.partition("/")[0] for index in going}
        )
        total["unfairness"] = self._unfairness(going)
        total["disruption_budgets"] = beyond_budgets(
            self.cluster, [self.cluster.held[i] for i in going]
        )
        return total

    def profile(self, victims: int) -> tuple[int, ...]:
        """Return how many victims have the highest rank, how many the next, and so on."""
        ranks = [
            self.ranks[self.cluster.held[index].priority]
            for index in self.places
            if victims >> index & 1 and not self.cluster.held[index].evicted
        ]
        return tuple(ranks.count(rank) for rank in range(len(self.ranks), 0, -1))

    @cached_property
    def _each(self) -> dict[int, dict[str, int]]:
        return {index: self._separable(index) for index in self.places}

    def _separable(self, index: int) -> dict[str, int]:
        held = self.cluster.held[index]
        size, last = size_of(held), annotation(held.source, f"{OURS}tier") == "last"
        ran = self.seconds_since(held, started=True)
        restart = int(annotation(held.source, f"{OURS}restart-seconds") or RESTART_SECONDS)
        toll = TOLL_SECONDS + (TOLL_SECONDS_LAST if last else 0)
        return {
            "last_resort": int(last),
            "workloads": 1,
            "pods": _pods(held),
            "priority_weight": min(2 ** self.ranks[held.priority], HEAVIEST),
            "lost_work": math.ceil(size * self.seconds_since(held, started=False)),
            "restart_cost": math.ceil(size * restart),
            "milestone_cost": milestone_cost(held, ran),
            "past_preemptions": _past_preemptions(held),
            "candidate_order": self.places[index],
            "priority_sum": held.priority + 2**31,
            "toll": math.ceil(size * toll),
            "run_time": ran,
        }

    def seconds_since(self, held: Held, *, started: bool) -> int:
        """Return for how long it has run, or what of that is lost."""
        ran = max(0, math.floor((self.cluster.now - self._start(held)).total_seconds()))
        if started:
            return ran
        published = self._published(held, ran)
        lost = ran if published is None else published
        saving = annotation(held.source, f"{OURS}checkpoint-seconds")
        if saving is not None and int(saving) <= _grace(held):
            return min(lost, int(saving)) if self.saving_counts else 0
        if self.by_median and published is None and self._median is not None:
            return min(ran, self._median)
        return lost

    def _start(self, held: Held) -> datetime:
        """Return since when its pods run; now, if none of them was ready since its admission."""
        start = held.reserved_at
        for one in held.source["status"]["conditions"]:
            if one["type"] == "PodsReady":
                changed = moment(one["lastTransitionTime"])
                if one["status"] == "True":
                    start = max(start, changed)
                elif one["reason"] == "WaitForStart" or changed <= start:
                    start = self.cluster.now
        return start

    def _published(self, held: Held, ran: int) -> int | None:
        """Return how old the checkpoint is that it publishes."""
        checkpoint = annotation(held.source, f"{OURS}last-checkpoint")
        if checkpoint is None:
            return None
        since = math.floor((self.cluster.now - moment(checkpoint)).total_seconds())
        return max(0, min(ran, since))

    @cached_property
    def _median(self) -> int | None:
        """Return the median age of what active queues of the preemptor's tree publish."""
        tree = self.legal.question.tree
        root = [tree.queue, *tree.above(tree.queue)][-1]
        inside = {node.id for node in tree.below(root) if node.active}
        ages = [
            self._published(held, self.seconds_since(held, started=True))
            for held in self.cluster.held
            if ("queue", held.queue) in inside
        ]
        known = [age for age in ages if age is not None]
        return math.ceil(statistics.median(map(Fraction, known))) if known else None

    def _over_freed(self, going: list[int]) -> int:
        held, total = self.cluster.held, Fraction(0)
        for at in self.legal.question.contested:
            freed = sum(held[index].usage.get(at, 0) for index in going)
            if freed > self._needed(at):
                total += _worth(at[1]) * (freed - self._needed(at))
        return int(total * ACCELERATOR)

    def _need(self, at: FlavorResource) -> int:
        """Return what has to be freed beside what is as good as free."""
        question, held = self.legal.question, self.cluster.held
        asked = question.request.get(at, 0)
        missing = asked - question.tree.available(question.queue, at, 0) if asked else 0
        anyway = sum(held[i].usage.get(at, 0) for i in self.places if held[i].evicted)
        return max(0, max(0, missing) - anyway)

    def _unfairness(self, going: list[int]) -> int:
        taken: dict[NodeId, Fraction] = {}
        for index in going:
            size, queue = self._sizes[index], self.cluster.held[index].queue
            for node in (("queue", queue), *self._lenders(queue)):
                taken[node] = taken[node] + size if node in taken else size
        return max((self._per_mille(node, size) for node, size in taken.items()), default=0)

    @cached_property
    def _sizes(self) -> dict[int, Fraction]:
        return {index: size_of(self.cluster.held[index]) for index in self.places}

    def _lending(self, queue: str) -> list[NodeId]:
        """List the cohorts above a queue that borrow, and are not above the preemptor's."""
        tree = self.legal.question.tree
        asking = [tree.queue, *tree.above(tree.queue)]
        return [n for n in tree.above(("queue", queue)) if n not in asking and self._borrowed(n)]

    def _per_mille(self, node: NodeId, size: Fraction) -> int:
        """Return how much of what a node borrows, by its weight, is taken: infinite counts 1."""
        entitled = self._entitled(node)
        if entitled is None:
            return math.ceil(1000 * size) if not self._borrowed(node) else int(size > 0)
        return math.ceil(1000 * size / max(Fraction(1), entitled))

    def _entitlement(self, node: NodeId) -> Fraction | None:
        """Return what a node borrows, by its weight; nothing where that is 0."""
        weight = Fraction(1)
        if self.weighted:
            weight = Fraction(str(self.cluster.nodes[node].weight))
        if not weight:
            return None
        return Fraction(math.floor(self._borrowed(node) / weight * ACCELERATOR), ACCELERATOR)

    def _borrowing(self, node: NodeId) -> Fraction:
        tree = self.legal.question.tree
        used = {at for held in self.cluster.held for at in held.uses}
        return sum(
            (
                _worth(at[1]) * max(0, tree.usage(node, at, 0) - tree.subtree(node, at))
                for at in used
            ),
            Fraction(0),
        )


def size_of(held: Held) -> Fraction:
    """Return what a workload holds, in accelerators."""
    return sum((_worth(at[1]) * amount for at, amount in held.usage.items()), Fraction(0))


def milestone_cost(held: Held, ran: int) -> int:
    """Return what it costs by the points that a workload publishes, rounded up between two."""
    text = annotation(held.source, f"{OURS}milestones")
    points = [tuple(map(int, point.split("s:"))) for point in text.split(",")] if text else []
    cost = 0
    for place, (start, here) in enumerate(points):
        if ran < start:
            break
        cost = here
        if place + 1 < len(points):
            end, there = points[place + 1]
            share = Fraction(min(ran, end) - start, end - start)
            cost = math.ceil(here + (there - here) * share)
    return cost


def _worth(resource: str) -> Fraction:
    """Return what one unit of a resource counts."""
    if resource == "cpu":
        return Fraction(1, ACCELERATOR)
    return Fraction(1 if resource.endswith("/gpu") else 0)


def _pods(held: Held) -> int:
    return sum(
        int(pod_set.get("count", 1))
        for pod_set in held.source["status"]["admission"]["podSetAssignments"]
    )


def _grace(held: Held) -> int:
    return min(
        int(pod_set["template"]["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS))
        for pod_set in held.source["spec"]["podSets"]
    )


def _past_preemptions(held: Held) -> int:
    evictions = held.source["status"].get("schedulingStats", {}).get("evictions", ())
    return sum(int(each["count"]) for each in evictions if each["reason"] == "Preempted")
