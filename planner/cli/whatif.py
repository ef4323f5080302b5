"""``planner whatif``: the plans before and after edits, or for a workload not yet submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from planner.cli.exit_code import exit_code
from planner.cli.given import Given, define
from planner.cli.option import (
    alone_laws_option,
    max_size_option,
    now_option,
    objective_option,
    output_option,
    page_format_option,
    pending_option,
    queue_option,
    release_option,
    requests_option,
    state_argument,
    time_limit_option,
)

if TYPE_CHECKING:
    from planner.state import AnyState, State

EPILOG: Final = """\b
Examples:
  planner whatif cluster.json --pending team-a/train \\
    --set clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority
  planner whatif cluster.json --set clusterqueue/team-a.quota.h200/nvidia.com/gpu.nominal=40
  planner whatif cluster.json --workload job.yaml
  planner whatif cluster.json --workload pod.yaml --queue team-a/main --format json
  planner whatif dump/ --pending serving/ranker-2 \\
    --set queue/root.serving.guaranteed.memory=64Gi

\b
What --workload reads: a Workload of Kueue, a Job of batch/v1, a Pod or a pod template.
It waits in the LocalQueue of its label kueue.x-k8s.io/queue-name, has the priority of its
WorkloadPriorityClass or PriorityClass in STATE, and is created now. With --set as well,
before is the state with it, unedited.

\b
What can be set in a state of Kueue:
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
  node/NAME.unschedulable                                  true or false
  node/NAME.allocatable.RESOURCE                           a quantity
  node/NAME.labels.KEY                                     a text, or none
  node/NAME.taints.KEY                                     an effect, or none
  node/NEW.like                                            a node: one more like it
  configuration.featureGates.GATE                          true or false
  configuration.fairSharing.enable                         true or false

\b
What can be set in a state of YuniKorn:
  queue/PATH.guaranteed.RESOURCE and .max.RESOURCE         a quantity, or none
  queue/PATH.preemption.policy                             default, fence, disabled
  queue/PATH.preemption.delay                              a duration such as 1m30s
  queue/PATH.priority.policy                               default, fence
  queue/PATH.priority.offset                               a whole number
  partition/NAME.preemption.enabled                        true or false
  application/ID.priority, for all it has                  a whole number
  ask/KEY.priority, allocation/KEY.priority                a whole number
  ask/KEY.allowPreemptOther                                true or false
  allocation/KEY.allowPreemptSelf and .originator          true or false

The exit code is that of the plan after the edits.

"""


@define(
    state_argument,
    pending_option,
    click.option(
        "--set",
        "edits",
        metavar="OBJECT.FIELD=VALUE",
        multiple=True,
        help="What to change, in the order given; may be repeated.",
    ),
    click.option(
        "--workload",
        metavar="FILE",
        help="A workload that is not there yet, as a manifest in YAML or JSON; it is the one to "
        "plan for unless --pending names another.",
    ),
    queue_option,
    objective_option,
    time_limit_option("For each of the two plans; none: as long as it takes."),
    alone_laws_option,
    now_option,
    release_option,
    requests_option,
    max_size_option,
    page_format_option,
    output_option,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Compare the plans for a pending workload before and after edits of the state.

    STATE is the same as for solve. The answer shows whom the scheduler itself and the least
    disruptive plan would evict in either state, and what is lost by it. A workload that is not
    there yet has no before. Nothing in the cluster changes.
    """
    if not given.edits and given.workload is None:
        raise click.UsageError("nothing to change: give --set, --workload or both")
    if given.queue is not None and given.workload is None:
        raise click.UsageError("--queue says where --workload is submitted; it needs one")
    from planner.api import whatif
    from planner.cli.output import warn
    from planner.report.whatif import render

    known: AnyState = given.read()
    added: tuple[str, ...] = ()
    if given.workload is not None:
        known, added = _with_workload(known, given.workload, given.queue)
    wanted, how = given.pending or next(iter(added), None), given.of("time_limit rules=laws")
    answer = whatif(known, given.edits, wanted, given.profile, added=added, **how)
    plans = (one for one in (answer.before, answer.after) if one is not None)
    warn(note for plan in plans for note in plan.notes)
    given.show(render, answer)
    return exit_code(answer.after)


def _with_workload(
    state: AnyState, source: str, queue: str | None
) -> tuple[State, tuple[str, ...]]:
    """Return the state with the one workload that a file holds, and its key."""
    from planner.cli.kueue_state import of_kueue
    from planner.commands.whatif.kueue_hypothetical import add_workloads, read_submissions
    from planner.errors import SchemaError

    items = read_submissions(source)
    if len(items) != 1:
        found = f"{len(items)} objects stand here"
        raise SchemaError(source, found, "one workload", "planner risk takes many")
    return add_workloads(of_kueue(state), items, queue)
