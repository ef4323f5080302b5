"""A model is the same, row by row, whatever the order in which Python iterates over sets.

Engines answer by the order of rows: of equal optima another one comes first, and a relaxation is
rounded to something else. So what is promised to be the same twice depends on that order.
"""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from typing import Final

from planner.rivals.exact import Stated
from tests.commands.bench.suites import contest
from tests.conftest import ROOT

CASES: Final = (
    "classical-small-1",
    "fair-small-1",
    "topology-2",
    "kep83-small-1",
    "yunikorn-small-1",
    "elastic-1",
)
SEEDS: Final = ("0", "1", "2", "3")


def digest() -> str:
    """Return the digest of the models of all cases, as text."""
    models = [str(Stated(contest(name)).builder.proto) for name in CASES]
    assert all(models)
    return sha256("\n".join(models).encode()).hexdigest()


def test_the_order_of_sets_does_not_matter() -> None:
    found = set()
    for seed in SEEDS:
        ran = subprocess.run(
            [sys.executable, "-c", "from tests.models.test_order import digest; print(digest())"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(ran.stdout)
    assert len(found) == 1
    assert found != {"\n"}
