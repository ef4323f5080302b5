"""FS-02: a victim holds contested quota, of whatever amount, in the preemptor's tree."""

import pytest

from tests.cluster import SPARE, cohort, fair_sharing, pending, queue, running, with_spare_flavor
from tests.laws.cases import HOLDS_CONTESTED
from tests.laws.judges import RECLAIM, Case, broken_fairly, fairly, judge

RESOURCES = {"gpu": 4, "cpu": 8}


@pytest.mark.parametrize("case", [*map(fairly, HOLDS_CONTESTED)], ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-02", case)


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("far", ["FS-02"]),
        ("held", ["FS-02", "FS-05", "FS-06"]),
        ("cores", ["FS-02"]),
        ("other-flavor", ["FS-02"]),
        ("unheard-of", ["FS-02"]),
        ("two", ["FS-02"]),  # named already
    ],
)
def test_who_is_named_beside_a_victim(name: str, laws: list[str]) -> None:
    """A full cohort of 12: the preemptor gets 2 of its 4 back from queue b."""
    parts = [
        *cohort("org", nominal={"gpu": 4}),
        *queue("a", RESOURCES, "org", reclaim="Any"),
        *queue("b", RESOURCES, "org"),
        *queue("alone", {"gpu": 0}),
        *queue("stopped", {"gpu": 0}, "org", stop="Hold"),
        *running("own", "a", {"gpu": 2}),
        *running("two", "b", {"gpu": 2}),
        *running("rest", "b", {"gpu": 8}),
        *running("far", "alone", {"gpu": 1}),
        *running("held", "stopped", {"gpu": 0}),
        *running("cores", "b", {"cpu": 1}),
        *running("other-flavor", "b", {"gpu": 1}, flavor=SPARE),
        *pending("a", {"gpu": 2}),
        *fair_sharing(),
    ]
    parts = with_spare_flavor(parts)
    assert not broken_fairly(parts, ("two", RECLAIM))
    assert broken_fairly(parts, ("two", RECLAIM), (name, RECLAIM)) == laws
