"""Kueue."""

from typing import Final, Literal

from planner.scheduler.record import Scheduler, Words

Placement = Literal["kueue"]
"""Who places pods on nodes, where a topology decides about them."""
Flavors = Literal["kueue", "optimal"]
"""Whose choice of flavors: the scheduler's own, or the best for the objective."""
OWN: Final = "kueue"
"""The value of both that leaves the choice to the scheduler itself."""

KUEUE: Final = Scheduler(
    id="kueue",
    words=Words(
        name="Kueue",
        verb="evict",
        noun="workload",
        queue="ClusterQueue",
        outside="Kueue's own answer is outside its own rules: {law}",
        judge="Kueue's own doubles, or its placement of pods, do",
        choice="Kueue's own greedy choice",
        rules={
            "kueue-classical": "classical preemption",
            "kueue-fair": "fair sharing",
        },
    ),
    likes={
        "kueue-like": (
            (
                "the best set by what Kueue's candidate order goes for: the fewest of the highest "
                "priority, then of the next, and so on; then those admitted last"
            ),
            (("victims@each",), ("run_time",), ("workloads",)),
        )
    },
    parts={
        "laws": "planner.laws.kueue:LAWS",
        "reader": "planner.reader.kueue:assemble",
        "holds": "planner.reader.kueue_kinds:holds",
        "kinds": "planner.reader.kueue_kinds:KINDS",
        "plan": "planner.plan.kueue:Plan",
        "planning": "planner.solver.kueue.start",
        "verifier": "planner.verifier.kueue.plan:verify_plan",
        "features": "planner.coverage.kueue_features:FEATURES",
        "coverage": "planner.coverage.kueue:KueueCoverage",
        "cases": "planner.solver.proving.kueue:cases",
        "checker": "planner.commands.check.kueue:check_kueue",
        "explanation": "planner.commands.explain.kueue.inquiry:KueueInquiry",
        "texts about preemption": "planner.commands.explain.kueue.record:take_apart",
        "nodes": "planner.commands.explain.kueue.picture:with_nodes",
        "explanation record": "planner.commands.explain.kueue.record:Explanation",
        "comparison": "planner.commands.compare.kueue",
        "edits": "planner.commands.whatif.kueue_edit",
        "settings": "planner.commands.whatif.kueue_edit",
        "replay": "planner.commands.replay.kueue:replay_kueue_line",
        "live replay": "planner.commands.replay.kueue_live:replay_live",
        "recorded": "planner.commands.replay.kueue:recorded_of_kueue",
        "page": "planner.report.kueue.plan:particulars",
        "plain": "planner.report.kueue.plan",
        "explained": "planner.report.kueue.explanation:explained",
        "html": "planner.report.render:html",
        "renderer": "planner.report.kueue.own:render_own",
        "amount": "planner.quantity:format_units",
        "joint plans": "planner.kueue_verbs:solve_joint",
        "hypothetical workloads": "planner.commands.whatif.kueue_hypothetical",
        "schemas": "planner.cli.kueue_schemas:SCHEMAS",
        "command line": "planner.cli.kueue_option",
        "planner boost": "planner.cli.kueue_boost:command",
    },
)
