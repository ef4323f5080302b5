"""Audits where pods need places on nodes."""

import pytest

import planner
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("name", "findings"), [("needless", ("disruption",)), ("nobody", ("missed",)), ("best-fit", ())]
)
def test_what_kueue_could_do_within_its_own_placement(name: str, findings: tuple[str, ...]) -> None:
    """One victim would do, and its placement would be content with it; of best-fit it takes four.

    There, the first podset would take the place of the second with fewer gone.
    """
    state = planner.read(ROOT / "instances" / "topology" / f"{name}.yaml")
    (case,) = planner.audit(state).cases
    assert case.findings == findings
