"""Public issues of YuniKorn in which nothing can be preempted: why, and what would help."""

from __future__ import annotations

import pytest

import planner
from planner.state.yunikorn import YuniKornState
from tests.conftest import ROOT

ZOO = ROOT / "instances" / "regressions"
TRAINING = "queue/root.training.guaranteed"


@pytest.mark.parametrize(
    ("name", "laws", "changes"),
    [
        # Types without a guaranteed are free, so a guaranteed for any one type of the ask, as
        # large as what it wants of it, is enough.
        (
            "yunikorn-1951-nothing-guaranteed",
            {"YK-04": "nothing is guaranteed to queue root.training or to one above it"},
            {f"{TRAINING}.{one}" for one in ("memory=4Gi", "pods=1", "vcore=4")},
        ),
        # 10Gi of 8Gi are in use, and 1Gi is asked: its own pod would have to go, which YK-03
        # forbids.
        (
            "yunikorn-3113-over-in-another-type",
            {
                "YK-03": "1 allocation is in root.training, the queue of the ask",
                "YK-04": "it lacks 3Gi memory at queue root.training",
            },
            {f"{TRAINING}.memory=11Gi"},
        ),
        (
            "yunikorn-2131-behind-the-fence",
            {
                "YK-07": "stays inside queue root.tenant-a, whose preemption.policy is fence",
                "YK-08": "node-a, the nearest, lacks 4 vcore",
            },
            {"queue/root.tenant-a.preemption.policy=default"},
        ),
    ],
)
def test_why_nothing(name: str, laws: dict[str, str], changes: set[str]) -> None:
    state = planner.read(ZOO / name)
    assert isinstance(state, YuniKornState)
    clash = planner.explain(state).clash
    assert clash is not None
    assert {law.law for law in clash.laws} == set(laws)
    for law in clash.laws:
        assert laws[law.law] in law.text
    assert {change.edit for change in clash.changes} == changes
    assert clash.tried_all
