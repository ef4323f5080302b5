"""``planner bench``: rivals on a fixed suite of states with proven optima."""

from __future__ import annotations

from functools import partial

from planner.cli import option, value
from planner.cli.audit import Batch, settings_of, tell_failures
from planner.cli.compare import Drawn, check_table, write_table
from planner.cli.exit_code import FINDINGS, OPTIMAL
from planner.cli.option import define
from planner.cli.output import say


class Options(Batch, option.Saved):
    """What `planner bench` is given."""

    table = Drawn.table
    style = Drawn.style
    suite = value.argument("SUITE", str)
    quick = value.flag("--quick", "Only the cases of the quick run, with less effort.")
    rivals = value.several(
        "--rival NAME",
        str,
        "Who takes part, * for any letters; to be given several times, by default everybody.",
    )
    cases = value.several(
        "--case NAME",
        str,
        "A case of the suite, * for any letters; to be given several times, by default all.",
    )


@define(Options)
def command(given: Options) -> int:
    """Let rivals choose victims for a fixed suite of states, and judge them all alike.

    SUITE is a file such as instances/bench/suite.json. Every answer is judged by the verifier,
    measured by the terms, and held against the optimum that the suite records as proved.

      planner bench instances/bench/suite.json --quick --case '*-small-1'
      planner bench instances/bench/suite.json --quick
      planner bench instances/bench/suite.json --quick --results quick.jsonl --resume
      planner bench instances/bench/suite.json --results full.jsonl --table full.parquet
      planner bench instances/bench/suite.json --case crowd-100 --rival greedy --rival search

    docs/explanation/bench.md says what each rival is.

    The exit code is 1 if a proof is refuted, or a legal answer is better than the record, 2 if a
    state or a rival fails, and 70 if the planner itself does.
    """
    from planner.research.bench import Chosen, bench
    from planner.research.bench.summary import KINDS, values
    from planner.research.report.bench import csv_text, render

    check_table(given.table)
    with settings_of(given, [given.suite], given.table) as settings:
        chosen = Chosen(**given.of(Chosen))
        found = bench(given.suite, settings, chosen, partial(say, "note"))
    given.show(render, found)
    failed = tell_failures(given, found.failures)
    if given.table is not None:
        write_table(given.table, lambda: csv_text(found), KINDS, values(found))
    if failed:
        return failed
    return FINDINGS if any(row.refuted or row.refutes for row in found.rows) else OPTIMAL
