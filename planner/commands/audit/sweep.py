"""Many states as a batch: each is a task, in this process, in others, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from planner.batch import WAIT_S, Limits, Progress, Row, Task, run
from planner.commands.audit.instance import (
    LINES,
    STDIN,
    Instance,
    Packed,
    count_states,
    open_packed,
    packed_states,
)
from planner.errors import InputError
from planner.plan.base import Record
from planner.plan.record import SCHEMA_VERSION
from planner.reader.complaint import schema_error
from planner.reader.items import Item

RecordT = TypeVar("RecordT", bound=Record)

_VERSION: Final = version("preemption-planner")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a batch is run; see `planner.batch.run` for each."""

    file: Path | None = None
    resume: bool = False
    jobs: int | None = None
    cluster: str | None = None
    cluster_wait: float | None = WAIT_S
    limits: Limits = field(default_factory=Limits)
    watch: Callable[[Progress], None] | None = None
    changed: Callable[[str], None] | None = None
    notice: Callable[[str], None] | None = None


HERE: Final = Settings(jobs=1)
"""One state after the other, in this process."""


def sweep(  # noqa: PLR0913, PLR0917 - what a sweep depends on
    paths: Sequence[str],
    work: Callable[[Instance], Record],
    header: Mapping[str, Any],
    settings: Settings,
    max_bytes: int,
    release: str,
) -> Iterable[Row]:
    """Return a row for every state of some files and folders.

    ``work`` answers for one state, perhaps in another process, to which it must be sent;
    ``header`` is all that the rows depend on, but what the files hold.

    Raises
    ------
    InputError
        If a file cannot be read, the results file cannot be used, or there is no state at all.
    """
    if settings.file is not None:
        _keep_apart(settings.file, paths)
    packed = (one for path in paths for one in packed_states(path, max_bytes))
    return run(
        (Task(one.name, one, one.digest) for one in packed),
        partial(_answer, work, release),
        header=header,
        file=settings.file,
        resume=settings.resume,
        jobs=settings.jobs,
        cluster=settings.cluster,
        cluster_wait=settings.cluster_wait,
        limits=settings.limits,
        total=count_states(paths) if settings.watch else None,
        watch=settings.watch,
        changed=settings.changed,
        notice=settings.notice,
    )


def _keep_apart(file: Path, paths: Sequence[str]) -> None:
    """Refuse a results file that would be read as states while it grows, without an end."""
    target = file.resolve()
    folders = (Path(path).resolve() for path in paths if path != STDIN)
    if target.name.endswith(LINES) and any(target.is_relative_to(one) for one in folders):
        raise InputError(
            str(file),
            "lies where the states are read from, and would be read as one of them",
            "a results file elsewhere, or without .jsonl at its end",
        )


def heading(
    kind: str, paths: Sequence[str], now: datetime | None, **asked: object
) -> dict[str, Any]:
    """Return all that the rows of a results file depend on, but what the states' files hold."""
    return {
        "schema": SCHEMA_VERSION,
        "kind": kind,
        "version": _VERSION,
        "states": list(paths),
        "now": None if now is None else now.isoformat(),
        **asked,
    }


def _answer(work: Callable[[Instance], Record], release: str, packed: Packed) -> Mapping[str, Any]:
    return work(open_packed(packed, release)).model_dump(mode="json")


def read_row(row: Row, model: type[RecordT], where: str) -> RecordT:
    """Read what a row of a task that is done says.

    Raises
    ------
    SchemaError
        If it says nothing of the kind: a file of rows, ``where``, may be anybody's.
    """
    try:
        return model.model_validate(row.result)
    except ValidationError as error:
        item = Item(where, ("result",), row.result or {})
        raise schema_error(item, f"the row of {row.key}", error, error.error_count()) from None
