"""The verifier accepts exactly what single removals can reach, on random trees.

KQ-07 is compared on its own too: it must hold if and only if some order of removals is legal.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, permutations

from hypothesis import given, settings

from planner.quota.kueue.holders import Admitted
from planner.verifier.kueue.case import Case, replay, setting_of
from planner.verifier.kueue.plan import verify_case
from planner.verifier.kueue.setting import Setting
from tests.random_trees import Instance, instances


def setting(instance: Instance) -> Setting:
    return setting_of(instance.snapshot, instance.preemptor, instance.assignment)


def subsets(instance: Instance) -> Iterator[tuple[Admitted, ...]]:
    workloads = list(instance.simulation.workloads.values())
    sizes = range(len(workloads) + 1)
    return chain.from_iterable(combinations(workloads, size) for size in sizes)


def case_with(where: Setting, victims: tuple[Admitted, ...], *, borrowing: bool) -> Case:
    reasons = (where.variant(v).reason if where.in_tree(v.queue) else "" for v in victims)
    return Case(where, borrowing, victims, tuple(reasons))


@given(instances())
def test_candidates_variants_and_attempts(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    found = {workload.key: where.variant(workload).value for workload in where.candidates}
    assert found == simulation.variants
    assert where.attempts == simulation.attempts


@settings(max_examples=150)
@given(instances())
def test_accepted_is_legal(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    for borrowing in (True, False):
        made = borrowing in simulation.attempts
        legal = simulation.legal(borrowing=borrowing) if made else set()
        for victims in subsets(instance):
            case = case_with(where, victims, borrowing=borrowing)
            keys = frozenset(victim.key for victim in victims)
            assert verify_case(case).accepted == (keys in legal), (borrowing, keys)


@settings(max_examples=150)
@given(instances())
def test_over_quota_until_last_victim_is_some_order(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    in_tree = {key for key, held in simulation.workloads.items() if where.in_tree(held.queue)}
    removable = simulation.removable(in_tree)
    for victims in subsets(instance):
        keys = frozenset(victim.key for victim in victims)
        if keys <= in_tree:
            removal = case_with(where, victims, borrowing=True).removal
            assert (not removal.obstacle) == (keys in removable), keys


@given(instances())
def test_the_order_found_is_an_order_of_the_victims(instance: Instance) -> None:
    where = setting(instance)
    for victims in subsets(instance):
        removal = case_with(where, victims, borrowing=True).removal
        if removal.obstacle:
            assert removal.order == ()
        else:
            assert sorted(v.key for v in removal.order) == sorted(v.key for v in victims)
            assert not replay(where, removal.order).obstacle


@settings(max_examples=50)
@given(instances())
def test_replay_tests_every_removal_at_its_moment(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    for victims in subsets(instance):
        if not 1 <= len(victims) <= 3 or not all(where.in_tree(v.queue) for v in victims):
            continue
        for order in permutations(victims):
            keys = [victim.key for victim in order]
            legal = all(
                simulation.over_quota(key, frozenset(keys[:turn])) for turn, key in enumerate(keys)
            )
            assert (not replay(where, order).obstacle) == legal, keys
