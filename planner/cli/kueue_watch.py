"""``planner watch``: a cluster as it goes on, against the replay and the optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli import kueue_snapshot, option
from planner.cli.exit_code import OPTIMAL
from planner.cli.kueue_apply import ended_as_by_hand
from planner.cli.kueue_option import release_option, requests_option
from planner.cli.option import Given, define
from planner.cli.output import make_folder, print_parts, say
from planner.errors import InputError
from planner.kubectl.kueue_resource import WATCHED, watching_role

if TYPE_CHECKING:
    from planner.commands.audit.judge import Question
    from planner.commands.watch.record import Line
    from planner.state.kueue import State

EPILOG: Final = f"""\b
Examples:
  planner watch
  planner watch --context production --format jsonl
  planner watch --metrics :9100 --record recordings/
  planner watch dumps/ --format jsonl

It runs `kubectl get --watch` for workloads, ClusterQueues and LocalQueues, and reads everything
else anew once in a while. A decision is told when its victims are others than before; what Kueue
did is told a few seconds after its last victim. It goes on until Ctrl-C or SIGTERM.

\b
What RBAC must permit, beside what a snapshot needs:
  {kueue_snapshot.folded(watching_role())}

"""


@define(
    click.argument("states", metavar="[STATE]...", nargs=-1),
    click.option(
        "--objective",
        "profile",
        metavar="NAME",
        type=option.objective,
        default="min-lost-work",
        show_default=True,
        shell_complete=option.complete_objective,
        help="What the optimum is best in.",
    ),
    option.time_limit("For each optimum of a decision."),
    click.option(
        "--format",
        "layout",
        type=click.Choice(["plain", "jsonl"]),
        default="plain",
        show_default=True,
        help="Lines to read, or a JSON object a line (planner schema watch).",
    ),
    click.option(
        "--metrics",
        metavar="[HOST]:PORT",
        type=option.address,
        help="Also serve figures for Prometheus there, on loopback unless a host is given. It "
        "needs the extra [watch].",
    ),
    click.option(
        "--record",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Keep the states before and after each preemption there, for planner replay.",
    ),
    click.option(
        "--interval",
        metavar="SECONDS",
        type=option.seconds,
        default="5",
        show_default=True,
        help="How often changes are looked at together.",
    ),
    click.option(
        "--resync",
        metavar="SECONDS",
        type=option.seconds,
        default="600",
        show_default=True,
        help="How often everything is read anew.",
    ),
    click.option(
        "--for",
        "for_s",
        metavar="SECONDS",
        type=option.seconds,
        default="none",
        help="How long to watch; none, which holds without it: until it is ended.",
    ),
    *kueue_snapshot.cluster_options,
    release_option,
    requests_option,
    option.max_size,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Say what Kueue will do in a cluster, what would be best, and whether it did what it should.

    For each pending workload that Kueue will preempt for it says who goes, whether fewer would do,
    and what the optimum is; after each preemption, whether the replay of the state before names
    the same victims. Each STATE is a dump, or a folder of them, and stands for the cluster a while
    after the one before; without any the cluster is watched that kubectl talks to.
    """
    from planner.commands.audit.judge import Question
    from planner.objective.profile_file import find_profile

    tell: Callable[[Line], None] = partial(_tell, given.layout)
    if given.record is not None:
        if given.states:
            raise click.UsageError("--record keeps what is watched: dumps are kept already")
        make_folder("--record", given.record)
    if given.metrics is not None:
        from planner.commands.watch.metrics import Figures, serve

        figures = Figures()
        host = given.metrics[0]
        say("watch", f"metrics at http://{host}:{serve(figures, *given.metrics)}/metrics")
        tell = partial(_told_and_counted, tell, figures.count)
    how = given.of("release requests")
    question = Question((find_profile(given.profile),), given.time_limit, certify="brief", **how)
    try:
        with ended_as_by_hand():
            if given.states:
                from planner.commands.watch.kueue.live import follow

                follow(_states(given), question, tell)
            else:
                _watch(given, question, tell)
    except KeyboardInterrupt:
        return OPTIMAL  # it is how a watch ends
    return OPTIMAL


def _tell(layout: str, line: Line) -> None:
    from planner.report.watch import json_of, text_of

    print_parts([json_of(line) if layout == "jsonl" else text_of(line)])


def _told_and_counted(
    tell: Callable[[Line], None], count: Callable[[Line], None], line: Line
) -> None:
    count(line)
    tell(line)


def _states(given: Given) -> Iterator[State]:
    """Yield the states of all files and folders, in their order."""
    from planner.commands.audit.instance import open_packed, packed_states
    from planner.state.kueue import of_kueue

    for path in given.states:
        for packed in packed_states(path, given.limit_of_bytes):
            yield of_kueue(open_packed(packed, given.release, given.requests).state)


def _watch(given: Given, question: Question, tell: Callable[[Line], None]) -> None:
    from planner.commands.watch.kueue.keep import Store
    from planner.commands.watch.kueue.live import Live, Pace
    from planner.kubectl.kueue_dump import take_dump
    from planner.kubectl.watch import Streams

    if given.interval is None or given.resync is None:
        raise InputError("--interval and --resync", "none is no time to do something after")
    connect = partial(kueue_snapshot.connect, given)
    what = given.of("namespace configuration without")
    live = Live(
        Streams(connect, WATCHED),
        lambda: take_dump(connect(), **what),
        how=given.of("release requests"),
        question=question,
        tell=tell,
        store=None if given.record is None else Store(given.record),
        pace=Pace(interval_s=given.interval, resync_s=given.resync),
    )
    live.run(given.for_s)
