"""Ties: a tree shows that no equal set comes before the answer, which is none of these itself."""

from __future__ import annotations

import pytest

import planner
from planner.plan.proof import Narrowing
from planner.proof.claims import TIES
from tests import recorded


@pytest.mark.parametrize("objective", ["least-disruption", "min-count", "min-cost"])
def test_where_levels_are_certified_ties_are_too(objective: str) -> None:
    """Also where rows narrow the sets in question down to the answer alone."""
    compared = 0
    for line in recorded.lines("classical-hier", 26):
        state, given = recorded.state_of(line), line.get("assignment")
        plan = planner.solve(state, line["pending"], objective, assignment=given)
        if plan.certificate is None or not plan.victims:
            continue
        compared += 1
        assert {level.proof for level in plan.certificate.levels} == {"certified"}
        assert plan.certificate.ties == "certified"
        assert not plan.certificate.corrected
    assert compared


def test_who_goes_for_certain_leaves_room_for_nobody_else() -> None:
    """A cap that is met rules all others out in one step: they are not split one by one."""
    plan = planner.solve(planner.read("instances/quickstart/cluster.json"))
    certificate = plan.certificate
    assert certificate is not None
    assert certificate.ties == "certified"
    [steps] = [tree.steps for tree in certificate.trees if tree.claim == TIES]
    rows = [row for step in steps if isinstance(step, Narrowing) for row in step.narrow]
    assert rows
    assert {*rows} == {"D2 <= 2"}
