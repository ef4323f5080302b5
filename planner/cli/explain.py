"""``planner explain``: why this victim, why not that one, why nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.exit_code import INFEASIBLE, NO_PLAN, NOT_PROVED, OPTIMAL, epilog
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

    from planner.cli.output import Target
    from planner.state import State

EPILOG = """\b
Examples:
  planner explain cluster.json
  planner explain cluster.json --pending team-a/train-llm
  planner explain cluster.json --pending team-a/train-llm --victim team-b/sweep-7
  planner explain cluster.json --limit 50 --format json -o explanation.json
  planner explain cluster.json --message "$(kubectl get workload -n team-b sweep-7 \\
    -o jsonpath='{.status.conditions[?(@.type=="Evicted")].message}')"

With --message the exit code says only whether the text was understood; otherwise it is that of
the optimal plan.

""" + epilog()

_CODES = {
    "optimal": OPTIMAL,
    "feasible": NOT_PROVED,
    "infeasible": INFEASIBLE,
    "unknown": NO_PLAN,
}


@click.command(
    epilog=EPILOG, short_help="Say why a workload must go, why another need not, or why nothing."
)
@click.argument("state", metavar="STATE")
@pending_of_kueue_option
@click.option(
    "--victim",
    metavar="NAMESPACE/NAME",
    help="The running workload to ask about: why it is a victim of the plan, or why not.",
)
@click.option(
    "--message",
    metavar="TEXT",
    help="Take apart the text of Kueue's event Preempted or PreemptedWorkload, or of the "
    "condition Evicted, and name the workloads that STATE knows.",
)
@click.option(
    "--limit",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many optimal plans to list; counting stops there, too.",
)
@objective_option
@time_limit_option("For the plan and everything about it; none: as long as it takes.")
@now_option
@max_size_option
@format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    *,
    pending: str | None,
    victim: str | None,
    message: str | None,
    limit: int,
    profile: str,
    time_limit: float | None,
    now: datetime | None,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Explain the least disruptive plan for a pending workload, or why there is none.

    STATE is what kubectl prints of Kueue's objects, as for solve. Of every victim the answer
    says which rule permits it and whether all optimal plans have it; of a workload named with
    --victim also the best plan that spares it, or that takes it. Where no plan exists, it is the
    smallest set of rules that clash, what is short, and which single change would help.
    """
    if message is not None and (pending or victim):
        raise click.UsageError("--message goes neither with --pending nor with --victim")
    from planner.cli.kueue_state import read_kueue
    from planner.cli.output import Target

    target = Target.choose(style, output)
    read_state = read_kueue(state, now, max_size)
    if message is not None:
        return _take_apart(message, read_state, target)
    from planner import api
    from planner.explanation.answer import explain_plan, explain_workload
    from planner.objective.profile_file import find_profile
    from planner.report.explanation import render
    from planner.solver.pending import only_pending

    wanted = pending or only_pending(read_state, api.pending_workloads(read_state))
    chosen = find_profile(profile)
    if victim is None:
        answer = explain_plan(read_state, wanted, chosen, time_limit=time_limit, limit=limit)
    else:
        answer = explain_workload(read_state, wanted, victim, chosen, time_limit=time_limit)
    target.emit(render(answer, target.style, width=target.width, color=target.color))
    return _CODES[answer.status]


def _take_apart(message: str, state: State, target: Target) -> int:
    from planner.explanation.message import parse_message, resolve
    from planner.report.explanation import render_message

    told = resolve(parse_message(message), state)
    target.emit(render_message(told, target.style, width=target.width, color=target.color))
    return OPTIMAL
