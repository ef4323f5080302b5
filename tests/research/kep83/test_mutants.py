"""Plans by KEP-83's rules that are changed, or have other victims, and whether a check notices.

And a step of its replay taken away.
"""

from collections.abc import Iterator

import pytest

from planner.solver.start import Given
from tests.cluster import PENDING
from tests.mutants import killed
from tests.proof import test_mutants as core
from tests.proof.test_mutants import SEEDS, Case, solved
from tests.research.kep83.random_decisions import random_decision


def of_kep83() -> Iterator[Case]:
    """Yield decisions by KEP-83's rules."""
    for seed in range(SEEDS):
        decision = random_decision(seed, 8)
        legal = sorted(decision.simulation.legal_sets(), key=sorted)
        given = Given(PENDING, decision.assignment, rules=decision.options.text)
        yield from solved(f"kep83 {seed}", decision.state, given, legal)


@pytest.fixture(autouse=True)
def source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(core.SOURCES, "kep83", of_kep83)


def test_changed_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    core.test_changed_plan("kep83", monkeypatch)


def test_another_legal_set() -> None:
    core.test_another_legal_set("kep83")


def test_somebody_notices_where_nobody_has_to_wait() -> None:
    assert killed("replay K83-08")
