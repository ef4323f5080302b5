"""``planner audit``: the scheduler's own answers, judged on one state or on thousands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli.batch import batch_options, settings_of
from planner.cli.exit_code import BAD_INPUT, CONDITIONAL, FINDINGS, NOT_PROVED, OPTIMAL, epilog
from planner.cli.option import (
    assume_option,
    max_size_option,
    moment,
    objective,
    output_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from datetime import datetime

    from planner.commands.audit import Audit
    from planner.plan import Assume

FORMATS: Final = ("table", "plain", "json", "csv", "markdown", "html")
CODES: Final = ("redundant", "count", "disruption", "rules", "missed", "pointless")
NEVER: Final = "never"

EPILOG: Final = """\b
Examples:
  planner audit cluster.json
  planner audit dumps/ --format html -o audit.html
  planner audit instances/recorded/*.jsonl.gz --jobs 2 --results audit.jsonl
  planner audit instances/recorded/*.jsonl.gz --results audit.jsonl --resume
  planner audit cluster.json --fail-on redundant --fail-on rules

\b
Findings on the scheduler's own answer:
  redundant   some of its victims alone would do
  count       fewer victims would do
  disruption  another legal set is better by an objective
  rules       it breaks its own rules
  missed      it finds nobody, although a legal set exists
  pointless   it evicts, although nobody needs to go

""" + epilog()


@click.command(
    epilog=EPILOG, short_help="Judge the scheduler's own answers, on one state or thousands."
)
@click.argument("states", metavar="STATE...", nargs=-1, required=True)
@click.option(
    "--pending",
    metavar="NAME",
    help="Judge only this pending workload (NAMESPACE/NAME) or ask; by default every one.",
)
@click.option(
    "--objective",
    "objectives",
    metavar="NAME",
    type=objective,
    multiple=True,
    default=("no-regret",),
    show_default=True,
    help="What the optimum minimises; may be given several times. min-count is always added.",
)
@time_limit_option("For each optimum; none: as long as it takes.")
@click.option(
    "--now",
    metavar="TIME",
    type=moment,
    help="The clock, for all states; by default each state's own.",
)
@click.option(
    "--laws",
    type=click.Choice(["design", "written", "code"]),
    help="YuniKorn: the side to take where its written laws and its code differ; by default "
    "design.",
)
@click.option(
    "--fail-on",
    "fatal",
    type=click.Choice([*CODES, NEVER]),
    multiple=True,
    help="Which findings end with exit code 1; may be given several times. By default all.",
)
@assume_option
@batch_options
@max_size_option
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    help="How to print the result; by default a table on a terminal and plain text elsewhere.",
)
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    states: tuple[str, ...],
    *,
    pending: str | None,
    objectives: tuple[str, ...],
    time_limit: float | None,
    now: datetime | None,
    laws: str | None,
    assume: Assume | None,
    fatal: tuple[str, ...],
    max_size: int | None,
    style: str | None,
    output: Path | None,
    **batch: object,
) -> int:
    """Judge the scheduler's own answers, each beside the proved optimum.

    STATE is what `planner solve` reads, a folder of such states, or a file of one state a line
    (.jsonl, also with .gz). Every pending workload of every state is looked at: could fewer, or
    less disruptive, victims do?
    """
    if NEVER in fatal and len(fatal) > 1:
        raise click.UsageError("--fail-on never goes with no other")
    from planner.cli.output import Target
    from planner.commands.audit import Question, audit_states
    from planner.objective.profile_file import find_profile
    from planner.reader import MAX_BYTES

    target = Target.choose(style, output)
    profiles = dict.fromkeys(objectives)
    question = Question(tuple(map(find_profile, profiles)), time_limit, now, laws, pending, assume)
    with settings_of(batch) as settings:
        audit = audit_states(states, question, settings, max_size or MAX_BYTES)
    target.emit(_rendered(audit, target))
    return _code(audit, set(fatal or CODES))


def _rendered(audit: Audit, target: Any) -> str:  # noqa: ANN401
    from planner.report.audit import render

    folder = target.path.parent if target.path else None
    return render(audit, target.style, width=target.width, color=target.color, folder=folder)


def _code(audit: Audit, fatal: set[str]) -> int:
    """Return the code for what matters most: findings, failures, what is not proved or covered."""
    if any(count and code in fatal for code, count in audit.summary.findings.items()):
        return FINDINGS
    if audit.summary.failures:
        return BAD_INPUT
    if audit.summary.unproved:
        return NOT_PROVED
    return CONDITIONAL if audit.summary.conditional else OPTIMAL
