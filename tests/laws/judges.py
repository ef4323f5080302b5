"""A case of a law, and the four who judge it: enumeration, model, verifier, the scheduler's steps.

A case says by hand what is permitted in a small state. ``judge`` asks everybody about every set
of workloads there is in it, so all that is not said by hand has four witnesses of one mind: the
brute force that removes one workload after the other, the sets that the model admits, the
verdict of the verifier on each set, and the victims that the scheduler's own algorithm takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import (
    Assignment,
    contested,
    read_assignment,
    total_request,
)
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reference.kueue.context import Context
from planner.reference.kueue.fair_sharing import search
from planner.state.kueue import State
from planner.verifier.kueue.plan import setting_for, verify_case
from planner.verifier.kueue.setting import Setting
from tests import admitted
from tests.brute_force import legal_by_attempt, question_of
from tests.cluster import PENDING, Object, fair_sharing, preempt, state_of
from tests.oracle.fair import fair
from tests.oracle.legality import collected
from tests.oracle.question import Question
from tests.subsets import subsets
from tests.verifier import cases as plans

Sets = frozenset[frozenset[str]]
EITHER = (True, False)

OWN = plans.OWN
RECLAIM = plans.RECLAIM
WHILE_BORROWING = plans.WHILE_BORROWING
BY_SHARE = plans.BY_SHARE


def sets(*texts: str) -> Sets:
    """Return victim sets, each written as the names of its workloads: ``sets("b1 b2", "c1")``."""
    return frozenset(frozenset(f"ns/{name}" for name in text.split()) for text in texts)


@dataclass(frozen=True)
class Case:
    """What a law permits in a state, by hand.

    Attributes
    ----------
    name
        What it shows.
    parts
        The state, in the language of ``tests.cluster``.
    legal
        All sets that are legal in the attempt ``borrowing``.
    permits, forbids
        Sets that are legal in it, and sets that nothing but this law forbids there.
    victims, anyone
        Who is in any legal set of any attempt, and who would be without the law.
    without
        All sets that would be legal in the attempt without the law.
    attempts
        The attempts that are made, in their order.
    fits
        Resources that need no preemption.
    tie
        Whether shares of different weights are equal: the model, whose shares are integers, may
        then admit what the verifier has to refuse.
    """

    name: str
    parts: Collection[Object]
    legal: Sets | None = None
    permits: Sets = frozenset()
    forbids: Sets = frozenset()
    victims: str | None = None
    anyone: str | None = None
    without: Sets | None = None
    borrowing: bool = True
    attempts: tuple[bool, ...] | None = None
    fits: tuple[str, ...] = ()
    tie: bool = False

    def __str__(self) -> str:
        """Return its name, which pytest shows."""
        return self.name

    @cached_property
    def state(self) -> State:
        """The state that its parts make."""
        return state_of(self.parts)


def fairly(case: Case) -> Case:
    """Return a case for the law of fair sharing that is the same as one without it."""
    parts = [*case.parts, *fair_sharing()]
    return replace(case, parts=parts, attempts=None, borrowing=True)


def judge(law: str, case: Case) -> None:
    """Ask all four about every set, and compare with what is known by hand."""
    court = court_of(law, case)
    legal = court.enumerated
    found = court.admitted()
    if case.tie:
        assert all(sets <= found[attempt] for attempt, sets in legal.items())
        found = {b: {one for one in sets if not court.broken(one, b)} for b, sets in found.items()}
    assert found == legal
    assert court.accepted() == {
        attempt: sets if attempt in court.attempts else set() for attempt, sets in legal.items()
    }
    attempt, taken = court.taken
    assert not taken or taken in legal[attempt]
    dropped = court.admitted({law})
    for attempt, more in dropped.items():
        for victims in more - legal[attempt] if attempt in court.attempts else ():
            assert court.broken(victims, attempt) == [law], victims
    _compare_by_hand(case, court, dropped)


def _compare_by_hand(case: Case, court: Court, dropped: Mapping[bool, set[frozenset[str]]]) -> None:
    legal, without = court.enumerated[case.borrowing], dropped[case.borrowing]
    made = [court.enumerated[attempt] for attempt in court.attempts]
    made_without = [dropped[attempt] for attempt in court.attempts]
    assert case.legal is None or legal == case.legal
    assert case.permits <= legal
    assert case.forbids <= without - legal
    assert case.without is None or without == case.without
    assert case.attempts is None or court.attempts == case.attempts
    for expected, found in ((case.victims, made), (case.anyone, made_without)):
        names = {key.removeprefix("ns/") for sets in found for keys in sets for key in keys}
        assert expected is None or names == set(expected.split())


@dataclass(frozen=True)
class Court:
    """The four, for one state under the rules of Kueue without fair sharing."""

    case: Case

    @cached_property
    def snapshot(self) -> Snapshot:
        """The state as all of them see it."""
        return take_snapshot(self.case.state)

    @cached_property
    def preemptor(self) -> Preemptor:
        """Who wants in."""
        return find_preemptor(self.case.state, self.snapshot, PENDING)

    @cached_property
    def assignment(self) -> Assignment:
        """Every resource needs preemption, but for those that fit."""
        flavors = preempt(self.case.state)
        for resource in self.case.fits:
            flavors["main"][resource]["mode"] = "Fit"
        return read_assignment(flavors, self.preemptor)

    @cached_property
    def problem(self) -> Problem:
        """What the model sees."""
        return build_problem(self.snapshot, self.preemptor, self.assignment)

    @cached_property
    def question(self) -> Question:
        """What the enumeration is asked."""
        return question_of(self.snapshot, self.preemptor, self.assignment)

    @property
    def attempts(self) -> tuple[bool, ...]:
        """The attempts that are made, says the enumeration."""
        return tuple(collected(self.question)[1])

    @cached_property
    def enumerated(self) -> Mapping[bool, set[frozenset[str]]]:
        """All legal sets of either attempt, made or not."""
        return legal_by_attempt(self.question, EITHER)

    def admitted(self, without: Collection[str] = ()) -> Mapping[bool, set[frozenset[str]]]:
        """Return what the model admits in either attempt; it says itself which it would make."""
        assert set(admitted.admitted(self.problem)) == set(self.attempts)
        return admitted.admitted(self.problem, without, both_attempts=True)

    def accepted(self) -> Mapping[bool, set[frozenset[str]]]:
        """Return what the verifier accepts as either attempt."""
        return {
            attempt: {victims for victims in self.subsets() if not self.broken(victims, attempt)}
            for attempt in self.enumerated
        }

    def subsets(self) -> Iterator[frozenset[str]]:
        """Yield every set of workloads that hold quota."""
        return map(frozenset, subsets(self.holders))

    @cached_property
    def holders(self) -> Mapping[str, Admitted]:
        """Who holds quota, by key."""
        return {one.key: one for held in self.snapshot.admitted.values() for one in held}

    def broken(self, victims: Collection[str], attempt: bool) -> list[str]:  # noqa: FBT001
        """Return the laws that a set breaks, with the reasons that the rules give."""
        held = [self.holders[key] for key in victims]
        verification = verify_case(plans.case_of(self.setting, held, borrowing=attempt))
        return [verdict.law for verdict in verification.verdicts if not verdict.holds]

    @cached_property
    def setting(self) -> Setting:
        """What the verifier sees."""
        return setting_for(self.case.state, self.snapshot, PENDING, self.assignment)

    @property
    def taken(self) -> tuple[bool, frozenset[str]]:
        """The victims of the scheduler's own steps, and its attempt."""
        usage = self.snapshot.usage.copy()
        request = total_request(self.assignment, self.preemptor, self.snapshot)
        frs = contested(self.assignment, self.snapshot)
        context = Context(self.snapshot, usage, self.preemptor, request, frs)
        found = search(context)
        return bool(found.borrowing), frozenset(target.workload.key for target in found.targets)


class FairCourt(Court):
    """The four under fair sharing, which has one attempt."""

    @property
    def attempts(self) -> tuple[bool, ...]:
        """The only one."""
        return (True,)

    @cached_property
    def enumerated(self) -> Mapping[bool, set[frozenset[str]]]:
        """All legal sets."""
        return {True: fair(self.question).named}

    def admitted(self, without: Collection[str] = ()) -> Mapping[bool, set[frozenset[str]]]:
        """Return what the model admits."""
        return {True: admitted.admitted_fairly(self.problem, without)}


COURTS: dict[str, Callable[[Any], Court]] = {"KQ": Court, "FS": FairCourt}
"""Those who judge, by how the ids of their laws begin."""


def court_of(law: str, case: Case) -> Court:
    """Return those who judge by the rules of a law."""
    return COURTS[law.partition("-")[0]](case)


def broken(state: State, *taken: tuple[str, str], **fields: Any) -> list[str]:
    """Return the laws that a plan breaks, its victims given as (name, reason)."""
    return list(plans.broken(state, plans.plan_of(state, *taken, **fields)))


def detail(law: str, state: State, *taken: tuple[str, str], **fields: Any) -> str:
    """Return what the verifier says of a law where a plan breaks it."""
    verdict = plans.verdicts(state, plans.plan_of(state, *taken, **fields))[law]
    assert not verdict.holds
    return verdict.detail


def broken_fairly(parts: Collection[Object], *taken: tuple[str, str], **fields: Any) -> list[str]:
    """Return the laws that a plan by the rules of fair sharing breaks."""
    return broken(state_of(parts), *taken, rules="kueue-fair", **fields)


def fair_detail(law: str, parts: Collection[Object], *taken: tuple[str, str], **fields: Any) -> str:
    """Return what is said of a law of fair sharing where a plan breaks it."""
    return detail(law, state_of(parts), *taken, rules="kueue-fair", **fields)
