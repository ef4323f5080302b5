"""Run: tasks in, rows out, in parallel, from where the last run stopped."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from math import ceil
from pathlib import Path
from typing import Any, Final

from planner.batch.cluster import WAIT_S, NobodyWorksError, Notice, Patience, on_cluster
from planner.batch.journal import Journal, Results
from planner.batch.pool import Pool
from planner.batch.task import Attempt, Limits, Progress, Task, Work, in_this_process
from planner.errors import InputError

NO_LIMITS: Final = Limits()

CGROUP: Final = Path("/sys/fs/cgroup")
"""Where a container sees its limits."""

_PROCESSOR_TIME: Final = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Microseconds that it may have, and in how many: in version 2, and in version 1."""

Watch = Callable[[Progress], None]
Changed = Callable[[str], None]


def cores() -> int:
    """Return how many cores this process may use: affinity and container limits count.

    A container with a limit of 2.5 cores has three.
    """
    mine = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    for files in _PROCESSOR_TIME:
        if all((CGROUP / file).exists() for file in files):
            text = " ".join((CGROUP / file).read_text("ascii") for file in files)
            quota, period = text.split()
            return mine if quota in {"max", "-1"} else min(mine, ceil(int(quota) / int(period)))
    return mine


def run(  # noqa: PLR0913 - what a run can be told
    tasks: Iterable[Task],
    work: Work,
    *,
    header: Mapping[str, Any],
    file: Path | None = None,
    resume: bool = False,
    jobs: int | None = None,
    cluster: str | None = None,
    cluster_wait: float | None = WAIT_S,
    limits: Limits = NO_LIMITS,
    total: int | None = None,
    watch: Watch | None = None,
    changed: Changed | None = None,
    notice: Notice | None = None,
) -> Results:
    """Do the work on every task, and return the rows in the order of the tasks.

    Tasks are read one by one, when there is a process for them. Every one of them gets a row,
    whatever it does. Outcomes that are no results are rows like the others: a run that goes on
    does not try them again, unless the task has another digest now.

    Parameters
    ----------
    header
        A JSON object, the first line of the file: what the file is (schema, kind) and all that
        defines the rows (input, options, limits, version). A run goes on only under the same.
    file
        Where rows are written as they come; ``None`` keeps them in memory.
    resume
        Go on with the file, if it is there.
    jobs
        Processes on this machine, one core each; never more than cores, the default. For 1
        without limits, the work is done in this very process, which dies with it.
    cluster
        The address of a Dask scheduler, ``tcp://HOST:PORT`` or ``tls://HOST:PORT``, instead.
    cluster_wait
        Seconds that it may have no scheduler or no workers, summed up since the last row;
        ``None`` for ever. Then the run ends; rows that were written stay.
    limits
        What a task may use.
    total
        The number of tasks, if it is known, for ``watch``.
    watch
        Called after every row with how far the run is.
    changed
        Called with the key of every task that is done again: its row is of another input.
    notice
        Called with a sentence when nobody in a cluster works, and how long that is waited for.

    Raises
    ------
    InputError
        If a key comes twice, ``jobs`` is less than 1 or given along with a cluster, the file
        cannot be used (see Journal.open), or the cluster cannot (see on_cluster). Rows that
        were written stay.
    """
    if jobs is not None and (jobs < 1 or cluster is not None):
        found = f"{jobs} is less than 1" if jobs < 1 else "is for this machine, not for a cluster"
        raise InputError("--jobs", found)
    _take_free_streams()
    with closing(Journal.open(file, header, resume=resume)) as journal:
        digests: dict[str, str] = {}
        ahead = _without_row(tasks, journal, digests, changed)
        begun = time.monotonic()
        patience = None if cluster is None else Patience(cluster, cluster_wait, notice)
        try:
            with closing(_attempts(ahead, work, jobs, limits, patience)) as attempts:
                for number, (key, attempt) in enumerate(attempts, start=1):
                    journal.add(key, attempt, digests[key])
                    if watch is not None:
                        seconds = time.monotonic() - begun
                        watch(Progress(len(journal), total, number / seconds))
        except NobodyWorksError as error:
            raise _unfinished(error, len(journal), total, file) from None
        return journal.finish(digests)


def _unfinished(
    error: NobodyWorksError, done: int, total: int | None, file: Path | None
) -> NobodyWorksError:
    """Say how much is not done, and how the run can go on."""
    missing = f"{done:,} states are done"
    if total is not None:
        missing = f"{total - done:,} of {total:,} states are not done"
    kept = "--results FILE keeps what is done" if file is None else f"{file} has what is done"
    found = f"{error.found}; {missing}"
    return NobodyWorksError(error.where, found, hint=f"{kept}; --resume goes on with it")


def _take_free_streams() -> None:
    """Let nothing that is opened from now on become a standard stream that was closed.

    Else what libraries print would get into the file.
    """
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            # The lowest number that is free, for our processes too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003


def _attempts(
    tasks: Iterator[Task], work: Work, jobs: int | None, limits: Limits, patience: Patience | None
) -> Generator[tuple[str, Attempt]]:
    """Yield outcomes as they come, from whoever does the work; closing it ends the work."""
    if patience is not None:
        yield from on_cluster(tasks, pickle.dumps(work), limits, patience)
    elif jobs == 1 and not limits.given:
        yield from in_this_process(tasks, work)
    else:
        with closing(Pool(pickle.dumps(work), min(jobs or cores(), cores()), limits)) as pool:
            yield from pool.run(tasks)


def _without_row(
    tasks: Iterable[Task], journal: Journal, digests: dict[str, str], changed: Changed | None
) -> Iterator[Task]:
    """Yield the tasks that have no row yet, or one of another input; note the digests of all."""
    for task in tasks:
        if task.key in digests:
            raise InputError(task.key, "is there twice", hint="give every state once")
        digests[task.key] = task.digest
        if task.key in journal:
            if journal.digest(task.key) == task.digest:
                continue
            journal.forget(task.key)
            if changed is not None:
                changed(task.key)
        yield task
