"""``planner compare``: algorithms beside each other, on one state or on thousands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli.batch import batch_options, settings_of
from planner.cli.exit_code import BAD_INPUT, NOT_PROVED, OPTIMAL, epilog
from planner.cli.option import (
    PAGE_FORMATS,
    max_size_option,
    moment,
    output_option,
    time_limit_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from planner.commands.compare import Comparison

FORMATS: Final = (*PAGE_FORMATS, "csv")
TABLES: Final = (".csv", ".parquet")

EPILOG: Final = """\b
Examples:
  planner compare cluster.json
  planner compare dumps/ --algorithm kueue-classical --algorithm kueue-fair
  planner compare instances/recorded/*.jsonl.gz --jobs 2 --algorithm greedy \\
    --algorithm optimum:no-regret --algorithm optimum:min-lost-work \\
    --table rows.parquet --plots plots/
  planner compare dumps/ --results rows.jsonl --resume

\b
Algorithms; all others are compared with the first that is given:
  greedy              the scheduler's own answer, whichever the scheduler
  kueue, yunikorn     the same, of this scheduler only; Kueue as the state configures it
  kueue-classical     Kueue as if the Configuration had no fairSharing
  kueue-fair          Kueue as if it had, with both strategies
  kueue-fair:final    with LessThanOrEqualToFinalShare only
  kueue-fair:initial  with LessThanInitialShare only
  kep83               the algorithm that Kueue was proposed with in 2022; kep83:NAME=VALUE,... with
                      options, see planner solve --help
  optimum:NAME        the best plan under an objective (a name, or a file NAME.toml), by the
                      rules of the state as it is
  kep83/optimum:NAME  the same by the rules of KEP-83, also with options

\b
All victims of a case are measured alike, whoever chose them: by the terms, candidates and ranks
of the state as it is. Victims that its own rules do not permit are marked. An algorithm that
means nothing for a state is skipped there. The exit code is 0 if every optimum is proved, 4 if
one is not, and 2 if a state or an algorithm fails.

""" + epilog()


@click.command(epilog=EPILOG, short_help="Compare algorithms, on one state or thousands.")
@click.argument("states", metavar="STATE...", nargs=-1, required=True)
@click.option(
    "--algorithm",
    "algorithms",
    metavar="NAME",
    multiple=True,
    default=("greedy", "optimum:no-regret"),
    show_default=True,
    help="What to compare, as listed below; to be given several times.",
)
@click.option(
    "--pending",
    metavar="NAME",
    help="Answer only for this pending workload (NAMESPACE/NAME) or ask; by default for every one.",
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
    help="YuniKorn: the side to take where its written laws and its code differ, for the optimum "
    "and for what is outside the rules; by default design.",
)
@batch_options
@max_size_option
@click.option(
    "--table",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write all rows to FILE.csv, or to FILE.parquet.",
)
@click.option(
    "--plots",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Draw the other algorithms against the first into this folder.",
)
@click.option(
    "--plot-format",
    type=click.Choice(["svg", "png"]),
    default="svg",
    show_default=True,
    help="How to draw them.",
)
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
    algorithms: tuple[str, ...],
    pending: str | None,
    time_limit: float | None,
    now: datetime | None,
    laws: str | None,
    max_size: int | None,
    table: Path | None,
    plots: Path | None,
    plot_format: str,
    style: str | None,
    output: Path | None,
    **batch: object,
) -> int:
    """Compare algorithms: whom they evict, at what cost, in what time.

    STATE is what `planner solve` reads, a folder of such states, or a file of one state a line
    (.jsonl, also with .gz). Every algorithm answers for every pending workload of every state:
    a row each, then distributions, and how often each is better than the first.
    """
    from planner.cli.output import Target
    from planner.commands.compare import Question, compare_states, find_algorithms
    from planner.reader import MAX_BYTES
    from planner.report.compare import render

    target = Target.choose(style, output)
    question = Question(find_algorithms(algorithms), time_limit, now, laws, pending)
    _check(table, plots)
    with settings_of(batch) as settings:
        found = compare_states(states, question, settings, max_size or MAX_BYTES)
    target.emit(render(found, target.style, width=target.width, color=target.color))
    if table is not None:
        _write_table(found, table)
    if plots is not None:
        _write_plots(found, plots, plot_format)
    return _code(found)


def _check(table: Path | None, plots: Path | None) -> None:
    """Refuse now what cannot be written after hours of work.

    Raises
    ------
    InputError
        If a file or folder cannot be written, or a package for it is missing.
    """
    from planner.cli.output import check_file
    from planner.commands.compare.table import need
    from planner.errors import InputError

    if table is not None:
        if table.suffix not in TABLES:
            raise InputError(f"--table {table}", "is of no known kind", " or ".join(TABLES))
        check_file("--table", table)
        if table.suffix == ".parquet":
            need(f"--table {table}", "pandas", "pyarrow")
    if plots is not None:
        if not plots.is_dir():
            check_file("--plots", plots)
        if plots.exists() and not plots.is_dir():
            raise InputError(f"--plots {plots}", "is not a folder")
        need(f"--plots {plots}", "matplotlib")


def _write_table(comparison: Comparison, path: Path) -> None:
    from planner.cli.output import write_file

    if path.suffix == ".parquet":
        from planner.commands.compare.table import parquet

        data = parquet(comparison)
    else:
        from planner.report.compare import csv_text

        data = csv_text(comparison).encode("utf-8")
    write_file("--table", path, data)


def _write_plots(comparison: Comparison, folder: Path, style: str) -> None:
    from planner.cli.output import write_file
    from planner.errors import InputError
    from planner.report.plots import draw_comparison

    drawn: Mapping[str, bytes] = draw_comparison(comparison, style)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"--plots {folder}", f"cannot be made: {error.strerror}") from None
    for name, data in drawn.items():
        write_file("--plots", folder / name, data)


def _code(comparison: Comparison) -> int:
    """Return the code for what matters most: failures, then what is not proved."""
    if comparison.failures or any(one.failed for one in comparison.summary.standings):
        return BAD_INPUT
    return NOT_PROVED if any(row.proved is False for row in comparison.rows) else OPTIMAL
