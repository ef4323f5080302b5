"""Cuts: the most that whole numbers of victims reach, against all of them; and what is no cut."""

import random
from itertools import product

import numpy as np
import pytest

import planner
from planner.plan.proof import Cut
from planner.proof.box import MOST_ROOM, Box, Row, most_within
from planner.proof.question import Question
from tests.conftest import ROOT, TEST_ALL
from tests.proof.recheck import recorded


def drawn(seed: int) -> tuple[Row, np.ndarray, Box]:
    chance = random.Random(seed)  # noqa: S311 - test data
    size = chance.randint(1, 4)
    least = [chance.randint(0, 1) for _ in range(size)]
    most = [low + chance.randint(0, 3) for low in least]
    sizes = [chance.randint(1, 6) * chance.choice((1, 2)) for _ in range(size)]
    fixed = sum(s * n for s, n in zip(sizes, least, strict=True))
    row = Row(np.arange(size), -np.array(sizes), -(fixed + chance.randint(0, 20)))
    weights = np.array([chance.randint(-5, 30) for _ in range(size)])
    return row, weights, Box(np.array(least), np.array(most))


@pytest.mark.parametrize("chunk", range(10 if TEST_ALL else 2))
def test_the_most_is_that_of_all_numbers(chunk: int) -> None:
    for seed in range(200 * chunk, 200 * (chunk + 1)):
        row, weights, box = drawn(seed)
        ranges = (range(a, b + 1) for a, b in zip(box.least, box.most, strict=True))
        points = (np.array(point) for point in product(*ranges))
        reached = [int(weights @ point) for point in points if row.amounts @ point >= row.least]
        assert most_within(row, weights, box) == max(reached), seed


def test_what_leaves_too_much_is_refused() -> None:
    box = Box(np.zeros(2, dtype=np.int64), np.full(2, MOST_ROOM))
    most_within(Row(np.arange(2), np.array([-1, -2]), -MOST_ROOM), np.ones(2, dtype=np.int64), box)
    for row in (
        Row(np.arange(2), np.array([-1, -2]), -MOST_ROOM - 1),
        Row(np.arange(2), np.array([-1, -2]), 1),
        Row(np.arange(2), np.array([-1, 2]), -5),
        Row(np.arange(2), np.array([-1, -2]), -5, {"more": 1}),
        Row(np.arange(0), np.array([], dtype=np.int64), -5),
    ):
        with pytest.raises(ValueError, match=r"leaves too much|no row that bounds"):
            most_within(row, np.ones(row.classes.size, dtype=np.int64), box)


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch) -> Question:
    """Whether fewer than two may go, where 4 GPUs and 4 NICs are missing."""
    state = planner.read(ROOT / "instances" / "two-resources.yaml")
    walked = recorded(monkeypatch)
    assert planner.check(state, planner.solve(state, objective="min-count")).accepted
    return walked[0][0]


def test_what_a_cut_says(question: Question) -> None:
    """Of one victim at most none frees more than 3 + 3 of both together."""
    rows = [name for name in question.rows(question.root) if " at queue/team" in name]
    (part,) = question.parts(question.root, Cut(cut="better", weighing=dict.fromkeys(rows, 1)))
    further = part.sums["cut 1"]
    assert (sorted(further.amounts.tolist()), further.least) == ([-6, -5, -5], -6)
    again = Cut(cut="better", weighing={rows[0]: 1})
    (both,) = question.parts(part, again)
    assert [*both.sums] == ["cut 1", "cut 2"]


@pytest.mark.parametrize(
    "cut",
    [
        Cut(cut="nothing", weighing={"better": 1}),
        Cut(cut="better", weighing={"nothing": 1}),
        Cut(cut="better", weighing={"better": -1}),
        Cut(cut="example.com/gpu in flavor a100 at queue/team", weighing={"better": 1}),
    ],
)
def test_what_is_no_cut(question: Question, cut: Cut) -> None:
    with pytest.raises(ValueError, match="no row"):
        question.parts(question.root, cut)
