"""What is asked of many states, and the batch: each is a task, here, in others, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from pydantic import ValidationError

from planner.batch import WAIT_S, Limits, Progress, Results, Task, Work, run
from planner.commands.audit.instance import (
    LINES,
    STDIN,
    Instance,
    Packed,
    count_states,
    open_packed,
    packed_states,
)
from planner.commands.audit.record import Failure
from planner.errors import InputError, InternalError, PlannerError
from planner.plan.base import Assume, Record
from planner.plan.record import SCHEMA_VERSION
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.solver.start import Given
from planner.state import AUTO, RequestsFrom

AnswerT = TypeVar("AnswerT")
RecordT = TypeVar("RecordT", bound=Record)

_VERSION: Final = version("preemption-planner")


class Settings(Struct, frozen=True):
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

    def run(
        self, tasks: Iterable[Task], work: Work, header: Mapping[str, Any], total: int | None
    ) -> Results:
        """Do the work on every task, as `planner.batch.run` does under these settings."""
        return run(tasks, work, header=header, total=total, **asdict(self))


HERE: Final = Settings(jobs=1)
"""One state after the other, in this process."""


class Asked(Struct, frozen=True, kw_only=True):
    """What is asked of every state, whatever it is asked for: the clock, the rules, who waits.

    ``rules`` is the side that is taken where YuniKorn's written laws and its code differ.
    ``pending`` is the only one asked about, if it is given. ``assume`` is the user's word that
    what is not modelled decides nothing. ``release`` is the release of Kueue whose rules hold;
    ``auto`` that of each state. ``requests`` is as for ``planner.read``.
    """

    now: datetime | None = None
    rules: str | None = None
    pending: str | None = None
    assume: Assume | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"

    def of_each(
        self,
        instance: Instance,
        given: Given,
        answer: Callable[[Given], AnswerT],
        failures: list[Failure],
    ) -> Iterator[AnswerT]:
        """Yield the answer for every pending workload of a state.

        One that cannot be planned for is added to the failures, and does not stop the others.

        Raises
        ------
        InternalError
            If a plan fails its own verification.
        """
        for pending in (self.pending,) if self.pending else instance.pending:
            try:
                found = answer(replace(given, pending=pending))
            except InternalError:
                raise
            except PlannerError as error:
                failures.append(Failure(state=instance.name, pending=pending, detail=str(error)))
            else:
                yield found


QuestionT = TypeVar("QuestionT", bound=Asked)


def sweep(  # noqa: PLR0913, PLR0917 - what a sweep of many states needs
    paths: Sequence[str],
    work: Callable[[Instance, QuestionT], RecordT],
    model: type[RecordT],
    question: QuestionT,
    settings: Settings,
    max_bytes: int,
    kind: str,
    **asked: object,
) -> Iterator[RecordT]:
    """Yield the answer for every state of some files and folders.

    A state that could not be worked on has an answer with the failure alone.

    Parameters
    ----------
    work, model
        What answers for one state, perhaps in another process, to which it must be sent; and
        what it returns: a record with the fields ``state`` and ``failures``.
    question, kind, asked
        All that the rows of a results file depend on, but what the states' files hold. It is the
        first line of that file.

    Raises
    ------
    InputError
        If a file cannot be read, the results file cannot be used, or there is no state at all.
    SchemaError
        If a row says nothing of the kind: a results file may be anybody's.
    """
    if settings.file is not None:
        # A results file must not be read as states while it grows, without an end.
        target = settings.file.resolve()
        folders = (Path(path).resolve() for path in paths if path != STDIN)
        if target.name.endswith(LINES) and any(target.is_relative_to(one) for one in folders):
            raise InputError(
                str(settings.file),
                "lies where the states are read from, and would be read as one of them",
                "a results file elsewhere, or without .jsonl at its end",
            )
    packed = (one for path in paths for one in packed_states(path, max_bytes))
    header = {
        "schema": SCHEMA_VERSION,
        "kind": kind,
        "version": _VERSION,
        "states": list(paths),
        "now": None if question.now is None else question.now.isoformat(),
        "release": question.release,
        "requests": question.requests,
        **asked,
        "rules": question.rules,
        "pending": question.pending,
        "assume": question.assume,
    }
    tasks = (Task(one.name, one, one.digest) for one in packed)
    total = count_states(paths) if settings.watch else None
    for row in settings.run(tasks, partial(_answer, work, question), header, total):
        value: Mapping[str, Any] = row.result or {}
        if row.outcome != "done":
            failure = Failure(state=row.key, outcome=row.outcome, detail=row.detail)
            value = {"state": row.key, "failures": (failure,)}
        try:
            yield model.model_validate(value, context=asked)
        except ValidationError as error:
            item = Item(str(settings.file or ""), ("result",), dict(value))
            raise schema_error(item, f"the row of {row.key}", error, error.error_count()) from None


def _answer(
    work: Callable[[Instance, QuestionT], Record], question: QuestionT, packed: Packed
) -> Mapping[str, Any]:
    instance = open_packed(packed, question.release, question.requests)
    return work(instance, question).model_dump(mode="json")
