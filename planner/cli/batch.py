"""What commands that work on many states have in common: processes, limits, results, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.cli.option import seconds, size

if TYPE_CHECKING:
    from planner.batch import Progress as BatchProgress
    from planner.cli.progress import Progress
    from planner.commands.audit import Settings

_OPTIONS: Final = (
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
        type=seconds,
        default="300",
        show_default=True,
        help="How long the cluster may have no scheduler or no workers; then the run ends.",
    ),
    click.option(
        "--results",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write a JSON line for every state as it is done; with --resume go on with them.",
    ),
    click.option("--resume", is_flag=True, help="Go on where an earlier run with --results ended."),
    click.option(
        "--state-time-limit",
        metavar="SECONDS",
        type=seconds,
        default="none",
        show_default=True,
        help="End the process of a state that takes longer, all its plans together.",
    ),
    click.option(
        "--state-memory-limit",
        metavar="BYTES",
        type=size,
        help="End the process of a state that takes more, such as 2G.",
    ),
)


def batch_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a batch; `settings_of` makes settings of their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def settings_of(given: Mapping[str, Any]) -> Iterator[Settings]:
    """Give the settings that the options of `batch_options` ask for, with a line of progress.

    After Ctrl-C a message says how the run can go on.

    Raises
    ------
    UsageError
        If ``--resume`` has nothing to go on with.
    """
    if given["resume"] and given["results"] is None:
        raise click.UsageError("--resume needs --results FILE, the file to go on with")
    from planner.batch import Limits
    from planner.cli.message import say
    from planner.cli.progress import Progress
    from planner.commands.audit import Settings

    changed: list[str] = []
    try:
        with Progress() as progress:
            yield Settings(
                file=given["results"],
                resume=given["resume"],
                jobs=given["jobs"],
                cluster=given["cluster"],
                cluster_wait=given["cluster_wait"],
                limits=Limits(given["state_time_limit"], given["state_memory_limit"]),
                watch=lambda state: _show(progress, state),
                changed=changed.append,
                notice=lambda text: _note(progress, text),
            )
    except KeyboardInterrupt:
        if given["results"] is not None:
            say("stopped", f"{given['results']} has what is done; --resume goes on with it")
        raise
    finally:
        if changed and given["results"] is not None:
            say("note", _changed(changed, given["results"]))


def _note(progress: Progress, text: str) -> None:
    from planner.cli.message import say

    progress.clear()
    say("note", text)


def _changed(keys: Sequence[str], results: Path) -> str:
    """Say which states are not what the file of results has rows of."""
    if len(keys) == 1:
        return f"{keys[0]} has changed since {results} was written, and is asked for again"
    first = f"{len(keys):,} states, such as {keys[0]}"
    return f"{first}, have changed since {results} was written, and are asked for again"


def _show(progress: Progress, state: BatchProgress) -> None:
    rate = f"{state.per_second:.1f} states a second"
    left = state.seconds_left
    label = f"{state.done:,} done, {rate}" + ("" if left is None else f", {left:,.0f} s left")
    progress.update(state.done / state.total if state.total else 0, label)
