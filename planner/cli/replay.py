"""``planner replay``: recorded answers of the real scheduler against our replay of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.exit_code import FINDINGS, OPTIMAL, epilog
from planner.cli.option import format_option, output_option

if TYPE_CHECKING:
    from planner.cli.output import Target
    from planner.commands.replay import FileComparison

EPILOG = """\b
Examples:
  planner replay instances/recorded/*.jsonl.gz
  planner replay answers.jsonl.gz --format json
  planner replay answers.jsonl.gz --show 3

""" + epilog()


@click.command(
    epilog=EPILOG,
    short_help="Compare recorded answers of the real scheduler with the planner's replay.",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--show",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many differences of each file to explain.",
)
@format_option
@output_option
def command(files: tuple[str, ...], *, show: int, style: str | None, output: Path | None) -> int:
    """Compare recorded answers of the real scheduler with the planner's own replay.

    Each FILE has one recorded instance a line, as JSON, packed with gzip or not. Compared are
    the assignment of flavors and the workloads to preempt, with their order and reasons; of a
    whole scheduling cycle what becomes of every head, in order, and the queues that are left.
    Lines on which the scheduler itself gave no answer count as skipped; lines that hold what the
    model does not cover are uncovered, each with the name of the feature.
    """
    from planner.cli.output import Target
    from planner.cli.progress import Progress
    from planner.commands.replay import replay

    target = Target.choose(style, output)
    compared = []
    with Progress() as progress:
        for position, file in enumerate(files):

            def watch(share: float, position: int = position, file: str = file) -> None:
                progress.update((position + share) / len(files), file)

            compared.append(replay(file, watch))
    target.emit(_rendered(compared, target, show))
    return FINDINGS if any(file.different for file in compared) else OPTIMAL


def _rendered(compared: list[FileComparison], target: Target, show: int) -> str:
    from planner.commands.replay import summarise
    from planner.report.checking import render_replay

    look: Any = {"width": target.width, "color": target.color}
    return render_replay(compared, summarise(compared), target.style, show=show, **look)
