"""``planner compare``: algorithms beside each other, on one state or on thousands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from planner.cli import option, value
from planner.cli.audit import Batch, OfStates, settings_of, tell_failures
from planner.cli.exit_code import BAD_INPUT, CONDITIONAL, NOT_PROVED, OPTIMAL
from planner.cli.option import define
from planner.cli.output import check_file, make_folder, write_file
from planner.errors import InputError

TABLES: Final = (".csv", ".parquet")


class Drawn(option.Saved):
    """Where else a result with a row for each answer goes."""

    table = value.file("--table", "Write all rows to FILE.csv, or to FILE.parquet.")
    plots = value.one(
        "--plots DIR",
        click.Path(path_type=Path),
        "Draw the other algorithms against the first into this folder.",
    )
    plot_format = value.one(
        "--plot-format", click.Choice(["svg", "png"]), "How to draw them.", "svg"
    )
    style = option.style((*option.PAGE_FORMATS, "csv"))


class Options(Batch, OfStates, Drawn):
    """What `planner compare` is given."""

    algorithms = value.several(
        "--algorithm NAME",
        str,
        "What to compare, as listed below; to be given several times.",
        ("greedy", "optimum:no-regret"),
    )


@define(Options)
def command(given: Options) -> int:
    """Compare algorithms: whom they evict, at what cost, in what time.

    STATE is what `planner solve` reads, a folder of such states, or a file of one state a line
    (.jsonl, also with .gz). Every algorithm answers for every pending workload of every state:
    a row each, then distributions, and how often each is better than the first.

      planner compare cluster.json
      {compare}
      planner compare cluster.json --algorithm greedy --algorithm optimum:min-lost-work
      planner compare instances/recorded/*.jsonl.gz --table rows.parquet --plots plots/
      planner compare dumps/ --results rows.jsonl --resume

    Algorithms; all others are compared with the first that is given:
      greedy              the scheduler's own answer, whichever the scheduler
      optimum:NAME        the best plan under an objective (a name, or a file NAME.toml), by the
                          rules of the state as it is
      {algorithms}

    An algorithm that means nothing for a state is skipped there. The exit code is 0 if every
    optimum is proved, 4 if one is not, 2 if a state or an algorithm fails, and 70 if the planner
    itself does.
    """
    from planner.commands.compare import Question, compare_states, find_algorithms
    from planner.commands.compare.table import kinds, need, values
    from planner.report.compare import csv_text, render

    algorithms = find_algorithms(given.algorithms)
    question = Question(**given.of(Question, algorithms=algorithms, rules=given.laws))
    # What cannot be written after hours of work is refused now.
    check_table(given.table)
    if given.plots is not None:
        if given.plots.exists() and not given.plots.is_dir():
            raise InputError(f"--plots {given.plots}", "is not a folder")
        if not given.plots.is_dir():
            check_file("--plots", given.plots)
        need(f"--plots {given.plots}", "matplotlib")
    with settings_of(given, given.states, given.table) as settings:
        found = compare_states(given.states, question, settings, given.limit_of_bytes)
    given.show(render, found)
    failed = tell_failures(given, found.failures)
    if given.table is not None:
        write_table(given.table, lambda: csv_text(found), kinds(found), values(found))
    if given.plots is not None:
        from planner.report.plots import draw_comparison

        drawn = draw_comparison(found, given.plot_format)
        make_folder("--plots", given.plots)
        for name, data in drawn.items():
            write_file("--plots", given.plots / name, data)
    if failed or any(one.failed for one in found.summary.standings):
        return failed or BAD_INPUT
    if any(row.proved is False for row in found.rows):
        return NOT_PROVED
    return CONDITIONAL if any(row.uncovered for row in found.rows) else OPTIMAL


def check_table(table: Path | None) -> None:
    """Refuse now a table that cannot be made after hours of work.

    Raises an InputError if its kind is not known, or a package for it is missing.
    """
    from planner.commands.compare.table import need

    if table is None:
        return
    if table.suffix not in TABLES:
        raise InputError(f"--table {table}", "is of no known kind", " or ".join(TABLES))
    if table.suffix == ".parquet":
        need(f"--table {table}", "pandas", "pyarrow")


def write_table(
    path: Path, csv: Callable[[], str], columns: Mapping[str, str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows to a file, in the format that its name says."""
    from planner.commands.compare.table import parquet

    data = parquet(columns, rows) if path.suffix == ".parquet" else csv().encode("utf-8")
    write_file("--table", path, data)
