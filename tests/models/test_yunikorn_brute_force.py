"""On random small clusters the model admits exactly what brute force finds legal."""

import pytest
from msgspec.structs import replace

from planner.models.yunikorn.candidates import counting_guarantees, eligible
from planner.models.yunikorn.formulation import build_classes
from planner.models.yunikorn.laws import lacking
from planner.problem.yunikorn import YuniKornProblem, build_yunikorn_problem
from planner.quota.classes import Classes
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.quota.yunikorn.lowered import LOWERED
from planner.quota.yunikorn.queue import Snapshot, walk
from tests.conftest import TEST_ALL
from tests.yunikorn.admitted import admitted, choices, problem_of
from tests.yunikorn.brute_force import legal_sets
from tests.yunikorn.building import asking_of, of_release
from tests.yunikorn.random_clusters import random_cluster, random_lowered, random_pods

SEEDS = range(3000 if TEST_ALL else 30)
KINDS = ("plain", "everything", "pods", "1.8", "1.7")
"""What is drawn; some with a release of the core that has other rules."""


def drawn(seed: int, kind: str, *, twins: bool = False) -> tuple[Cluster, Asking, YuniKornProblem]:
    """Draw a cluster and make it ready."""
    value = random_cluster(seed, plain=kind == "plain", twins=twins)
    if kind == "pods":
        value = random_pods(seed, twins=twins)
    elif kind in {"1.7", "1.8"}:
        value = of_release(value, f"{kind}.0")
    cluster, asking = asking_of(value)
    return cluster, asking, build_yunikorn_problem(cluster, asking)


def rule_sets(asking: Asking) -> tuple[str, ...]:
    """Return the rule sets that an ask can be planned by."""
    if asking.ask.required_node:
        return ("yunikorn-required-node",)
    return ("yunikorn-design", "yunikorn-code")


@pytest.mark.parametrize("kind", KINDS)
def test_model_equals_brute_force(kind: str) -> None:
    """YK-05 must have decided in many of the clusters, else this shows little."""
    by_order = 0
    for seed in SEEDS:
        cluster, asking, problem = drawn(seed, kind)
        for rules in rule_sets(asking):
            legal = legal_sets(cluster, asking, rules)
            assert admitted(problem, rules) == legal, (seed, rules)
            by_order += admitted(problem, rules, without={"YK-05"}) != legal
    assert by_order > len(SEEDS) // (10 if kind != "pods" else 20)


def test_what_kubernetes_has_decides_in_many_random_clusters() -> None:
    differing, some = 0, 0
    for seed in SEEDS:
        cluster, asking, _ = drawn(seed, "pods")
        known = legal_sets(cluster, asking, rule_sets(asking)[0])
        unknown = legal_sets(replace(cluster, objects=None), asking, rule_sets(asking)[0])
        differing += known != unknown
        some += any(known.values())
    assert differing > len(SEEDS) // 5
    assert some > len(SEEDS) // 10


@pytest.mark.parametrize("kind", KINDS[:2])
def test_model_equals_brute_force_for_a_lowered_quota(kind: str) -> None:
    forbidden, none = 0, 0
    for seed in SEEDS:
        value, path = random_lowered(seed, plain=kind == "plain")
        legal = legal_sets(*asking_of(value, path, LOWERED), LOWERED)
        problem = problem_of(value, path, LOWERED)
        assert admitted(problem, LOWERED) == legal, seed
        forbidden += admitted(problem, LOWERED, without={"YK-02"}) != legal
        none += not legal[""]
    assert forbidden > len(SEEDS) // 10
    assert none > len(SEEDS) // 10


@pytest.mark.parametrize("kind", KINDS)
def test_classes_stand_for_all_their_members(kind: str) -> None:
    merged = 0
    for seed in SEEDS[:100]:
        cluster, asking, problem = drawn(seed, kind, twins=True)
        classes = build_classes(problem, eligible(problem), [])
        merged += sum(len(members) > 1 for members in classes.members)
        for rules in rule_sets(asking):
            expected = {
                (problem.nodes.index(node), counts_of(problem, classes, victims))
                for node, sets in legal_sets(cluster, asking, rules).items()
                for victims in sets
            }
            assert choices(problem, classes, rules) == expected, (seed, rules)
    assert merged > len(SEEDS) // 2


def counts_of(
    problem: YuniKornProblem, classes: Classes, victims: frozenset[str]
) -> tuple[int, ...]:
    """Return legal victims as class counts: each of them is in a class."""
    keys = [allocation.allocation_key for allocation in problem.allocations]
    counts = classes.counts(keys.index(key) for key in victims)
    assert counts is not None
    return tuple(counts)


@pytest.mark.parametrize("kind", KINDS)
def test_no_set_is_legal_for_a_node_that_lacks_something(kind: str) -> None:
    lacking_something = 0
    for seed in SEEDS:
        cluster, asking, problem = drawn(seed, kind)
        classes = build_classes(problem, eligible(problem), [])
        for rules in rule_sets(asking):
            found = lacking(problem, classes, rules)
            legal = legal_sets(cluster, asking, rules)
            assert {problem.nodes[node] for node in found} == legal.keys()
            for node, lacks in found.items():
                assert not (lacks and legal[problem.nodes[node]]), (seed, rules, lacks)
                lacking_something += bool(lacks)
    assert lacking_something > len(SEEDS) // 2


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_the_least_of_the_guarantees_that_count(kind: str) -> None:
    for seed in SEEDS:
        cluster, asking, problem = drawn(seed, kind)
        snapshot = Snapshot(asking.leaf, asking.ask.resource)
        for queue, counting in zip(
            walk(cluster.tree.root), counting_guarantees(problem), strict=True
        ):
            rest = snapshot.remaining(queue)
            if rest is None or counting is None:
                assert rest is None, (seed, queue.path)
                assert counting is None, (seed, queue.path)
                continue
            left: dict[str, int] = {}
            for g in counting:
                name = problem.types[g.type]
                left[name] = min(g.left, left.get(name, g.left))
            named = rest if problem.older else asking.ask.resource
            asked = {t: amount for t, amount in rest.items() if t in named}
            assert left == asked, (seed, queue.path)
