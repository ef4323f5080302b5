"""The verifier accepts exactly what single removals can reach, on random trees.

KQ-07 is compared on its own too: it must hold if and only if some order of removals is legal. So
are FS-06 and FS-07: FS-06 holds if and only if some order passes its test alone, and where it does,
FS-07 holds if and only if some order passes both.
"""

import random
from collections.abc import Collection, Iterator
from itertools import accumulate, permutations

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
from tests.brute_force import legal_by_attempt
from tests.conftest import TEST_ALL, examples
from tests.oracle.fair import Search, candidates, fair
from tests.oracle.legality import (
    BORROWING,
    HIERARCHY,
    NO_BORROWING,
    WITHIN,
    Allowed,
    Candidate,
    attempt,
    collected,
    reachable,
)
from tests.oracle.question import Question
from tests.random_trees import Instance, fair_instances, instances, random_instance
from tests.subsets import subsets
from tests.verifier.cases import case_of


def setting(instance: Instance) -> Setting:
    return setting_of(instance.snapshot, instance.preemptor, instance.assignment)


def tried(question: Question, keys: Collection[str]) -> list[Candidate]:
    """Return workloads as candidates, whether or not they are, whom only KQ-07 keeps back."""
    return [
        Candidate(index, held, question.ancestor(("queue", held.queue)), BORROWING)
        for index, held in enumerate(question.cluster.held)
        if held.key in keys
    ]


VARIANTS = {
    WITHIN: "WithinCQ",
    HIERARCHY: "HierarchicalReclaim",
    NO_BORROWING: "ReclaimWithoutBorrowing",
    BORROWING: "ReclaimWhileBorrowing",
}


@given(instances())
def test_candidates_variants_and_attempts(instance: Instance) -> None:
    where = setting(instance)
    found = {workload.key: where.variant(workload).value for workload in where.candidates}
    candidates, attempts = collected(instance.question)
    assert found == {one.held.key: VARIANTS[one.variant] for one in candidates}
    assert [*where.attempts] == attempts


@examples(150)
@given(instances())
def test_accepted_is_legal_and_the_order_found_is_one(instance: Instance) -> None:
    where, question = setting(instance), instance.question
    in_tree = {held.key for held in instance.holders if where.in_tree(held.queue)}
    everybody = tried(question, in_tree)
    allowed = attempt(question, everybody, borrow=True)
    removable = question.names(reachable(tuple(one.index for one in everybody), allowed))
    by_attempt = legal_by_attempt(question)
    for borrowing in (True, False):
        legal = by_attempt.get(borrowing, set())
        for victims in subsets(instance.holders):
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
    for victims in subsets(instance.holders):
        if 1 <= len(victims) <= 3 and all(where.in_tree(v.queue) for v in victims):
            yield from permutations(victims)


def at_each_moment(question: Question, order: tuple[Admitted, ...], allowed: Allowed) -> bool:
    """Say whether each may go after those before it."""
    place = {held.key: index for index, held in enumerate(question.cluster.held)}
    indices = [place[victim.key] for victim in order]
    masks = accumulate((1 << index for index in indices), initial=0)
    return all(map(allowed, masks, indices))


@examples(50)
@given(instances())
def test_replay_tests_every_removal_at_its_moment(instance: Instance) -> None:
    where, question = setting(instance), instance.question
    for order in orders(instance, where):
        allowed = attempt(question, tried(question, {one.key for one in order}), borrow=True)
        legal = at_each_moment(question, order, allowed)
        assert (not replay(where, order).obstacle) == legal, order


def fair_setting(instance: Instance) -> FairSetting:
    return fair_setting_of(setting(instance))


@given(fair_instances())
def test_candidates_and_the_nominal_rule(instance: Instance) -> None:
    where, question = fair_setting(instance), instance.question
    expected = {question.cluster.held[index].key for index in candidates(question)}
    assert {workload.key for workload in where.candidates} == expected
    assert where.stays_within_nominal == Search(question).within_nominal


@examples(200)
@given(fair_instances())
def test_accepted_is_legal_under_fair_sharing(instance: Instance) -> None:
    assert_accepted_is_legal(instance)


def test_accepted_is_legal_on_larger_numbers() -> None:
    """Hypothesis keeps numbers small; here instances are as dense as they get."""
    for seed in range(400 if TEST_ALL else 50):
        pick = random.Random(seed).randint  # noqa: S311 - not for secrets
        assert_accepted_is_legal(random_instance(pick, fair=True))


def assert_accepted_is_legal(instance: Instance) -> None:
    """Compare every set of workloads, as a whole and by each of the two laws on removals."""
    where, question = fair_setting(instance), instance.question
    in_tree = {held.key for held in instance.holders if where.in_tree(held.queue)}
    indices, search = tuple(one.index for one in tried(question, in_tree)), Search(question)
    held = question.cluster.held
    borrowing = question.names(reachable(indices, lambda gone, i: search.borrows(gone, held[i])))
    accepted = question.names(reachable(indices, search.allowed))
    legal = fair(question).named
    for victims in subsets(instance.holders):
        case, keys = case_of(where, victims), frozenset(victim.key for victim in victims)
        assert verify_case(case).accepted == (keys in legal), keys
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
    where, question = fair_setting(instance), instance.question
    for order in orders(instance, where):
        legal = at_each_moment(question, order, Search(question).allowed)
        assert (replay_fairly(where, order) == ("", "")) == legal, order
