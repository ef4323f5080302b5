"""A scheduler as the rest of the planner sees it: its words, and the module of each of its parts.

A package that does something for every scheduler says in a protocol what it needs of one, declares
a `Part` with it, and never names a scheduler. The part of each scheduler stands in a folder or
module of its own, mostly in the same package, and is loaded when it is first asked for: a plan
needs no simulation, and a check no solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, Protocol, TypeVar, cast

from msgspec import Struct, field

from planner.errors import SchemaError, UnsupportedError
from planner.wing import load, wings

T_co = TypeVar("T_co", covariant=True)


class Words(Struct, frozen=True):
    """The words of a scheduler's project, for messages and reports.

    ``verb`` is taking a victim, ``noun`` a victim, ``queue`` the place where a victim runs.
    ``outside`` is the sentence about a plan of the scheduler's own that breaks the law ``{law}``;
    ``judge`` names, with its verb, the calculation that does not permit a set of victims that the
    model permits. ``choice`` is the scheduler's own way of choosing victims. ``rules`` are its rule
    sets in words. ``terms`` has the titles of the disruption terms for which the project has other
    words than `planner.term`; victims are counted in ``noun``.
    """

    name: str
    verb: str
    noun: str
    queue: str
    outside: str
    judge: str
    choice: str = "its own choice"
    rules: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)


class Scheduler(NamedTuple):
    """A scheduler: its id in states and plans, its words, and its parts.

    ``parts`` has for each `Part`, by name, the module of this scheduler, or an attribute as
    ``module:attribute``. ``likes`` are objectives with the aims of the scheduler's own order of
    victims: by name, a summary and the levels.
    """

    id: str
    words: Words
    parts: Mapping[str, str]
    likes: Mapping[str, tuple[str, tuple[tuple[str, ...], ...]]] = MappingProxyType({})

    @property
    def scheduler(self) -> str:
        """The id, which makes a scheduler `Named` by itself."""
        return self.id


class Named(Protocol):
    """A state, a plan, or another object that says of which scheduler it is."""

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        ...


_REGISTERED: Final[dict[str, Scheduler]] = {}


def register(scheduler: Scheduler) -> None:
    """Make a scheduler known; it replaces another scheduler of the same id.

    Register before the first answer: output classes with plans of any scheduler are built once, for
    the schedulers that are known then.
    """
    _REGISTERED[scheduler.id] = scheduler


def schedulers() -> tuple[Scheduler, ...]:
    """Return all registered schedulers, in the order of registration."""
    return tuple(_REGISTERED.values())


def find_scheduler(name: str) -> Scheduler | None:
    """Return the scheduler of an id; ``None`` if it is not registered."""
    return _REGISTERED.get(name)


def scheduler_of(thing: Named) -> Scheduler:
    """Return the scheduler of a state or a plan.

    Raises
    ------
    UnsupportedError
        If it is not registered.
    SchemaError
        If the thing is neither a state nor an answer.
    """
    name = getattr(thing, "scheduler", None)
    if not isinstance(name, str):
        found_here = f"{type(thing).__name__} is neither a state nor an answer"
        raise SchemaError("", found_here, "what planner.read returned, or what was made of it")
    found = find_scheduler(name)
    if found is None:
        raise UnsupportedError("scheduler", f'"{name}" is not registered', ", ".join(_REGISTERED))
    return found


class Part(Generic[T_co]):
    """A part that a package asks of every scheduler; the package's protocol is its type."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def find(self, thing: Named) -> T_co | None:
        """Return this part of a scheduler; ``None`` if it has none, which is no error."""
        return self._load(scheduler_of(thing))

    def of(self, thing: Named, hint: str = "") -> T_co:
        """Return this part of the scheduler of a state or plan; ``hint`` is for the error.

        Raises
        ------
        UnsupportedError
            If the scheduler has no such part.
        """
        scheduler = scheduler_of(thing)
        found = self._load(scheduler)
        if found is None:
            having = [one.words.name for one in schedulers() if self._place(one)]
            expected = f"a state of {' or '.join(having)}" if having else ""
            said = f"nothing is known about its {self.name}"
            raise UnsupportedError(scheduler.words.name, said, expected, hint)
        return found

    def of_all(self) -> list[T_co]:
        """Return this part of every scheduler that has it, in the order of registration."""
        found = map(self._load, schedulers())
        return [part for part in found if part is not None]

    def _load(self, scheduler: Scheduler) -> T_co | None:
        place = self._place(scheduler)
        return None if place is None else cast("T_co", load(place))

    def _place(self, scheduler: Scheduler) -> str | None:
        """Return where the part is: of the core, or of a wing."""
        if self.name in scheduler.parts:
            return scheduler.parts[self.name]
        in_wings = (one.parts.get(scheduler.id, {}) for one in wings())
        return next((places[self.name] for places in in_wings if self.name in places), None)
