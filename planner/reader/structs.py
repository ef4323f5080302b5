"""The schema for a fast reader: what it accepts is valid; what it refuses may be valid, too.

msgspec checks JSON text while it parses it, without a tree of dictionaries in between. Its types
are made here from the models of ``planner.state``, so that there is one schema. They accept less
than the models: a text that they refuse is read again by the models, which say what is wrong.
"""

from __future__ import annotations

import builtins
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import annotated_types
import msgspec
from pydantic import (
    BaseModel,
    BeforeValidator,
    PlainSerializer,
    Strict,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.fields import FieldInfo

from planner.reader.unknown import aliases
from planner.state.base import Amount, AsRead, Quantity, Time

_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)\Z"
_LONGEST: Final = 64
_LARGEST: Final = 2**62
_QUANTITY: Final = (
    Annotated[str, msgspec.Meta(pattern=r"\A[+-]?" + _NUMBER, max_length=_LONGEST)]
    | Annotated[int, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]
)
_AMOUNT: Final = (
    Annotated[str, msgspec.Meta(pattern=r"\A\+?" + _NUMBER, max_length=_LONGEST)]
    | Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
)
"""Amounts are checked by a pattern: a Python call per amount would take longer than all else."""
_TIME: Final = str
"""Times stay text, which `quick_time` reads: msgspec also reads ``+0000``, which a model refuses,
and rounds a fraction of a second, which a model cuts off."""
_TRAP: Final = Literal["\0"]
"""The type of a field under its other names: no value fits, so the model reads the object."""


def quick_time(text: str) -> datetime | None:
    """Return the time of a text as Kubernetes writes it; ``None`` where the model has to read it.

    Such a text is ``2026-03-08T21:06:00Z``: whole seconds of UTC. Go's zero time is none.
    """
    # As long as the example; the zero time is in the year 1.
    if len(text) != 20 or text[4::3] != "--T::Z" or text.startswith("0001"):  # noqa: PLR2004
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # such as the 30th of February
        return None


def _validator(kind: object) -> object:
    """Return the function that reads a scalar of the schema."""
    return next(one.func for one in get_args(kind) if isinstance(one, BeforeValidator))


_READ_BY: Final[Mapping[Any, Any]] = {
    _validator(Amount): _AMOUNT,
    _validator(Quantity): _QUANTITY,
    _validator(Time): _TIME,
    _validator(AsRead): Any,
}
_KNOWN: Final = frozenset({"_null_means_absent"})
"""Validators of models that the types of the fields make superfluous."""
_HARMLESS: Final = "planner.state.base"
"""The module whose validators only drop values or share them: without them a type is stricter."""


@cache
def struct_of(model: type[BaseModel]) -> type[msgspec.Struct]:
    """Return the type of msgspec that is made from a model; its fields have the model's names.

    Raises ``TypeError`` if the model has a field, or a validator, that this module cannot check.
    """
    validators = model.__pydantic_decorators__.model_validators.keys() - _KNOWN
    wrong: Callable[[Any], bool] | None = getattr(model, "wrong_as_a_whole", None)
    more: Mapping[str, Any] = getattr(model, "also_read", {})
    if validators and not more and wrong is None:
        raise TypeError(model)
    fields: list[tuple[str, Any, Any]] = []
    names: dict[str, str] = {}
    for name, info in model.model_fields.items():
        first, *others = dict.fromkeys((*aliases(name, info), name))
        kind = _checked(info.annotation, info.metadata)
        if info.is_required():
            fields.append((name, kind, msgspec.NODEFAULT))
        else:  # null counts as absent, as for the model
            fields.append((name, kind | None, None))
        names[name] = first
        for other in others:
            trap = f"other_{len(fields)}"
            fields.append((trap, _TRAP, ""))
            names[trap] = other
    fields += [(name, _checked(kind), "") for name, kind in more.items()]

    def refuse(self: object) -> None:
        if wrong is not None and wrong(self):
            raise ValueError

    # The parser calls this on each object.
    after = {} if wrong is None else {"__post_init__": refuse}
    name = f"{model.__name__}Text"
    # JSON has no cycles, so the garbage collector need not look at objects that are read from it.
    return msgspec.defstruct(name, fields, rename=names, gc=False, namespace=after)


def _checked(kind: object, notes: Iterable[Any] = ()) -> Any:  # noqa: ANN401 - any annotation
    """Return the type of msgspec for an annotation and its metadata."""
    bounds: dict[str, Any] = {}
    for note in _flat(notes):
        match note:
            case BeforeValidator() if note.func in _READ_BY:
                return _READ_BY[note.func]
            case BeforeValidator() | WrapValidator() if note.func.__module__ == _HARMLESS:
                pass
            case StringConstraints():
                bounds |= {"min_length": note.min_length, "max_length": note.max_length}
            case annotated_types.Ge():
                bounds["ge"] = note.ge
            case annotated_types.Le():
                bounds["le"] = note.le
            case Strict() | PlainSerializer() | WithJsonSchema():
                pass
            case _:
                raise TypeError(note)
    found = _plain(kind)
    return Annotated[found, msgspec.Meta(**bounds)] if bounds else found


def _flat(notes: Iterable[Any]) -> Iterator[Any]:
    for note in notes:
        if isinstance(note, FieldInfo):
            yield from _flat(note.metadata)
        else:
            yield note


def _plain(kind: object) -> object:
    arguments = get_args(kind)
    match get_origin(kind):
        case None if isinstance(kind, type) and issubclass(kind, BaseModel):
            return struct_of(kind)
        case _ if kind in {str, int, bool, NoneType} or get_origin(kind) is Literal:
            return kind
        case _ if get_origin(kind) is Annotated:
            return _checked(arguments[0], arguments[1:])
        case builtins.tuple:
            return tuple[_checked(arguments[0]), ...]  # type: ignore[misc] # made as it runs
        case builtins.dict:
            return dict[str, _checked(arguments[1])]  # type: ignore[misc] # made as it runs
        case typing.Union | types.UnionType:
            return Union[tuple(_checked(one) for one in arguments)]  # noqa: UP007 - of a list
        case _:
            raise TypeError(kind)
