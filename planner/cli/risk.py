"""``planner risk``: how often everything that runs would be a victim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.exit_code import NO_PLAN, NOT_PROVED, OPTIMAL, epilog
from planner.cli.option import (
    laws_option,
    max_size_option,
    now_option,
    objective_option,
    output_option,
    page_format_option,
    queue_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from datetime import datetime

    from planner.commands.risk import Risk, Shapes
    from planner.state import AnyState

LIMIT = 50
CHOICES = ("pending", "running", "all")

EPILOG = """\b
Examples:
  planner risk cluster.json
  planner risk cluster.json --shapes running --limit 200 --time-limit none
  planner risk cluster.json --workload jobs.yaml --format json
  planner risk dump/ --objective min-lost-work

\b
Who may come, unless --workload says it: everything that is pending, in the order of STATE; then
every distinct shape of what runs (queue, priority, requests, where its pods fit), submitted
once more beside it, the most frequent first. Each is planned for as if it came alone.

\b
What --workload reads: Workloads of Kueue, Jobs of batch/v1, Pods and pod templates, as many
documents and lists as there are; see `planner whatif --help`.

The exit code is 0 if every preemptor asked about has a proved answer, that no plan exists
among them; 4 if one has none, or the time did not suffice for all; 5 if it sufficed for none.

""" + epilog()


@click.command(epilog=EPILOG, short_help="Count how often everything that runs would be a victim.")
@click.argument("state", metavar="STATE")
@click.option(
    "--shapes",
    type=click.Choice(CHOICES),
    help="Which preemptors: what is pending, what runs submitted once more, or, by default, all.",
)
@click.option(
    "--workload",
    "workloads",
    metavar="FILE",
    multiple=True,
    help="Kueue: preemptors that are not there yet, as manifests in YAML or JSON, instead of "
    "those; may be repeated.",
)
@queue_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=LIMIT,
    show_default=True,
    help="How many preemptors at most: the first ones.",
)
@objective_option
@time_limit_option("For all preemptors together; none: as long as it takes.")
@laws_option
@now_option
@max_size_option
@page_format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    *,
    shapes: Shapes | None,
    workloads: tuple[str, ...],
    queue: str | None,
    limit: int,
    profile: str,
    time_limit: float | None,
    laws: str | None,
    now: datetime | None,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Count for how many preemptors everything that runs would be a victim.

    STATE is the same as for solve. Over a set of preemptors that may come, the answer says how
    often each running workload would go: by the scheduler's own choice, and by the least
    disruptive plan. Nothing in the cluster changes.
    """
    if shapes is not None and workloads:
        raise click.UsageError("--shapes goes not with --workload, which says who comes")
    if queue is not None and not workloads:
        raise click.UsageError("--queue says where --workload is submitted; it needs one")
    from planner.cli.message import warn
    from planner.cli.output import Target
    from planner.cli.progress import Progress
    from planner.commands.risk import risk
    from planner.reader import MAX_BYTES, read
    from planner.report.risk import render

    target = Target.choose(style, output)
    found = read(state, now=now, max_bytes=max_size or MAX_BYTES)
    keys = None
    if workloads:
        found, keys = _with_workloads(found, workloads, queue)
    with Progress() as progress:
        answer = risk(
            found,
            keys,
            profile,
            shapes=shapes or "all",
            limit=limit,
            time_limit=time_limit,
            rules=laws,
            progress=lambda done, total, key: progress.update(done / total, key),
        )
    warn(_remarks(answer))
    target.emit(render(answer, target.style, width=target.width, color=target.color))
    return _exit_code(answer)


def _with_workloads(
    state: AnyState, sources: tuple[str, ...], queue: str | None
) -> tuple[AnyState, tuple[str, ...]]:
    """Return the state with the workloads that files hold, and their keys."""
    from planner.cli.kueue_state import of_kueue
    from planner.commands.whatif.hypothetical import add_workloads, read_submissions

    items = [item for source in sources for item in read_submissions(source)]
    return add_workloads(of_kueue(state), items, queue)


def _remarks(answer: Risk) -> list[str]:
    """Say what the answer does not cover."""
    said = [f"{one.preemptor} cannot be planned for: {one.reason}" for one in answer.skipped]
    if answer.beyond_limit:
        said.append(f"{answer.beyond_limit} more preemptors were left out; --limit sets how many")
    if answer.unanswered:
        said.append(f"the time was over before {answer.unanswered} preemptors were asked about")
    return said


def _exit_code(answer: Risk) -> int:
    if answer.is_proved:
        return OPTIMAL
    answered = any(one.status != "unknown" for one in answer.preemptors)
    return NOT_PROVED if answered else NO_PLAN
