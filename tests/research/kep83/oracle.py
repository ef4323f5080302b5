"""KEP-83 by its text of 2022: flavors, candidates, every legal set, and its own algorithm.

What the text leaves open is decided as the laws K83-01 to K83-08 and the help page say. Fair
sharing came later and is not looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tests.oracle.cluster import FlavorResource, Held, Json, moment
from tests.oracle.legality import Legal, reachable
from tests.oracle.question import PREEMPT, Question
from tests.oracle.terms import Terms, milestone_cost

BORROWING: Final = "LowerPriority"
FROM_ANY: Final = "ReclaimFromAny"
TODAY: Final = {"Never": "Never", "LowerPriority": "ReclaimFromLowerPriority", "Any": FROM_ANY}
ORDER: Final = ("ByLowestPriority", "ByLowestRuntime")
FIT, NO_FIT = "Fit", "NoFit"

Flavors = dict[str, dict[str, str]]
"""Flavor and mode of every resource of a podset."""


@dataclass(frozen=True)
class Options:
    """What the text leaves to administrators; ``None`` is what the ClusterQueue says."""

    cohort: str | None = None
    queue: str | None = None
    order: tuple[str, ...] = ()
    wait: int = 0

    @property
    def text(self) -> str:
        """The options as the planner reads them."""
        said = [
            *([f"cohort={self.cohort}"] if self.cohort else []),
            *([f"queue={self.queue}"] if self.queue else []),
            *([f"order={'+'.join(self.order)}"] if self.order else []),
            *([f"wait={self.wait}"] if self.wait else []),
        ]
        return f"kep83:{','.join(said)}" if said else "kep83"

    @property
    def borrows(self) -> bool:
        """Whether it borrows while it preempts."""
        return self.cohort == BORROWING


class Kep83:
    """A pending workload that would preempt by KEP-83; ``item`` is its object."""

    def __init__(self, question: Question, options: Options, item: Json) -> None:
        self.question = question
        self.options = options
        self.tree = question.tree
        self.held = question.cluster.held
        policies = question.policies
        reclaim = TODAY[policies.get("reclaimWithinCohort", "Never")]
        self.within_cohort = {"ReclaimAny": FROM_ANY}.get(
            options.cohort or reclaim, options.cohort or reclaim
        )
        self.within_queue = options.queue or policies.get("withinClusterQueue", "Never")
        self.waited = waited(question, item)

    def makes_room(self, gone: int) -> bool:
        """Whether the laws K83-01 and K83-02 hold when some are gone."""
        if not self.tree.fits(gone, borrow=True):
            return False
        return self.options.borrows or all(
            self.tree.usage(self.question.queue, at, gone) + amount <= self._least(at)
            for at, amount in self.question.request.items()
            if at in self.question.contested
        )

    def _least(self, at: FlavorResource) -> int:
        """Return the *min* of the own queue."""
        return self.tree.nodes[self.question.queue].nominal.get(at, 0)

    def candidates(self) -> list[int]:
        """Return the candidates in order; K83-03 to K83-06, and K83-08."""
        if self.waited < self.options.wait:
            return []
        terms = Terms(Legal(self.question, (), frozenset()))
        found = [index for index, held in enumerate(self.held) if self._is_candidate(held)]

        def key(index: int) -> tuple[object, ...]:
            held = self.held[index]
            cost = milestone_cost(held, terms.seconds_since(held, started=True))
            since = held.reserved_at.timestamp()
            by = {
                "ByLowestPriority": held.priority,
                "ByLowestRuntime": -since,
                "ByLongestRuntime": since,
                "ByLowestDisruptionCost": cost,
            }
            own = ("queue", held.queue) == self.question.queue
            return own, *(by[name] for name in self.options.order or ORDER), held.uid

        return sorted(found, key=key)

    def _is_candidate(self, held: Held) -> bool:
        queue, tree = ("queue", held.queue), self.tree
        lower = held.priority < self.question.priority
        if held.uses.isdisjoint(self.question.contested) or not tree.nodes[queue].active:
            return False
        if queue == self.question.queue:
            return lower and self.within_queue != "Never"
        here = tree.above(self.question.queue)[-1:]
        if not here or tree.above(queue)[-1:] != here or self.within_cohort == "Never":
            return False
        quota = tree.nodes[queue].nominal
        borrows = any(tree.usage(queue, at, 0) > quota.get(at, 0) for at in self.question.contested)
        return borrows and (lower or self.within_cohort == FROM_ANY)

    def allowed(self, gone: int, index: int) -> bool:
        """Whether a candidate may go next: K83-07."""
        queue = "queue", self.held[index].queue
        quota = self.tree.nodes[queue].nominal
        return queue == self.question.queue or any(
            self.tree.usage(queue, at, gone) >= quota.get(at, 0) for at in self.question.contested
        )

    def legal(self) -> Legal:
        """Return candidates and legal sets; nobody has to go for what fits as it is."""
        taken = tuple(self.candidates())
        found = {gone for gone in reachable(taken, self.allowed) if gone and self.makes_room(gone)}
        if self.tree.fits(0, borrow=True):
            found.add(0)
        return Legal(self.question, taken, frozenset(found))

    def algorithm(self) -> list[str]:
        """Return whom the text's own algorithm removes and does not add back, in order."""
        gone, removed = 0, []
        for index in self.candidates():
            if not self.allowed(gone, index):
                continue
            gone |= 1 << index
            removed.append(index)
            if self.makes_room(gone):
                break
        else:
            return []
        for index in removed[::-1]:
            if self.makes_room(gone & ~(1 << index)):
                gone &= ~(1 << index)
        return [self.held[index].key for index in removed if gone >> index & 1]


def waited(question: Question, item: Json) -> int:
    """Return for how many seconds a workload has waited since it was first attempted."""
    conditions = item.get("status", {}).get("conditions", ())
    since = {
        each["type"]: each["lastTransitionTime"] for each in conditions if each["status"] == "False"
    }
    attempted = since.get("Admitted") or since.get("QuotaReserved")
    if attempted is None:
        return 0
    return max(0, (question.cluster.now - moment(attempted)) // timedelta(seconds=1))


def assigned(question: Question, options: Options, flavors: Flavors) -> Flavors | None:
    """Return the modes that the text's two walks give where every resource has one flavor.

    ``question`` asks for it as if everything fitted; nothing where a resource group gets none.
    """
    queue = next(
        each
        for each in question.cluster.of_kind("ClusterQueue")
        if each["metadata"]["name"] == question.queue[1]
    )
    found: Flavors = {}
    for group in queue["spec"]["resourceGroups"]:
        names = [name for name in group["coveredResources"] if name in flavors]
        at = {name: (flavors[name]["flavor"], name) for name in names}
        for walk in (_available, _with_preemption):
            modes = {name: walk(question, options, at[name]) for name in names}
            if NO_FIT not in modes.values():
                found |= {name: {**flavors[name], "mode": mode} for name, mode in modes.items()}
                break
        else:
            return None
    return found


Walk = Callable[[Question, Options, FlavorResource], str]


def _available(question: Question, _: Options, at: FlavorResource) -> str:
    amount = question.request.get(at, 0)
    return FIT if amount <= max(0, question.tree.available(question.queue, at, 0)) else NO_FIT


def _with_preemption(question: Question, options: Options, at: FlavorResource) -> str:
    amount, tree, queue = question.request.get(at, 0), question.tree, question.queue
    nominal = tree.nodes[queue].nominal.get(at, 0)
    if amount > (tree.potential(queue, at) if options.borrows else nominal):
        return NO_FIT
    within = options.borrows or tree.usage(queue, at, 0) + amount <= nominal
    return FIT if within and _available(question, options, at) == FIT else PREEMPT
