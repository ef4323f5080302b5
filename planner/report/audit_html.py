"""An audit as one HTML page that needs nothing from elsewhere: ``--format html``."""

from __future__ import annotations

from pathlib import Path

from planner.auditing.record import Audit
from planner.report.document.audit import document
from planner.report.html.page import page


def render(audit: Audit, folder: Path | None = None) -> str:
    """Return the audit as a page; links to states start from the folder it will be in."""
    return page([document(audit, folder)])
