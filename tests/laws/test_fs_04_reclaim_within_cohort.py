"""FS-04: reclaimWithinCohort decides about victims of other queues; borrowWithinCohort does not."""

import pytest

from tests.cluster import cohort, fair_sharing, pending, queue, running
from tests.laws.cases import RECLAIM
from tests.laws.judges import Case, fairly, judge

CASES = [
    Case(
        # The preemptor borrows one, which is less than what the other queue borrows.
        f"{policy or 'unset'}, while borrowing {borrow}",
        [
            *cohort("org", nominal=3),
            *queue("a", 0, "org", reclaim=policy, borrow=borrow, threshold=-1),
            *queue("b", 0, "org"),
            *running("lower", "b", 1, 9),
            *running("equal", "b", 1, 10),
            *running("higher", "b", 1, 11),
            *pending("a", 1, 10),
            *fair_sharing(),
        ],
        victims=permitted,
        anyone="lower equal higher",
    )
    for policy, permitted in (
        ("", ""),
        ("Never", ""),
        ("LowerPriority", "lower"),
        ("Any", "lower equal higher"),
    )
    for borrow in ("Never", "LowerPriority")
]


@pytest.mark.parametrize("case", [*map(fairly, RECLAIM), *CASES], ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-04", case)
