"""KQ-05: reclaimWithinCohort decides about victims of other queues."""

import pytest

from tests.laws.cases import RECLAIM
from tests.laws.judges import OWN, WHILE_BORROWING, Case, broken, judge


@pytest.mark.parametrize("case", RECLAIM, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-05", case)


@pytest.mark.parametrize("reason", [OWN, WHILE_BORROWING, ""])
def test_the_reason_is_reclamation(reason: str) -> None:
    assert broken(RECLAIM[2].state, ("lower", reason)) == ["KQ-05"]
