"""How long the optimum takes as clusters grow; ``scale.py`` measures more, against others."""

from __future__ import annotations

from typing import Any

import pytest

import planner
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.benchmarks.clusters import NOW, Form, cluster
from tests.cluster import PENDING

FORMS = (
    Form(100, queues=8),
    Form(1_000),
    Form(10_000),
    Form(10_000, queues=1_000, depth=4),
    Form(10_000, shapes="distinct"),
    Form(10_000, victims=250),
    Form(10_000, fair=True),
    Form(50_000, queues=1_000),
    Form(100_000),
)


def state_of(form: Form) -> State:
    return read_kueue_objects(cluster(form), where=form.name, now=f"{NOW:%Y-%m-%dT%H:%M:%SZ}")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_solve(benchmark: Any, form: Form) -> None:
    plan = benchmark.pedantic(
        planner.solve, args=(state_of(form), PENDING), kwargs={"time_limit": 60}, rounds=1
    )
    benchmark.extra_info["status"] = plan.status
    assert plan.victims


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_read(benchmark: Any, form: Form) -> None:
    state = benchmark.pedantic(state_of, args=(form,), rounds=1)
    assert len(state.workloads) == form.workloads + 1
