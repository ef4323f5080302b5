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
    ),
    parts={
        "planning": "planner.solver.yunikorn.start",
        "verifier": "planner.verifier.yunikorn:verify_yunikorn_plan",
        "coverage": "planner.coverage.yunikorn:YuniKornCoverage",
        "cases": "planner.solver.proving.yunikorn:cases",
        "checker": "planner.commands.check.yunikorn:check_yunikorn",
        "explanation": "planner.commands.explain.yunikorn.inquiry:YuniKornInquiry",
        "edits": "planner.commands.whatif.yunikorn_edit",
        "risk": "planner.commands.risk.yunikorn",
        "simulation": "planner.commands.simulate.yunikorn_world",
        "generation": "planner.commands.generate.yunikorn.dump",
        "lint": "planner.commands.lint.yunikorn:findings_in",
        "page": "planner.report.yunikorn.plan:particulars",
        "plain": "planner.report.yunikorn.plan",
        "explained": "planner.report.yunikorn.explanation",
        "html": "planner.report.render:html",
        "amount": "planner.report.yunikorn.plan:yunikorn_amount",
    },
)
