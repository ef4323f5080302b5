"""``planner watch``: a live cluster, compared with the replay and the optimum."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli import option, value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import define
from planner.cli.output import make_folder, print_parts, say
from planner.errors import InputError
from planner.operations.cli import kueue_snapshot
from planner.operations.kubectl.kueue_resource import WATCHED, watching_role

if TYPE_CHECKING:
    from planner.commands.audit.judge import Question
    from planner.operations.watch.record import Figures, Line

OF_CLUSTERS: Final = (*kueue_snapshot.OF_CLUSTER, "record", "interval", "resync", "for_s")
"""The options that mean nothing for dumps."""
_DIGITS: Final = re.compile("([0-9]+)")


class Options(kueue_snapshot.OfCluster, option.Dumps):
    """What `planner watch` is given."""

    states = value.arguments("[STATE]...")
    objective = option.objective_named("What the optimum is best in.", "min-lost-work")
    time_limit = option.time_limit("For each optimum of a decision.")
    layout = option.line_format("watch")
    metrics = option.metrics
    record = value.one(
        "--record DIR",
        click.Path(path_type=Path),
        "Keep the states before and after each preemption there, for planner replay.",
    )
    interval = value.one(
        "--interval SECONDS", value.seconds, "How often changes are looked at together.", "5"
    )
    resync = value.one(
        "--resync SECONDS", value.seconds, "How often everything is read anew.", "600"
    )
    for_s = option.how_long("watch")


@define(Options, role=f"  {kueue_snapshot.folded(watching_role())}\n")
def command(given: Options) -> int:
    """Say what Kueue will do in a cluster, what would be best, and whether it did what it should.

    For each pending workload that Kueue will preempt for it says who goes, whether fewer would do,
    and what the optimum is; after each preemption, whether the replay of the state before names
    the same victims. Each STATE is a dump, or a folder of them, and stands for the cluster a while
    after the one before; in a folder names tell the order, and 2 comes before 10. Without any
    the cluster is watched that kubectl talks to.

      planner watch
      planner watch --context production --format jsonl
      planner watch --metrics :9100 --record recordings/
      planner watch dumps/ --format jsonl

    What RBAC must permit, beside what a snapshot needs:
      {role}
    """
    from planner.commands.audit.judge import Question
    from planner.objective.profile_file import find_profile
    from planner.operations.report.watch import text_of
    from planner.operations.watch.record import Figures

    for one in option.written(OF_CLUSTERS) if given.states else ():
        raise click.UsageError(f"{one.opts[-1]} is for a cluster, and goes not with dumps")
    if given.record is not None:
        if given.states:
            raise click.UsageError("--record keeps what is watched: dumps are kept already")
        make_folder("--record", given.record)
    tell = telling("watch", given.layout, text_of, given.metrics, Figures())
    profiles = (find_profile(given.objective),)
    question = Question(**given.of(Question, objectives=profiles, certify="brief"))
    try:
        if given.states:
            from planner.commands.study.instance import open_packed, packed_states
            from planner.operations.watch.kueue.live import follow
            from planner.state.kueue import of_kueue

            found = (
                open_packed(packed, given.release, given.requests).state
                for path in given.states
                for packed in packed_states(path, given.limit_of_bytes, _place)
            )
            follow(map(of_kueue, found), question, tell)
        else:
            _watch(given, question, tell)
    except KeyboardInterrupt:
        return OPTIMAL  # it is how a watch ends
    return OPTIMAL


def telling(
    name: str,
    layout: str,
    text_of: Callable[[Any], str],
    metrics: tuple[str, int] | None,
    figures: Figures,
) -> Callable[[Any], None]:
    """Return what prints a line of a command, and counts it in the metrics it serves, if any."""
    from planner.operations.report.watch import json_of

    if metrics is not None:
        from planner.operations.watch.endpoint import serve

        say(name, f"metrics at http://{metrics[0]}:{serve(figures, *metrics)}/metrics")

    def tell(line: Line) -> None:
        figures.count(line)
        print_parts([json_of(line) if layout == "jsonl" else text_of(line)])

    return tell


def _place(path: Path) -> list[tuple[int, str]]:
    """Return the place of a dump among those of its folder: dump-2 before dump-10."""
    parts = _DIGITS.split(path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _watch(given: Options, question: Question, tell: Callable[[Line], None]) -> None:
    from planner.operations.kubectl.watch import Streams
    from planner.operations.watch.kueue.follower import Pace, Watched
    from planner.operations.watch.kueue.keep import Store
    from planner.operations.watch.kueue.live import Live

    if not given.interval or not given.resync:
        raise InputError("--interval and --resync", "have to be more than 0 seconds")
    connect = partial(kueue_snapshot.connect, given)
    take = partial(kueue_snapshot.dump_of, given)
    how = {"release": given.release, "requests": given.requests}
    store = None if given.record is None else Store(given.record)
    pace = Pace(interval_s=given.interval, resync_s=given.resync)
    cluster = Watched(Streams(connect, WATCHED), take, how)
    Live(cluster, question, tell, pace, store).run(given.for_s)
