"""The disruption terms: per workload where they are sums, and for a whole victim set.

Source: docs/design/objectives.md §2 and §3. Amounts of work are measured in accelerators: one
GPU-like device counts 1, a CPU core 1/32, memory nothing; internally in 1/32000 of an accelerator,
so that a device is 32,000, a milli-core 1, and everything stays an integer. All are added up: 8
devices with 128 cores are 12 accelerators, and an hour of them 12 accelerator-hours (``acc-h``),
not GPU-hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from planner.errors import UnsupportedError
from planner.objective.annotation import Disruption
from planner.problem.array import BoolArray, IntArray
from planner.term import ACCELERATOR, MORE, RATED, find_term, in_order, priority_of, victims_of


class Sum(NamedTuple):
    """Amounts of victims by workload, and the bounds of what they add up to."""

    amounts: Mapping[int, int]
    least: int
    most: int


class Cut(NamedTuple):
    """That a replayed term counts one victim in every victim set of a kind: proven, or a guess.

    Workloads are named by their positions. The sets are those with ``victim`` and all of ``going``
    and none of ``staying``, in which for each of ``sums`` the amounts of the victims, given by
    workload, add up to no less than ``least`` and no more than ``most``. ``victim`` itself is in
    none of the three.
    """

    victim: int
    going: frozenset[int]
    staying: frozenset[int]
    sums: tuple[Sum, ...]


class Replayed(Protocol):
    """A term that no formula gives, and that is not known of all sets beforehand.

    The scheduler, replayed, tells it of one whole set after the other, and every answer also holds
    for other sets: a cut of the search, as in logic-based Benders decomposition.
    """

    @property
    def cuts(self) -> Sequence[Cut]:
        """The cuts learned so far, in the order in which they were learned."""
        ...

    @property
    def guesses(self) -> Sequence[Cut]:
        """For each cut, in their order, one of more sets: of its own it is true, of most likely."""
        ...

    def count(self, victims: Sequence[int]) -> int:
        """Return how many victims of a set, given by positions, are counted.

        For each of them there is a cut from then on.
        """
        ...

    def spared(self, victim: int) -> Mapping[str, int]:
        """Return how much sets hold in which a victim is not counted, whoever goes beside it.

        By name how much all victims hold at least; empty where nothing is known of all sets.
        """
        ...

    @property
    def holding(self) -> Mapping[str, IntArray]:
        """(W,) what each workload holds, for each name that ``spared`` has told so far."""
        ...


PER_MILLE: Final = 1000
"""The unit of ``unfairness``."""

LARGEST_COST: Final = 2**45
"""A hundred thousand workloads of this cost can still be added up in 64 bits. Beyond it, also at
the rates of an objective, costs are arrays of Python's own integers."""

Amount = TypeVar("Amount", int, NDArray[Any])
_NAMESPACE: Final = "namespace/"


class Budget(NamedTuple):
    """A PodDisruptionBudget: pods that may go, and (W,) how many of each workload it covers."""

    allowed: int
    pods: IntArray


class TermTable(Struct, frozen=True):
    """The terms of one problem with W workloads and F kinds of resources.

    - ``separable``: Per term (W,): what each workload adds.
    - ``rank``, ``priority``, ``priorities``: (W,) the rank of a workload's priority, from 1 for the
      lowest among the candidates; (W,) the priority itself; the priorities of the candidates, each
      once, from the lowest up.
    - ``queue``, ``size``, ``leaving``, ``holding``: (W,) the queue a workload counts for, its size
      in 1/32000 accelerator, and whether it is being evicted or deleted already; (W, F) its usage.
    - ``borrowed``: Per queue or cohort, what it uses beyond its own quota or guaranteed, divided by
      its weight where shares are weighted, in 1/32000 accelerator.
    - ``sharers``: Per queue, the positions in ``borrowed`` that its victims count for: its own, and
      those of the cohorts above it that borrow and are not above the preemptor.
    - ``contested``, ``weight``: Positions of the resources whose over-freeing counts; (F,) the size
      of one unit of each.
    - ``needs``: (C, F) for each of C alternatives, such as nodes: what victims must free once the
      workloads that go anyway are gone, 0 for a resource that is not short.
    - ``alternative``: A function from victims to the position of the alternative they are for.
    - ``disruptions``: (W,) what evicting each workload loses.
    - ``groups``: (W,) the groups of each workload, such as ``queue/team-a`` or ``namespace/ml``.
    - ``budgets``: The PodDisruptionBudgets; ``None`` where the state cannot tell, and then there
      is no term ``disruption_budgets``.
    - ``rates``: What one unit of a term counts in the term ``rated``; without any there is no such
      term.
    - ``own``: How many victims of each priority the scheduler's own plan has; without it there is
      no term ``more@each``.
    - ``replayed``: The terms that are not known of all sets beforehand; others are.
    - ``guessing``: Whether a model has guesses in the place of cuts of these.
    """

    separable: Mapping[str, IntArray]
    rank: IntArray
    priority: IntArray
    priorities: Sequence[int]
    queue: IntArray
    size: IntArray
    leaving: BoolArray
    holding: IntArray
    borrowed: Sequence[int]
    sharers: Mapping[int, Sequence[int]]
    contested: Sequence[int]
    weight: Sequence[int]
    needs: Sequence[Sequence[int]]
    alternative: Callable[[Sequence[int]], int]
    disruptions: Sequence[Disruption]
    groups: Sequence[tuple[str, ...]]
    budgets: Sequence[Budget] | None = None
    rates: Mapping[str, int] = field(default_factory=dict)
    own: Mapping[int, int] | None = None
    replayed: Mapping[str, Replayed] = field(default_factory=dict)
    guessing: bool = False

    def refuse_missing(self, objective: str, terms: Iterable[str]) -> None:
        """Raise ``UnsupportedError`` if the state has no source for a term of an objective."""
        # The terms of the empty victim set are all the terms that the state has.
        known = self.evaluate(())
        for term in terms:
            if term not in known:
                raise UnsupportedError(
                    f"objective {objective}",
                    f"{term} ({find_term(term).title}) cannot be known from this state",
                    hint="choose an objective without it; `planner laws` lists them",
                )

    def telling_apart(self, terms: Iterable[str]) -> list[IntArray]:
        """Return arrays, (W,) each, in which workloads interchangeable under terms must agree."""
        wanted = set(terms)
        if RATED in wanted:
            wanted |= self.rates.keys()
        known = sorted(wanted & self.separable.keys())
        arrays = [self.separable[term] for term in known if priority_of(term) is None]
        if len(arrays) < len(known) or MORE in wanted:
            arrays.append(self.priority)  # one array for all priorities: there may be many
        # Laws look at queues, not at namespaces: these are an array of their own.
        if "namespaces" in wanted:
            tenants = [self.tenant(position) for position in range(len(self.groups))]
            arrays.append(np.unique(tenants, return_inverse=True)[1].astype(np.int64))
        if "disruption_budgets" in wanted:
            arrays += [budget.pods for budget in self.budgets or ()]
        others = {"highest_priority": self.rank, "unfairness": self.size}
        # The scheduler looks at all of a workload: no two are interchangeable.
        others |= {term: np.arange(len(self.rank), dtype=np.int64) for term in self.replayed}
        return [*arrays, *(array for term, array in others.items() if term in wanted)]

    def rated(self, objective: str, rates: Mapping[str, int]) -> TermTable:
        """Return these terms with ``rated`` among them; rates are positive whole numbers.

        Where all rated terms are sums over victims, ``rated`` is one as well.

        Raises ``UnsupportedError`` if the state cannot tell a rated term.
        """
        self.refuse_missing(objective, rates)
        known = self.separable.keys() & rates.keys()
        # Tested before adding up: the sum itself could already wrap around.
        most = sum(int(self.separable[term].max(initial=0)) * rates[term] for term in known)
        kind = np.int64 if most <= LARGEST_COST else object
        separable = dict(self.separable)
        if len(known) == len(rates):
            rated = (rate * self.separable[term].astype(kind) for term, rate in rates.items())
            separable[RATED] = sum(rated, np.zeros(len(self.rank), dtype=kind))
        return replace(self, separable=separable, rates=rates)

    def known_beforehand(self) -> TermTable:
        """Return the terms that take no replay; with the rated sum only if none of it does."""
        rates = {} if self.rates.keys() & self.replayed.keys() else self.rates
        return replace(self, replayed={}, rates=rates)

    def counting(self, priorities: Iterable[int]) -> TermTable:
        """Return these terms and, for each priority given, the term that counts its victims."""
        going = ~self.leaving
        counted = {
            victims_of(priority): ((self.priority == priority) & going).astype(np.int64)
            for priority in priorities
        }
        return replace(self, separable={**self.separable, **counted})

    def tenant(self, position: int) -> str:
        """Return the namespace that a workload is in, as a group; empty if that is not known."""
        return next((one for one in self.groups[position] if one.startswith(_NAMESPACE)), "")

    def of_priorities(self, chosen: Iterable[int]) -> Counter[int]:
        """Return how many victims have each priority, without those being evicted already."""
        going = (position for position in chosen if not self.leaving[position])
        return Counter(int(self.priority[position]) for position in going)

    def costs_of(self, position: int) -> dict[str, int]:
        """Return what a workload adds to separable terms, without those that count one priority."""
        return {
            term: int(costs[position])
            for term, costs in self.separable.items()
            if priority_of(term) is None
        }

    def evaluate(
        self, chosen: Iterable[int], only: Collection[str] | None = None
    ) -> dict[str, int]:
        """Return every term of a victim set, given by positions of the workloads.

        Terms that are not among ``only`` may be left out.
        """
        listed = list(chosen)
        victims = np.array(listed, dtype=np.int64)
        asked = self.separable
        if self.rates or self.replayed:
            only = None  # ``rated`` may need any term; and a replay ends when time is up
        elif only is not None:
            asked = {term: self.separable[term] for term in only if term in self.separable}
        # As Python's integers, which never overflow: a plan's values are exact, however large.
        totals = {term: sum(costs[victims].tolist()) for term, costs in asked.items()}
        if only is not None and all(term in totals for term in only):
            return totals
        going = victims[~self.leaving[victims]]
        need = self.needs[self.alternative(listed)]
        totals["highest_priority"] = int(self.rank[going].max()) if going.size else 0
        totals["excess_freed"] = sum(
            self.weight[fr] * max(0, sum(self.holding[going, fr].tolist()) - need[fr])
            for fr in self.contested
        )
        queues = self.queue[going].tolist()
        totals["queues"] = len({*queues})
        # These two loop over victims, and a proof tree evaluates its few terms a thousand times.
        if only is None or "namespaces" in only:
            totals["namespaces"] = len(
                {tenant for tenant in map(self.tenant, going.tolist()) if tenant}
            )
        if only is None or "unfairness" in only:
            totals["unfairness"] = self._most_unfair(queues, self.size[going].tolist())
        if self.budgets is not None:
            totals["disruption_budgets"] = sum(
                max(0, sum(budget.pods[going].tolist()) - budget.allowed) for budget in self.budgets
            )
        if self.own is not None:
            ours, own = self.of_priorities(listed), self.own
            # Compared at the highest priority where the numbers differ, if they do.
            at = max((each for each in {*ours, *own} if ours[each] != own.get(each, 0)), default=0)
            totals[MORE] = int(ours[at] > own.get(at, 0))
        totals |= {term: replay.count(listed) for term, replay in self.replayed.items()}
        if self.rates:
            totals[RATED] = sum(rate * totals[term] for term, rate in self.rates.items())
        return in_order(totals)

    def _most_unfair(self, queues: Sequence[int], sizes: Sequence[int]) -> int:
        """Return ``unfairness`` of victims, given by their queues and sizes."""
        taken: Counter[int] = Counter()
        for queue, size in zip(queues, sizes, strict=True):
            for sharer in self.sharers[queue]:
                taken[sharer] += size
        shares = (unfairness(size, self.borrowed[sharer]) for sharer, size in taken.items())
        return max(shares, default=0)


def work(size: Amount, seconds: Amount) -> Amount:
    """Return accelerator-seconds, rounded up; ``size`` is in 1/32000 accelerator."""
    rounded_up: Amount = -(-size * seconds // ACCELERATOR)
    return rounded_up


def counted_as_borrowed(amount: int) -> int:
    """Return the amount that ``unfairness`` takes for the one borrowed: at least one accelerator.

    Source: docs/design/objectives.md §3, D9: max(1, borrowed).
    """
    return max(ACCELERATOR, amount)


def unfairness(taken: int, borrowed: int) -> int:
    """Return victims in per mille of what their queue or cohort borrows, rounded up.

    Both sizes are in 1/32000 accelerator.
    """
    return -(-PER_MILLE * taken // counted_as_borrowed(borrowed))
