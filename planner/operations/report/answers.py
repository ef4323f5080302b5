"""How the answers of the operations wing are written, by their classes."""

from typing import Any, Final

from planner.operations.apply.kueue_record import Applied
from planner.operations.lint.lint import Lint
from planner.operations.report import kueue_apply, lint, risk
from planner.operations.risk.measure import Risk
from planner.report.style import Renderer

RENDERERS: Final[dict[type, Renderer[Any]]] = {
    Applied: kueue_apply.render_applied,
    Lint: lint.render_lint,
    Risk: risk.render,
}
