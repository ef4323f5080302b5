"""How the answers of the operations wing are written, by their classes."""

from functools import partial
from typing import Any, Final

from planner.operations.apply.kueue_record import Applied
from planner.operations.lint.lint import Lint
from planner.operations.pending import Pending
from planner.operations.report import kueue_apply, lint, risk
from planner.operations.risk.measure import Risk
from planner.report.labelled import labelled_document, labelled_lines
from planner.report.style import Renderer, renderer

RENDERERS: Final[dict[type, Renderer[Any]]] = {
    Applied: kueue_apply.render_applied,
    Lint: lint.render_lint,
    Pending: renderer(labelled_lines, partial(labelled_document, "Who waits")),
    Risk: risk.render,
}
