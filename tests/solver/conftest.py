"""Plans of this folder come from the solver: most small ones would be proved before it is asked."""

from collections.abc import Iterator

import pytest

from tests.solver.ways import by_the_solver


@pytest.fixture(autouse=True, scope="package")
def _by_the_solver() -> Iterator[None]:
    """Ask the solver in all tests; ``ways.solve`` compares both ways."""
    with by_the_solver():
        yield
