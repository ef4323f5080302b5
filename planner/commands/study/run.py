"""A question asked of every pending workload of every state: here, in processes, or on a cluster.

Each state is a task, and its answers are a row of the results file, with which a run goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace
from pydantic import ValidationError

from planner.batch import Row, Settings, Task, run
from planner.commands.study.instance import (
    Instance,
    Packed,
    count_states,
    find_places,
    open_packed,
    packed_at,
    refuse_as_state,
)
from planner.commands.study.record import Answered, Failure, RowT
from planner.errors import InputError, InternalError, PlannerError, SchemaError, one_line
from planner.plan import SCHEMA_VERSION
from planner.plan.base import Assume
from planner.reader import MAX_BYTES
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.reader.source import printable
from planner.solver.start import Given
from planner.state import AUTO, RequestsFrom


class Named(Protocol):
    """What answers are told apart by: an objective or an algorithm."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


NamedT = TypeVar("NamedT", bound=Named)
AnswerT = TypeVar("AnswerT")

_VERSION: Final = version("preemption-planner")


def each_once(some: Iterable[NamedT], what: str) -> tuple[NamedT, ...]:
    """Return objectives or algorithms, each once, in order; ``what`` says which they are.

    Raises ``SchemaError`` if there is none, or two have the same name.
    """
    found: dict[str, NamedT] = {}
    for one in some:
        if found.setdefault(one.name, one) != one:
            raise SchemaError(what, f'two objectives have the name "{one.name}"', "a name for each")
    if not found:
        raise SchemaError(what, "none is given", f"one {what}, or more")
    return tuple(found.values())


HERE: Final = Settings(jobs=1)
"""One state after the other, in this process."""


class Asked(Struct, Generic[RowT], frozen=True, kw_only=True):
    """A question about states: what every one says, and what each kind of question adds.

    ``rules`` is the side that is taken where YuniKorn's written laws and its code differ.
    ``pending`` is the only workload to answer for, if given. ``assume`` is the user's word that
    what is not modelled plays no part. ``release`` is the release of Kueue whose rules hold;
    ``auto`` that of each state. ``requests`` is as for ``planner.read``.

    ``kind`` names the kind in results files; ``model`` is the class of the answers about a state.
    """

    kind: ClassVar[str]
    model: ClassVar[type[Answered[Any]]]
    now: datetime | None = None
    rules: str | None = None
    pending: str | None = None
    assume: Assume | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"

    @property
    def more(self) -> Mapping[str, object]:
        """What else rows depend on, besides these fields and the states."""
        raise NotImplementedError

    def answer(self, instance: Instance) -> Answered[RowT]:
        """Answer for every pending workload of a state, perhaps in another process.

        Raises ``InternalError`` if a plan fails its own verification.
        """
        raise NotImplementedError

    def of_each(
        self,
        instance: Instance,
        given: Given,
        answer: Callable[[Given], Iterable[RowT]],
        queues: Iterable[str] = (),
    ) -> Answered[RowT]:
        """Return the rows that ``answer`` gives for every pending workload of a state.

        Then those for ``queues`` above a lowered maximum, unless one workload alone is asked for.
        One that cannot be planned for becomes a failure, and does not stop the others.
        """
        rows: list[RowT] = []
        failures: list[Failure] = []
        waiting = (self.pending,) if self.pending else instance.pending
        every = [replace(given, pending=one) for one in waiting]
        if not self.pending:
            every += [replace(given, quota=one, rules=None) for one in queues]
        for one in every:
            try:
                rows += [*answer(one)]
            except InternalError:
                raise
            except PlannerError as error:
                why, name = one_line(str(error)), one.quota or one.pending
                failures.append(Failure(state=instance.name, pending=name, detail=why))
        return self.model(state=instance.name, rows=tuple(rows), failures=tuple(failures))


def sweep(
    paths: Sequence[str],
    question: Asked[RowT],
    settings: Settings = HERE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[Answered[RowT]]:
    """Yield the answers for every state of files and folders.

    A state that cannot be read or worked on is a failure; it does not stop the others. The
    question is all that the rows of a results file depend on besides the states themselves: it
    stands in the first line of that file.

    Raises ``InputError`` if there are no states (see `find_places`) or one is there twice; see
    `planner.batch.run` for what else; ``SchemaError`` if a row of the file is none of these.
    """
    if settings.file is not None:
        refuse_as_state(str(settings.file), settings.file, paths)
    places = [place for path in paths for place in find_places(path, max_bytes)]
    counted = Counter(Path(place.path).absolute() for place in places)
    if twice := [file for file, count in counted.items() if count > 1]:
        raise InputError(printable(str(twice[0])), "is there twice", hint="give every state once")
    header = {
        "schema": SCHEMA_VERSION,
        "kind": question.kind,
        "version": _VERSION,
        "states": list(paths),
        "now": None if question.now is None else question.now.isoformat(),
        "release": question.release,
        "requests": question.requests,
        "max_bytes": max_bytes,
        "limits": asdict(settings.limits),
        **question.more,
        "rules": question.rules,
        "pending": question.pending,
        "assume": question.assume,
    }
    packed = (one for place in places for one in packed_at(place, max_bytes))
    tasks = (Task(one.name, one, one.digest) for one in packed)
    if settings.watch:
        settings = replace(settings, total=count_states(places, max_bytes))
    has_lines = {place.where: place.lines for place in places}

    def mine(key: str) -> bool:
        return key in has_lines or has_lines.get(key.rpartition(": line ")[0], False)

    work = partial(_answer, question)
    rows = run(tasks, work, settings, header=header, mine=mine)
    return (answers_of(row, question.model, header, settings.file) for row in rows)


def answers_of(
    row: Row, model: type[Answered[RowT]], header: Mapping[str, Any], file: Path | None
) -> Answered[RowT]:
    """Return the answers of a row; where the work could not be done they have the failure alone.

    ``header`` is the context in which rows are read. Raises ``SchemaError`` if the row is no
    ``model``: anybody may have written that file.
    """
    value: Mapping[str, Any] = row.result or {}
    if row.outcome != "done":
        failure = Failure(state=row.key, outcome=row.outcome, detail=row.detail)
        value = {"state": row.key, "failures": (failure,)}
    try:
        return model.model_validate(value, context=header)
    except ValidationError as error:
        item = Item(str(file or ""), ("result",), dict(value))
        subject = f"the row of {row.key}"
        raise schema_error(item, subject, error, error.error_count()) from None


def _answer(question: Asked[Any], packed: Packed) -> Mapping[str, Any]:
    instance = open_packed(packed, question.release, question.requests, question.now)
    return question.answer(instance).model_dump(mode="json")
