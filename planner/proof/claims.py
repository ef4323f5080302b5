"""What a plan claims, as questions that a tree must answer with no.

An optimal plan claims of each level that no legal set which is no worse on the levels before it
is better on this one, and that no legal set which is equal on all comes before it in the
scheduler's candidate order. An infeasible one claims that there is no legal set at all. Of a cap
that it drops a plan claims that no legal set keeps it, and the caps kept before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from planner.objective.profiles import Measure, measure_name
from planner.objective.terms import TermTable
from planner.objective.wishes import Wishes
from planner.plan.record import OWN_ROW
from planner.proof.box import Row
from planner.proof.measures import Bounded, Measures
from planner.proof.question import Question, Rules
from planner.quota.classes import IntArray
from planner.term import RATED

BETTER: Final = OWN_ROW
"""The name of the row of the measure in question."""

INFEASIBLE: Final = "infeasible"
TIES: Final = "ties"
LAST_RESORT: Final = "last resort"
CAP_OF: Final = "cap of"
"""How the claim begins that no set keeps a cap."""

MOST_ASKED: Final = 1000
"""Workloads up to which trees ask the scheduler: no two of them are in one class then."""

RulesFor = Callable[[TermTable, Iterable[str], Sequence[IntArray]], Rules]
"""Makes rules over classes whose members are equal in some terms and some marks, (W,) each."""


Limits = Sequence[tuple[Measure, int]]
"""Measures that are bounded above."""


class Stated(NamedTuple):
    """A level with its value, and whether it is proved that no set has less."""

    measure: Measure
    value: int
    proved: bool


@dataclass
class Claims:
    """The questions of one decision.

    ``caps`` bind every set besides the laws, as do the ``wishes`` of the objective. No inequality
    bounds a term that is replayed: questions leave its bounds out, and so are about more sets than
    need be. With ``asks`` they keep them: then no two workloads are alike, and a box that is a
    single set is closed where the scheduler, replayed, breaks such a bound for it.
    """

    table: TermTable
    rules_for: RulesFor
    caps: Limits
    wishes: Wishes
    asks: bool = False
    _known: dict[frozenset[str], Rules] = field(default_factory=dict)
    _measured: dict[int, dict[tuple[int, ...], Measures]] = field(default_factory=dict)
    _whole: TermTable = field(init=False)

    def __post_init__(self) -> None:
        """Leave out what asks the scheduler."""
        self._whole = self.table
        if not self.asks:
            self.table = self.table.known_beforehand()

    @cached_property
    def asking(self) -> Claims | None:
        """The same claims with all bounds; ``None`` if nothing is replayed, or too much.

        Trees of these show more, and take a decision of the scheduler for each victim of a set.
        """
        if not self._whole.replayed or len(self._whole.rank) > MOST_ASKED:
            return None
        return Claims(self._whole, self.rules_for, self.caps, self.wishes, asks=True)

    def replaying(self, claim: str) -> str:
        """Return the name of a claim whose tree asks the scheduler."""
        return f"{claim}, {' and '.join(self._whole.replayed)} replayed"

    @cached_property
    def _terms(self) -> frozenset[str]:
        """The terms that inequalities may bound."""
        return frozenset(self.table.evaluate(()))

    def infeasible(self) -> Question:
        """Ask whether there is any legal set; of the caps the last is the one in question."""
        if not self.caps or self.is_unknown(self.caps[-1][0]):
            return self._question(self._bounds(()))
        measure, most = self.caps[-1]
        return self.level((), measure, most + 1)

    def level(self, earlier: Sequence[Stated], measure: Measure, value: int) -> Question:
        """Ask whether any set no worse on the levels before it has less than a value."""
        better = Bounded(BETTER, measure, value - 1)
        return self._question([*self._bounds(earlier), better])

    def ties(self, levels: Sequence[Stated], victims: Sequence[int]) -> Question:
        """Ask whether any set equal on all levels comes before an answer.

        ``victims`` are the positions of the answer in candidate order. The cases of the split
        ``first`` are the places at which an earlier set can differ for the first time.
        """
        return dataclasses.replace(self.equal(levels), answer=tuple(victims))

    def equal(self, levels: Sequence[Stated]) -> Question:
        """Ask whether there is any set no worse on some levels."""
        return self._question(self._bounds(levels))

    def canonical(self, levels: Sequence[Stated], victims: Sequence[int]) -> list[int]:
        """Return an answer with the first members of every class that ``victims`` are of.

        Nothing tells it apart from the answer given, which it equals or comes before.
        """
        classes = self._rules(self._bounds(levels)).classes
        return classes.take(classes.counts(victims) or ())

    def is_unknown(self, measure: Measure) -> bool:
        """Say whether a measure is not known of all sets: no inequality bounds its value."""
        return not self._terms.issuperset(measure)

    def value(self, measure: Measure, victims: Sequence[int]) -> int:
        """Return a measure of victims, given by positions; a term that nobody knows counts 0."""
        table = self._whole if self.is_unknown(measure) else self.table
        terms = table.evaluate(victims, measure)
        return sum(terms.get(term, 0) for term in measure)

    def _bounds(self, levels: Iterable[Stated]) -> list[Bounded]:
        # Caps and wishes are in every question, also whether there is any legal set: they bind all.
        bounds = [Bounded(at_most(m, most), m, most) for m, most in self.caps]
        bounds += [Bounded(at_most(m, most), m, most) for m, most in self.wishes.most.items()]
        bounds += [
            Bounded(at_most(measure, value), measure, value, value if proved else 0)
            for measure, value, proved in levels
        ]
        return [each for each in bounds if not self.is_unknown(each.measure)]

    def _question(self, bounds: Sequence[Bounded]) -> Question:
        rules = self._rules(bounds)
        box, first, table = rules.root(), rules.classes.first, self.table
        if self.wishes:
            box = box.without(np.flatnonzero(self.wishes.protected(table)[first]))
        rows = {}
        for group, most in self.wishes.budget.items():
            inside = np.flatnonzero(self.wishes.counted(table, group)[first])
            rows[f"evictions of {group}"] = Row(inside, -np.ones_like(inside), -most)
        # By identity: rules are kept for as long as the claims are.
        measured = self._measured.setdefault(id(rules), {})
        return Question(rules, table, bounds, box, rows, measured=measured)

    def _rules(self, bounds: Sequence[Bounded]) -> Rules:
        """Return the rules over classes that the measures do not tell apart."""
        terms = frozenset(term for bounded in bounds for term in bounded.measure)
        if terms in self._known:
            return self._known[terms]
        for known, rules in self._known.items():
            # Such rules serve if the further terms do not tell their classes apart either.
            further = self.table.telling_apart(terms - known)
            # With `excess_freed` in question rows depend on the alternative that victims are for,
            # such as a node; where there are several, such rules cannot serve other terms.
            plain = len(self.table.needs) == 1 or not (known ^ terms) & {"excess_freed", RATED}
            if known <= terms and plain and all(map(rules.classes.agree_in, further)):
                self._known[terms] = rules
                return rules
        marks = [self.wishes.counted(self.table, group) for group in self.wishes.budget]
        if self.wishes:
            marks.append(self.wishes.protected(self.table))
        numbers = [mark.astype(np.int64) for mark in marks]
        self._known[terms] = self.rules_for(self.table, terms, numbers)
        return self._known[terms]


def level_claim(measure: Measure) -> str:
    """Return the name of the claim that no set is better on a level."""
    return measure_name(measure)


def cap_claim(measure: Measure) -> str:
    """Return the name of the claim that no set keeps a cap."""
    return f"{CAP_OF} {measure_name(measure)}"


def at_most(measure: Measure, most: int) -> str:
    """Return the name of the row that bounds a measure by its value on an earlier level."""
    return f"{measure_name(measure)} <= {most}"
