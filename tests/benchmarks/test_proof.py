"""What proofs cost beside the search: growing trees, and checking them without a solver."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from tests.benchmarks.clusters import Form
from tests.benchmarks.test_scale import state_of
from tests.cluster import PENDING

FORMS = (Form(1_000), Form(10_000), Form(10_000, shapes="distinct"), Form(10_000, fair=True))


@pytest.mark.parametrize("certify", [None, True])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_solve_with_trees(benchmark: Any, form: Form, *, certify: bool | None) -> None:
    """Beside ``test_scale.test_solve``; ``extra_info`` has how many levels trees prove."""
    kwargs = {"time_limit": 60, "certify": certify}
    state = state_of(form)
    plan = benchmark.pedantic(planner.solve, args=(state, PENDING), kwargs=kwargs, rounds=1)
    assert plan.certificate is not None
    levels = plan.certificate.levels
    benchmark.extra_info["levels"] = len(levels)
    benchmark.extra_info["certified"] = sum(level.proof == "certified" for level in levels)
    assert levels


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_check(benchmark: Any, form: Form) -> None:
    state = state_of(form)
    plan = planner.solve(state, PENDING)
    check = benchmark.pedantic(planner.check, args=(state, plan), rounds=1)
    assert all(verdict.holds for verdict in check.verdicts)
