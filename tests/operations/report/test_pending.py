"""Who waits, told from the labels of a record."""

import planner
from planner.operations.pending import list_pending
from tests.conftest import QUICKSTART


def test_who_waits_is_told_in_a_line_each() -> None:
    found = list_pending(planner.read(QUICKSTART))
    _, line = planner.render(found, "plain").splitlines()
    assert line.split()[:2] == ["pending", "nlp/jobset-train-translator-8974c"]
    assert line.endswith("queue=nlp priority=1000")
