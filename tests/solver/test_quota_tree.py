"""What a plan counts beside its victims: usage of the tree, namespaces, shares of cohorts."""

import random
from copy import deepcopy
from dataclasses import replace
from typing import Literal

import pytest

from planner import api
from planner.case.kueue_plan import MAX_SIBLINGS
from planner.commands.check.plan import check
from planner.objective.profiles import Profile
from planner.plan.kueue import Plan, QuotaNode, QuotaUse
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.cluster import FLAVOR, PENDING, cohort, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.oracle.random_states import NOW, RandomState, random_state
from tests.oracle.random_states import PENDING as ASKED
from tests.solver.oracle_difference import enumerated
from tests.solver.ways import solve

STATE = state_of(
    cohort("root"),
    cohort("left", "root"),
    cohort("right", "root"),
    queue("mine", 6, "left", lending=2, reclaim="Any"),
    queue("other", 2, "left", borrowing=5),
    queue("idle", 0, "left"),
    queue("far", 3, "right"),
    running("own", "mine", 1),
    running("small", "other", 2),
    running("large", "other", 3),
    running("there", "far", 2),
    pending("mine", 5),
)
"""``mine`` never lends 4 of its 6. ``left`` has the other 2 and the 2 of ``other``: 4 to use or
lend, of which ``other`` uses 5. With the 3 of ``right`` there are 7, all in use: ``mine`` gets the
3 of its own 4 that are free, and 2 more once ``small`` is gone."""


def solved(state: State) -> Plan:
    plan = api.solve(state, PENDING)
    assert isinstance(plan, Plan)
    return plan


def node(name: str, parent: str | None, *, touched: bool = True, hidden: int = 0) -> QuotaNode:
    """Return what is said of a node, without its usage."""
    kind: Literal["ClusterQueue", "Cohort"] = (
        "Cohort" if name in {"root", "left", "right"} else "ClusterQueue"
    )
    return QuotaNode(name=name, kind=kind, parent=parent, touched=touched, hidden=hidden, uses=())


def use(quota: int, before: int, after: int, **changes: int) -> QuotaUse:
    """Return the usage of a node with a nominal quota of 0, unless changes say otherwise."""
    facts = {"nominal": 0, "borrowing_limit": None, "lending_limit": None, **changes}
    return QuotaUse.model_validate(
        {"flavor": FLAVOR, "resource": "gpu", "quota": quota, "before": before, "after": after}
        | facts
    )


def test_tree_has_the_path_the_victims_and_their_siblings() -> None:
    plan = solved(STATE)
    assert plan.keys == ("ns/small",)
    assert [one.model_copy(update={"uses": ()}) for one in plan.tree] == [
        node("root", None),
        node("left", "root", hidden=1),
        node("mine", "left"),
        node("other", "left"),
        node("right", "root", touched=False, hidden=1),
    ]


def test_usage_counts_the_request_and_not_the_victims() -> None:
    uses = {one.name: one.uses for one in solved(STATE).tree}
    assert uses == {
        "root": (use(7, 7, 7),),
        "left": (use(4, 5, 5),),  # 0 + 5, then 6 - 4 and 5 - 2
        "mine": (use(6, 1, 6, nominal=6, lending_limit=2),),
        "other": (use(2, 5, 3, nominal=2, borrowing_limit=5),),
        "right": (use(3, 2, 2),),
    }


def test_kueues_own_plan_has_its_own_tree() -> None:
    plan = solved(STATE)
    assert plan.greedy is not None
    held = {"ns/small": 2, "ns/large": 3}
    (other,) = (one for one in plan.greedy.tree if one.name == "other")
    assert other.uses[0].after == 5 - sum(held[key] for key in plan.greedy.keys)


def test_a_queue_without_a_cohort_is_a_tree_of_its_own() -> None:
    state = state_of(
        queue("alone", 4, within="LowerPriority"),
        queue("elsewhere", 4),
        running("low", "alone", 4),
        pending("alone", 3),
    )
    (only,) = solved(state).tree
    assert (only.name, only.parent, only.uses) == ("alone", None, (use(4, 4, 3, nominal=4),))


def test_siblings_beyond_a_number_are_counted_only() -> None:
    """Those that use most are listed, in the order of the dump."""
    names = [f"sibling-{number:02d}" for number in range(MAX_SIBLINGS + 3)]
    state = state_of(
        cohort("all"),
        queue("mine", 4, "all", within="LowerPriority"),
        *(queue(name, 1, "all") for name in names),
        *(running(f"in-{name}", name, 1) for name in names[3:]),
        running("low", "mine", 4),
        pending("mine", 4),
    )
    root, *others = solved(state).tree
    assert (root.name, root.hidden) == ("all", 3)
    assert [one.name for one in others] == ["mine", *names[3:]]


def test_nothing_is_asked_so_nothing_is_listed() -> None:
    state = state_of(cohort("all"), queue("mine", 4, "all"), pending("mine", {}))
    assert solved(state).tree == ()


STATES = 1000 if TEST_ALL else 32


def scattered(seed: int) -> RandomState:
    """Return a random state whose admitted workloads are in several namespaces."""
    state, chance = random_state(seed), random.Random(f"tenants/{seed}")  # noqa: S311 - test data
    objects = deepcopy(state.objects)
    for item in objects:
        if item["kind"] == "Workload" and "admission" in item.get("status", {}):
            item["metadata"]["namespace"] = chance.choice(["team", "red", "blue"])
    return replace(state, objects=objects, costs={})


@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (
            Profile("mine", "", (("namespaces",), ("workloads",), ("lost_work",))),
            "namespaces workloads lost_work",
        ),
        (Profile("mine", "", (("lost_work",),), caps=(("namespaces",),)), "lost_work"),
        (
            Profile("mine", "", (("unfairness",), ("namespaces",), ("lost_work",))),
            "unfairness namespaces lost_work",
        ),
    ],
)
def test_tenants_and_shares_are_what_enumeration_says(profile: Profile, order: str) -> None:
    compared = several = certified = 0
    for seed in range(STATES):
        state = scattered(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        plan = solve(read, ASKED, profile, assignment=state.assignment)
        sets = enumerated(state, plan)
        if sets is None or not plan.keys:
            continue
        greedy = sets.legal.mask(frozenset(plan.greedy.keys)) if plan.greedy else 0
        best = sets.best("", greedy or None, order, "namespaces" if profile.caps else "")
        assert best is not None
        assert list(plan.keys) == sets.legal.keys(best.victims), seed
        assert plan.terms["namespaces"] == sets.known[best.victims]["namespaces"], seed
        compared += 1
        several += plan.terms["namespaces"] > 1
        assert plan.certificate is not None
        trees = [level.proof for level in plan.certificate.levels]
        if {*trees} == {"certified"} and plan.certificate.ties == "certified":
            certified += 1
            assert check(read, plan, profile, assignment=state.assignment).accepted, seed
    assert compared > 18
    assert several > 3
    assert certified > compared // 2
