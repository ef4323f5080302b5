"""What goes into a run and what comes out, and the work on one task, turned into an outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from planner.errors import InputError

Outcome = Literal["done", "failed", "timeout", "out-of-memory", "killed"]
"""done: the work returned. failed: it raised. timeout, out-of-memory: it went over a limit.
killed: the process that worked on it died, and died again when the task was tried anew."""

Work = Callable[[Any], Mapping[str, Any]]
"""From a task's payload to a JSON object. Other processes and machines load it by its name: a
function of an importable module, or a functools.partial of one. What it returns must depend on
the payload alone, and holds no times, or two runs would not give the same file."""


@dataclass(frozen=True, slots=True)
class Task:
    """One state to work on.

    Parameters
    ----------
    key
        Its name, unique in the run and the same in every run, such as ``dir/a.jsonl.gz:17``.
    payload
        What the work gets; anything that can be pickled. Another machine has no files of this
        one, so it should be the bytes of the state themselves.
    digest
        What the payload was made of, as a digest. It stands in the row: a run that goes on asks
        again where it is another one. Empty where nothing but the key can change.
    """

    key: str
    payload: object
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one task may use; ``None`` for no limit.

    Parameters
    ----------
    seconds
        Wall-clock seconds, not counting the start of a process. Given to a process that does
        not watch the clock itself, so it should be more than the solver's own time limit.
    memory_bytes
        Resident memory of the process that works on the task, Python and the solver included
        (some 150 MB before it starts). Linux only. Looked at every 0.05 s: it is a bound on
        what a task keeps, not on what it takes for a moment.
    """

    seconds: float | None = None
    memory_bytes: int | None = None

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return self.seconds is not None or self.memory_bytes is not None


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one task; ``detail`` says in one line why there is no result."""

    key: str
    outcome: Outcome
    detail: str
    result: dict[str, Any] | None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    ``done`` counts tasks that have a row, those of an earlier run included; ``total`` is ``None``
    where nobody knows it. ``per_second`` is the rate of this run alone.
    """

    done: int
    total: int | None
    per_second: float

    @property
    def seconds_left(self) -> float | None:
        """The time that the rest will take at this rate; ``None`` where nobody knows."""
        if self.total is None or not self.per_second:
            return None
        return max(0, self.total - self.done) / self.per_second


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
