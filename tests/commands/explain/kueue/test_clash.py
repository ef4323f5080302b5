"""The clash is one, it is minimal, and every change that is offered works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.commands.explain.kueue.clash import laws_of, minimal_clash
from planner.commands.explain.kueue.inquiry import KueueInquiry
from planner.objective.profiles import PROFILES
from planner.solver.deadline import Deadline
from tests.commands.explain.kueue.inquire import inquire
from tests.commands.explain.kueue.relaxed import Relaxed
from tests.commands.explain.kueue.relaxed_fair import RelaxedFair
from tests.solver.truth import Truth, truths

CLASSICAL = ("small-classical-flat", "small-classical-nocohort", "small-classical-hier")
FAIR = ("small-fair-flat", "small-fair-hier")
EVERY = 3
MOST = 9
"""Workloads of which every subset can be tried."""


def without_plan(name: str, *, fair: bool) -> Iterator[tuple[Truth, KueueInquiry]]:
    for truth in truths(name, EVERY, fair=fair):
        if not truth.legal:
            inquiry = inquire(truth, PROFILES["min-count"])
            small = len(inquiry.planning.problem.workloads) <= MOST
            if inquiry.plan.status == "infeasible" and inquiry.searched and small:
                yield truth, inquiry


def has_plan(truth: Truth, kept: set[str], *, fair: bool) -> bool:
    """Say whether a plan exists with some laws only, by the definition."""
    _, snapshot, preemptor, assignment = truth.setting()
    kind = RelaxedFair if fair else Relaxed
    return kind(snapshot, preemptor, assignment, kept).has_plan()


@pytest.mark.parametrize(
    ("name", "fair"), [(n, False) for n in CLASSICAL] + [(n, True) for n in FAIR]
)
def test_clash_is_minimal_by_the_definition(name: str, *, fair: bool) -> None:
    seen = set()
    for truth, inquiry in without_plan(name, fair=fair):
        problem = inquiry.planning.problem
        clash, proved = minimal_clash(problem, Deadline())
        assert proved
        assert not has_plan(truth, {law.id for law in laws_of(problem)}, fair=fair), truth.id
        assert not has_plan(truth, clash, fair=fair), truth.id
        for law in clash:
            assert has_plan(truth, clash - {law}, fair=fair), (truth.id, law)
        seen.add(frozenset(clash))
    assert len(seen) >= 2
