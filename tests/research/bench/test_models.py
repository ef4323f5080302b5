"""Models are the same whatever order sets have."""

from hashlib import sha256
from typing import Final

from planner.research.rivals.exact import Stated
from tests.conftest import TEST_ALL
from tests.hash_seeds import printed
from tests.research.bench.suites import contest

CASES: Final = (
    "classical-small-1",
    "fair-small-1",
    "topology-2",
    "kep83-small-1",
    "yunikorn-small-1",
    "elastic-1",
)
HASH_SEEDS: Final = ("0", "1", "2", "3")[: 4 if TEST_ALL else 1]


def digest() -> str:
    """Return the digest of the models of all cases, as text."""
    models = [str(Stated(contest(name)).builder.proto) for name in CASES]
    assert all(models)
    return sha256("\n".join(models).encode()).hexdigest()


def test_the_order_of_sets_does_not_matter() -> None:
    code = f"from {__name__} import digest; print(digest())"
    assert {printed(code, seed).strip() for seed in HASH_SEEDS} == {digest()}
