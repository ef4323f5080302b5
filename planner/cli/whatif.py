"""``planner whatif``: the plans before and after edits of the state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.exit_code import epilog, exit_code
from planner.cli.option import (
    format_option,
    max_size_option,
    now_option,
    objective_option,
    output_option,
    pending_of_kueue_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from datetime import datetime

EPILOG = """\b
Examples:
  planner whatif cluster.json --pending team-a/train \\
    --set clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority
  planner whatif cluster.json --set clusterqueue/team-a.quota.h200/nvidia.com/gpu.nominal=40
  planner whatif cluster.json --set workload/team-a/train.priority=100 --format json

\b
What can be set:
  clusterqueue/NAME.preemption.withinClusterQueue          Never, LowerPriority,
                                                           LowerOrNewerEqualPriority
  clusterqueue/NAME.preemption.reclaimWithinCohort         Never, LowerPriority, Any
  clusterqueue/NAME.preemption.borrowWithinCohort.policy   Never, LowerPriority
  clusterqueue/NAME.preemption.borrowWithinCohort.maxPriorityThreshold
                                                           a whole number, or none
  clusterqueue/NAME.quota.FLAVOR/RESOURCE.nominal          a quantity
  clusterqueue/NAME.quota.FLAVOR/RESOURCE.borrowingLimit   a quantity, or none
  clusterqueue/NAME.quota.FLAVOR/RESOURCE.lendingLimit     a quantity, or none
  clusterqueue/NAME.fairSharing.weight                     a quantity
  cohort/NAME.quota... and .fairSharing.weight             likewise
  workload/NAMESPACE/NAME.priority                         a whole number
  configuration.featureGates.GATE                          true or false
  configuration.fairSharing.enable                         true or false

The exit code is that of the plan after the edits.

""" + epilog()


@click.command(
    epilog=EPILOG, short_help="Show what an edit of policies, quotas or priorities changes."
)
@click.argument("state", metavar="STATE")
@pending_of_kueue_option
@click.option(
    "--set",
    "edits",
    metavar="OBJECT.FIELD=VALUE",
    multiple=True,
    required=True,
    help="What to change, in the order given; may be repeated.",
)
@objective_option
@time_limit_option("For each of the two plans; none: as long as it takes.")
@now_option
@max_size_option
@format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    *,
    pending: str | None,
    edits: tuple[str, ...],
    profile: str,
    time_limit: float | None,
    now: datetime | None,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Compare the plans for a pending workload before and after edits of the state.

    STATE is what kubectl prints of Kueue's objects, as for solve. The answer shows whom Kueue
    itself and the least disruptive plan would evict in either state, and what is lost by it.
    Nothing in the cluster changes.
    """
    from planner import api
    from planner.cli.kueue_state import read_kueue
    from planner.cli.message import warn
    from planner.cli.output import Target
    from planner.report.whatif import render
    from planner.scenario.comparison import compare
    from planner.scenario.edit import edit

    target = Target.choose(style, output)
    before = read_kueue(state, now, max_size)
    plans = [
        api.solve(one, pending, profile, time_limit=time_limit)
        for one in (before, edit(before, edits))
    ]
    warn(note for plan in plans for note in plan.notes)
    answer = compare(edits, plans[0], plans[1])
    target.emit(render(answer, target.style, width=target.width, color=target.color))
    return exit_code(plans[1])
