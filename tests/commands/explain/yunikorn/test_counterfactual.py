"""Necessary victims, alternatives and optima, against all legal sets; clashes; public issues."""

from collections.abc import Iterator
from functools import cache, partial

import pytest
from msgspec.structs import replace

import planner
from planner.commands.explain.answer import Condition, alternative, count_optima, necessary
from planner.commands.explain.inquiry import minimal_clash
from planner.commands.explain.yunikorn.clash import excluded_by, stated
from planner.laws import in_drop_order
from planner.objective.profiles import PROFILES, Profile
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.solver.deadline import Deadline
from planner.solver.yunikorn.planning import Laws
from tests.commands.explain.yunikorn.inquire import inquire
from tests.commands.explain.yunikorn.relaxed import RelaxedAsk
from tests.conftest import ROOT, TEST_ALL, some
from tests.solver.yunikorn_truth import LAWS, Measured, Victims, YuniKornTruth
from tests.yunikorn.building import read_yunikorn
from tests.yunikorn.legality import SMALL
from tests.yunikorn.recorded import lines

EVERY = 70 if TEST_ALL else 600
OBJECTIVES = ("no-regret", "min-count", "min-lost-work")


@cache
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
        inquiry = inquire(truth, objective)
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
    for truth in some(solvable(laws), 2):
        inquiry = inquire(truth, objective)
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


MOST = 7
"""Allocations of which every subset can be tried with each law dropped."""
EVERY_CLASH = 3 if TEST_ALL else 12


def without_plan(name: str, laws: Laws) -> Iterator[YuniKornTruth]:
    for line in lines(name, EVERY_CLASH):
        running = sum(len(each.get("allocations") or ()) for each in line["applications"])
        if running <= MOST and not (truth := YuniKornTruth(line, laws)).legal:
            yield truth


def has_plan(cluster: Cluster, asking: Asking, kept: set[str]) -> bool:
    return RelaxedAsk(cluster, asking, kept).has_plan()


@pytest.mark.parametrize("laws", LAWS)
def test_clash_is_minimal_by_the_definition(laws: Laws) -> None:
    seen, compared = set(), 0
    for truth in (one for name in SMALL for one in without_plan(name, laws)):
        planning = truth.planning()
        cluster, asking, problem = planning.case.cluster, planning.case.asking, planning.problem
        rules = planning.rules
        every = {law.id for law in in_drop_order(rules)} - {"YK-11"}
        assert not has_plan(cluster, asking, every), truth.id
        clash, proved = minimal_clash(
            in_drop_order(rules), partial(stated, problem, rules), Deadline()
        )
        assert proved
        assert clash
        assert not has_plan(cluster, asking, clash), truth.id
        for law in clash:
            assert has_plan(cluster, asking, clash - {law}), (truth.id, clash, law)
        # Whoever may not preempt at all needs no other law to have no plan.
        refused = partial(stated, replace(problem, may_preempt=False), rules)
        assert minimal_clash(in_drop_order(rules), refused, Deadline()) == ({"YK-11"}, True)
        seen.add(frozenset(clash))
        compared += 1
    assert compared >= 10 or not SMALL
    assert len(seen) >= 4 or not SMALL


def test_laws_are_those_of_the_rule_set() -> None:
    design = {law.id for law in in_drop_order("yunikorn-design")}
    assert design == {f"YK-{number:02}" for number in range(2, 12)}
    assert design - {law.id for law in in_drop_order("yunikorn-code")} == {"YK-02", "YK-09"}
    assert {law.id for law in in_drop_order("yunikorn-required-node")} == {
        "YK-06",
        "YK-08",
        "YK-09",
        "YK-10",
        "YK-11",
    }


ZOO = ROOT / "instances" / "regressions"
TRAINING = "queue/root.training.guaranteed"


@pytest.mark.parametrize(
    ("name", "laws", "changes"),
    [
        # Types without a guaranteed are free, so a guaranteed for any one type of the ask, as
        # large as what it wants of it, is enough.
        (
            "yunikorn-1951-nothing-guaranteed",
            {"YK-04": "nothing is guaranteed to queue root.training or to one above it"},
            {f"{TRAINING}.{one}" for one in ("memory=4Gi", "pods=1", "vcore=4")},
        ),
        # 10Gi of 8Gi are in use, and 1Gi is asked: its own pod would have to go, which YK-03
        # forbids.
        (
            "yunikorn-3113-over-in-another-type",
            {
                "YK-03": "1 allocation is in root.training, the queue of the ask",
                "YK-04": "it lacks 3Gi memory at queue root.training",
            },
            {f"{TRAINING}.memory=11Gi"},
        ),
        (
            "yunikorn-2131-behind-the-fence",
            {
                "YK-07": "stays inside queue root.tenant-a, whose preemption.policy is fence",
                "YK-08": "node-a, the nearest, lacks 4 vcore",
            },
            {"queue/root.tenant-a.preemption.policy=default"},
        ),
    ],
)
def test_why_nothing(name: str, laws: dict[str, str], changes: set[str]) -> None:
    state = read_yunikorn(ZOO / name)
    clash = planner.explain(state).clash
    assert clash is not None
    assert {law.law for law in clash.laws} == set(laws)
    for law in clash.laws:
        assert laws[law.law] in law.text
    assert {change.edit for change in clash.changes} == changes
    assert clash.tried_all
