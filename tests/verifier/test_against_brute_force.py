"""The verifier accepts exactly what single removals can reach, on random trees.

KQ-07 is compared on its own too: it must hold if and only if some order of removals is legal. So
are FS-06 and FS-07: FS-06 holds if and only if some order passes its test alone, and where it does,
FS-07 holds if and only if some order passes both.
"""

import random
from collections.abc import Callable, Iterator
from itertools import permutations

from hypothesis import given

from planner.quota.kueue.holders import Admitted
from planner.verifier.kueue.case import replay, setting_of
from planner.verifier.kueue.fair_sharing import (
    FairRemoval,
    FairSetting,
    fair_setting_of,
    replay_fairly,
)
from planner.verifier.kueue.plan import verify_case
from planner.verifier.kueue.setting import Setting
from tests.conftest import TEST_ALL, examples
from tests.random_trees import Instance, fair_instances, instances, random_instance
from tests.subsets import subsets
from tests.verifier.cases import case_of


def setting(instance: Instance) -> Setting:
    return setting_of(instance.snapshot, instance.preemptor, instance.assignment)


@given(instances())
def test_candidates_variants_and_attempts(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    found = {workload.key: where.variant(workload).value for workload in where.candidates}
    assert found == simulation.variants
    assert where.attempts == simulation.attempts


@examples(150)
@given(instances())
def test_accepted_is_legal_and_the_order_found_is_one(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    in_tree = {key for key, held in simulation.workloads.items() if where.in_tree(held.queue)}
    removable = simulation.removable(in_tree)
    for borrowing in (True, False):
        made = borrowing in simulation.attempts
        legal = simulation.legal(borrowing=borrowing) if made else set()
        for victims in subsets(instance.simulation.workloads.values()):
            case = case_of(where, victims, borrowing=borrowing)
            keys = frozenset(victim.key for victim in victims)
            assert verify_case(case).accepted == (keys in legal), (borrowing, keys)
            removal = case.removal
            if keys <= in_tree:
                assert (not removal.obstacle) == (keys in removable), keys
            if removal.obstacle:
                assert removal.order == ()
            else:
                assert sorted(v.key for v in removal.order) == sorted(keys)
                assert not replay(where, removal.order).obstacle


def orders(instance: Instance, where: Setting | FairSetting) -> Iterator[tuple[Admitted, ...]]:
    """Yield the orders of up to three victims of the tree."""
    for victims in subsets(instance.simulation.workloads.values()):
        if 1 <= len(victims) <= 3 and all(where.in_tree(v.queue) for v in victims):
            yield from permutations(victims)


def at_each_moment(
    order: tuple[Admitted, ...], takes: Callable[[str, frozenset[str]], bool]
) -> bool:
    """Say whether each may go after those before it."""
    keys = [victim.key for victim in order]
    return all(takes(key, frozenset(keys[:turn])) for turn, key in enumerate(keys))


@examples(50)
@given(instances())
def test_replay_tests_every_removal_at_its_moment(instance: Instance) -> None:
    where, simulation = setting(instance), instance.simulation
    for order in orders(instance, where):
        legal = at_each_moment(order, simulation.over_quota)
        assert (not replay(where, order).obstacle) == legal, order


def fair_setting(instance: Instance) -> FairSetting:
    return fair_setting_of(setting(instance))


@given(fair_instances())
def test_candidates_and_the_nominal_rule(instance: Instance) -> None:
    where, simulation = fair_setting(instance), instance.fair_simulation
    assert {workload.key for workload in where.candidates} == simulation.candidates
    assert where.stays_within_nominal == simulation.within_nominal


@examples(200)
@given(fair_instances())
def test_accepted_is_legal_under_fair_sharing(instance: Instance) -> None:
    assert_accepted_is_legal(instance)


def test_accepted_is_legal_on_larger_numbers() -> None:
    """Hypothesis keeps numbers small; here instances are as dense as they get."""
    for seed in range(400 if TEST_ALL else 100):
        pick = random.Random(seed).randint  # noqa: S311 - not for secrets
        assert_accepted_is_legal(random_instance(pick, fair=True))


def assert_accepted_is_legal(instance: Instance) -> None:
    """Compare every set of workloads, as a whole and by each of the two laws on removals."""
    where, simulation = fair_setting(instance), instance.fair_simulation
    in_tree = {key for key, held in simulation.workloads.items() if where.in_tree(held.queue)}
    borrowing, accepted = simulation.borrowing_only(in_tree), simulation.accepted(in_tree)
    for victims in subsets(instance.simulation.workloads.values()):
        case, keys = case_of(where, victims), frozenset(victim.key for victim in victims)
        assert verify_case(case).accepted == (keys in simulation.legal_sets), keys
        if keys <= in_tree:
            removal = case.removal
            assert isinstance(removal, FairRemoval)
            assert (not removal.stuck) == (keys in borrowing), keys
            assert (not removal.obstacle) == (keys in accepted), keys
            assert bool(removal.obstacle) == bool(removal.stuck or removal.unfair)
            if removal.obstacle:
                assert removal.order == ()
            else:
                assert sorted(v.key for v in removal.order) == sorted(keys)
                assert replay_fairly(where, removal.order) == ("", "")


@examples(75)
@given(fair_instances())
def test_replay_tests_every_removal_at_its_moment_under_fair_sharing(instance: Instance) -> None:
    where, simulation = fair_setting(instance), instance.fair_simulation
    for order in orders(instance, where):
        legal = at_each_moment(order, simulation.accepts)
        assert (replay_fairly(where, order) == ("", "")) == legal, order
