"""A model is the same, row by row, whatever the order in which Python iterates over sets.

Engines answer by the order of rows: of equal optima another one comes first, and a relaxation is
rounded to something else. So what is promised to be the same twice depends on that order.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from planner.rivals.exact import Stated
from tests.commands.bench.suites import contest
from tests.hash_seeds import printed

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
    code = f"from {__name__} import digest; print(digest())"
    assert len({printed(code, seed) for seed in SEEDS}) == 1
