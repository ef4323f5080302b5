"""The best of all legal sets: level by level, within the caps, and canonical among equals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.oracle.fair import fair
from tests.oracle.legality import Legal, classical
from tests.oracle.question import Question
from tests.oracle.terms import Terms

LEVELS: Final = {
    "no-regret": "D0 D1 D2 D3 D4+D5 D7 D8",
    "least-disruption": "D0 D1 D2 D3 D4+D5 D7 D8",
    "min-count": "count D2 D3 D4+D5",
    "min-lost-work": "D0 D1 D4+D5 D2",
    "kueue-like": "victims@each time D2",
    "kube-like": "pdb D1 prio D2p time",
    "fewest-pods": "D0 D1 D2p D4",
    "fewest-tenants": "D0 D1 D8 D2 D4",
    "fair": "D0 D1 D9 D2 D4",
    "milestones": "D0 D1 D6 D2",
    "exact-fit": "D0 D1 D7 D2 D4",
    "weighted": "D4+D5+toll D8",
    "min-cost": "cost",
}
"""The built-in objectives that need no look ahead."""

CAPS: Final = {"no-regret": "D0 D1 D2 D4+D5"}
COUNT: Final = "count"
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
