"""The closed form: steps in every order against it, and what the product makes of it.

The search tries some hundred trees a second; PLANNER_TEST_ALL=1 searches for minutes. Of the
product only the laws about removals are compared, over all that runs in the tree: KQ-07, and
FS-06 with FS-07.
"""

from random import Random

import pytest

from planner.problem.kueue import Problem, build_problem
from planner.verifier.kueue.case import Case, setting_of
from planner.verifier.kueue.fair_sharing import FairCase, fair_setting_of
from tests.admitted import admitted, admitted_fairly
from tests.closed_form import condition, steps
from tests.closed_form.draw import draw_fairness, draw_tree
from tests.closed_form.translate import Plain
from tests.conftest import TEST_ALL
from tests.random_trees import Instance, random_instance

TREES = 2000 if TEST_ALL else 40
OTHER_LAWS = {"KQ-01", "KQ-02", "KQ-03", "KQ-04", "KQ-05", "KQ-06", "KQ-08"}
OTHER_FAIR_LAWS = {"FS-01", "FS-02", "FS-03", "FS-04", "FS-05"}

Sets = set[frozenset[str]]


def instance_of(seed: int, *, fair: bool) -> Instance:
    return random_instance(Random(seed).randint, fair=fair)  # noqa: S311 - not for secrets


def problem_of(instance: Instance) -> Problem:
    return build_problem(instance.snapshot, instance.preemptor, instance.assignment)


def accepted(plain: Plain, *, fair: bool) -> Sets:
    """Return the sets for which the verifier finds an order of removals."""
    instance = plain.instance
    where = setting_of(instance.snapshot, instance.preemptor, instance.assignment)
    found = set()
    for gone in range(1 << len(plain.removable)):
        victims = tuple(w for i, w in enumerate(plain.removable) if gone >> i & 1)
        reasons = ("",) * len(victims)
        case = (
            FairCase(fair_setting_of(where), True, victims, reasons)  # noqa: FBT003
            if fair
            else Case(where, True, victims, reasons)  # noqa: FBT003
        )
        if not case.removal.obstacle:
            found.add(plain.keys(gone))
    return found


def test_classical() -> None:
    for seed in range(TREES):
        instance = instance_of(seed, fair=False)
        plain = Plain(instance)
        reached = {plain.keys(gone) for gone in steps.classical(plain.tree())}
        assert accepted(plain, fair=False) == reached, seed
        model = admitted(problem_of(instance), OTHER_LAWS)
        assert all(sets == reached for sets in model.values()), seed


def test_fair() -> None:
    """The model may admit ties of different weights, which the verifier then refuses."""
    for seed in range(TREES):
        instance = instance_of(seed, fair=True)
        plain, problem = Plain(instance), problem_of(instance)
        reached = {plain.keys(gone) for gone in steps.fair(plain.fairness())}
        assert accepted(plain, fair=True) == reached, seed
        model = admitted_fairly(problem, OTHER_FAIR_LAWS)
        assert reached <= model, seed
        if problem.fair is not None and len(set(problem.fair.weight_nano)) == 1:
            assert model == reached, seed


SEARCHED = 8000 if TEST_ALL else 150
BATCHES = range(4)


@pytest.mark.parametrize("batch", BATCHES)
def test_classical_sets_are_those_of_the_steps(batch: int) -> None:
    reached = missed = 0
    for seed in range(batch * SEARCHED, (batch + 1) * SEARCHED):
        tree = draw_tree(Random(seed))  # noqa: S311 - not for secrets
        found = steps.classical(tree)
        assert condition.classical(tree) == found, seed
        reached += len(found)
        missed += (1 << len(tree.workloads)) - len(found)
    # Both answers must be common, or the search proves little.
    assert min(reached, missed) > 10 * SEARCHED


def test_sets_of_kep83_are_those_of_the_steps() -> None:
    for seed in range(SEARCHED):
        tree = draw_tree(Random(seed))  # noqa: S311 - not for secrets
        assert condition.kep83(tree) == steps.kep83(tree), seed


@pytest.mark.parametrize("batch", BATCHES)
def test_fair_sets_are_those_of_the_steps(batch: int) -> None:
    reached = missed = 0
    for seed in range(batch * SEARCHED, (batch + 1) * SEARCHED):
        rules = draw_fairness(Random(seed))  # noqa: S311 - not for secrets
        found = steps.fair(rules)
        assert condition.fair(rules) == found, seed
        reached += len(found)
        missed += (1 << len(rules.tree.workloads)) - len(found)
    assert min(reached, missed) > 10 * SEARCHED
