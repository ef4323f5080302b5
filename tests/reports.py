"""The folder of situations that were reported, each with the answer that is right.

It lies outside the project; where it is absent, the small copies in the tests are all there is.
"""

from pathlib import Path

from tests.conftest import outside


def reports() -> Path | None:
    """Return the folder of reports, or None if there is none."""
    return outside("PLANNER_REPORTS", "reports")
