"""Multipliers are made few and small, as long as they close what the given ones close."""

import random

import numpy as np
import pytest

from planner.proof.box import Box, Row, is_contradiction
from planner.proof.question import Layers
from planner.solver.proving.multipliers import precise, readable
from planner.solver.proving.rows import BoxRows


class Rows(BoxRows):
    """Rows over a box, without a question."""

    def __init__(self, rows: dict[str, Row], most: list[int]) -> None:
        many = np.array(most, dtype=np.int64)
        self.layers, self.ranges = Layers(rows, {}), {}
        self.box = Box(np.zeros_like(many), many)


def row(amounts: list[int], least: int) -> Row:
    kinds = np.arange(len(amounts), dtype=np.int64)
    return Row(kinds, np.array(amounts, dtype=np.int64), least)


CPU, GPU = row([4, 1, 3], 4), row([1, 4, 3], 4)
FEW = row([-1, -1, -1], -1)
"""At most one victim, and 4 of each resource are missing: times 5, 1 and 1 that is 3, against 1."""


@pytest.mark.parametrize(
    "given",
    [
        {"cpu": 1, "gpu": 1, "few": 5},
        {"cpu": 10**9, "gpu": 10**9 + 1, "few": 5 * 10**9 + 3},
        {"cpu": 1, "gpu": 1, "few": 5, "idle": 7},
    ],
)
def test_by_hand(given: dict[str, int]) -> None:
    """All three rows are needed, whatever else is there, and a digit of each will do."""
    rows = {"cpu": CPU, "gpu": GPU, "few": FEW, "idle": row([0, 0, -1], 0)}
    look = Rows(rows, [1, 1, 1])
    assert look.contradict(given)
    assert readable(look, given) == {"cpu": 1, "gpu": 1, "few": 5}


def test_what_comes_out_closes_and_is_no_longer() -> None:
    chance, tried = random.Random(7), 0  # noqa: S311 - a test wants the same numbers again
    while tried < 200:
        rows = {
            str(i): row([chance.randint(-9, 9) for _ in range(4)], chance.randint(-9, 9))
            for i in range(4)
        }
        given = {name: chance.randint(1, 10 ** chance.randint(1, 12)) for name in rows}
        look = Rows(rows, [1, 2, 1, 3])
        if not look.contradict(given):
            continue
        tried += 1
        found = readable(look, given)
        pairs = [(rows[name], m) for name, m in found.items()]
        assert is_contradiction(pairs, look.box, {})
        assert found.keys() <= given.keys()
        assert len("".join(map(str, found.values()))) <= len("".join(map(str, given.values())))
        assert all(m > 0 for m in found.values())


def test_sums_of_precise_multipliers_stay_within_64_bits() -> None:
    multipliers, largest = [1e-3, 1e-11, 0.25, 0.5], [4, 2**19, 1, 1]
    whole = precise(multipliers, largest)[-1]
    assert sum(m * amount for m, amount in zip(whole, largest, strict=True)) < 2**62
    for m, one in zip(multipliers, whole, strict=True):
        assert one / whole[-1] == pytest.approx(m / 0.5, rel=1e-6)


def test_what_is_noise_beside_the_rest_is_rounded_to_nothing() -> None:
    assert precise([1.0, 1e-300], [1, 1])[-1] == [2**61, 0]
