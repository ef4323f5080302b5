"""Necessary victims, alternatives and optima, against all legal sets; the clash is minimal."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import pytest

import planner
from planner.commands.explain.answer import Condition, alternative, count_optima, necessary
from planner.commands.explain.inquiry import minimal_clash
from planner.commands.explain.kueue.clash import laws_of, stated
from planner.commands.explain.kueue.inquiry import KueueInquiry
from planner.objective.profiles import PROFILES, Profile
from planner.solver.deadline import Deadline
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.commands.explain.kueue import relaxed
from tests.commands.explain.kueue.inquire import inquire
from tests.conftest import TEST_ALL, recorded_root, some
from tests.solver.truth import Measured, Terms, Truth, Victims, truths, value_of
from tests.told import told

FILES = (
    ("small-classical-flat", False),
    ("small-classical-nocohort", False),
    ("small-classical-hier", False),
    ("small-fair-flat", True),
    ("small-fair-hier", True),
)
EVERY = 45 if TEST_ALL or recorded_root() is None else 120
OBJECTIVES = ("no-regret", "min-count", "min-lost-work")


def values(profile: Profile, terms: Terms, victims: Victims) -> list[int]:
    """Return the levels of a set, and the number of its names, which is the last level."""
    return [*(value_of(terms, level) for level in profile.levels), len(victims)]


def optima_of(measured: Measured, profile: Profile, inquiry: KueueInquiry) -> set[Victims]:
    """Return all sets that are best within the caps."""
    kept = measured.keeping(measured.caps(profile, inquiry.greedy))
    best = min(values(profile, measured.terms[v], v) for v in kept)
    return {v for v in kept if values(profile, measured.terms[v], v) == best}


def solvable(name: str, *, fair: bool) -> list[Truth]:
    return [truth for truth in truths(name, EVERY, fair=fair) if truth.legal]


@pytest.mark.parametrize(
    ("name", "fair", "objective"),
    some(((*file, objective) for file, objective in product(FILES, OBJECTIVES)), 2),
)
def test_necessary_is_what_all_optima_share(name: str, objective: str, *, fair: bool) -> None:
    profile = PROFILES[objective]
    answers = set()
    for truth in solvable(name, fair=fair):
        inquiry = inquire(truth, objective)
        optima = optima_of(truth.measured(), profile, inquiry)
        shared = frozenset.intersection(*optima)
        found = necessary(inquiry, inquiry.plan.keys)
        assert {key for key, needed in found.items() if needed} == shared, truth.id
        assert found.keys() == set(inquiry.plan.keys)
        for key in inquiry.plan.keys:
            assert necessary(inquiry, [key]) == {key: key in shared}
        answers |= set(found.values())
    assert answers >= {True}


@pytest.mark.parametrize(
    ("name", "fair", "objective"),
    some(((*file, objective) for file, objective in product(FILES, OBJECTIVES)), 2),
)
def test_optima_are_counted_and_listed(name: str, objective: str, *, fair: bool) -> None:
    profile = PROFILES[objective]
    for truth in solvable(name, fair=fair):
        inquiry = inquire(truth, objective)
        optima = optima_of(truth.measured(), profile, inquiry)
        found = count_optima(inquiry, 1000)
        assert found is not None
        assert found.complete
        assert found.count == len(optima), truth.id
        assert {frozenset(keys) for keys in found.plans} == optima, truth.id
        assert len(found.plans) == found.count
        assert found.plans[0] == inquiry.plan.keys
        few = count_optima(inquiry, 1)
        assert few is not None
        assert few.plans == (inquiry.plan.keys,)
        assert few.count == len(optima) or not few.complete
        assert 1 <= few.count <= len(optima)


@pytest.mark.parametrize(
    ("name", "fair", "objective"),
    some(((*file, objective) for file, objective in product(FILES, OBJECTIVES)), 2),
)
def test_alternatives_are_the_best_with_and_without(
    name: str, objective: str, *, fair: bool
) -> None:
    profile = PROFILES[objective]
    found = set()
    for truth in solvable(name, fair=fair):
        inquiry = inquire(truth, objective)
        measured = truth.measured()
        caps = measured.caps(profile, inquiry.greedy)
        for key in truth.keys:
            condition: Condition = "sparing" if key in inquiry.plan.keys else "taking"
            position = inquiry.positions.get(key)
            assert position is not None
            if not inquiry.planning.eligible[position]:
                assert not any(key in victims for victims in truth.legal)
                continue
            other = alternative(inquiry, position, condition)
            wanted = [v for v in truth.legal if (key in v) == (condition == "taking")]
            within = [v for v in measured.keeping(caps) if v in wanted]
            assert other.status == ("optimal" if wanted else "infeasible"), truth.id
            found.add((condition, other.status, other.within_caps))
            if not wanted:
                continue
            assert other.within_caps == bool(within), truth.id
            sets = within or wanted
            best = min(values(profile, measured.terms[v], v) for v in sets)
            victims = frozenset(other.victims)
            assert victims in sets
            assert values(profile, measured.terms[victims], victims) == best, truth.id
            assert {t.term: t.other for t in other.terms} == measured.terms[victims]
            assert {t.term: t.plan for t in other.terms} == inquiry.plan.terms
            ours = frozenset(inquiry.plan.keys)
            assert frozenset(other.more) == victims - ours
            assert frozenset(other.fewer) == ours - victims
    assert {(condition, status) for condition, status, _ in found} >= {
        ("sparing", "optimal"),
        ("taking", "optimal"),
    }


@pytest.mark.parametrize(("alike", "asked"), [(1, 2), (2, 2), (2, 4)])
def test_one_victim_is_told_of_as_one(alike: int, asked: int) -> None:
    state = state_of(
        queue("a", 2 * alike, within="LowerPriority"),
        *(running(f"w{number}", "a", 2) for number in range(alike)),
        pending("a", asked),
    )
    told(planner.explain(state, PENDING, objective="min-count").answer)


CLASSICAL = ("small-classical-flat", "small-classical-nocohort", "small-classical-hier")
FAIR = ("small-fair-flat", "small-fair-hier")
EVERY_CLASH = 3
MOST = 9
"""Workloads of which every subset can be tried."""


def without_plan(name: str, *, fair: bool) -> Iterator[tuple[Truth, KueueInquiry]]:
    for truth in truths(name, EVERY_CLASH, fair=fair):
        if not truth.legal:
            inquiry = inquire(truth, "min-count")
            small = len(inquiry.planning.problem.workloads) <= MOST
            if inquiry.plan.status == "infeasible" and inquiry.searched and small:
                yield truth, inquiry


def has_plan(truth: Truth, kept: set[str], *, fair: bool) -> bool:
    """Say whether a plan exists with some laws only, by the definition."""
    _, snapshot, preemptor, assignment = truth.setting()
    return relaxed.has_plan(snapshot, preemptor, assignment, kept, fair=fair)


@pytest.mark.parametrize(
    ("name", "fair"), [(n, False) for n in CLASSICAL] + [(n, True) for n in FAIR]
)
def test_clash_is_minimal_by_the_definition(name: str, *, fair: bool) -> None:
    seen = set()
    for truth, inquiry in without_plan(name, fair=fair):
        problem = inquiry.planning.problem
        clash, proved = minimal_clash(laws_of(problem), partial(stated, problem), Deadline())
        assert proved
        assert not has_plan(truth, {law.id for law in laws_of(problem)}, fair=fair), truth.id
        assert not has_plan(truth, clash, fair=fair), truth.id
        for law in clash:
            assert has_plan(truth, clash - {law}, fair=fair), (truth.id, law)
        seen.add(frozenset(clash))
    assert len(seen) >= 2
