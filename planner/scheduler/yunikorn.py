"""YuniKorn."""

from typing import Final

from planner.scheduler.record import Scheduler, Words

YUNIKORN: Final = Scheduler(
    id="yunikorn",
    words=Words(
        name="YuniKorn",
        verb="preempt",
        noun="allocation",
        queue="Queue",
        outside="YuniKorn's own answer breaks {law}",
        judge="YuniKorn's own arithmetic does",
    ),
    parts={
        "planning": "planner.solver.yunikorn.start",
        "verifier": "planner.verifier.yunikorn:verify_yunikorn_plan",
        "cases": "planner.solver.proving.yunikorn:cases",
        "checker": "planner.checking.yunikorn:check_yunikorn",
        "explanation": "planner.explanation.yunikorn.inquiry:YuniKornInquiry",
        "edits": "planner.scenario.yunikorn_edit",
        "exposure": "planner.exposure.yunikorn",
        "simulation": "planner.simulation.yunikorn",
        "lint": "planner.linting.yunikorn:findings_in",
        "page": "planner.report.document.yunikorn:particulars",
        "table": "planner.report.yunikorn_table",
        "plain": "planner.report.yunikorn_plain:lines",
    },
)
