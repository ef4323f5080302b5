"""Rounded sums of rows: by hand, against all sets of small boxes, and in trees of small states."""

import random
from itertools import product

import numpy as np
import pytest
from msgspec.structs import replace

from planner.plan.proof import CountSplit, Rounding
from planner.proof.box import Box, Row, rounded_sum
from planner.proof.question import ROUNDED, Question
from planner.solver.deadline import Deadline
from planner.solver.proving.grow import Before, Effort, _Growth
from tests.conftest import TEST_ALL
from tests.proof.recheck import faults
from tests.proof.test_referee import judged, questions

SEEDS = 3000 if TEST_ALL else 100


def row(amounts: list[int], least: int, **extra: int) -> Row:
    """Return a row over classes from 0 on."""
    return Row(np.arange(len(amounts)), np.array(amounts), least, extra)


def box(*most: int) -> Box:
    """Return the box of at most so many of each class."""
    return Box(np.zeros(len(most), dtype=np.int64), np.array(most))


def rounding(by: int, down: tuple[int, ...] = (), out: tuple[str, ...] = ()) -> Rounding:
    return Rounding(row="rounded 1", round={}, by=by, down=down, out=out)


def said(found: Row) -> tuple[list[int], list[int], int, dict[str, int]]:
    return found.classes.tolist(), found.amounts.tolist(), found.least, dict(found.extra)


def test_a_row_is_rounded_by_one_of_its_amounts() -> None:
    """3 x + 3 y + 2 z >= 4 takes two victims: z counts as one, as 2 is more than 4 - 3."""
    found = rounded_sum([(row([3, 3, 2], 4), 1)], rounding(3), box(2, 2, 2), {})
    assert said(found) == ([0, 1, 2], [1, 1, 1], 2, {})


def test_what_a_class_adds_beyond_multiples_counts_as_such() -> None:
    """5 x + y >= 7 by 5: either two of x, or y gives the two that are missing."""
    found = rounded_sum([(row([5, 1], 7), 1)], rounding(5), box(2, 9), {})
    assert said(found) == ([0, 1], [2, 1], 4, {})


def test_classes_counted_from_their_most_make_a_cover() -> None:
    """Of -3 x - 3 y - 3 z >= -7 with one of each at most, one is left out: from 0 up nothing is."""
    short = [(row([-3, -3, -3], -7), 1)]
    found = rounded_sum(short, rounding(3, down=(0, 1, 2)), box(1, 1, 1), {})
    assert said(found) == ([0, 1, 2], [-1, -1, -1], -2, {})


def test_a_negative_multiplier_counts_what_the_row_has_to_spare() -> None:
    """Of 2 x + 2 y >= 3 the row x - y >= 0 is taken away: x + 3 y + s >= 3 with s = x - y.

    By 2 that is x + 2 y + s >= 2, which is 2 x + y >= 2.
    """
    rows = [(row([2, 2], 3), 1), (row([1, -1], 0), -1)]
    found = rounded_sum(rows, rounding(2), box(3, 3), {})
    assert said(found) == ([0, 1], [2, 1], 2, {})


def test_quantities_are_left_out_only_at_the_end_where_they_give_most() -> None:
    """3 x + q >= 4 with q up to 2 asks for one victim without q, and with it q fills what lacks."""
    sums = [(row([3], 4, q=1), 1)]
    assert said(rounded_sum(sums, rounding(3), box(3), {"q": (0, 2)})) == ([0], [1], 2, {"q": 1})
    without = rounded_sum(sums, rounding(3, out=("q",)), box(3), {"q": (0, 2)})
    assert said(without) == ([0], [1], 1, {})


def test_a_quantity_that_is_whole_is_rounded_like_victims() -> None:
    """5 x + 5 q >= 7 takes two in all; were half a q possible, one x and it would do."""
    sums, ranges = [(row([5], 7, q=5), 1)], {"q": (0, 2)}
    whole = rounded_sum(sums, rounding(5), box(3), ranges, {"q"})
    assert said(whole) == ([0], [2], 4, {"q": 2})
    assert said(rounded_sum(sums, rounding(5), box(3), ranges)) == ([0], [2], 4, {"q": 5})


def test_of_a_whole_quantity_counted_from_its_most_what_is_missing_is_rounded() -> None:
    """5 x - 3 q >= 1 with q up to 2 is 5 x + 3 p >= 7 with p missing: 2 x + 2 p >= 4."""
    found = rounded_sum([(row([5], 1, q=-3), 1)], rounding(5), box(3), {"q": (0, 2)}, {"q"})
    assert said(found) == ([0], [2], 0, {"q": -2})


def test_what_a_whole_row_has_to_spare_is_rounded_like_victims() -> None:
    """By 4, which goes three times into 15 and leaves 3, 3 times 3 x + 2 y - s = 5 is as follows.

        (2 * 3 + 1) x + (1 * 3 + 2) y - (1 * 3 - 1) s >= 12 with s = 3 x + 2 y - 5: x + y >= 2.

    Where s need not be whole it is left out.
    """
    whole = rounded_sum([(row([3, 2], 5), 3)], rounding(4), box(3, 3), {})
    assert said(whole) == ([0, 1], [1, 1], 2, {})
    halves, ranges = [(row([3, 2], 5, q=1), 3)], {"q": (0, 2)}
    assert said(rounded_sum(halves, rounding(4), box(3, 3), ranges)) == (
        [0, 1],
        [7, 5],
        12,
        {"q": 3},
    )


def test_a_sum_that_is_whole_already_is_not_rounded() -> None:
    with pytest.raises(ValueError, match="nothing to round"):
        rounded_sum([(row([3], 6), 1)], rounding(3), box(3), {})


@pytest.mark.parametrize("seed", range(300))
def test_no_set_that_satisfies_the_rows_is_lost(seed: int) -> None:
    """With whatever quantities, halves among them; amounts beyond 64 bits at times."""
    chance = random.Random(seed)  # noqa: S311 - the same rows again
    large = 10**18 if chance.random() < 0.2 else 1
    classes, named = chance.randint(1, 3), ["q", "p"][: chance.randint(0, 2)]
    least = np.array([chance.randint(0, 2) for _ in range(classes)])
    inside = Box(least, least + np.array([chance.randint(0, 3) for _ in range(classes)]))
    ranges = {name: (low := chance.randint(-2, 1), low + chance.randint(0, 3)) for name in named}
    rows = []
    for _ in range(chance.randint(1, 3)):
        amounts = [large * chance.randint(-6, 9) for _ in range(classes)]
        extra = {name: large * chance.randint(-4, 4) for name in named if chance.random() < 0.7}
        needed = large * chance.randint(-5, 14)
        rows.append((row(amounts, needed, **extra), chance.randint(-2, 3)))
    down = tuple(k for k in range(classes) if chance.random() < 0.5)
    out = tuple(name for name in named if chance.random() < 0.5)
    whole = {name for name in named if chance.random() < 0.5}
    step = rounding(large * chance.randint(2, 9) + chance.randint(0, 1), down, out)
    try:
        found = rounded_sum(rows, step, inside, ranges, whole)
    except ValueError:
        return

    def keeps(one: Row, counts: tuple[int, ...], twice: dict[str, int]) -> bool:
        pairs = zip(one.classes.tolist(), one.amounts.tolist(), strict=True)
        left: int = 2 * sum(int(amount) * counts[k] for k, amount in pairs)
        return left + sum(c * twice[name] for name, c in one.extra.items()) >= 2 * one.least

    ends = zip(inside.least.tolist(), inside.most.tolist(), strict=True)
    sets = product(*(range(low, high + 1) for low, high in ends))
    halves = [
        range(2 * ranges[name][0], 2 * ranges[name][1] + 1, 1 + (name in whole)) for name in named
    ]
    for counts, values in product(sets, product(*halves)):
        twice = dict(zip(named, values, strict=True))
        if all(keeps(one, counts, twice) for one, _ in rows):
            assert keeps(found, counts, twice), (rows, step, counts, twice, found)


def asked(seed: int) -> list[tuple[Question, bool]]:
    """Return questions about a small state, each with whether some legal set is in question."""
    found = judged(seed, fair=seed % 2 == 1)
    return [] if found is None else [*questions(random.Random(seed), found)]  # noqa: S311


def test_trees_of_small_states_with_rounded_sums() -> None:
    """Where a legal set is in question there is no tree; every step of a tree is looked at."""
    rounded = 0
    for question, has_sets in (one for seed in range(SEEDS) for one in asked(seed)):
        effort = Effort(steps=300, entries=10**6)
        grown = _Growth(question, Deadline(), effort, Before(), (), some=0, rounds=True).run()
        assert not (has_sets and grown.steps is not None)
        if grown.steps is not None:
            question.check(grown.steps)
            assert list(faults(question, grown.steps)) == []
            rounded += sum(isinstance(step, Rounding) for step in grown.steps)
    assert rounded >= SEEDS // 40


def test_rounded_rows_leave_room_for_sums() -> None:
    """Of few classes there are few sums, and up to a hundred rounded rows besides."""
    question = next(
        one for seed in range(SEEDS) for one, _ in asked(seed) if one.root.most.size > 1
    )
    rounded = {f"{ROUNDED}{number}": row([1], 0) for number in range(100)}
    full = replace(question.root, sums=rounded)
    for part in question.parts(full, CountSplit(of=(0, 1), most=1)):
        assert part.sums.keys() > rounded.keys()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"row": "better"}, "no row 'better' can be added"),
        ({"row": "nvidia.com/gpu in flavor h100 at cohort/root"}, "can be added"),
        ({"round": {"no such row": 1}}, "there is no row"),
        ({"by": 1}, "out of range"),
        ({"by": 2**62}, "out of range"),
        ({"round": {"better": -(2**62)}}, "out of range"),
        ({"down": (10**30,)}, "no such classes"),
    ],
)
def test_a_rounding_that_is_none_is_refused(wrong: dict[str, object], why: str) -> None:
    question = next(one for seed in range(SEEDS) for one, _ in asked(seed) if one.bounds)
    step = rounding(2).model_copy(update={"round": {"better": 1}, **wrong})
    with pytest.raises(ValueError, match=why):
        question.parts(question.root, step)
