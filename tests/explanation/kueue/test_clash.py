"""The clash is one, it is minimal, and every change that is offered works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.explanation.kueue.clash import laws_of, minimal_clash
from planner.explanation.kueue.inquiry import KueueInquiry
from planner.objective.profiles import PROFILES
from planner.solver.engine import Deadline
from tests.admitted import admitted_fairly
from tests.explanation.kueue.inquire import inquire
from tests.explanation.kueue.relaxed import Relaxed
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


@pytest.mark.parametrize("name", CLASSICAL)
def test_classical_clash_is_minimal_by_the_definition(name: str) -> None:
    seen = set()
    for truth, inquiry in without_plan(name, fair=False):
        problem = inquiry.planning.problem
        clash, proved = minimal_clash(problem, Deadline())
        assert proved
        _, snapshot, preemptor, assignment = truth.setting()

        def has_plan(kept: set[str]) -> bool:
            return Relaxed(snapshot, preemptor, assignment, kept).has_plan()  # noqa: B023

        assert not has_plan({law.id for law in laws_of(problem)}), truth.id
        assert not has_plan(clash), truth.id
        for law in clash:
            assert has_plan(clash - {law}), (truth.id, law)
        seen.add(frozenset(clash))
    assert len(seen) >= 2


@pytest.mark.parametrize("name", FAIR)
def test_fair_clash_is_minimal_among_all_subsets(name: str) -> None:
    seen = set()
    for truth, inquiry in without_plan(name, fair=True):
        problem = inquiry.planning.problem
        clash, proved = minimal_clash(problem, Deadline())
        assert proved
        laws = {law.id for law in laws_of(problem)}
        assert not admitted_fairly(problem, laws - clash), truth.id
        for law in clash:
            assert admitted_fairly(problem, laws - clash | {law}), (truth.id, law)
        seen.add(frozenset(clash))
    assert len(seen) >= 2
