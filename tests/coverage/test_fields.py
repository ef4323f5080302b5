"""Every field of Kueue's API belongs to a feature, and every row of the table to a field."""

import pytest

from planner.coverage.kueue_features import FEATURES, HARMLESS, TOPOLOGY
from tests.conftest import ROOT
from tests.coverage.fields import FIELDS, feature_of

API = (ROOT / "tests" / "coverage" / "api.txt").read_text("utf-8").split()


@pytest.mark.parametrize("kind", sorted({field.partition(".")[0] for field in API}))
def test_every_field_is_classed(kind: str) -> None:
    """The list is made from the CustomResourceDefinitions of Kueue, commit ff69552e."""
    fields = [field for field in API if field.startswith(f"{kind}.")]
    assert [field for field in fields if feature_of(field) is None] == []


def test_a_field_that_nobody_classed_is_found() -> None:
    assert feature_of("ClusterQueue.spec.preemptionConfigName") is None
    assert feature_of("Workload.spec.podSets[].somethingNew") is None


def test_the_longest_row_counts() -> None:
    group = "Workload.spec.podSets[].topologyRequest"
    assert feature_of(f"{group}.required") is TOPOLOGY
    assert feature_of(f"{group}.podSetGroupName") is not TOPOLOGY
    assert feature_of("ResourceFlavor.spec.nodeTaints[].timeAdded") is HARMLESS


def test_no_row_is_so_short_that_new_fields_hide_below_it() -> None:
    wide = {"spec", "status", "spec.podSets[]", "spec.podSets[].template", "status.admission"}
    rows = [row.partition(".")[2] for rows in FIELDS.values() for row in rows]
    assert wide.isdisjoint(rows)
    assert "spec.podSets[].template.spec" not in rows


def test_every_row_has_a_field() -> None:
    for rows in FIELDS.values():
        for row in rows:
            assert any(f"{field}.".startswith(f"{row}.") or field == row for field in API), row


def test_features_are_told_apart() -> None:
    ids = [feature.id for feature in FEATURES]
    assert len(ids) == len(set(ids))
    assert set(FIELDS) <= set(FEATURES)
