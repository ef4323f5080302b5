"""``planner whatif``: the plans before and after edits, or for a workload not yet submitted."""

from __future__ import annotations

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL, exit_code
from planner.cli.option import define
from planner.cli.output import warn
from planner.cli.value import Option
from planner.errors import SchemaError


class Options(option.OfState):
    """What `planner whatif` is given."""

    core_release = option.core_release
    pending = option.pending
    edits = value.several(
        "--set OBJECT.FIELD=VALUE", str, "What to change, in the order given; may be repeated."
    )
    workload: Option[str | None] = option.own("workload")
    queue = option.queue
    listed = value.flag(
        "--list",
        "Plan nothing, but list who is pending and the most common of what --set can set, with its "
        "value.",
    )
    objective = option.objective
    time_limit = option.time_limit("For each of the two plans; none: as long as it takes.")
    laws = option.laws


@define(Options)
def command(given: Options) -> int:
    """Compare the plans for a pending workload before and after edits of the state.

    STATE is the same as for solve. The answer shows whom the scheduler itself and the least
    disruptive plan would evict in either state, and what is lost by it. A workload that is not
    there yet has no before; for another one, before is without it. Nothing in the cluster changes.

      planner whatif cluster.json --set clusterqueue/team-a.preemption.reclaimWithinCohort=Never
      planner whatif cluster.json --set clusterqueue/team-a.quota.h200/nvidia.com/gpu.nominal=40
      planner whatif cluster.json --list
      planner whatif cluster.json --workload job.yaml
      planner whatif cluster.json --workload pod.yaml --queue team-a/main --format json
      planner whatif dump/ --pending ranker-2 --set queue/root.serving.guaranteed.memory=64Gi

    docs/how-to/what-if.md lists all that can be set, and what --workload reads. The exit code is
    that of the plan after the edits.
    """
    if given.listed:
        if given.edits or given.workload is not None or given.pending is not None:
            raise click.UsageError("--list goes with none of --set, --workload and --pending")
        from planner.commands.whatif.edit import settings
        from planner.objective.profiles import PROFILES
        from planner.report.whatif import render_settings

        state = given.read()
        summaries = {profile.name: profile.summary for profile in PROFILES.values()}
        given.show(render_settings, settings(state, state.pending, summaries))
        return OPTIMAL
    if not given.edits and given.workload is None:
        raise click.UsageError("nothing to change: give --set, --workload or both, or see --list")
    if given.queue is not None and given.workload is None:
        raise click.UsageError("--queue says where --workload is submitted; it needs one")
    from planner.api import whatif
    from planner.report.whatif import render
    from planner.report.words import remarks

    original = known = given.read()
    added: tuple[str, ...] = ()
    if given.workload is not None:
        from planner.commands.whatif.edit import read_submissions
        from planner.scheduler import scheduler_of

        add_workloads = scheduler_of(known).add_workloads
        items = read_submissions(given.workload)
        if not items:
            raise SchemaError(given.workload, "no object stands here", "one workload")
        known, added = add_workloads(known, items, given.queue, 1)
    who = given.pending or next(iter(added), None)
    more = {"added": added, "original": original}
    answer = whatif(known, **given.of(whatif, pending=who, rules=given.laws, **more))
    warn(remarks(*answer.plans))
    given.show(render, answer)
    return exit_code(answer.after)
