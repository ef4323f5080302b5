"""``planner apply``: one plan carried out in a cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL, STOPPED
from planner.cli.option import define
from planner.cli.output import is_terminal, say, write
from planner.errors import InputError
from planner.operations.cli import kueue_snapshot
from planner.operations.cli.kueue_steer import cluster_of, lease_of
from planner.operations.steer.kueue.carry import LEASE

if TYPE_CHECKING:
    from planner.operations.apply.kueue_record import Applied
    from planner.plan.kueue import Plan


class Options(kueue_snapshot.OfCluster, option.Sized, option.Paged):
    """What `planner apply` is given."""

    plan = value.argument("PLAN", str)
    dry_run = value.flag("--dry-run", "Print the commands, and run none of them.")
    yes = value.flag("-y, --yes", "Do not ask before the first change.")
    wait = value.one(
        "--wait SECONDS", value.seconds, "How long the preemptor may take to get its quota.", "120"
    )
    objective = option.objective_of_plan(
        "The objective that the plan was made under: needed if it was a file of your own."
    )
    costs = option.costs


@define(Options)
def command(given: Options) -> int:
    """Carry out a plan in the cluster that kubectl talks to, for a preemptor behind its gate.

    PLAN is what `planner solve --format json` wrote for one pending workload of Kueue. What was
    done goes to standard output, as a record.

      planner apply plan.json --dry-run
      planner apply plan.json --context production
      planner apply plan.json --yes -o record.json

    1 means that it was refused, and nothing changed, or that Kueue did something else than planned;
    7 that it stopped half-way.
    """
    if not (given.yes or given.dry_run or is_terminal(sys.stdin)):
        hint = "--yes carries it out without asking, --dry-run only shows the commands"
        raise InputError("standard input", "is no terminal: nobody can be asked", hint=hint)
    from planner.cli.plan_file import EXPECTED, read_plans
    from planner.operations.report.kueue_apply import render_applied
    from planner.plan.kueue import Plan

    plans = read_plans(given.plan, given.max_bytes).plans
    if len(plans) != 1:
        raise InputError(given.plan, f"holds {len(plans)} plans", "one: planner solve --pending")
    if not isinstance(plans[0], Plan):
        raise InputError(given.plan, "is no plan for Kueue", EXPECTED)
    answer = _applied(given, plans[0])
    given.show(render_applied, answer)
    if answer.status in {"stopped", "interrupted"}:
        return STOPPED
    return FINDINGS if answer.status in {"refused", "otherwise"} else OPTIMAL


def _applied(given: Options, plan: Plan) -> Applied:
    """Compare the cluster with the plan, show the steps, ask, and carry it out."""
    from planner.operations.apply.kueue import Question, Run, preview, record_of
    from planner.operations.report.kueue_apply import render_applied
    from planner.operations.report.steer import text_of

    question = Question(plan, given.objective, given.read_file("costs"))
    cluster = cluster_of(given, {})  # as the state itself asks
    with given.naming("costs"):
        shown = preview(question, cluster, kueue_snapshot.connect(given).options)
    if given.dry_run or shown.status == "refused":
        return shown
    if not given.yes:
        target = given.target
        write(render_applied(shown, "table", width=target.width, color=False))
        if not click.confirm("Carry it out?", err=True):
            return record_of(plan, "refused", "you said no")
        question = question._replace(agreed=frozenset(one.title for one in shown.steps))
    lease = lease_of(cluster, LEASE, needed=False)
    run = Run(question, cluster, lease=lease, tell=lambda one: say("apply", text_of(one).rstrip()))
    return run.carry_out(given.wait)
