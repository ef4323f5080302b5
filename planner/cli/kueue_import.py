"""``planner import``: states of Kueue made of public traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from planner.cli import option
from planner.cli.exit_code import OPTIMAL
from planner.cli.generate import MadeState, MadeTarget, made_output_option
from planner.cli.option import Given, define
from planner.cli.output import say
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.commands.import_ import Outline
    from planner.commands.import_.kueue_knobs import Knobs
    from planner.commands.import_.traces import Trace
    from planner.errors import SchemaError

POLICIES: Final = (
    (
        "within",
        "withinClusterQueue",
        ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
        "LowerPriority",
    ),
    ("reclaim", "reclaimWithinCohort", ("Never", "LowerPriority", "Any"), "Any"),
    ("borrow", "borrowWithinCohort", ("Never", "LowerPriority"), "Never"),
)
"""The options for preemption, each with its field of a ClusterQueue, its values and its default."""

EPILOG: Final = """\b
Examples:
  planner import philly philly.csv | planner solve -
  planner import philly philly.csv --instants 100 --seed 1 -o philly.jsonl.gz
  planner import philly philly.csv --at 2017-10-28T09:20:36Z --preemptors 3 -o october.yaml
  planner import openb pods.csv --nodes nodes.csv --instants 20 --levels 2 -o openb/
  planner audit philly.jsonl.gz openb/ --fail-on never
  planner import philly philly.csv --follow 604800 | planner simulate - --fail-on never

\b
The files, of which only the columns named are read:
  philly  timestamp,duration,num_gpus,cluster
          petuum/adaptdl, branch osdi21-artifact: simulator/traces/philly.csv
  openb   name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos,deletion_time,scheduled_time
          cpu_milli,memory_mib,gpu,model (--nodes)
          alibaba/clusterdata: cluster-trace-gpu-v2023/csv/openb_pod_list_default.csv,
          openb_node_list_gpu_node.csv

What the traces do not say is drawn by --seed: quotas, checkpoints, who waits, for Philly the
priorities. The same file, seed and options give the same states.

Exit code 0 means that all states are written.

"""

MOST_FOLLOWED_S: Final = 366 * 86_400
_SHARE: Final = click.FloatRange(0, 1)
_PRIORITY: Final = click.IntRange(-(2**31), 2**31 - 1)


def _moment(text: str) -> datetime:
    """Read a moment from 1970 on."""
    value = option.moment(text)
    if value.timestamp() < 0:
        raise click.BadParameter(f"{text!r} is before 1970")
    return value


def _bounds(text: str) -> tuple[float, float]:
    """Read LOW:HIGH, two numbers from 0 on."""
    low, high = _numbers(text.split(":"))
    if not 0 <= low <= high <= 1000:  # noqa: PLR2004 - beyond it, nothing is meant seriously
        raise click.BadParameter(f"{text!r} is not LOW:HIGH, such as 0.55:1.15")
    return low, high


def _priorities(text: str) -> dict[int, float]:
    """Read PRIORITY:WEIGHT,..."""
    weights: dict[int, float] = {}
    for part in text.split(","):
        priority, weight = _numbers(part.split(":"))
        if priority != int(priority) or abs(priority) >= 2**31 or weight < 0:
            raise click.BadParameter(f"{part!r} is not PRIORITY:WEIGHT, such as 100:0.2")
        weights[int(priority)] = weight
    return weights


def _numbers(parts: list[str]) -> tuple[float, float]:
    try:
        first, second = map(float, parts)
    except ValueError:
        first = second = math.nan
    if not (math.isfinite(first) and math.isfinite(second)):
        raise click.BadParameter(f"{':'.join(parts)!r} is not two numbers with a colon")
    return first, second


@define(
    click.argument("trace", metavar="TRACE", type=click.Choice(["openb", "philly"])),
    click.argument("file", metavar="FILE"),
    click.option(
        "--nodes", metavar="FILE", help="openb: the node list; its GPU models are flavors."
    ),
    click.option(
        "--shapes",
        metavar="FILE",
        help="philly: an openb pod list; each job requests the cpu and memory for each GPU of one "
        "of its pods. Without it, jobs request GPUs only.",
    ),
    click.option(
        "--instants",
        metavar="N",
        type=click.IntRange(1, 100_000),
        default=1,
        show_default=True,
        help="How many states: each at the moment at which some job, drawn at random, started.",
    ),
    click.option(
        "--at",
        metavar="TIME",
        type=_moment,
        multiple=True,
        help="A moment instead, such as 2017-10-28T09:20:36Z; may be repeated. openb starts on "
        "2023-01-01T00:00:00Z.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Of everything drawn."),
    click.option(
        "--sampling",
        type=click.Choice(["running", "drawn"]),
        help="Who holds quota: the jobs that the trace has running then, usual for philly; or "
        "jobs of the whole trace drawn by their duration, each somewhere in its run, usual for "
        "openb, in which few pods run at once.",
    ),
    click.option(
        "--workloads",
        metavar="N",
        type=click.IntRange(1, 200_000),
        default=1000,
        show_default=True,
        help="How many hold quota at most.",
    ),
    click.option(
        "--queue-by",
        type=click.Choice(["name", "class"]),
        default="name",
        show_default=True,
        help="openb: the ClusterQueue of a pod: by a hash of its name, or by QoS class and GPU "
        "model. philly has one for each virtual cluster.",
    ),
    click.option(
        "--queues",
        metavar="N",
        type=click.IntRange(1, 500),
        default=20,
        show_default=True,
        help="openb: how many ClusterQueues, by name.",
    ),
    click.option(
        "--levels",
        type=click.IntRange(1, 2),
        default=1,
        show_default=True,
        help="1: one cohort. 2: three cohorts of large, medium and small queues below one.",
    ),
    click.option(
        "--factor",
        metavar="LOW:HIGH",
        type=_bounds,
        default="0.55:1.15",
        show_default=True,
        help="The nominal quota of a queue is what it uses by a factor between these, and its "
        "share of the rest of the cluster by its GPU-hours in the whole trace.",
    ),
    click.option(
        "--utilisation",
        metavar="SHARE",
        type=click.FloatRange(0.01, 1),
        default=1.0,
        show_default=True,
        help="How much of the cluster is used.",
    ),
    *(
        click.option(
            f"--{name}-limits",
            metavar="SHARE",
            type=_SHARE,
            default=share,
            show_default=True,
            help=f"How many of the queues have a {name} limit: half the nominal quota, or what is "
            f"{used}.",
        )
        for name, share, used in (("borrowing", 0.5, "borrowed"), ("lending", 0.2, "unused"))
    ),
    *(
        click.option(
            f"--{name}",
            type=click.Choice(choices),
            default=default,
            show_default=True,
            help=f"{policy} of all queues.",
        )
        for name, policy, choices, default in POLICIES
    ),
    click.option("--fair-sharing", is_flag=True, help="Turn fair sharing on."),
    click.option(
        "--priorities",
        metavar="PRIORITY:WEIGHT,...",
        type=_priorities,
        default="0:0.5,50:0.3,100:0.2",
        show_default=True,
        help="philly: how likely a job has which priority. openb: Guaranteed 1000, LS 200, "
        "Burstable 100, BE 0.",
    ),
    click.option(
        "--checkpoints",
        metavar="SHARE",
        type=_SHARE,
        default=0.4,
        show_default=True,
        help="How many of the training jobs with a GPU write checkpoints, every 10, 30 or 60 "
        "minutes. openb: BE and Burstable are training.",
    ),
    click.option(
        "--gang",
        "gangs",
        metavar="GPUS",
        type=click.IntRange(1, 100_000),
        multiple=True,
        default=(8, 16, 32, 64, 128, 512),
        show_default=True,
        help="Size of a preemptor; one that fits what some queue owns and does not use is drawn.",
    ),
    click.option(
        "--priority",
        "preemptor_priorities",
        metavar="PRIORITY",
        type=_PRIORITY,
        multiple=True,
        default=(100, 200, 1000),
        show_default=True,
        help="Of a preemptor; one is drawn.",
    ),
    click.option(
        "--preemptors",
        metavar="N",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="How many workloads wait in each state.",
    ),
    click.option(
        "--follow",
        metavar="SECONDS",
        type=click.IntRange(0, MOST_FOLLOWED_S),
        default=0,
        show_default=True,
        help="Also who arrives within so many seconds, and how long everybody runs: for planner "
        "simulate. Sampled as running, the jobs of the trace that start then; as drawn, jobs of "
        "the whole trace, as fast as so many would end.",
    ),
    click.option(
        "--skip-bad-rows", is_flag=True, help="Pass over rows that cannot be used, and count them."
    ),
    made_output_option,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Make states of Kueue from a public trace of a GPU cluster, to audit and compare on.

    TRACE says which, openb or philly, and FILE is its CSV file, also with gzip; it is read row by
    row. Each state is a List as kubectl prints it, with the ClusterQueues, who holds quota in
    them, and who waits. One state goes to standard output as JSON, several as one a line.
    """
    from planner.commands.import_ import read_outline

    several = max(len(given.at), 1 if given.at else given.instants) > 1
    target = MadeTarget.choose(given.made, several=several)
    skipped = _Skipped()
    on_bad = skipped.add if given.skip_bad_rows else None
    source, file, knobs = _trace(given, on_bad), given.file, _knobs(given)
    how = {"arrivals": given.instants, "seed": knobs.seed, "on_bad": on_bad}
    outline = read_outline(source, file, **how)
    counts = f"{outline.rows:,} rows, {outline.jobs:,} ran"
    say("import", counts + (f", {skipped.count:,} cannot be used" if skipped.count else ""))
    if skipped.count:
        say("warning", f"the first row passed over: {skipped.first}")
    target.emit(_states(source, file, outline, given.at, knobs))
    return OPTIMAL


class _Skipped:
    """How many rows were passed over, and why the first was."""

    def __init__(self) -> None:
        self.count = 0
        self.first: SchemaError | None = None

    def add(self, error: SchemaError) -> None:
        """Count one."""
        self.count += 1
        self.first = self.first or error


def _trace(given: Given, on_bad: Callable[[SchemaError], None] | None) -> Trace:
    """Return how the rows are to be read."""
    from planner.commands.import_ import Openb, Philly, read_nodes, read_shapes

    if given.trace == "philly":
        if given.nodes:
            raise click.UsageError("--nodes goes with openb")
        shapes = read_shapes(given.shapes, given.seed, on_bad) if given.shapes else ()
        return Philly(given.seed, given.priorities, shapes)
    if given.shapes:
        raise click.UsageError("--shapes goes with philly")
    if not given.nodes:
        raise click.UsageError("openb needs its node list, --nodes FILE")
    models = read_nodes(given.nodes, on_bad)
    return Openb(models, given.seed, given.queues, given.queue_by)


def _knobs(given: Given) -> Knobs:
    from planner.commands.import_.kueue_knobs import Knobs
    from planner.dump.kueue import Policies

    names = (
        "seed workloads sampling factor utilisation levels gangs preemptor_priorities preemptors "
        "borrowing_limited=borrowing_limits lending_limited=lending_limits "
        "follow_s=follow fair=fair_sharing checkpointing=checkpoints"
    )
    return Knobs(**given.of(names), policies=Policies(given.within, given.reclaim, given.borrow))


def _states(
    trace: Trace, file: str, outline: Outline, at: tuple[datetime, ...], knobs: Knobs
) -> Iterator[MadeState]:
    """Yield the states; say which instants have none, and how many there are."""
    from planner.commands.import_.kueue_states import import_states, instants_of
    from planner.dump import listed
    from planner.dump.kueue import rfc3339
    from planner.report.text import plural

    instants = tuple(int(one.timestamp()) for one in at) or instants_of(outline)
    made = empty = 0
    for state in import_states(trace, file, outline, instants, knobs):
        if state.objects:
            made += 1
            value = listed(state.objects)
            # Who arrives later was created later: the newest time is not the clock.
            clocked = {"now": rfc3339(datetime.fromtimestamp(state.instant, UTC)), "state": value}
            named = f"{trace.name}-{state.instant}"
            yield MadeState(named, clocked if knobs.follow_s else value)
        else:
            empty += 1
    if not made:
        hint = "--instants draws moments at which jobs start, --sampling drawn needs none"
        raise InputError(file, "nobody holds a GPU at any of the moments", hint=hint)
    without = f", {plural(empty, 'moment')} without anybody" if empty else ""
    say("import", plural(made, "state") + without)
