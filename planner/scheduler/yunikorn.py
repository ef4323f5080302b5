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
            "yunikorn-lowered-quota": "lowered quota",
        },
        terms={
            "last_resort": "last-resort victims",
            "workloads": "allocations preempted",
            "pods": "pods preempted",
            "victims": "victims, those already being preempted included",
            "victims@each": "victims of each adjusted priority, from the highest down",
            "victims@": "victims of adjusted priority {}",
        },
    ),
    parts={
        "laws": "planner.laws.yunikorn:LAWS",
        "reader": "planner.reader.yunikorn_read:read",
        "holds": "planner.reader.yunikorn_files:holds",
        "plan": "planner.plan.yunikorn:YuniKornPlan",
        "planning": "planner.solver.yunikorn.start",
        "lowered quotas": "planner.solver.yunikorn.start:lowered_quotas",
        "verifier": "planner.verifier.yunikorn:verify_yunikorn_plan",
        "features": "planner.coverage.yunikorn:FEATURES",
        "coverage": "planner.coverage.yunikorn:YuniKornCoverage",
        "cases": "planner.solver.proving.yunikorn:cases",
        "checker": "planner.commands.check.yunikorn:check_yunikorn",
        "explanation": "planner.commands.explain.yunikorn.inquiry:YuniKornInquiry",
        "explanation record": "planner.commands.explain.yunikorn.record:YuniKornExplanation",
        "edits": "planner.commands.whatif.yunikorn_edit",
        "settings": "planner.commands.whatif.yunikorn_edit",
        "replay": "planner.commands.replay.yunikorn:replay_yunikorn_line",
        "recorded": "planner.commands.replay.yunikorn:recorded_of_yunikorn",
        "page": "planner.report.yunikorn.plan:particulars",
        "plain": "planner.report.yunikorn.plan",
        "explained": "planner.report.yunikorn.explanation:explained",
        "html": "planner.report.render:html",
        "command line": "planner.cli.yunikorn_option",
        "amount": "planner.report.yunikorn.plan:yunikorn_amount",
    },
)
