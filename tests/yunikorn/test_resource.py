"""Every row is worked out by hand from the table of docs/semantics/yunikorn.md §1."""

from collections.abc import Callable

import pytest

from planner.quantity import MAX_INT64, MIN_INT64
from planner.quota.yunikorn import resource as r
from planner.quota.yunikorn.resource import Amount


@pytest.mark.parametrize(
    ("function", "a", "b", "result"),
    [
        (r.plus, {"x": 1}, {"x": 2, "y": 3}, {"x": 3, "y": 3}),
        (r.plus, None, None, {}),
        (r.plus, {"x": MAX_INT64}, {"x": 1}, {"x": MAX_INT64}),
        (r.minus, {"x": 1}, {"x": 2, "y": 3}, {"x": -1, "y": -3}),
        (r.minus, {"x": MIN_INT64}, {"x": 1}, {"x": MIN_INT64}),
        (r.minus_known, {"x": 5, "y": 1}, {"x": 7, "z": 1}, {"x": -2, "y": 1}),
        (r.minus_known, None, {"x": 1}, None),
        (r.minus_known, {"x": 1}, None, {"x": 1}),
        (r.min_union, None, None, None),
        (r.min_union, {"x": 1}, None, {"x": 1}),
        (r.min_union, None, {"x": 1}, {"x": 1}),
        (r.min_union, {"x": 1, "y": 5}, {"x": 3, "z": -1}, {"x": 1, "y": 5, "z": -1}),
        (r.min_left, None, {"x": 1}, None),
        (r.min_left, {"x": 1}, None, {"x": 1}),
        (r.min_left, {"x": 4, "y": 5}, {"x": 3, "z": -1}, {"x": 3, "y": 5}),
        (r.fill_from, None, {"x": 1}, {"x": 1}),
        (r.fill_from, {"x": 1}, None, {"x": 1}),
        (r.fill_from, {"x": 4}, {"x": 3, "z": -1}, {"x": 4, "z": -1}),
        (r.floor_minus, {"x": 4, "y": -1}, {"x": 6}, {"x": 0, "y": -1}),
        (r.floor_minus, {"x": 4}, {"x": 1, "z": -2}, {"x": 3, "z": 2}),
    ],
)
def test_amounts(
    function: Callable[[Amount, Amount], Amount], a: Amount, b: Amount, result: Amount
) -> None:
    assert function(a, b) == result


@pytest.mark.parametrize(
    ("function", "a", "b", "holds"),
    [
        (r.fits_in, {"x": 2}, {"x": 2}, True),
        (r.fits_in, {}, {"x": 1}, False),
        (r.fits_in, None, {"x": 0}, True),
        (r.fits_in, {"x": -3}, {"x": 0}, True),
        (r.fits_loose, {}, {"x": 1}, True),
        (r.fits_loose, {"x": -3}, {"x": 0}, True),
        (r.fits_loose, {"x": 0}, {"x": 1}, False),
        (r.fits_raw, {}, {"x": 1}, True),
        (r.fits_raw, {"x": -3}, {"x": 0}, False),
        (r.fits_raw, {"x": -3}, {"x": -3}, True),
        (r.ge_all, {}, {}, True),
        (r.ge_all, {"x": -1}, {}, False),
        (r.ge_all, {}, {"x": 1}, False),
        (r.ge_all, {"x": 1, "y": 0}, {"x": 1}, True),
        (r.same_or_zero, None, {"x": 0}, True),
        (r.same_or_zero, None, {"x": 1}, False),
        (r.same_or_zero, {"x": 1, "y": 0}, {"x": 1}, True),
        (r.same_or_zero, {"x": 1}, {"x": 1, "y": 2}, False),
        (r.gt_known, {"x": 1}, {"x": 1}, False),
        (r.gt_known, {"x": 2, "y": 0}, {"x": 1}, True),
        (r.gt_known, {"x": 2, "y": 0}, {"x": 1, "y": 1}, False),
        (r.gt_known, {"x": 2, "y": 0}, {}, False),
        (r.gt_known, {"x": 2, "y": 1}, None, True),
        (r.gt_known, {"x": 1}, {"y": 9}, True),
        (r.gt_known, {}, {"y": 9}, False),
        (r.gt_known, {}, {}, False),
        (r.ge_known, {"x": 1}, {"x": 1}, True),
        (r.ge_known, {"x": 1, "y": 9}, {"x": 2}, False),
        (r.ge_known, None, {"x": 1}, False),
        (r.ge_known, {"x": 0}, {}, False),
        (r.ge_known, {"x": 1}, {}, True),
        (r.ge_known, {"x": 1}, {"y": 9}, True),
        (r.share_type, {"x": 0}, {"x": 5}, True),
        (r.share_type, {"x": 1}, {"y": 5}, False),
    ],
)
def test_comparisons(
    function: Callable[[Amount, Amount], bool], a: Amount, b: Amount, *, holds: bool
) -> None:
    assert function(a, b) is holds


@pytest.mark.parametrize(
    ("a", "holds"),
    [(None, False), ({}, False), ({"x": 0}, False), ({"x": 1, "y": 0}, True), ({"x": -1}, False)],
)
def test_gt_zero(a: Amount, *, holds: bool) -> None:
    assert r.gt_zero(a) is holds


def test_mixed_signs_are_not_above_zero() -> None:
    assert not r.gt_zero({"x": 1, "y": -1})


def test_arguments_stay_as_they_are() -> None:
    a, b = {"x": 1}, {"x": 2, "y": 3}
    for function in (r.plus, r.minus, r.minus_known, r.min_union, r.fill_from, r.floor_minus):
        function(a, b)
    assert (a, b) == ({"x": 1}, {"x": 2, "y": 3})


def test_without_zeros() -> None:
    assert r.without_zeros({"x": 0, "y": -1}) == {"y": -1}
