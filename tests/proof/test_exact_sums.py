"""Amounts whose sums could leave 64 bits: trees are refused, and two engines are asked."""

from __future__ import annotations

import random

import numpy as np
import pytest

import planner
from planner.proof.box import Box, Row, add_up, narrowed
from planner.state.kueue import State
from tests.cluster import pending, queue, running, state_of

MANY = 8


def crowded(size: int) -> State:
    """Return a full queue whose workloads hold so much memory each; one more wants as much."""
    held = [running(f"w{i}", "a", {"memory": size}, minute=i) for i in range(MANY)]
    nominal = {"memory": MANY * size}
    return state_of(
        queue("a", nominal, within="LowerPriority"), *held, pending("a", {"memory": size})
    )


@pytest.mark.parametrize(
    ("size", "proof"), [(2**40, "certified"), (2**58, "certified"), (2**59 - 1, "solver")]
)
def test_what_cannot_be_added_up_is_left_to_two_engines(size: int, proof: str) -> None:
    state = crowded(size)
    plan = planner.solve(state, objective="min-count")
    assert plan.status == "optimal"
    assert len(plan.victims) == 1
    assert plan.certificate is not None
    assert plan.certificate.levels[0].proof == proof
    check = planner.check(state, plan)
    assert check.accepted == (proof == "certified")
    assert all(verdict.holds for verdict in check.verdicts)


def test_a_tree_of_such_a_state_is_refused_in_words() -> None:
    plan, state = planner.solve(crowded(2**40), objective="min-count"), crowded(2**59 - 1)
    other = planner.solve(state, objective="min-count")
    assert plan.certificate is not None
    assert other.certificate is not None
    forged = other.certificate.model_copy(update={"trees": plan.certificate.trees})
    check = planner.check(state, other.model_copy(update={"certificate": forged}))
    assert not check.accepted
    assert any("added up exactly" in claim.detail for claim in check.claims)


def test_a_row_within_a_box_says_the_same_of_every_set_in_it() -> None:
    row = Row(np.arange(3), np.array([5, -7, 2**61]), 4)
    box = Box(np.array([1, 2, 3]), np.array([4, 2, 3]))
    inside = row.within(box)
    assert inside.classes.tolist() == [0]
    assert inside.least == 4 + 14 - 3 * 2**61
    for count in range(1, 5):
        whole = sum(a * x for a, x in zip((5, -7, 2**61), (count, 2, 3), strict=True))
        assert (whole >= row.least) == (5 * count >= inside.least)


@pytest.mark.parametrize("seed", range(5))
def test_sums_beyond_64_bits_are_exact(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    amounts = [chance.choice([-1, 1]) * chance.randrange(1, 2**60) for _ in range(9)]
    most = [chance.randrange(0, 2**20) for _ in amounts]
    box = Box(np.zeros(9, dtype=np.int64), np.array(most, dtype=np.int64))
    row = Row(np.arange(9), np.array(amounts, dtype=np.int64), 2**61)
    added = add_up([(row, 3)], box, {})
    reached = sum(
        3 * amount * count for amount, count in zip(amounts, most, strict=True) if amount > 0
    )
    assert (added.reached, added.spare) == (reached, reached - 3 * 2**61)


def test_a_class_of_which_a_row_counts_nothing_is_left_as_it_is() -> None:
    row = Row(np.arange(2), np.array([0, 2]), 7)
    box = Box(np.zeros(2, dtype=np.int64), np.array([5, 4]))
    part = narrowed([(row, 1)], box, {})
    assert part.least.tolist() == [0, 4]
    assert part.most.tolist() == [5, 4]
