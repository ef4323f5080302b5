"""Necessary victims, the best alternatives and the count of optima, against all legal sets."""

from __future__ import annotations

import pytest

from planner.commands.explain.answer import Condition, alternative, count_optima, necessary
from planner.commands.explain.yunikorn.clash import excluded_by
from planner.objective.profiles import PROFILES, Profile
from planner.solver.yunikorn.planning import Laws
from tests.commands.explain.yunikorn.inquire import inquire
from tests.solver.yunikorn_truth import LAWS, Measured, Victims, YuniKornTruth
from tests.yunikorn.legality import SMALL
from tests.yunikorn.recorded import lines

EVERY = 70
OBJECTIVES = ("no-regret", "min-count", "min-lost-work")


def solvable(laws: Laws) -> list[YuniKornTruth]:
    every = (YuniKornTruth(line, laws) for name in SMALL for line in lines(name, EVERY))
    return [truth for truth in every if truth.legal and truth.is_searched]


def best_of(measured: Measured, profile: Profile, among: list[Victims]) -> set[Victims]:
    least = min(measured.levels(profile, victims) for victims in among)
    return {victims for victims in among if measured.levels(profile, victims) == least}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("laws", LAWS)
def test_necessary_is_what_all_optima_share(laws: Laws, objective: str) -> None:
    profile = PROFILES[objective]
    answers = set()
    for truth in solvable(laws):
        inquiry = inquire(truth, profile)
        measured = truth.measured()
        optima = set(measured.best(profile, inquiry.greedy)[1])
        shared = frozenset.intersection(*optima)
        found = necessary(inquiry, inquiry.plan.keys)
        assert {key for key, needed in found.items() if needed} == shared, truth.id
        assert found.keys() == set(inquiry.plan.keys)
        answers |= set(found.values())
        counted = count_optima(inquiry, 1000)
        assert counted is not None
        assert counted.complete
        assert counted.count == len(optima), truth.id
        assert {frozenset(keys) for keys in counted.plans} == optima, truth.id
        assert counted.plans[0] == inquiry.plan.keys
    assert answers >= {True} or not SMALL


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("laws", LAWS)
def test_alternatives_are_the_best_with_and_without(laws: Laws, objective: str) -> None:
    profile = PROFILES[objective]
    seen = set()
    for truth in solvable(laws):
        inquiry = inquire(truth, profile)
        measured = truth.measured()
        for key in truth.keys:
            condition: Condition = "sparing" if key in inquiry.plan.keys else "taking"
            position = inquiry.positions.get(key)
            assert position is not None
            if excluded_by(inquiry.planning, position) is not None:
                assert not any(key in victims for victims in truth.legal), truth.id
                continue
            other = alternative(inquiry, position, condition)
            wanted = [v for v in truth.legal if (key in v) == (condition == "taking")]
            lists = [
                [v for v in among if v in wanted]
                for among in (
                    measured.within_caps(profile, inquiry.greedy),
                    measured.permitted(profile.levels),
                    wanted,
                )
            ]
            assert other.status == ("optimal" if wanted else "infeasible"), (truth.id, key)
            seen.add((condition, other.status, other.within_caps, other.last_resort))
            if not wanted:
                continue
            number = next(n for n, one in enumerate(lists) if one)
            assert other.within_caps == (number == 0), (truth.id, key)
            assert other.last_resort == (number == 2), (truth.id, key)
            victims = frozenset(other.victims)
            assert victims in best_of(measured, profile, lists[number]), (truth.id, key)
            assert {t.term: t.other for t in other.terms} == measured.terms[victims]
            assert {t.term: t.plan for t in other.terms} == inquiry.plan.terms
            ours = frozenset(inquiry.plan.keys)
            assert frozenset(other.more) == victims - ours
            assert frozenset(other.fewer) == ours - victims
    kinds = {(condition, status) for condition, status, _, _ in seen}
    assert not SMALL or kinds >= {("sparing", "optimal"), ("taking", "optimal")}
    if SMALL and objective == "no-regret":
        assert {last_resort for _, _, _, last_resort in seen} == {True, False}
