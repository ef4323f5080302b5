"""The best of all legal sets: level by level, within the caps, and canonical among equals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.oracle.fair import fair
from tests.oracle.legality import Legal, classical
from tests.oracle.question import Question
from tests.oracle.terms import Terms

FIRST: Final = "last_resort highest_priority"
DEFAULT: Final = f"{FIRST} workloads priority_weight lost_work+restart_cost excess_freed queues"
LEVELS: Final = {
    "no-regret": DEFAULT,
    "least-disruption": DEFAULT,
    "min-count": "victims workloads priority_weight lost_work+restart_cost",
    "min-lost-work": f"{FIRST} lost_work+restart_cost workloads",
    "kueue-like": "victims@each run_time workloads",
    "kube-like": "disruption_budgets highest_priority priority_sum pods run_time",
    "fewest-pods": f"{FIRST} pods lost_work",
    "fewest-tenants": f"{FIRST} queues workloads lost_work",
    "fair": f"{FIRST} unfairness workloads lost_work",
    "milestones": f"{FIRST} milestone_cost workloads",
    "exact-fit": f"{FIRST} excess_freed workloads lost_work",
    "weighted": "lost_work+restart_cost+toll queues",
    "min-cost": "cost",
}
"""The built-in objectives that need no look ahead."""

CAPS: Final = {"no-regret": f"{FIRST} workloads lost_work+restart_cost"}
COUNT: Final = "victims"
EACH: Final = "victims@each"


def value(terms: Mapping[str, int], measure: str) -> int:
    """Return a measure, a sum of terms."""
    return sum(terms[term] for term in measure.split("+"))


def legal_sets(question: Question) -> Legal:
    """Return all legal sets by the rules that the state has turned on."""
    return fair(question) if question.cluster.fair else classical(question)


@dataclass(frozen=True)
class Best:
    """The canonical answer of an objective, and its value on every level."""

    victims: int
    levels: tuple[tuple[str, int], ...]


class Enumeration:
    """All legal sets of a question with their terms."""

    def __init__(
        self,
        legal: Legal,
        costs: Mapping[str, int] | None = None,
        *,
        by_median: bool = False,
        weighted: bool = True,
    ) -> None:
        self.legal = legal
        self.terms = Terms(legal, costs, by_median=by_median, weighted=weighted)
        self.known = {victims: dict(self.terms.of(victims)) for victims in legal.sets}

    def best(
        self, objective: str, greedy: int | None, order: str | None = None, caps: str = ""
    ) -> Best | None:
        """Return the answer; ``greedy`` is the scheduler's own, nothing where it finds nobody.

        ``order`` are the levels of an objective that is not listed here, and ``caps`` its caps.
        """
        levels = order.split() if order else self.levels(objective)
        capped = CAPS.get(objective, caps).split()
        sets = self._within_caps(capped if greedy else [], greedy or 0)
        if not sets:
            return None
        if COUNT not in levels:
            levels.append(COUNT)

        def rank(victims: int) -> tuple[list[int], list[int]]:
            terms = self.known[victims]
            return [value(terms, level) for level in levels], self.places(victims)

        victims = min(sets, key=rank)
        found = self.known[victims]
        return Best(victims, tuple((level, value(found, level)) for level in levels))

    def levels(self, objective: str) -> list[str]:
        """Return the levels of an objective, one for each priority where it asks for that."""
        each = [f"victims@{priority}" for priority in sorted(self.terms.ranks, reverse=True)]
        levels = LEVELS[objective].split()
        return [one for level in levels for one in (each if level == EACH else [level])]

    def places(self, victims: int) -> list[int]:
        """Return the sorted places of victims in the scheduler's order."""
        places = self.terms.places
        return [places[index] for index in self.legal.candidates if victims >> index & 1]

    def _within_caps(self, caps: list[str], greedy: int) -> list[int]:
        """Return the sets that keep to every cap which can be kept with those before it."""
        sets = list(self.known)
        for cap in caps:
            most = self._capped(greedy, cap)
            sets = [v for v in sets if self._capped(v, cap) <= most] or sets
        return sets

    def _capped(self, victims: int, cap: str) -> tuple[int, ...]:
        """Return what a cap compares: a value, or the victims of each priority, highest first."""
        if cap == EACH:
            return self.terms.profile(victims)
        return (value(self.terms.of(victims), cap),)
