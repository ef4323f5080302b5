"""A state with values changed by edits; the plans before and after; the values that can be set.

kueue_edit.py and yunikorn_edit.py say what can be set in the states of their schedulers.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Annotated, Any, Final, Protocol, TypeVar, cast

from msgspec import Struct

from planner.errors import InputError, SchemaError, did_you_mean
from planner.plan import AnyPlan, Published, Record, Status
from planner.plan.base import Told, name_some
from planner.plan.label import Label
from planner.plan.record import SchedulerId
from planner.reader.complaint import checked
from planner.reader.items import Item, items_of
from planner.reader.parse import parse
from planner.reader.source import load
from planner.scheduler import scheduler_of
from planner.state import AnyState
from planner.state.base import Schema, kubernetes_name

ABSENT: Final = "none"
"""Written for a value that is absent, such as a limit that does not bind."""

_WORDS: Final[Mapping[str, bool | None]] = {ABSENT: None, "true": True, "false": False}
ANY_NUMBER: Final = sys.maxsize
MAX_BYTES: Final = 16 * 2**20
"""The most that is read of a file of manifests."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,30}")

Place = tuple[tuple[str | int, ...], str]
"""The steps to a part of an object, and the Kubernetes name of a field of that part."""

WholeT = TypeVar("WholeT")
StateT = TypeVar("StateT", bound=AnyState)


class Setting(Struct, frozen=True):
    """One edit as it was written: what is to be set, and the text of the new value."""

    text: str
    target: str
    value: str

    @property
    def where(self) -> str:
        """The edit, for messages."""
        return f"edit {self.text}"

    def refused(self, found: str, expected: str, hint: str = "") -> SchemaError:
        """Return an error about this edit."""
        return SchemaError(self.where, found, expected, hint)

    def unknown(self, what: str, name: str, known: Sequence[str]) -> SchemaError:
        """Return an error about a name that is not there, with the known names."""
        shown = name_some(known, _MOST_SHOWN) or "none: there is nothing to set"
        hint = did_you_mean(name, known)
        return self.refused(f'there is no {what} "{name}"', f"one of {shown}", hint)

    def split(self, what: str, rest: str, names: Sequence[str], meant: str) -> tuple[str, str]:
        """Split ``rest`` into the name that it begins with, and a field; names may have points.

        ``meant`` is the name that the error gives to a ``what`` that is not among the names.
        """
        fitting = [name for name in names if rest.startswith(f"{name}.")]
        if not fitting:
            raise self.unknown(what, meant, names)
        name = max(fitting, key=len)
        return name, rest.removeprefix(f"{name}.")


_MOST_SHOWN: Final = 12


def changed(whole: WholeT, steps: Sequence[str | int], change: Callable[[Any], Any]) -> WholeT:
    """Return a copy with a part changed; steps to it are names of fields and places in tuples."""
    found: object
    if not steps:
        found = change(whole)
    elif isinstance(first := steps[0], int):
        parts = cast("tuple[object, ...]", whole)
        inner = changed(parts[first], steps[1:], change)
        found = (*parts[:first], inner, *parts[first + 1 :])
    else:
        inner = changed(getattr(whole, first), steps[1:], change)
        found = cast("Schema", whole).model_copy(update={first: inner})
    return cast("WholeT", found)


def own_name(model: type[Schema], field: str) -> str:
    """Return the name in this program of a field with a Kubernetes name."""
    found = model.model_fields.items()
    return next(own for own, one in found if field in {own, one.alias or kubernetes_name(own)})


def replaced(
    whole: WholeT, steps: Sequence[str | int], field: str, setting: Setting, subject: str
) -> WholeT:
    """Return a copy in which one field has the new value; steps lead to the part with the field.

    ``field`` is its Kubernetes name, ``subject`` what to call the object in messages.

    Raises ``SchemaError`` if the field cannot have the value.
    """

    def with_value(part: Schema) -> Schema:
        fields, name = type(part).model_fields, own_name(type(part), field)
        # What else the object must have, lest it be called missing; of a quantity any will do.
        required = {own: getattr(part, own) for own, info in fields.items() if info.is_required()}
        given: dict[str, Any] = {
            own: value if isinstance(value, str) else 0
            for own, value in required.items()
            if isinstance(value, str | int)
        }
        # As YAML would read it: a whole number, true or false, ``none``, or a text.
        number = int(setting.value) if _WHOLE.fullmatch(setting.value) else setting.value
        given[field] = _WORDS.get(setting.value, number)
        if given[field] is None and fields[name].default == "":
            del given[field]  # an absent name
        read = checked(type(part), given, setting.where, (), subject)
        return part.model_copy(update={name: getattr(read, name)})

    return changed(whole, steps, with_value)


def read_submissions(source: str | PathLike[str]) -> tuple[Item, ...]:
    """Read the objects of a file of manifests: any number of documents and lists.

    Raises ``InputError`` if it cannot be read, or holds something that is no object.
    """
    items: list[Item] = []
    for document in [one for text in load(source, MAX_BYTES).texts for one in parse(text)]:
        value = document.value
        known = isinstance(value, dict) and {"kind", "apiVersion"} & value.keys()
        if isinstance(value, dict) and not known and "spec" in value:
            items.append(Item(document.where, (), value))  # a bare pod template
        else:
            items += items_of(document)
    return tuple(items)


OwnT = TypeVar("OwnT")
Submit = Callable[[OwnT, Sequence[Item], str | None, int], tuple[OwnT, tuple[str, ...]]]
"""Returns a state with the workloads that a scheduler makes of objects, in one queue or theirs.

The last argument is how many of the objects may be workloads at most.
"""


class Editing(Protocol[OwnT]):
    """What editing asks of a scheduler."""

    @property
    def EXAMPLE(self) -> str:  # noqa: N802 - a constant of a module
        """An edit as it is written."""
        ...

    def edited(self, state: OwnT, setting: Setting) -> OwnT:
        """Return the state with one value set.

        Raises ``SchemaError`` if the setting names what is not in the state, or a value that its
        field cannot have.
        """
        ...

    def waiting(self, state: OwnT, pending: Collection[str]) -> Iterator[Waiting]:
        """Yield the pending workloads or asks that have these keys."""
        ...

    def queues(self, state: OwnT) -> Iterator[Editable]:
        """Yield the objects with quota, parents before children where the state has that order."""
        ...

    def workloads(self, state: OwnT) -> Iterator[Editable]:
        """Yield the waiting workloads, then the running ones, each with its priority."""
        ...


def edit(state: StateT, assignments: Sequence[str]) -> StateT:
    """Return the state with some values set, one after the other, under a digest of its own.

    Edits are texts such as ``clusterqueue/team-a.preemption.reclaimWithinCohort=LowerPriority`` or
    ``queue/root.team-a.guaranteed.memory=64Gi``. The state that was read stays as it is.

    Raises ``SchemaError`` if a text is no edit, names what is not in the state, or a value that its
    field cannot have.
    """
    if not assignments:
        return state
    edits = scheduler_of(state).editing
    for text in assignments:
        target, equals, value = (part.strip() for part in text.partition("="))
        setting = Setting(text, target, value)
        if not equals or not target or not value:
            hint = f"such as {edits.EXAMPLE}"
            refused = setting.refused("is not an edit", "OBJECT.FIELD=VALUE", hint)
            raise refused.of_kind("option")
        try:
            state = edits.edited(state, setting)
        except InputError as error:
            raise error.of_kind("option") from None
    digest = hashlib.sha256("\n".join((state.digest, *assignments)).encode()).hexdigest()
    return state.model_copy(update={"digest": digest})


class TermChange(Record):
    """A disruption term before and after; ``None`` where there is no plan to measure."""

    term: str
    before: int | None
    after: int | None


class Move(Record):
    """Pods of the preemptor that go elsewhere: how many to each node, or other leaf."""

    pods: str
    before: dict[str, int]
    after: dict[str, int]


class Difference(Record):
    """What an edit changes of one algorithm's answer: that of a scheduler, or the ``optimum``.

    ``no_longer`` are the victims, by their keys, that only the plan before has, ``newly`` those
    that only the plan after has, each in the order of its plan. ``before`` is ``None`` if the
    preemptor was not there. ``moved`` are podsets, or the pod of an ask, that go to other places,
    where both plans name these.
    """

    algorithm: SchedulerId
    before: Status | None
    after: Status
    no_longer: tuple[str, ...]
    newly: tuple[str, ...]
    terms: tuple[TermChange, ...]
    moved: tuple[Move, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether status, victims and terms are all the same; places may not be."""
        same_terms = all(change.before == change.after for change in self.terms)
        return self.before == self.after and not (self.no_longer or self.newly) and same_terms


class WhatIf(Published, Told):
    """What edits of a state change, for one pending workload or ask.

    ``edits`` are the texts as given, ``added`` the hypothetical workloads, as namespace/name.
    ``before`` and ``after`` are optimal plans, each with the scheduler's own plan beside it;
    ``greedy`` compares the latter, ``optimum`` the former. ``before`` is ``None`` if the
    preemptor was added and nothing edited: there is no such plan.
    """

    # Pydantic follows the outermost record: infinite shares would become null.

    preemptor: str
    edits: tuple[str, ...]
    added: tuple[str, ...] = ()
    greedy: Difference
    optimum: Difference
    before: AnyPlan | None
    after: AnyPlan

    @property
    def plans(self) -> tuple[AnyPlan, ...]:
        """The plans before, if there is one, and after."""
        return (self.after,) if self.before is None else (self.before, self.after)

    @property
    def _in_a_line(self) -> str:
        """For whom it is, and what the plan was and is."""
        before = "" if self.before is None else f"{self.before.explanation}; after the edit: "
        return f"{self.preemptor}: {before}{self.after.explanation}"


def compare(
    edits: Sequence[str], before: AnyPlan | None, after: AnyPlan, added: Sequence[str] = ()
) -> WhatIf:
    """Return the difference between the optimal plans of two states.

    ``before`` is ``None`` for a preemptor that was not there; ``added`` are the hypothetical
    workloads, as namespace/name.

    Raises ``ValueError`` if a plan has no plan of the scheduler's own beside it.
    """
    if after.greedy is None or (before is not None and before.greedy is None):
        raise ValueError("both plans need the scheduler's own beside them")
    return WhatIf(
        preemptor=after.preemptor,
        edits=tuple(edits),
        added=tuple(added),
        greedy=_difference(before.greedy if before else None, after.greedy),
        optimum=_difference(before, after),
        before=before,
        after=after,
    )


def _difference(before: AnyPlan | None, after: AnyPlan) -> Difference:
    keys, was = (before.keys, before.about.where) if before else ((), {})
    then, now = set(keys), set(after.keys)
    is_plan = {"optimal", "feasible"}
    measured = [one.terms if one and one.claim in is_plan else {} for one in (before, after)]
    return Difference(
        algorithm=after.algorithm,
        before=before.status if before else None,
        after=after.status,
        no_longer=tuple(key for key in keys if key not in now),
        newly=tuple(key for key in after.keys if key not in then),
        terms=tuple(
            TermChange(term=term, before=measured[0].get(term), after=measured[1].get(term))
            for term in dict.fromkeys([*measured[0], *measured[1]])
        ),
        moved=tuple(
            Move(pods=pods, before=dict(was[pods]), after=dict(places))
            for pods, places in after.about.where.items()
            if pods in was and was[pods] != places
        ),
    )


MOST_WORKLOADS: Final = 1000
"""The most workloads that are listed with their priority; there may be a hundred thousand."""


class Waiting(Record):
    """Something pending: its key, what people call it, the queue it waits in, its priority."""

    key: Annotated[str, Label(role="key")]
    name: Annotated[str, Label("Pending", "name")]
    queue: Annotated[str, Label("Queue", "name")]
    priority: Annotated[int, Label("Priority", unit="rank")]


class Goal(Record):
    """An objective: its name, and what it is in words."""

    name: Annotated[str, Label(role="key")]
    summary: Annotated[str, Label(role="text")]


class Settable(Record):
    """One value that an edit can set.

    ``target`` is what stands before the ``=`` of the edit, ``value`` what would stand behind it for
    the value of now; it is empty where nothing is written, and a default holds. ``group`` and
    ``label`` say in words what it is. ``choices`` are all values that it can have; without any it
    is a quantity, a number, a duration or a name.
    """

    target: Annotated[str, Label("Edit", "key")]
    group: str
    label: str
    value: Annotated[str, Label("Value")]
    choices: Annotated[tuple[str, ...], Label("May be", "name")] = ()


class Editable(Record):
    """An object with what can be set in it: a queue, a cohort, a flavor, a workload."""

    kind: str
    name: str
    settings: tuple[Settable, ...]

    @classmethod
    def of_priority(cls, kind: str, key: str, name: str, priority: int) -> Editable:
        """Return a waiting or running workload, by key and name, with its priority to set."""
        target = f"{kind.lower()}/{key}.priority"
        settable = Settable(target=target, group="", label="Priority", value=str(priority))
        return cls(kind=kind, name=name, settings=(settable,))


class Settings(Published):
    """Who is pending in a state, which objectives there are, and what can be set.

    ``left_out`` is how many that run are not listed, because they are too many.
    """

    scheduler: Annotated[SchedulerId, Label()]
    pending: Annotated[tuple[Waiting, ...], Label("Pending")]
    objectives: Annotated[tuple[Goal, ...], Label()]
    objects: tuple[Editable, ...]
    left_out: Annotated[int, Label(unit="times")] = 0


def settings(state: AnyState, pending: Iterable[str], objectives: Mapping[str, str]) -> Settings:
    """Return who is pending, by keys in the order of the dump, and what can be set.

    ``objectives`` says what each objective is in words, by its name.
    """
    listed, keys = scheduler_of(state).editing, tuple(pending)
    workloads = listed.workloads(state)
    shown = tuple(islice(workloads, MOST_WORKLOADS))
    return Settings(
        scheduler=state.scheduler,
        pending=tuple(listed.waiting(state, keys)),
        objectives=tuple(Goal(name=name, summary=said) for name, said in objectives.items()),
        objects=(*listed.queues(state), *shown),
        left_out=sum(1 for _ in workloads),
    )
