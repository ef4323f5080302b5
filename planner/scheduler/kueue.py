"""Kueue."""

from typing import Final

from planner.scheduler.record import Scheduler, Words

KUEUE: Final = Scheduler(
    id="kueue",
    words=Words(
        name="Kueue",
        verb="evict",
        noun="workload",
        queue="ClusterQueue",
        outside="Kueue's own answer is outside its own rules: {law}",
        judge="Kueue's own doubles do",
    ),
    parts={
        "planning": "planner.solver.kueue.start",
        "verifier": "planner.verifier:verify_plan",
        "cases": "planner.solver.proving.kueue:cases",
        "checker": "planner.checking.kueue:check_kueue",
        "explanation": "planner.explanation.kueue.inquiry:KueueInquiry",
        "edits": "planner.scenario.kueue_edit",
        "exposure": "planner.exposure.kueue",
        "simulation": "planner.simulation.kueue",
        "lint": "planner.linting.kueue:findings_in",
        "precedence": "planner.auditing.kueue:precedence",
        "page": "planner.report.document.kueue:particulars",
        "table": "planner.report.kueue_table",
        "plain": "planner.report.kueue_plain:lines",
    },
)
