"""K83-05: withinCohort permits victims of other queues."""

import pytest

from tests.cluster import Object, pending, queue, running
from tests.research.kep83.court import Case, judge, sets


def borrowed(reclaim: str) -> list[Object]:
    """Queue b borrows all 4 of queue a: 2 at a priority just below the preemptor's, 2 at it."""
    return [
        *queue("a", 4, "org", within="LowerPriority", reclaim=reclaim),
        *queue("b", 0, "org"),
        *running("low", "b", 2, 9),
        *running("equal", "b", 2, 10),
        *pending("a", 2, 10),
    ]


LOW, ALL = sets("low"), sets("low", "equal", "low equal")
TODAY = {"Never": sets(), "LowerPriority": LOW, "Any": ALL}
OPTION = {
    "Never": sets(),
    "ReclaimFromLowerPriority": LOW,
    "ReclaimFromAny": ALL,
    "LowerPriority": LOW,
}
CASES = [
    Case(f"today's {reclaim}", borrowed(reclaim), legal=legal, without=ALL)
    for reclaim, legal in TODAY.items()
]
CASES += [
    Case(
        f"{option} takes the place of {reclaim}",
        borrowed(reclaim),
        options={"cohort": option},
        legal=legal,
    )
    for reclaim in ("Never", "Any")
    for option, legal in OPTION.items()
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("K83-05", case)
