"""One, none and many: what is counted is told in sentences that read as such."""

import pytest

import planner
from planner.commands.audit.record import Verdicts
from planner.commands.compare.measure import compare
from planner.report import audit as audits
from planner.report import compare as comparisons
from planner.report.document import Document
from tests.conftest import ROOT
from tests.report.audit_factory import make_audit, make_summary
from tests.told import told

CLUSTER = ROOT / "instances" / "quickstart" / "cluster.json"


def head(document: Document) -> dict[str, str]:
    """Return the facts at the head of a document, without those that continue another."""
    return {fact.label: fact.cell.text for fact in document.head if fact.label}


@pytest.mark.parametrize(("judged", "best"), [(0, 0), (1, 1), (1, 0), (3, 1), (3, 2), (3, 3)])
def test_how_many_answers_are_best(judged: int, best: int) -> None:
    verdicts = Verdicts(
        objective="min-count", proved=judged, judged=judged, best=best, not_best=judged - best
    )
    summary = make_summary(verdicts=(verdicts,))
    told(head(audits.document(make_audit(summary=summary)))["min-count"])


@pytest.mark.parametrize(
    ("cases", "count", "said"),
    [
        (0, 0, "in no case"),
        (1, 0, "in no case"),
        (1, 1, "in the only case"),
        (3, 0, "in 0 of 3 cases"),
        (3, 1, "in 1 of 3 cases"),
    ],
)
def test_in_how_many_cases(cases: int, count: int, said: str) -> None:
    summary = make_summary(cases=cases, clean=cases, with_victims=count)
    told = head(audits.document(make_audit(summary=summary)))
    assert told["Evicting"].startswith(f"the scheduler itself evicts {said}; ")


def test_a_histogram_of_one_case_has_no_mean() -> None:
    audit = make_audit()
    (one, *_) = audits.distributions(audit.model_copy(update={"cases": audit.cases[:1]}))
    assert one.notes == ("1 case; 2",)


def test_a_comparison_of_one_algorithm() -> None:
    found = compare(planner.read(CLUSTER), algorithms=["greedy"])
    assert head(comparisons.document(found))["Algorithms"] == "greedy"
