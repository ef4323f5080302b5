"""``planner lint``: what a configuration makes possible, impossible or pointless."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli.exit_code import FINDINGS, OPTIMAL, epilog
from planner.cli.option import max_size_option, output_option, page_format_option

if TYPE_CHECKING:
    from planner.commands.lint import Lint

SEVERITIES: Final = ("error", "warning", "note")
"""From the worst to the least."""
NEVER: Final = "never"
ANY_TIME: Final = "2026-01-01T12:00:00Z"

EPILOG: Final = """\b
Examples:
  planner lint cluster.json
  planner lint cluster.json --fail-on warning
  planner lint cluster.json --format json -o findings.json
  planner lint cluster.json --examples examples/

\b
Families of findings:
  ping-pong   workloads evict one another, again and again
  impossible  preemption that seems to be asked for finds nobody
  useless     a setting changes nothing
  starvation  a workload waits, and the scheduler never reaches it

Each finding is shown by a smallest state made of the objects concerned, in which the scheduler's
own algorithm, replayed, does what the finding says; where no such state is found, nothing is
reported. --examples writes these states, for `planner solve` and every other command.

The exit code is 1 if something is found that --fail-on names, else 0.

""" + epilog()


@click.command(
    epilog=EPILOG,
    short_help="Find ping-pong, impossible and useless preemption in a configuration.",
)
@click.argument("state", metavar="STATE")
@click.option(
    "--examples",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the example of each finding to a file of this folder, which is made if need be.",
)
@click.option(
    "--fail-on",
    "fatal",
    type=click.Choice([*SEVERITIES, NEVER]),
    default=SEVERITIES[-1],
    show_default=True,
    help="End with exit code 1 from this severity on.",
)
@max_size_option
@page_format_option
@output_option
def command(  # noqa: PLR0913 - one parameter an option
    state: str,
    *,
    examples: Path | None,
    fatal: str,
    max_size: int | None,
    style: str | None,
    output: Path | None,
) -> int:
    """Find what a configuration makes possible, impossible or pointless in preemption.

    STATE is the same as for solve. Policies, limits, weights and thresholds of Kueue's queues,
    or guarantees, fences and properties of YuniKorn's, are looked at. What runs says which
    priorities there are, and Kueue's pending workloads whether one of them keeps it from others
    for ever. Nothing in the cluster changes.
    """
    from planner.cli.output import Target
    from planner.commands.lint import lint
    from planner.reader import MAX_BYTES, read
    from planner.report.checking import render_lint

    target = Target.choose(style, output)
    # No finding depends on the clock, and manifests without a status hold no time at all.
    answer = lint(read(state, now=ANY_TIME, max_bytes=max_size or MAX_BYTES))
    if examples is not None:
        _write(answer, examples)
    target.emit(render_lint(answer, target.style, width=target.width, color=target.color))
    return _exit_code(answer, fatal)


def _write(answer: Lint, folder: Path) -> None:
    from planner.cli.output import write_file
    from planner.commands.lint.lint import files_of
    from planner.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--examples {folder}", error.strerror or str(error)) from None
    for name, text in files_of(answer.findings):
        write_file("--examples", folder / name, text.encode("ascii"))


def _exit_code(answer: Lint, fatal: str) -> int:
    counted = () if fatal == NEVER else SEVERITIES[: SEVERITIES.index(fatal) + 1]
    return FINDINGS if any(one.severity in counted for one in answer.findings) else OPTIMAL
