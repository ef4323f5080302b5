"""``planner import``: states of Kueue made of public traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

import click

from planner.cli import value
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import CommandLine, define
from planner.cli.output import say
from planner.cli.value import Option
from planner.errors import InputError, SchemaError
from planner.research.cli.generate import MadeState, MadeTarget, made_output

if TYPE_CHECKING:
    from planner.research.import_ import Outline
    from planner.research.import_.kueue_knobs import Knobs
    from planner.research.import_.traces import Sampling, Trace

_EITHER: Final = ("Never", "LowerPriority")

MOST_FOLLOWED_S: Final = 366 * 86_400
_SAMPLING: Final[click.Choice[Sampling]] = click.Choice(["running", "drawn"])
_SHARE: Final = value.Number(0, 1)
_PRIORITY: Final = value.Whole(-(2**31), 2**31 - 1)


def _moment(text: str) -> datetime:
    found = value.moment(text)
    if found.timestamp() < 0:
        raise click.BadParameter(f"{text!r} is before 1970")
    return found


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


def _limits(name: str, share: float, used: str) -> Option[float]:
    """Return the option on how many queues have a limit; it is never one that breaks it."""
    covers = f"How many queues have a {name} limit: half the nominal quota, or what is {used}."
    return value.one(f"--{name}-limits SHARE", _SHARE, covers, share)


def _policy(
    name: str, policy: str, choices: Sequence[str], default: str = "LowerPriority"
) -> Option[str]:
    """Return the option for a preemption policy, a field of a ClusterQueue."""
    return value.one(f"--{name}", click.Choice(choices), f"{policy} of all queues.", default)


class Options(CommandLine):
    """What `planner import` is given."""

    trace = value.argument("TRACE", click.Choice(["openb", "philly"]))
    file = value.argument("FILE", str)
    nodes = value.one("--nodes FILE", str, "openb: the node list; its GPU models are flavors.")
    shapes = value.one("--shapes FILE", str, "philly: an openb pod list, for cpu and memory.")
    instants = value.one("--instants N", value.Whole(1, 100_000), "How many states.", 1)
    at = value.several("--at TIME", _moment, "A moment instead of drawn ones; may be repeated.")
    seed = value.one("--seed N", value.Whole(), "Of everything drawn.", 0)
    sampling: value.Option[Sampling | None] = value.one(
        "--sampling", _SAMPLING, "Who holds quota: who ran then (philly), or is drawn (openb)."
    )
    workloads = value.one(
        "--workloads N", value.Whole(1, 200_000), "How many hold quota at most.", 1000
    )
    queue_by: Option[Literal["name", "class"]] = value.one(
        "--queue-by",
        click.Choice(["name", "class"]),
        "openb: the ClusterQueue of a pod: by its name, or by QoS class and GPU model.",
        default="name",
    )
    queues = value.one(
        "--queues N", value.Whole(1, 500), "openb: how many ClusterQueues, by name.", 20
    )
    levels = value.one(
        "--levels", value.Whole(1, 2), "1: one cohort. 2: three, by size, below one.", 1
    )
    factor = value.one(
        "--factor LOW:HIGH", _bounds, "Nominal quota of a queue by what it uses.", "0.55:1.15"
    )
    utilisation = value.one(
        "--utilisation SHARE", value.Number(0.01, 1), "How much of the cluster is used.", 1.0
    )
    borrowing_limited = _limits("borrowing", 0.5, "borrowed")
    lending_limited = _limits("lending", 0.2, "unused")
    within = _policy("within", "withinClusterQueue", (*_EITHER, "LowerOrNewerEqualPriority"))
    reclaim = _policy("reclaim", "reclaimWithinCohort", (*_EITHER, "Any"), "Any")
    borrow = _policy("borrow", "borrowWithinCohort", _EITHER, "Never")
    fair = value.flag("--fair-sharing", "Turn fair sharing on.")
    priorities = value.one(
        "--priorities PRIORITY:WEIGHT,...",
        _priorities,
        "philly: how likely a job has which priority.",
        default="0:0.5,50:0.3,100:0.2",
    )
    checkpointing = value.one(
        "--checkpoints SHARE", _SHARE, "How many training jobs write checkpoints.", 0.4
    )
    gangs = value.several(
        "--gang GPUS",
        value.Whole(1, 100_000),
        "Size of a preemptor; one that fits what some queue owns and does not use is drawn.",
        (8, 16, 32, 64, 128, 512),
    )
    preemptor_priorities = value.several(
        "--priority PRIORITY", _PRIORITY, "Of a preemptor; one is drawn.", (100, 200, 1000)
    )
    preemptors = value.one(
        "--preemptors N", value.Whole(1, 1000), "How many workloads wait in each state.", 1
    )
    follow_s = value.one(
        "--follow SECONDS",
        value.Whole(0, MOST_FOLLOWED_S, of="seconds"),
        "Also who arrives within so many seconds, and how long everybody runs.",
        default=0,
    )
    skip_bad_rows = value.flag(
        "--skip-bad-rows", "Pass over rows that cannot be used, and count them."
    )
    made = made_output


@define(Options)
def command(given: Options) -> int:
    """Make states of Kueue from a public trace of a GPU cluster, to audit and compare on.

    TRACE says which, openb or philly, and FILE is its CSV file, also with gzip; it is read row by
    row. Each state is a List as kubectl prints it, with the ClusterQueues, who holds quota in
    them, and who waits. One state goes to standard output as JSON, several as one a line.

      planner import philly philly.csv | planner solve -
      planner import philly philly.csv --instants 100 --seed 1 -o philly.jsonl.gz
      planner import philly philly.csv --at 2017-10-28T09:20:36Z --preemptors 3 -o october.yaml
      planner import openb pods.csv --nodes nodes.csv --instants 20 --levels 2 -o openb/
      planner audit philly.jsonl.gz openb/ --fail-on never
      planner import philly philly.csv --follow 604800 | planner simulate - --fail-on never

    docs/how-to/study-traces.md says where the files come from, and what each option changes.
    """
    from planner.dump.kueue import Policies
    from planner.research.import_ import read_outline
    from planner.research.import_.kueue_knobs import Knobs

    at = tuple(dict.fromkeys(int(one.timestamp()) for one in given.at))  # no second twice
    several = (len(at) or given.instants) > 1
    target = MadeTarget.choose(given.made, several=several)
    skipped = _Skipped()
    on_bad = skipped.add if given.skip_bad_rows else None
    source, file = _trace(given, on_bad), given.file
    policies = Policies(given.within, given.reclaim, given.borrow)
    knobs = Knobs(**given.of(Knobs, policies=policies))
    outline = read_outline(source, file, arrivals=given.instants, seed=given.seed, on_bad=on_bad)
    counts = f"{outline.rows:,} rows, {outline.jobs:,} ran"
    say("import", counts + (f", {skipped.count:,} cannot be used" if skipped.count else ""))
    if skipped.count:
        say("warning", f"the first row passed over: {skipped.first}")
    target.emit(_states(source, file, outline, at, knobs))
    return OPTIMAL


class _Skipped:
    """How many rows were passed over, and why the first was."""

    def __init__(self) -> None:
        self.count = 0
        self.first: SchemaError | None = None

    def add(self, error: SchemaError) -> None:
        """Count a row that is passed over."""
        self.count += 1
        self.first = self.first or error


def _trace(given: Options, on_bad: Callable[[SchemaError], None] | None) -> Trace:
    from planner.research.import_ import Openb, Philly, read_nodes, read_shapes

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


def _states(
    trace: Trace, file: str, outline: Outline, at: tuple[int, ...], knobs: Knobs
) -> Iterator[MadeState]:
    """Yield the states; at the end say how many there are, and how many instants have none."""
    from planner.dump import listed, rfc3339
    from planner.quantity import plural
    from planner.research.import_.kueue import import_states, instants_of

    instants = at or instants_of(outline)
    made = empty = 0
    for state in import_states(trace, file, outline, instants, knobs):
        if state.objects:
            made += 1
            value = listed(state.objects)
            named = f"{trace.name}-{state.instant}"
            # Workloads that arrive later are created later: the newest time is not the clock.
            now = rfc3339(datetime.fromtimestamp(state.instant, UTC))
            clocked = {"id": named, "now": now, "state": value}
            yield MadeState(named, clocked if knobs.follow_s else value)
        else:
            empty += 1
    if not made:
        hint = "more --instants draw more moments, --sampling drawn needs nobody who runs then"
        raise InputError(file, "nobody holds a GPU at any of the moments", hint=hint)
    without = f", {plural(empty, 'moment')} without anybody" if empty else ""
    say("import", plural(made, "state") + without)
