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
        choice="YuniKorn's own choice",
        rules={
            "yunikorn-design": "laws as designed",
            "yunikorn-written": "laws as written",
            "yunikorn-code": "laws as coded",
            "yunikorn-required-node": "required node",
        },
        terms={
            "D0": ("last-tier victims", "allocations"),
            "D2": ("allocations preempted", "allocations"),
            "D2p": ("pods preempted", "pods"),
            "victims@each": (
                "victims of each adjusted priority, from the highest down",
                "allocations",
            ),
            "D11": ("victims that would preempt again", "allocations"),
            "count": ("victims, those already being preempted included", "allocations"),
        },
    ),
    parts={
        "planning": "planner.solver.yunikorn.start",
        "verifier": "planner.verifier.yunikorn:verify_yunikorn_plan",
        "checker": "planner.checking.yunikorn:check_yunikorn",
        "explanation": "planner.explanation.yunikorn.inquiry:YuniKornInquiry",
        "edits": "planner.scenario.yunikorn_edit",
        "exposure": "planner.exposure.yunikorn",
        "simulation": "planner.simulation.yunikorn",
        "lint": "planner.linting.yunikorn:findings_in",
        "page": "planner.report.yunikorn.page:particulars",
        "table": "planner.report.yunikorn.table",
        "plain": "planner.report.yunikorn.plain",
        "explained": "planner.report.yunikorn.explanation",
        "amount": "planner.report.yunikorn.words:yunikorn_amount",
    },
)
