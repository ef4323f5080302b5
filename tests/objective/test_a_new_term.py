"""A term that is new is a record and a function: nothing else has to know of it."""

from typing import Final

import numpy as np
import pytest

import planner
from planner.objective.profiles import Profile
from planner.objective.sums import SUMS, Losses
from planner.plan.kueue import Plan
from planner.problem.array import IntArray
from planner.term import TERMS, Term
from tests.cli.running import call
from tests.cluster import pending, queue, running, state_of
from tests.told import told

LOUD: Final = Term("XX", "loud victims", "names", per_workload=True)
QUIET: Final = Profile("quiet", "nobody loud, then few", levels=(("XX",), ("workloads",)))


def loud(losses: Losses) -> IntArray:
    """Count those whose names are to be spared, such as ``loud-1``."""
    named = ["loud" in name for name in losses.names]
    return np.array(named, dtype=np.int64) * losses.costing


@pytest.fixture(autouse=True)
def new_term(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register it."""
    monkeypatch.setitem(TERMS, LOUD.name, LOUD)
    monkeypatch.setitem(SUMS, LOUD.name, loud)


def test_an_objective_may_count_it() -> None:
    """Two loud ones of one device would do for the preemptor's two, and so would a quiet pair."""
    state = state_of(
        queue("a", 4, within="LowerPriority"),
        *(running(f"loud-{i}", "a", 1, priority=1) for i in (1, 2)),
        *(running(f"soft-{i}", "a", 1, priority=2) for i in (1, 2)),
        pending("a", 2, priority=9),
    )
    plan = planner.solve(state, objective=QUIET)
    assert isinstance(plan, Plan)
    assert (plan.status, plan.keys) == ("optimal", ("ns/soft-1", "ns/soft-2"))
    assert (plan.terms["XX"], [one.costs["XX"] for one in plan.victims]) == (0, [0, 0])
    assert plan.greedy is not None
    assert plan.greedy.terms["XX"] == 2
    assert plan.certificate is not None
    first = plan.certificate.levels[0]
    assert (first.term, first.title, first.unit, first.proof) == (
        *("XX", "loud victims", "names"),
        "certified",
    )
    assert planner.verify(state, plan).accepted


def test_the_list_of_terms_has_it() -> None:
    lines = call("laws", "--format", "plain").stdout.splitlines()
    (found,) = [line for line in lines if line.split()[:2] == ["term", "XX"]]
    told(found)
