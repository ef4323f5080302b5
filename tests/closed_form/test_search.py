"""The closed form against steps in every order.

The search tries some hundred trees a second; PLANNER_TEST_ALL=1 searches for minutes.
"""

from random import Random

import pytest

from tests.closed_form import condition, steps
from tests.closed_form.draw import draw_fairness, draw_tree
from tests.conftest import TEST_ALL

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
