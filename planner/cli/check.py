"""``planner check``: a plan made by anybody, checked on any machine, without a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli.exit_code import FINDINGS, OPTIMAL, epilog, worst
from planner.cli.option import (
    complete_objective,
    costs_option,
    max_size_option,
    objective,
    output_option,
    page_format_option,
)
from planner.errors import PlannerError

if TYPE_CHECKING:
    from planner.commands.check.plan import Check
    from planner.plan import AnyPlan
    from planner.state import AnyState

STDIN: Final = "-"

EPILOG: Final = """\b
Examples:
  planner check cluster.json plan.json
  planner check cluster.json plans.json --format json
  planner check cluster.json plan.json --objective mine.toml
  planner check cluster.json plan.json --costs costs.json
  planner check cluster.json plan.json --proof trees.jsonl
  planner solve cluster.json --format json | planner check cluster.json -

It loads no solver, and takes nothing from the plan but what it can check on STATE. 1 means that
something does not hold, or is not certified; a plan whose flavors were chosen for least disruption,
a joint plan or a front ends in 2.

""" + epilog()


@click.command(epilog=EPILOG, short_help="Check a plan and its proofs, without a solver.")
@click.argument("state", metavar="STATE")
@click.argument("plan", metavar="PLAN")
@click.option(
    "--objective",
    "profile",
    metavar="NAME",
    type=objective,
    shell_complete=complete_objective,
    help="The objective that the plan was made under: needed if it was a file of your own, "
    "NAME.toml; by default the one that the plan names.",
)
@costs_option
@click.option(
    "--proof",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Proof trees that were written apart from the plan, by planner solve --proof.",
)
@max_size_option
@page_format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    plan: str,
    *,
    profile: str | None,
    costs: Path | None,
    proof: Path | None,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Check a plan that anybody made: its laws, its values, and every proof tree.

    STATE is what `planner solve` read, PLAN the JSON that it wrote, also with --all; either may be
    - for standard input. Every level of the objective is certified if its tree holds, in exact
    integers, for the inequalities that the state itself gives.
    """
    if state == plan == STDIN:
        raise click.UsageError("only one of STATE and PLAN can be standard input")
    from planner.cli.given import file_named, read_optional
    from planner.cli.output import Target
    from planner.cli.plan_file import read_plans, with_trees
    from planner.reader import MAX_BYTES, read
    from planner.report.checking import Checks, render_checks

    target = Target.choose(style, output)
    known: dict[str, Any] = {"objective": profile, "costs": read_optional(costs)}
    plans = read_plans(plan, max_size)
    if proof is not None:
        plans = with_trees(plans, proof)
    clock = plans[0].now if plans else None
    read_state = read(state, now=clock, max_bytes=max_size or MAX_BYTES)
    with file_named({"costs": costs}):
        checks, codes = _check_each(read_state, plans, known)
    accepted = len(checks) == len(plans) and all(one.accepted for one in checks)
    answer = Checks(accepted=accepted, checks=tuple(checks))
    target.emit(render_checks(answer, target.style, width=target.width, color=target.color))
    return worst([*codes, OPTIMAL if accepted else FINDINGS])


def _check_each(
    state: AnyState, plans: Sequence[AnyPlan], known: Mapping[str, Any]
) -> tuple[list[Check], list[int]]:
    """Check every plan; of several, one that cannot be checked does not stop the others."""
    from planner.cli.message import say
    from planner.commands.check.plan import check

    checks: list[Check] = []
    codes: list[int] = []
    for plan in plans:
        try:
            checks.append(_noting_omission(check(state, plan, **known), plan))
        except PlannerError as error:
            if len(plans) == 1:
                raise
            say("error", f"{plan.preemptor}: {error}")
            codes.append(error.exit_code)
    return checks, codes


def _noting_omission(answer: Check, plan: AnyPlan) -> Check:
    """Say so if trees were left out of the plan where it was written."""
    omitted = plan.certificate.trees_omitted if plan.certificate else 0
    if not omitted:
        return answer
    note = f"{omitted:,} steps of trees were left out of the plan: give them with --proof FILE"
    return answer.model_copy(update={"notes": (*answer.notes, note)})
