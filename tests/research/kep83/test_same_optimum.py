"""The optimum by KEP-83's rules, found again by engines that are told the whole model at once."""

from collections.abc import Iterator

import pytest

from planner.solver.start import Given
from tests.cluster import PENDING
from tests.conftest import TEST_ALL
from tests.research.kep83.random_decisions import random_decision
from tests.second_engine import test_same_optimum as same
from tests.second_engine.test_same_optimum import Case


def kep83(*, fair: bool) -> Iterator[Case]:
    """Random decisions by KEP-83's rules; ``fair`` only draws others."""
    for seed in range(3000 if TEST_ALL else 60):
        drawn = random_decision(2 * seed + fair, 3 + seed % 8)
        given = Given(PENDING, drawn.assignment, rules=drawn.options.text, recorded=True)
        yield f"kep83 {seed} {drawn.options.text}", drawn.state, given


@pytest.mark.parametrize("fair", [False, True])
def test_engines_agree(*, fair: bool) -> None:
    same.test_engines_agree(kep83, fair=fair)
