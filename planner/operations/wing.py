"""What the operations wing adds to the planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from planner.wing import Wing

if TYPE_CHECKING:
    from planner.operations.lint.lint import Looked
    from planner.operations.risk.measure import Submitting

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
    schemas="planner.operations.schemas:SCHEMAS",
    renderers="planner.operations.report.answers:RENDERERS",
    workers="planner.operations.dask_cluster:workers",
    with_commands="planner.operations.apply.kueue:with_commands",
)


def risks() -> Mapping[str, Submitting[Any]]:
    """Return what is asked of each scheduler, by its id, so that victims can be counted."""
    from planner.operations.risk import kueue, yunikorn

    return {"kueue": kueue, "yunikorn": yunikorn}


def looks() -> dict[str, Callable[[Any], Looked]]:
    """Return the function of each scheduler, by its id, that looks at a state by all rules."""
    from planner.operations.lint import kueue, yunikorn

    return {"kueue": kueue.look, "yunikorn": yunikorn.look}
