"""What every verb of the library does first: it refuses arguments of a wrong kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, wraps
from numbers import Integral, Real
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct
from msgspec.structs import asdict

from planner.errors import SchemaError
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.state import AnyState

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")


class Kind(NamedTuple):
    """What an argument must be: a test, what is said of one that fails it, and what is right.

    An argument that fails is named by its type, or ``quoted`` as it is.
    """

    holds: Callable[[Any], bool]
    found: str
    expected: str
    hint: str = ""
    quoted: bool = False


def _is_state(thing: object) -> bool:
    return hasattr(thing, "scheduler") and hasattr(thing, "source")


def _is_plan(thing: object) -> bool:
    return hasattr(thing, "scheduler") and hasattr(thing, "keys")


def _is_objective(thing: object) -> bool:
    return isinstance(thing, str) or hasattr(thing, "levels")


def _are_objectives(thing: object) -> bool:
    return isinstance(thing, list | tuple) and all(map(_is_objective, thing))


def _are_texts(thing: object) -> bool:
    return isinstance(thing, Collection) and all(isinstance(one, str) for one in thing)


def _are_several(thing: object) -> bool:
    return not isinstance(thing, str) and _are_texts(thing)


def _is_text(thing: object) -> bool:
    return isinstance(thing, str) and thing != ""


def _is_number(thing: object) -> bool:
    return isinstance(thing, Real) and not isinstance(thing, bool)


def _is_whole(thing: object) -> bool:
    return isinstance(thing, Integral) and not isinstance(thing, bool)


def _one_of(*classes: type) -> Callable[[object], bool]:
    return lambda thing: isinstance(thing, classes)


class AnyQuestion(Struct, frozen=True):
    """What a verb is asked besides its state, in one record; its fields are checked likewise."""


FUNCTION: Final = Kind(callable, "cannot be used", "a function")
Options = frozenset[object]
"""The types that an argument may have, each by itself; ``None`` is told by `NoneType`."""

_NO_USE: Final = "cannot be used"
_READ: Final = "what planner.read returns"
_OBJECTIVE: Final = "the name of a profile, the path of a TOML file that holds one, or a profile"
KINDS: Final[Mapping[Options, Kind]] = {
    frozenset(types): kind
    for types, kind in (
        (
            (AnyState,),
            Kind(_is_state, "is no state", _READ, "planner.read(path) makes a state of a file"),
        ),
        (
            (AnyPlan,),
            Kind(
                _is_plan,
                "is no plan",
                "what planner.solve returns",
                "planner.Plan.model_validate_json reads one",
            ),
        ),
        ((str,), Kind(_is_text, _NO_USE, "a text that is not empty")),
        ((str, Profile), Kind(_is_objective, _NO_USE, _OBJECTIVE)),
        (
            (Sequence[str | Profile],),
            Kind(_are_objectives, _NO_USE, f"a list, of each objective {_OBJECTIVE}"),
        ),
        (
            (Mapping[str, int],),
            Kind(_one_of(Mapping), _NO_USE, "a mapping of keys to whole numbers"),
        ),
        ((datetime, str), Kind(_one_of(str, datetime), _NO_USE, "a time, or the text of one")),
        ((float,), Kind(_is_number, _NO_USE, "a number of seconds")),
        ((int,), Kind(_is_whole, _NO_USE, "a whole number")),
        ((bool,), Kind(_one_of(bool), _NO_USE, "True or False")),
        ((bool, NoneType), Kind(_one_of(bool), _NO_USE, "True, False or None")),
    )
}
"""The kinds of arguments that fail deep inside otherwise, by their types."""
LISTS: Final[Mapping[str, Kind]] = {
    "pending": Kind(_are_several, _NO_USE, "a list of workloads"),
    "added": Kind(_are_texts, _NO_USE, "a list of workloads"),
    "edits": Kind(_are_texts, _NO_USE, "a list of edits"),
    "ignore": Kind(_are_several, _NO_USE, "a list of codes"),
}
"""The kinds of lists of texts, by the names of their parameters."""


def declared(asked: Callable[..., object]) -> dict[str, Options]:
    """Return the types of the parameters of a verb, or of the fields of a question, by name."""
    # What is returned may be known to type checkers only.
    texts = {name: one for name, one in asked.__annotations__.items() if name != "return"}
    names = vars(sys.modules[asked.__module__])
    hints = get_type_hints(SimpleNamespace(__annotations__=texts), names)
    return {
        name: frozenset(get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,))
        for name, hint in hints.items()
    }


def kind_of(name: str, options: Options) -> Kind | None:
    """Return the kind of a parameter; ``None`` for those that the verb itself looks at."""
    kinds = options - {NoneType}
    if any(get_origin(one) is Callable for one in kinds):
        return FUNCTION
    if kinds == {Sequence[str]}:
        return LISTS[name]
    words = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    if words:
        expected = " or ".join(words) + (", or nothing" if NoneType in options else "")
        return Kind(lambda thing: thing in words, _NO_USE, expected, quoted=True)
    return KINDS.get(options) or KINDS.get(kinds)


def verb(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Let a public function refuse arguments of a wrong kind before it begins.

    Raises ``SchemaError`` if a state, a plan or another argument is of another kind than it is
    declared.
    """
    names = function.__code__.co_varnames

    @wraps(function)
    def checked(*args: Asked.args, **named: Asked.kwargs) -> Answer:
        given = {**dict(zip(names, args, strict=False)), **named}
        _check(function, given.items())
        return function(*args, **named)

    return checked


@cache
def _kinds(asked: Callable[..., object]) -> dict[str, tuple[Kind | None, bool]]:
    return {
        name: (kind_of(name, options), NoneType in options)
        for name, options in declared(asked).items()
    }


def _check(asked: Callable[..., object], given: Iterable[tuple[str, object]]) -> None:
    for name, thing in given:
        if isinstance(thing, AnyQuestion):
            _check(type(thing), asdict(thing).items())
        kind, optional = _kinds(asked).get(name, (None, False))
        if kind is None or (thing is None and optional) or kind.holds(thing):
            continue
        where = "" if name in {"state", "plan"} else name
        said = repr(thing) if kind.quoted else type(thing).__name__
        raise SchemaError(where, f"{said} {kind.found}", kind.expected, kind.hint)
