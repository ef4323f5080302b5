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

from planner.cli import option, value
from planner.cli.exit_code import BAD_INPUT, CONDITIONAL, FINDINGS, NOT_PROVED, OPTIMAL, OUR_BUG
from planner.cli.option import CommandLine, define
from planner.cli.output import ASK_TO_REPORT, LINE, check_files, say, write
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.batch import Progress as BatchProgress
    from planner.batch import Settings, Workers
    from planner.commands.study.record import Failure

CODES: Final = ("redundant", "disruption", "rules", "missed", "pointless")


class Batch(CommandLine):
    """What a run on many states is given: its processes, limits and results."""

    jobs = value.one(
        "--jobs N", value.Whole(1), "Processes on this machine; by default one for each core."
    )
    cluster = value.one(
        "--cluster ADDRESS", str, "Work on a Dask cluster instead, such as tcp://scheduler:8786."
    )
    cluster_wait = value.one(
        "--cluster-wait SECONDS",
        value.seconds,
        "How long the cluster may have no scheduler or no workers; then the run ends.",
        default="300",
    )
    results = value.file(
        "--results",
        "Write a JSON line for every state as it is done; with --resume go on with them.",
    )
    resume = value.flag("--resume", "Go on where an earlier run with --results ended.")
    state_time_limit = value.one(
        "--state-time-limit SECONDS",
        value.seconds,
        "End the process of a state that takes longer, all its plans together.",
        default="none",
    )
    state_memory_limit = value.one(
        "--state-memory-limit BYTES",
        value.size,
        "End the process of a state that takes more, such as 2G.",
    )


class OfStates(option.Dumps):
    """What is asked of every state of many."""

    states = option.states
    pending = value.one(
        "--pending NAME",
        str,
        "Only for this pending workload (NAMESPACE/NAME) or ask; by default for every one.",
    )
    time_limit = option.time_limit("For each optimum; none: as long as it takes.")
    now = option.clock
    laws = option.laws
    core_release = option.core_release
    assume = option.assume


class Options(Batch, OfStates, option.Saved):
    """What `planner audit` is given."""

    style = option.style(option.TABLE_FORMATS)
    objectives = value.several(
        "--objective NAME",
        option.profile,
        "What the optimum minimises; may be given several times, each judged by itself.",
        ("no-regret",),
    )
    fatal = option.fail_on(CODES)


@define(Options)
def command(given: Options) -> int:
    """Judge the scheduler's own answers, each beside the proved optimum.

    STATE is what `planner solve` reads, a folder of such states, or a file of one state a line
    (.jsonl, also with .gz). Every pending workload of every state is looked at: could fewer, or
    less disruptive, victims do?

      planner audit cluster.json
      planner audit dumps/ -o audit.html
      planner audit instances/recorded/*.jsonl.gz --jobs 2 --results audit.jsonl
      planner audit instances/recorded/*.jsonl.gz --results audit.jsonl --resume
      planner audit cluster.json --fail-on redundant --fail-on rules

    docs/how-to/audit.md says what each finding means, and which exit code goes first.
    """
    fatal = option.fatal_of(given.fatal, CODES)
    from planner.commands.audit import Question, audit_states
    from planner.commands.study.run import each_once
    from planner.objective.profile_file import find_profile
    from planner.report.audit import render

    objectives = each_once(map(find_profile, given.objectives), "objective")
    question = Question(**given.of(Question, objectives=objectives, rules=given.laws))
    with settings_of(given, given.states) as settings:
        audit = audit_states(given.states, question, settings, given.limit_of_bytes)
    audit = audit.model_copy(update={"failures": given.named(audit.failures)})
    path = given.target.path
    given.show(render, audit, folder=path.parent if path else None)
    failed = tell_failures(given, audit.failures)
    if failed == OUR_BUG:
        return OUR_BUG
    if any(count and code in fatal for code, count in audit.summary.findings.items()):
        return FINDINGS
    if failed:
        return failed
    if audit.summary.unproved:
        return NOT_PROVED
    return CONDITIONAL if audit.summary.conditional else OPTIMAL


@contextmanager
def settings_of(
    given: Batch, states: Sequence[str], table: Path | None = None
) -> Iterator[Settings]:
    """Give the settings that the options of BATCH ask for, with a line of progress.

    ``states`` are the paths that are read, ``table`` a file that is written beside the result.
    After Ctrl-C or SIGTERM a message says how the run can go on.

    Raises a UsageError if ``--resume`` has nothing to go on with, and an InputError if a file
    cannot be written, is to be written twice, or is one of the states.
    """
    if given.resume and given.results is None:
        raise click.UsageError("--resume needs --results FILE, the file to go on with")
    from planner.batch import Limits, Settings
    from planner.commands.study.instance import refuse_as_state

    written = {"--results": given.results, "--table": table, "-o": given.target.path}
    check_files(written)
    for name, path in written.items():
        if path is not None:
            refuse_as_state(f"{name} {path}", path, states)

    changed: list[str] = []
    try:
        yield Settings(
            file=given.results,
            resume=given.resume,
            jobs=given.jobs,
            workers=_workers(given),
            limits=Limits(given.state_time_limit, given.state_memory_limit),
            watch=_show,
            changed=changed.append,
        )
    except KeyboardInterrupt:
        said = "--results FILE would have kept what was done"
        if given.results is not None:
            said = f"{given.results} has what is done; --resume goes on with it"
        say("stopped", said)
        raise
    finally:
        if changed and given.results is not None:  # states that differ from those of its rows
            said = f"has changed since {given.results} was written, and is"
            who = changed[0]
            if len(changed) > 1:
                who = f"{len(changed):,} states, such as {who},"
                said = f"have changed since {given.results} was written, and are"
            say("note", f"{who} {said} asked for again")


def _workers(given: Batch) -> Workers | None:
    """Return what does the work elsewhere, if that is asked for."""
    if given.cluster is None:
        return None
    from planner.wing import each

    workers = next(each("workers"), None)
    if workers is None:
        raise InputError(f"--cluster {given.cluster}", "needs the wing of operations", "no cluster")
    made: Workers = workers(given.cluster, given.cluster_wait, partial(say, "note"))
    return made


def tell_failures(given: CommandLine, failures: Sequence[Failure]) -> int:
    """Return the exit code of the states that failed: that of a bug of ours where one is.

    What is said of it, and what a result that has nothing but rows does not tell, goes to standard
    error.
    """
    if failures and given.target.style == "csv":
        first, many = failures[0], len(failures)
        count = "1 failure has" if many == 1 else f"{many:,} failures have"
        say("warning", f"{count} no row, such as {first.state}: {first.detail}")
    bugs = [one for one in failures if one.outcome == "bug"]
    if bugs:
        more = f", and {len(bugs) - 1:,} more" if len(bugs) > 1 else ""
        say("error", f"{bugs[0].state}: {bugs[0].detail}{more}")
        write(ASK_TO_REPORT)
        return OUR_BUG
    return BAD_INPUT if failures else OPTIMAL


def _show(state: BatchProgress) -> None:
    left = state.seconds_left
    of = "" if state.total is None else f" of {state.total:,}"
    label = f"{state.done:,}{of} done, {state.per_second:.1f} a second"
    label += "" if left is None else f", {left:,.0f} s left"
    LINE.update(state.done / state.total if state.total else 0, label)
