"""``planner apply``: a plan carried out in a cluster, step by step."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli import kueue_snapshot, option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL, STOPPED
from planner.cli.option import Given, define
from planner.cli.output import is_terminal, say, write
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.commands.apply.kueue.carry import Carrying
    from planner.commands.apply.record import Applied
    from planner.kubectl.kueue_dump import Dump
    from planner.plan.kueue import Plan
    from planner.state.kueue import State

SOURCE: Final = "snapshot"
FOR_BOOSTS_S: Final = 60.0
"""How long boosts are looked for."""

EPILOG: Final = """\b
Examples:
  planner apply plan.json --dry-run
  planner apply plan.json --context production
  planner apply plan.json --by boosts --yes -o record.json
  planner apply plan.json --undo

It reads the cluster anew, and refuses if it is no longer as the plan has it. Then it holds the
LocalQueue of the preemptor, evicts the planned victims (or boosts priorities), lifts the hold at
once, and waits until the preemptor has its quota. Nobody else is touched; at the first surprise it
stops. A run that was interrupted is gone on with by the same command, or taken back by --undo.

Only Jobs under classical preemption were tried on a live cluster; docs/how-to/apply.md says what
came of it. 1 means that it was refused, and nothing changed, or that Kueue did something else than
planned; 7 that it stopped half-way.

"""


@define(
    click.argument("plan", metavar="PLAN"),
    value.one(
        "--by",
        click.Choice(["eviction", "boosts"]),
        "How: the victims are evicted; or priorities are boosted, so that Kueue itself evicts "
        "them, until the preemptor is in (feature gate PriorityBoost).",
        default="eviction",
        into="way",
    ),
    value.flag("--dry-run", "Print the commands, and run none of them."),
    value.flag("-y", "Do not ask before the first change.", "--yes"),
    value.flag("--undo", "Take back what an interrupted run left behind."),
    value.one(
        "--wait SECONDS", value.seconds, "How long the preemptor may take to get its quota.", "120"
    ),
    option.objective_option(
        "The objective that the plan was made under: needed if it was a file of your own."
    ),
    option.costs,
    *kueue_snapshot.cluster_options,
    *option.last,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Carry out a plan in the cluster that kubectl talks to.

    PLAN is what `planner solve --format json` wrote for one pending workload of Kueue. What was
    done goes to standard output, as a record with every command.
    """
    if not (given.yes or given.dry_run or given.undo or is_terminal(sys.stdin)):
        hint = "--yes carries it out without asking, --dry-run only shows the commands"
        raise InputError("standard input", "is no terminal: nobody can be asked", hint=hint)
    from planner.cli.plan_file import EXPECTED, read_plans
    from planner.plan.kueue import Plan
    from planner.report.kueue.own import render_applied

    plans = read_plans(given.plan, given.max_size).plans
    if len(plans) != 1:
        raise InputError(given.plan, f"holds {len(plans)} plans", "one: planner solve --pending")
    if not isinstance(plans[0], Plan):
        raise InputError(given.plan, "is no plan for Kueue", EXPECTED)
    answer = _applied(given, plans[0])
    given.show(render_applied, answer)
    if answer.status in {"stopped", "interrupted"}:
        return STOPPED
    return FINDINGS if answer.status in {"refused", "otherwise"} else OPTIMAL


def _applied(given: Given, plan: Plan) -> Applied:
    from planner.commands.apply.kueue.carry import (
        SAME,
        Carrying,
        Patience,
        cannot_be_applied,
        is_what_kueue_does,
    )
    from planner.commands.apply.kueue.cluster import Cluster, Evictions, Surprise

    patience = Patience(wait_s=float("inf") if given.wait is None else given.wait)
    run = Carrying(
        plan,
        Evictions(plan, patience.clock),
        Cluster(partial(kueue_snapshot.connect, given)),
        patience=patience,
        tell=partial(say, "apply"),
    )
    try:
        if given.undo:
            return run.undo()
        reason = cannot_be_applied(plan, given.way)
        if reason:
            return run.answer("refused", reason)
        if is_what_kueue_does(plan):
            return run.answer("nothing", SAME)
        return _look_and_go(given, plan, run)
    except Surprise as surprise:
        return run.answer("refused", str(surprise))


def _look_and_go(given: Given, plan: Plan, run: Carrying) -> Applied:
    """Compare the cluster with the plan, show the steps, ask, and carry it out."""
    from planner.commands.apply.kueue.carry import remarks
    from planner.kubectl.kueue_resource import LiveObject
    from planner.report.kueue.own import render_applied

    undo_first = "take back what it left behind with --undo, and plan again"
    left_behind = run.answer("refused", "an earlier run is not at its end", way_on=undo_first)
    goes_on = run.goes_on()
    if goes_on and given.way == "boosts":
        return left_behind
    dump = kueue_snapshot.take(given)
    objects = [*map(LiveObject, dump.objects)]
    if run.has_boosts(objects):
        return left_behind
    run.evictions = {one.eviction for one in objects if one.is_true("Evicted")}
    refused = None if goes_on else _refused(given, plan, run, dump)
    if refused is not None:
        return refused
    steps = tuple(map(run.step, run.calls()))
    notes = tuple(remarks(plan, given.way))
    preview = run.answer("planned", f"{len(steps)} steps", notes=notes, steps=steps)
    if given.dry_run:
        return preview
    if not given.yes:
        target = given.target
        write(render_applied(preview, "table", width=target.width, color=False))
        if not click.confirm("Carry it out?", err=True):
            return run.answer("refused", "you said no")
    return run.run().model_copy(update={"notes": notes})


def _refused(given: Given, plan: Plan, run: Carrying, dump: Dump) -> Applied | None:
    """Return why a plan cannot be carried out in the cluster of a dump; ``None`` if it can."""
    from planner.commands.apply.kueue.carry import changes
    from planner.reader import read_objects
    from planner.state.kueue import of_kueue
    from planner.state.record import AUTO

    release = plan.kueue.release if plan.kueue else AUTO
    how: dict[str, Any] = {"now": plan.now, "release": release, "requests": plan.requests}
    # Read with the clock and the release that the plan was made with.
    state = of_kueue(read_objects(dump.value(), where=SOURCE, **how))
    with given.naming("costs"):
        found = changes(state, plan, given.profile, given.read_file("costs"))
    if found:
        why = "the cluster is no longer as the plan has it"
        # A new plan is of no use if the preemptor is in, or is gone.
        preemptor = state.workloads.find(plan.preemptor)
        waits = preemptor is not None and not preemptor.holds_quota
        again = f"plan again: kubectl preemption-plan --pending {plan.preemptor} -o plan.json"
        way_on = again if waits else ""
        return run.answer("refused", why, changes=tuple(found), way_on=way_on)
    why = _boost(state, plan, run) if given.way == "boosts" else ""
    return run.answer("refused", why) if why else None


def _boost(state: State, plan: Plan, run: Carrying) -> str:
    """Make the run boost priorities; return why that cannot be, empty if it can."""
    from planner.commands.apply.kueue.carry import digest_of
    from planner.commands.apply.kueue.cluster import BoostedPriorities
    from planner.commands.boost.kueue.find import find_boosts
    from planner.solver.deadline import Deadline
    from planner.state.kueue_workload import BOOST_GATE

    if not state.configuration.gate(BOOST_GATE):
        return f"Kueue heeds boosts only with its feature gate {BOOST_GATE} on; here it is off"
    boosts = find_boosts(state, plan, gate_on=True, deadline=Deadline.after(FOR_BOOSTS_S))
    if not boosts.boosts:
        return boosts.explanation
    run.treatment = BoostedPriorities(boosts.boosts, digest_of(plan))
    return ""
