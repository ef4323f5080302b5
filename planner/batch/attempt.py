"""The work on one task, turned into an outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from planner.batch.task import Outcome, Task, Work
from planner.errors import InputError

DETAIL: Final = 500
"""Characters of a detail that are kept."""


class Attempt(NamedTuple):
    """What came of working on a task; ``result`` is JSON text, ``null`` where there is none."""

    outcome: Outcome
    detail: str = ""
    result: str = "null"


def attempt(work: Work, payload: object) -> Attempt:
    """Work on one task. Whatever the work raises is an outcome, never the end of the run."""
    try:
        return Attempt("done", result=json.dumps(dict(work(payload)), allow_nan=False))
    except MemoryError:
        return Attempt("out-of-memory", "the system gave no more memory")
    except Exception as error:  # noqa: BLE001 - thousands of other states are waiting
        return Attempt("failed", _one_line(error))


def in_this_process(tasks: Iterable[Task], work: Work) -> Iterable[tuple[str, Attempt]]:
    """Work on the tasks one by one, here; nothing guards against what kills the process."""
    for task in tasks:
        yield task.key, attempt(work, task.payload)


def _one_line(error: Exception) -> str:
    text = "; ".join(" ".join(line.split()) for line in str(error).splitlines())
    if not isinstance(error, InputError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= DETAIL else text[: DETAIL - 3] + "..."
