"""Classes of interchangeable candidates, against the same by a plain dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.quota.classes import Classes, IntArray, by_value, group
from tests.conftest import examples

# Few values, so that many agree; some beyond what doubles tell apart.
VALUES = st.sampled_from([0, 1, 2**53, 2**53 + 1, -(2**62)])


@st.composite
def candidates(draw: st.DrawFn) -> tuple[IntArray, IntArray, list[IntArray]]:
    """Return ranks of workloads, the positions of some, and columns of one and two dimensions."""
    size = draw(st.integers(0, 12))
    order = np.array(draw(st.permutations(range(size))), dtype=np.int64)
    some = sorted(draw(st.sets(st.sampled_from(range(size))))) if size else []
    rows = draw(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=size, max_size=size))
    table = np.array(rows, dtype=np.int64).reshape(size, 3)
    return order, np.array(some, dtype=np.int64), [table[:, 0], table[:, 1:]]


def grouped(order: IntArray, positions: IntArray, columns: list[IntArray]) -> list[list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for position in sorted(positions.tolist(), key=order.__getitem__):
        key = (int(columns[0][position]), *columns[1][position].tolist())
        found.setdefault(key, []).append(position)
    return list(found.values())


@examples(100)
@given(candidates())
def test_who_agrees_in_all_columns_is_in_one_class(
    drawn: tuple[IntArray, IntArray, list[IntArray]],
) -> None:
    """Members come in candidate order, and classes in the order of their first members."""
    classes = group(*drawn)
    assert classes.members == grouped(*drawn)
    assert classes.first.tolist() == [members[0] for members in classes.members]
    assert classes.sizes.tolist() == [len(members) for members in classes.members]
    assert all(classes.agree_in(column) for column in (drawn[2][0], drawn[2][1][:, 0]))


@examples(100)
@given(candidates(), st.data())
def test_counts_are_taken_from_the_first_members(
    drawn: tuple[IntArray, IntArray, list[IntArray]], data: st.DataObject
) -> None:
    classes = group(*drawn)
    counts = [data.draw(st.integers(0, classes.count(k))) for k in range(len(classes))]
    taken = classes.take(counts)
    assert taken == [
        position
        for members, count in zip(classes.members, counts, strict=True)
        for position in members[:count]
    ]
    assert classes.counts(taken) == counts
    assert classes.counts([*taken, len(drawn[0])]) is None
    for k, members in enumerate(classes.members):
        assert {classes.class_of(position) for position in members} == {k}
    some = data.draw(st.permutations(range(len(classes))))[: len(classes) // 2]
    assert classes.subset(some).members == [classes.members[k] for k in some]


def test_members_that_differ_do_not_agree() -> None:
    classes = Classes.of_members([[3, 0], [1]])
    assert classes.agree_in(np.array([7, 8, 9, 7]))
    assert not classes.agree_in(np.array([7, 8, 9, 6]))


@examples(50)
@given(st.lists(st.integers(-2, 2)), st.data())
def test_values_are_found_in_order(values: list[int], data: st.DataObject) -> None:
    some = sorted(data.draw(st.sets(st.sampled_from(range(len(values)))))) if values else []
    found = by_value(np.array(values, dtype=np.int64), np.array(some, dtype=np.int64))
    expected = {
        each: [k for k in some if values[k] == each] for each in sorted({values[k] for k in some})
    }
    assert {value: classes.tolist() for value, classes in found.items()} == expected
    assert [*found] == [*expected]
