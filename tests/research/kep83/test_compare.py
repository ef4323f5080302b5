"""KEP-83's algorithm, and the best plan by its rules, beside Kueue's own."""

import pytest

import planner
from planner.commands.compare import compare
from planner.commands.compare.measure import find_algorithm
from planner.errors import SchemaError
from tests.cluster import pending, queue, running, state_of
from tests.commands.compare.test_measure import rows_equal_the_library, rows_of
from tests.conftest import YUNIKORN


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("kep83:order=ByLowestPriority+ByLowestRuntime", "kep83"),
        ("kep83:wait=5,cohort=ReclaimAny", "kep83:cohort=ReclaimFromAny,wait=5"),
        ("kep83:wait=0/optimum:min-count", "kep83/optimum:min-count"),
    ],
)
def test_options_of_kep83_have_one_name(long: str, short: str) -> None:
    assert find_algorithm(long) == find_algorithm(short)
    assert find_algorithm(long).name == short


@pytest.mark.parametrize("name", ["kep83:wait=soon", "kep83:", "kep83/optimum:none", "kep83/x"])
def test_options_of_kep83_that_cannot_be_used(name: str) -> None:
    with pytest.raises(SchemaError):
        find_algorithm(name)


def test_kep83_beside_kueue() -> None:
    """4 of 8 must be freed, and everybody holds 2. After b1 queue b is at its min.

    Kueue spares it from then on and takes c1; the KEP takes b2, which Kueue's rules forbid.
    """
    state = state_of(
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 4, "org"),
        queue("c", 0, "org"),
        *(running(f"b{i}", "b", 2, minute=10 - i) for i in (1, 2, 3)),
        running("c1", "c", 2, 5),
        pending("a", 4),
    )
    names = ("kueue", "kep83", "kep83:wait=1", "kep83:cohort=Never", "kep83/optimum:min-count")
    rows = rows_of(state, *names)
    assert {row.rules for row in rows.values()} == {"kueue-classical", "kep83"}
    assert rows["kueue"].victims == ("ns/b1", "ns/c1")
    assert rows["kep83"].victims == ("ns/b1", "ns/b2")
    (outside,) = rows["kep83"].outside_rules
    assert outside.startswith("KQ-07")
    assert rows["kep83:wait=1"].status == rows["kep83:cohort=Never"].status == "unknown"
    best = rows["kep83/optimum:min-count"]
    assert (best.proved, best.measured("victims")) == (True, 2)


def test_kep83_means_nothing_for_yunikorn() -> None:
    (row,) = compare(planner.read(YUNIKORN), ["kep83"]).rows
    assert row.status == "skipped"


@pytest.mark.parametrize("name", ["small-classical-hier", "small-fair-hier", "flavors", "edge"])
def test_rows_equal_the_library(name: str) -> None:
    rows_equal_the_library(name, ["kep83"])
