"""What Kueue leaves to chance: the order of candidates where past use makes circles.

Source: docs/semantics/kueue-features.md §3.4: sorted by a relation that is not transitive,
what comes out depends on the order in which a map of Go is walked, which is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from random import Random

from planner.quota.kueue.past_use import Contest

INSERTED = 12
"""Up to so many elements Go sorts by insertion; more by a method that is not imitated."""


class Chance:
    """One possible run of the scheduler: ``seed`` says which; without one, the run that is shown.

    ``met`` says that an order was looked for where Kueue has none.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random = None if seed is None else Random(seed)  # noqa: S311 - orders, not secrets
        self.met = False

    def pick(self, names: Sequence[str]) -> str:
        """Return one of some names, of which Kueue takes any; the first where none was drawn."""
        if len(names) > 1:
            self.met = True
            if self._random is not None:
                return self._random.choice(names)
        return names[0]

    def arrange(self, contest: Contest) -> list[int]:
        """Return positions in the order in which Kueue would sort the contenders."""
        if contest.is_total:
            return contest.order()
        self.met = True
        if self._random is None:
            return contest.order()
        start = list(range(len(contest.contenders)))
        self._random.shuffle(start)
        if len(start) <= INSERTED:
            return contest.sorted_from(start)

        def compare(a: int, b: int) -> int:
            return -1 if contest.contenders[a].precedes(contest.contenders[b]) else 1

        return sorted(start, key=cmp_to_key(compare))
