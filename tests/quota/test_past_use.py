"""Past use of LocalQueues, and its orders: docs/semantics/kueue-features.md §3."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.quantity import approximate
from planner.quota.kueue.past_use import Contender, Contest, PastUse
from tests.cluster import Object, configuration, queue, state_of

SHARING = {"usageHalfLifeTime": "10m", "usageSamplingInterval": "5m"}


@pytest.mark.parametrize(
    ("sharing", "gate", "mode", "orders"),
    [
        (SHARING, True, "UsageBasedAdmissionFairSharing", True),
        (SHARING, True, "NoAdmissionFairSharing", False),
        (SHARING, True, None, False),
        (SHARING, False, "UsageBasedAdmissionFairSharing", False),
        (None, True, "UsageBasedAdmissionFairSharing", False),
    ],
)
def test_which_queues_order_by_it(
    sharing: Object | None,
    gate: bool,  # noqa: FBT001 - a column of the table
    mode: str | None,
    orders: bool,  # noqa: FBT001 - a column of the table
) -> None:
    parts = queue("q", 1)
    if mode is not None:
        parts[0]["spec"]["admissionScope"] = {"admissionMode": mode}
    more = {} if sharing is None else {"admissionFairSharing": sharing}
    gates = {"AdmissionFairSharing": gate}
    state = state_of(parts, configuration(featureGates=gates, **more))
    assert PastUse(state).orders(state.cluster_queues[0]) is orders


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("12", 12.0),
        ("0.3", 3 * 10.0**-1),
        ("300m", 300 * 10.0**-3),
        ("1Gi", 2.0**30),
        ("1.5Gi", 1.5 * 2.0**30),
        ("-2", -2.0),
        ("2e3", 2000.0),
        ("1E", 1e18),
        ("1234567890123456789012", 1234567890123456789012e9 * 10.0**-9),
    ],
)
def test_doubles_are_those_of_kubernetes(text: str, value: float) -> None:
    """An integer times a power of ten: 0.3 and 300m are different doubles."""
    assert approximate(text) == value


contenders = st.builds(
    Contender,
    base=st.tuples(st.integers(0, 3), st.uuids().map(str)),
    queue=st.integers(0, 1),
    local_queue=st.sampled_from("ab"),
    past=st.sampled_from([None, 0.0, 1.0, 2.0]),
)


@given(st.lists(contenders, max_size=7))
def test_an_order_is_total_iff_no_three_make_a_circle(some: list[Contender]) -> None:
    contest = Contest(some)
    circle = any(
        a.precedes(b) and b.precedes(c) and c.precedes(a) for a in some for b in some for c in some
    )
    assert contest.is_total is not circle
    if contest.is_total:
        order = [some[place] for place in contest.order()]
        assert all(a.precedes(b) for i, a in enumerate(order) for b in order[i + 1 :])
        assert contest.sorted_from(range(len(some))) == contest.order()


def test_a_circle_is_left_as_insertion_leaves_it() -> None:
    """X before y by past use, y before z and z before x by priority: what is first decides."""
    x = Contender((3, "x"), 0, "a", 2.0)
    y = Contender((1, "y"), 0, "b", 1.0)
    z = Contender((2, "z"), 1, "c", None)
    contest = Contest([x, y, z])
    assert [one.precedes(other) for one, other in pairwise([x, y, z, x])] == [True] * 3
    assert not contest.is_total
    found = {tuple(contest.sorted_from(start)) for start in ([0, 1, 2], [1, 2, 0], [2, 0, 1])}
    assert found == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}


def test_queues_of_one_name_are_not_compared() -> None:
    """§3.4: names are compared without the namespace, whatever the two used."""
    one, other = Contender((1, "a"), 0, "lq", 9.0), Contender((0, "b"), 0, "lq", 1.0)
    assert other.precedes(one)
    assert Contender((1, "a"), 0, "other", 9.0).precedes(other)
