"""What the operations wing adds to the planner."""

from typing import Final

from planner.wing import Wing

WING: Final = Wing(
    commands={
        "Plan": {
            "apply": (
                "Carry out a plan in a cluster, for a workload behind its gate.",
                "planner.operations.cli.kueue_apply:command",
            ),
            "steer": (
                "Have the scheduler carry out plans, as it goes on.",
                "planner.operations.cli.kueue_steer:command",
            ),
        },
        "Know your cluster": {
            "snapshot": (
                "Write what there is to read of a cluster into one dump.",
                "planner.operations.cli.kueue_snapshot:command",
            ),
            "lint": (
                "Find ping-pong, impossible and useless preemption in a configuration.",
                "planner.operations.cli.lint:command",
            ),
            "risk": (
                "Count how often everything that runs would be a victim.",
                "planner.operations.cli.risk:command",
            ),
            "watch": (
                "Say what the scheduler does as it goes on, against replay and optimum.",
                "planner.operations.cli.kueue_watch:command",
            ),
            "serve": (
                "Work in a browser, or answer programs over HTTP: a dump in, a plan out.",
                "planner.operations.cli.serve:command",
            ),
            "mcp": (
                "Answer agents over the Model Context Protocol.",
                "planner.operations.cli.kueue_mcp:command",
            ),
        },
    },
    parts={
        "kueue": {
            "risk": "planner.operations.risk.kueue",
            "lint": "planner.operations.lint.kueue:look",
            "commands": "planner.operations.apply.kueue:with_commands",
        },
        "yunikorn": {
            "risk": "planner.operations.risk.yunikorn",
            "lint": "planner.operations.lint.yunikorn:look",
        },
    },
    schemas="planner.operations.schemas:SCHEMAS",
    renderers="planner.operations.report.answers:RENDERERS",
    workers="planner.operations.dask_cluster:workers",
)
