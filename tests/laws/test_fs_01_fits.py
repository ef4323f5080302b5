"""FS-01: after all victims are gone, the preemptor fits, borrowing what it may."""

import pytest

from tests.cluster import Object, cohort, fair_sharing, pending, queue, running, state_of
from tests.laws.cases import FITS
from tests.laws.judges import (
    BY_SHARE,
    OWN,
    RECLAIM,
    Case,
    broken_fairly,
    fair_detail,
    fairly,
    judge,
    sets,
)
from tests.told import told
from tests.verifier.cases import all_assigned


def crowd(asked: int, borrowing: int | None = None) -> list[Object]:
    """Return a full cohort of 8, of which queue b uses 6 of its 2."""
    return [
        *cohort("org", nominal=4),
        *queue("a", 2, "org", borrowing=borrowing, within="LowerPriority", reclaim="Any"),
        *queue("b", 2, "org"),
        *running("own", "a", 2),
        *running("two", "b", 2),
        *running("rest", "b", 4),
        *pending("a", asked),
        *fair_sharing(),
    ]


CASES = [
    *map(fairly, FITS),
    Case(
        # All 8 of the cohort are used; 3 have to go for 3, no more.
        "the request counts once although shares count it too",
        [
            *cohort("org", nominal=8),
            *queue("a", 0, "org", reclaim="Any"),
            *queue("b", 0, "org"),
            *running("three", "b", 3),
            *running("five", "b", 5),
            *pending("a", 3),
            *fair_sharing(),
        ],
        permits=sets("three"),
    ),
    # The request itself does not count as used: with it, all would be over-admitted.
    Case("exactly enough", crowd(2), permits=sets("own")),
    Case("one is missing", crowd(3), forbids=sets("own")),
    Case("the own limit is kept", crowd(2, borrowing=2), permits=sets("two")),
    Case("the own limit would be passed", crowd(2, borrowing=1), forbids=sets("two")),
    Case(
        "without a cohort only the own queue gives",
        [
            *queue("a", 4, within="LowerPriority", reclaim="Any"),
            *queue("b", 0),
            *running("own", "a", 3),
            *running("far", "b", 9),
            *pending("a", 4),
            *fair_sharing(),
        ],
        legal=sets("own"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-01", case)


@pytest.mark.parametrize(("borrowing", "laws"), [(True, []), (False, ["FS-01"]), (None, ["FS-01"])])
def test_the_only_attempt_permits_borrowing(*, borrowing: bool | None, laws: list[str]) -> None:
    assert broken_fairly(crowd(2), ("own", OWN), borrowing=borrowing) == laws


def test_both_faults_are_told() -> None:
    told(fair_detail("FS-01", crowd(3), ("own", OWN), borrowing=False))


def test_nothing_evicted_needs_no_attempt() -> None:
    parts = [*queue("a", 4), *pending("a", 4), *fair_sharing()]
    fits = all_assigned(state_of(parts), "Fit")
    assert not broken_fairly(parts, borrowing=None, assignment=fits)
    assert "FS-01" in broken_fairly(parts, ("unheard-of", OWN), borrowing=None)


def test_a_victim_outside_the_tree_frees_nothing() -> None:
    parts = CASES[-1].parts
    assert "FS-01" in broken_fairly(parts, ("far", RECLAIM))
    assert broken_fairly(parts, ("own", OWN), ("far", RECLAIM)) == ["FS-02"]
    assert "FS-01" in broken_fairly(parts, ("far", BY_SHARE))
