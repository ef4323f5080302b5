"""Inputs from public reports that were once answered wrongly, each with the right answer.

A report is a folder: the input, the commands as their reporter would ask, and what is right.
The folder of all of them lies outside the project; small copies of the inputs are in the tests.
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
        message = f"PLANNER_REPORTS is not a folder: {named}"
        raise NotADirectoryError(message)
    return None
