"""``planner explain``: why this victim, why not that one, why nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.exit_code import INFEASIBLE, NO_PLAN, NOT_PROVED, OPTIMAL, epilog
from planner.cli.option import (
    assignment_option,
    costs_option,
    laws_option,
    max_size_option,
    now_option,
    objective_option,
    output_option,
    page_format_option,
    pending_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from datetime import datetime

    from planner.cli.output import Target
    from planner.solver.yunikorn.planning import Laws
    from planner.state import State

EPILOG = """\b
Examples:
  planner explain cluster.json
  planner explain cluster.json --pending team-a/train-llm
  planner explain cluster.json --pending team-a/train-llm --victim team-b/sweep-7
  planner explain instances/yunikorn/quickstart --victim etl/sessions-hourly-exec-9
  planner explain cluster.json --objective min-cost --costs costs.json
  planner explain cluster.json --limit 50 --format json -o explanation.json
  kubectl events -n team-b --for workload/sweep-7 | planner explain cluster.json --message -

With --message the exit code says only whether the text was understood; otherwise it is that of
the optimal plan.

""" + epilog()

STDIN = "-"
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
@pending_option
@click.option(
    "--victim",
    metavar="NAME",
    help="What runs and is asked about, why it is a victim of the plan, or why not: "
    "NAMESPACE/NAME of a workload, or of a pod of YuniKorn, or an allocation key.",
)
@click.option(
    "--message",
    metavar="TEXT",
    help="Take apart the text of Kueue's event Preempted or PreemptedWorkload, or of the "
    "condition Evicted or Preempted, and name the workloads that STATE knows; - for standard "
    "input.",
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
@costs_option
@time_limit_option("For the plan and everything about it; none: as long as it takes.")
@now_option
@assignment_option
@laws_option
@max_size_option
@page_format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    *,
    pending: str | None,
    victim: str | None,
    message: str | None,
    limit: int,
    profile: str,
    costs: Path | None,
    time_limit: float | None,
    now: datetime | None,
    assignment: Path | None,
    laws: Laws | None,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Explain the least disruptive plan for a pending workload, or why there is none.

    STATE is what kubectl prints of Kueue's objects, or YuniKorn's state dump, as for solve. Of
    every victim the answer says which rule permits it and whether all optimal plans have it; of
    one named with --victim also the best plan that spares it, or that takes it. Where no plan
    exists, it is the smallest set of rules that clash, what is short, and which single change
    would help.
    """
    if message is not None and (pending or victim):
        raise click.UsageError("--message goes neither with --pending nor with --victim")
    if message == state == STDIN:
        raise click.UsageError("STATE and --message cannot both be standard input")
    from planner import api
    from planner.cli.given import file_named, read_optional
    from planner.cli.output import Target
    from planner.reader import MAX_BYTES, read
    from planner.report.explanation import render

    target = Target.choose(style, output)
    if message is not None:
        return _take_apart(message, state, now, max_size, target)
    read_state = read(state, now=now, max_bytes=max_size or MAX_BYTES)
    more = {"costs": read_optional(costs), "assignment": read_optional(assignment), "rules": laws}
    with file_named({"costs": costs, "assignment": assignment}):
        answer = api.explain(
            read_state, pending, victim, profile, time_limit=time_limit, limit=limit, **more
        )
    target.emit(render(answer, target.style, width=target.width, color=target.color))
    return _CODES[answer.status]


def _take_apart(
    message: str, source: str, now: datetime | None, max_size: int | None, target: Target
) -> int:
    from planner.cli.kueue_state import read_kueue
    from planner.commands.explain.kueue.message import LONGEST, parse_message, resolve
    from planner.reader import load
    from planner.report.kueue.message import render_message

    state: State = read_kueue(source, now, max_size)
    if message == STDIN:
        message = "".join(text.data.decode(errors="replace") for text in load(STDIN, LONGEST).texts)
    told = resolve(parse_message(message), state)
    target.emit(render_message(told, target.style, width=target.width, color=target.color))
    return OPTIMAL
