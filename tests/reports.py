"""The folder of situations that were reported, each with the answer that is right.

It lies outside the project; where it is absent, the small copies in the tests are all there is.
"""

import os
from pathlib import Path

from tests.conftest import ROOT


def reports() -> Path | None:
    """Return the folder of reports, or None if there is none.

    Raises
    ------
    NotADirectoryError
        If PLANNER_REPORTS names something else: that must not skip tests in silence.
    """
    named = os.environ.get("PLANNER_REPORTS")
    folder = Path(named) if named else ROOT.parent / "shared" / "reports"
    if folder.is_dir():
        return folder
    if named:
        raise NotADirectoryError(folder)
    return None
