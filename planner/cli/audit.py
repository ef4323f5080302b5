"""``planner audit``: the scheduler's own answers, judged on one state or on thousands.

What all commands on many states have in common stands here, too: processes, limits, results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.cli import option
from planner.cli.exit_code import BAD_INPUT, CONDITIONAL, FINDINGS, NOT_PROVED, OPTIMAL
from planner.cli.option import Given, Option, define
from planner.cli.output import LINE, say

if TYPE_CHECKING:
    from planner.batch import Progress as BatchProgress
    from planner.commands.audit import Settings

CODES: Final = (
    "redundant",
    "count",
    "disruption",
    "rules",
    "missed",
    "pointless",
    "fragmentation",
)

EPILOG: Final = """\b
Examples:
  planner audit cluster.json
  planner audit dumps/ -o audit.html
  planner audit instances/recorded/*.jsonl.gz --jobs 2 --results audit.jsonl
  planner audit instances/recorded/*.jsonl.gz --results audit.jsonl --resume
  planner audit cluster.json --fail-on redundant --fail-on rules

\b
Findings on the scheduler's own answer:
  redundant      some of its victims alone would do
  count          fewer victims would do
  disruption     another legal set is better by an objective
  rules          it breaks its own rules
  missed         it finds nobody, although a legal set exists
  pointless      it evicts, although nobody needs to go
  fragmentation  whoever goes, its own placement of pods costs more than room for them does

"""

BATCH: Final[tuple[Option, ...]] = (
    click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(min=1),
        help="Processes on this machine; by default one for each core.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster instead, such as tcp://scheduler:8786.",
    ),
    click.option(
        "--cluster-wait",
        metavar="SECONDS",
        type=option.seconds,
        default="300",
        show_default=True,
        help="How long the cluster may have no scheduler or no workers; then the run ends.",
    ),
    option.file(
        "--results",
        "Write a JSON line for every state as it is done; with --resume go on with them.",
    ),
    click.option("--resume", is_flag=True, help="Go on where an earlier run with --results ended."),
    click.option(
        "--state-time-limit",
        metavar="SECONDS",
        type=option.seconds,
        default="none",
        show_default=True,
        help="End the process of a state that takes longer, all its plans together.",
    ),
    click.option(
        "--state-memory-limit",
        metavar="BYTES",
        type=option.size,
        help="End the process of a state that takes more, such as 2G.",
    ),
)


@define(
    option.states,
    click.option(
        "--pending",
        metavar="NAME",
        help="Judge only this pending workload (NAMESPACE/NAME) or ask; by default every one.",
    ),
    click.option(
        "--objective",
        "objectives",
        metavar="NAME",
        type=option.objective,
        multiple=True,
        default=("no-regret",),
        show_default=True,
        help="What the optimum minimises; may be given several times. min-count is always added.",
    ),
    option.time_limit("For each optimum; none: as long as it takes."),
    option.clock,
    *option.own("laws"),
    option.fail_on(CODES),
    *BATCH,
    option.assume,
    *option.own("release", "requests"),
    option.max_size,
    option.style(option.TABLE_FORMATS),
    option.output,
    epilog=EPILOG,
)
def command(given: Given) -> int:
    """Judge the scheduler's own answers, each beside the proved optimum.

    STATE is what `planner solve` reads, a folder of such states, or a file of one state a line
    (.jsonl, also with .gz). Every pending workload of every state is looked at: could fewer, or
    less disruptive, victims do?
    """
    fatal = option.fatal_of(given, CODES)
    from planner.commands.audit import Question, audit_states
    from planner.objective.profile_file import find_profile
    from planner.report.audit import render

    profiles = tuple(map(find_profile, dict.fromkeys(given.objectives)))
    how = given.of("time_limit now rules=laws pending assume release requests")
    question = Question(profiles, **how)
    with settings_of(given) as settings:
        audit = audit_states(given.states, question, settings, given.limit_of_bytes)
    path = given.target.path
    given.show(render, audit, folder=path.parent if path else None)
    if any(count and code in fatal for code, count in audit.summary.findings.items()):
        return FINDINGS
    if audit.summary.failures:
        return BAD_INPUT
    if audit.summary.unproved:
        return NOT_PROVED
    return CONDITIONAL if audit.summary.conditional else OPTIMAL


@contextmanager
def settings_of(given: Given) -> Iterator[Settings]:
    """Give the settings that the options of BATCH ask for, with a line of progress.

    After Ctrl-C a message says how the run can go on.

    Raises
    ------
    UsageError
        If ``--resume`` has nothing to go on with.
    """
    if given.resume and given.results is None:
        raise click.UsageError("--resume needs --results FILE, the file to go on with")
    from planner.batch import Limits
    from planner.commands.audit import Settings

    changed: list[str] = []
    try:
        yield Settings(
            file=given.results,
            resume=given.resume,
            jobs=given.jobs,
            cluster=given.cluster,
            cluster_wait=given.cluster_wait,
            limits=Limits(given.state_time_limit, given.state_memory_limit),
            watch=lambda state: LINE.update(*_how_far(state)),
            changed=changed.append,
            notice=partial(say, "note"),
        )
    except KeyboardInterrupt:
        if given.results is not None:
            say("stopped", f"{given.results} has what is done; --resume goes on with it")
        raise
    finally:
        if changed and given.results is not None:
            say("note", _changed(changed, given.results))


def _changed(keys: Sequence[str], results: Path) -> str:
    """Say which states are not what the file of results has rows of."""
    if len(keys) == 1:
        return f"{keys[0]} has changed since {results} was written, and is asked for again"
    first = f"{len(keys):,} states, such as {keys[0]}"
    return f"{first}, have changed since {results} was written, and are asked for again"


def _how_far(state: BatchProgress) -> tuple[float, str]:
    """Return the share that is done, and words for it."""
    left = state.seconds_left
    label = f"{state.done:,} done, {state.per_second:.1f} states a second"
    label += "" if left is None else f", {left:,.0f} s left"
    return (state.done / state.total if state.total else 0), label
