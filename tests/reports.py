"""The folder of reports: inputs that were answered wrongly once, each with the right answer.

It lies outside the project; tests that read it are skipped where it is absent.
"""

import os
from pathlib import Path

from tests.conftest import ROOT


def reports() -> Path | None:
    """Return the folder that ``PLANNER_REPORTS`` names, or else the one beside the checkout."""
    folder = Path(os.environ.get("PLANNER_REPORTS") or ROOT / ".." / "shared" / "reports")
    return folder if folder.is_dir() else None
