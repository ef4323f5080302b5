"""FS-03: withinClusterQueue decides about victims of the own queue, and shares do not."""

import pytest

from tests.cluster import cohort, fair_sharing, pending, queue, running
from tests.laws.cases import WITHIN_CLUSTER_QUEUE
from tests.laws.judges import BY_SHARE, Case, broken_fairly, fairly, judge, sets

CASES = [*map(fairly, WITHIN_CLUSTER_QUEUE)]
CASES.append(
    Case(
        # Queue a would use all 8 of the cohort: no share could be higher, yet its own may go.
        "the own queue gives whatever its share",
        [
            *cohort("org", nominal=8),
            *queue("a", 0, "org", within="LowerPriority"),
            *running("mine", "a", 8),
            *pending("a", 8),
            *fair_sharing("LessThanInitialShare"),
        ],
        legal=sets("mine"),
    )
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("FS-03", case)


def test_the_reason_is_the_own_queue() -> None:
    assert broken_fairly(CASES[-1].parts, ("mine", BY_SHARE)) == ["FS-03"]
