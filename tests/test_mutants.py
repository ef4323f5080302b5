"""The tests of a law fail without it: a few laws in ordinary runs, all of them at night."""

import os

import pytest

from tests.mutants import killed, mutants

FEW = ("verifier KQ-04", "models FS-05", "replay KQ-07")
TRIED = list(mutants()) if os.environ.get("PLANNER_TEST_MUTANTS") else FEW
"""With PLANNER_TEST_MUTANTS set, every one."""


@pytest.mark.parametrize("name", TRIED)
def test_somebody_notices(name: str) -> None:
    assert killed(name)
