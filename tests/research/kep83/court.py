"""A case of a law of KEP-83, and the four who judge it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from planner.research.kep83.reference import decide_kep83
from tests.laws import judges
from tests.laws.judges import COURTS, Court, court_of, judge, sets
from tests.research.kep83 import cases

__all__ = ["Case", "court_of", "judge", "sets"]


@dataclass(frozen=True)
class Case(judges.Case):
    """What a law permits in a state, by hand.

    Attributes
    ----------
    waited, options
        For how many seconds the preemptor waits, and what is configured.
    """

    waited: int = 0
    options: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return its name, which pytest shows."""
        return self.name


class Kep83Court(Court):
    """The four by KEP-83's rules: one attempt, and victims in any case."""

    case: Case

    @property
    def attempts(self) -> tuple[bool, ...]:
        """The only one."""
        return (True,)

    @cached_property
    def decision(self) -> cases.Decision:
        """What the tests of KEP-83 ask."""
        made = cases.decision_of(self.case.state, self.case.fits, **self.case.options)
        return replace(made, waited=self.case.waited)

    @cached_property
    def enumerated(self) -> Mapping[bool, set[frozenset[str]]]:
        """All legal sets."""
        return {True: self.decision.simulation.legal_sets()}

    def admitted(self, without: Collection[str] = ()) -> Mapping[bool, set[frozenset[str]]]:
        """Return what the model admits."""
        return {True: cases.by_model(self.decision, without)}

    def accepted(self) -> Mapping[bool, set[frozenset[str]]]:
        """Return what the checker accepts."""
        return {True: cases.by_checker(self.decision)}

    def broken(self, victims: Collection[str], attempt: bool) -> list[str]:  # noqa: FBT001
        """Return the laws that a set breaks; there is no other attempt."""
        assert attempt
        return cases.broken(self.decision, [self.holders[key] for key in victims])

    @property
    def taken(self) -> tuple[bool, frozenset[str]]:
        """The victims of the KEP's algorithm, which the brute force has written out, too."""
        one = self.decision
        found = decide_kep83(one.snapshot, one.preemptor, one.options, one.assignment, one.cost)
        victims = [target.workload.key for target in found.search.targets]
        assert victims == one.simulation.algorithm()
        return True, frozenset(victims)


COURTS["K83"] = Kep83Court
