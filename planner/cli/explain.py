"""``planner explain``: why this victim, why not that one, why nothing."""

from __future__ import annotations

from typing import Final

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL, exit_code
from planner.cli.option import define
from planner.cli.output import warn
from planner.cli.value import Option

STDIN: Final = "-"


class Options(option.OfState):
    """What `planner explain` is given."""

    core_release = option.core_release
    pending = option.pending
    quota = option.quota
    victim = value.one(
        "--victim NAME",
        str,
        "What runs and is asked about, why it is a victim of the plan, or why not: "
        "NAMESPACE/NAME of a workload or a pod, or an allocation key.",
    )
    message: Option[str | None] = option.own("message")
    limit = value.one(
        "--limit NUMBER",
        value.Whole(1),
        "How many optimal plans to list; counting stops there, too.",
        default=10,
    )
    objective = option.objective
    costs = option.costs
    time_limit = option.time_limit(
        "For the plan and everything about it; none: as long as it takes."
    )
    now = option.OfState.now
    assignment = option.assignment
    laws = option.laws


@define(Options)
def command(given: Options) -> int:
    """Explain the least disruptive plan for a pending workload, or why there is none.

    STATE is what kubectl prints of Kueue's objects, or YuniKorn's state dump, as for solve. Of
    every victim the answer says which rule permits it and whether all optimal plans have it; of
    one named with --victim also the best plan that spares it, or that takes it. Where no plan
    exists, it is the smallest set of rules that clash, what is short, and which single change
    would help.

      planner explain cluster.json
      planner explain cluster.json --pending team-a/train-llm
      planner explain cluster.json --pending team-a/train-llm --victim team-b/sweep-7
      {explain}
      planner explain cluster.json --objective min-cost --costs costs.json
      planner explain cluster.json --limit 50 -o explanation.json
      kubectl events -n team-b --for workload/sweep-7 | planner explain cluster.json --message -

    Of several texts --message takes the last, and a warning says how many there are. With it the
    exit code says only whether the text was understood, and names anything that is in STATE;
    otherwise it is that of the optimal plan.
    """
    if given.message is not None and (given.pending or given.victim or given.quota):
        raise click.UsageError("--message goes neither with --pending nor --victim nor --quota")
    if given.message == given.state == STDIN:
        raise click.UsageError("STATE and --message cannot both be standard input")
    if given.message is not None:
        from planner.commands.explain import LONGEST
        from planner.reader import load
        from planner.scheduler import scheduler_of

        state, text = given.read(), given.message
        if text == STDIN:
            text = "".join(one.data.decode(errors="replace") for one in load(STDIN, LONGEST).texts)
        scheduler = scheduler_of(state)
        message, notes = scheduler.take_apart(text, state)
        warn(notes)
        given.show(scheduler.renderers[type(message)], message)
        return OPTIMAL
    from planner import api
    from planner.report.explanation import render

    state = given.read()
    read = {name: given.read_file(name) for name in ("costs", "assignment")}
    with given.naming(*read):
        answer = api.explain(state, **given.of(api.explain, rules=given.laws, **read))
    warn(answer.notes)
    given.show(render, answer)
    return exit_code(answer)
