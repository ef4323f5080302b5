"""``planner replay``: recorded answers of the real scheduler against our replay of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from planner.cli import option, value
from planner.cli.exit_code import FINDINGS, OPTIMAL
from planner.cli.option import define
from planner.cli.output import LINE
from planner.errors import InputError


class Options(option.Paged):
    """What `planner replay` is given."""

    files = value.arguments("FILE...")
    before = value.one("--before STATE", str, "A dump of a live cluster.")
    after = value.one("--after STATE", str, "A later dump of it: who was evicted, for whom.")
    first = value.one(
        "--show", value.Whole(0), "How many differences of each file to explain.", default=10
    )


@define(Options)
def command(given: Options) -> int:
    """Compare recorded answers of the real scheduler with the planner's own replay.

    Each FILE has one recorded instance a line, as JSON, packed with gzip or not. Compared are
    the assignment of flavors and the workloads to preempt, with their order and reasons; of a
    whole scheduling cycle what becomes of every head, in order, and the queues that are left.
    Lines on which the scheduler itself gave no answer count as skipped; lines that hold what the
    model does not cover are uncovered, each with the name of the feature.

      planner replay instances/recorded/*.jsonl.gz
      planner replay answers.jsonl.gz --format json
      planner replay answers.jsonl.gz --show 3
      planner replay --before monday.json --after tuesday.json

    With --before and --after, two dumps of a live cluster, the workloads that were evicted between
    them, by their conditions or by events in the second dump, are held against the replay of the
    first; where they differ, the answer names what the first dump holds that is not modelled.
    """
    if bool(given.files) == bool(given.before or given.after):
        raise click.UsageError("give either files of recorded answers, or --before and --after")
    if not given.files:
        if not (given.before and given.after):
            raise click.UsageError("--before and --after go together")
        from planner.reader import read
        from planner.scheduler import scheduler_of

        before, after = read(given.before), read(given.after)
        scheduler = scheduler_of(before)
        found = scheduler.replay_live(before, after)
        given.show(scheduler.renderers[type(found)], found)
        return FINDINGS if found.different else OPTIMAL
    files = Counter(Path(file).absolute() for file in given.files)
    if twice := [file for file, count in files.items() if count > 1]:
        raise InputError(str(twice[0]), "is there twice", hint="give every file once")
    from planner.commands.replay import refuse_other_files, replay, summarise
    from planner.report.checking import render_replay

    refuse_other_files(given.files)
    compared = []
    for position, file in enumerate(given.files):

        def watch(share: float, position: int = position, file: str = file) -> None:
            LINE.update((position + share) / len(given.files), file)

        compared.append(replay(file, watch))
    given.show(render_replay, compared, summarise(compared), show=given.first)
    return FINDINGS if any(file.different for file in compared) else OPTIMAL
