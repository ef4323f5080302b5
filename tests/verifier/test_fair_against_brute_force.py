"""Under fair sharing the verifier accepts exactly what single removals can reach.

FS-06 and FS-07 are compared on their own too: FS-06 holds if and only if some order passes its
test alone, and where it does, FS-07 holds if and only if some order passes both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, combinations, permutations

from hypothesis import given, settings

from planner.quota.kueue.holders import Admitted
from planner.verifier.kueue.case import setting_of
from planner.verifier.kueue.fair_sharing import (
    FairCase,
    FairSetting,
    fair_setting_of,
    replay_fairly,
)
from planner.verifier.kueue.plan import verify_case
from tests.random_trees import Instance, fair_instances, random_instance


def setting(instance: Instance) -> FairSetting:
    return fair_setting_of(setting_of(instance.snapshot, instance.preemptor, instance.assignment))


def subsets(instance: Instance) -> Iterator[tuple[Admitted, ...]]:
    workloads = list(instance.simulation.workloads.values())
    sizes = range(len(workloads) + 1)
    return chain.from_iterable(combinations(workloads, size) for size in sizes)


def case_with(where: FairSetting, victims: tuple[Admitted, ...]) -> FairCase:
    return FairCase(where, True, victims, tuple(where.reason(v) for v in victims))  # noqa: FBT003


@given(fair_instances())
def test_candidates_and_the_nominal_rule(instance: Instance) -> None:
    where, simulation = setting(instance), instance.fair_simulation
    assert {workload.key for workload in where.candidates} == simulation.candidates
    assert where.stays_within_nominal == simulation.within_nominal


@settings(max_examples=200)
@given(fair_instances())
def test_accepted_is_legal(instance: Instance) -> None:
    assert_accepted_is_legal(instance)


def test_accepted_is_legal_on_larger_numbers() -> None:
    """Hypothesis keeps numbers small; here instances are as dense as they get."""
    for seed in range(400):
        pick = random.Random(seed).randint  # noqa: S311 - not for secrets
        assert_accepted_is_legal(random_instance(pick, fair=True))


def assert_accepted_is_legal(instance: Instance) -> None:
    where, legal = setting(instance), instance.fair_simulation.legal_sets
    for victims in subsets(instance):
        keys = frozenset(victim.key for victim in victims)
        assert verify_case(case_with(where, victims)).accepted == (keys in legal), keys


@settings(max_examples=200)
@given(fair_instances())
def test_each_of_the_two_laws_is_some_order(instance: Instance) -> None:
    where, simulation = setting(instance), instance.fair_simulation
    in_tree = {key for key, held in simulation.workloads.items() if where.in_tree(held.queue)}
    borrowing, accepted = simulation.borrowing_only(in_tree), simulation.accepted(in_tree)
    for victims in subsets(instance):
        keys = frozenset(victim.key for victim in victims)
        if keys <= in_tree:
            removal = case_with(where, victims).removal
            assert (not removal.stuck) == (keys in borrowing), keys
            assert (not removal.obstacle) == (keys in accepted), keys
            assert bool(removal.obstacle) == bool(removal.stuck or removal.unfair)
            if removal.obstacle:
                assert removal.order == ()
            else:
                assert sorted(v.key for v in removal.order) == sorted(keys)
                assert replay_fairly(where, removal.order) == ("", "")


@settings(max_examples=75)
@given(fair_instances())
def test_replay_tests_every_removal_at_its_moment(instance: Instance) -> None:
    where, simulation = setting(instance), instance.fair_simulation
    for victims in subsets(instance):
        if not 1 <= len(victims) <= 3 or not all(where.in_tree(v.queue) for v in victims):
            continue
        for order in permutations(victims):
            keys = [victim.key for victim in order]
            legal = all(
                simulation.accepts(key, frozenset(keys[:turn])) for turn, key in enumerate(keys)
            )
            assert (replay_fairly(where, order) == ("", "")) == legal, keys
