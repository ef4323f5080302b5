"""An audit in GitHub-flavoured Markdown, for tickets and pull requests."""

from __future__ import annotations

from planner.auditing.record import Audit
from planner.report.document.audit import document
from planner.report.markdown_text import text_of


def render(audit: Audit) -> str:
    """Return the audit in Markdown."""
    return text_of(document(audit))
