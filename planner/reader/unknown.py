"""Fields and kinds which the planner does not read: counted, or left out of an object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from planner.reader.items import Item, Kind
from planner.reader.show import plain
from planner.state.base import Metadata, kubernetes_name


@dataclass
class Ignored:
    """The fields and kinds that a reading ignored, and how often."""

    fields: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)


def unknown_fields(items: Iterable[tuple[Kind, Item]]) -> Counter[str]:
    """Count the fields that were not read, such as ``{"Workload.spec.foo": 3}``.

    Fields of ``metadata`` are left out, since every object has many of them, and so is what
    stands below a field that was not read.
    """
    counts: Counter[str] = Counter()
    for kind, item in items:
        counts.update(_unknown(kind.name, kind.model, item.value))
    return counts


def misplaced(model: type[BaseModel], value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield fields of a spec that are read only one level below, and the fields that are."""
    spec, written = _known(model).get("spec"), value.get("spec")
    if spec is None or not isinstance(written, dict):
        return
    known = _known(spec)
    for key in (one for one in written if one not in known):
        for parent, below in known.items():
            if below is not None and "_" not in parent and key in _known(below):
                yield f"spec.{plain(key)}", f"spec.{parent}.{plain(key)}"


def known_part(model: type[BaseModel], value: dict[str, Any]) -> dict[str, Any]:
    """Return an object with only the fields that are read, at any depth; metadata stays whole."""
    known = _known(model)
    return {key: _part(known[key], each) for key, each in value.items() if key in known}


def _part(model: type[BaseModel] | None, value: object) -> object:
    if model is None:
        return value
    if isinstance(value, list):
        return [_part(model, each) for each in value]
    return known_part(model, value) if isinstance(value, dict) else value


def _unknown(path: str, model: type[BaseModel], value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _unknown(path, model, each)
    elif isinstance(value, dict):
        known = _known(model)
        for key, each in value.items():
            below = known.get(key)
            if below is not None:
                yield from _unknown(f"{path}.{key}", below, each)
            elif key not in known:
                yield f"{path}.{plain(str(key))}"


@cache
def _known(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """Return the names that a model reads, each with the model of its value, if that has one."""
    names: dict[str, type[BaseModel] | None] = dict.fromkeys(
        ("apiVersion", "kind", *getattr(model, "also_read", ()))
    )
    for name, info in model.model_fields.items():
        below = _model_in(info.annotation)
        below = None if below is Metadata else below
        names |= dict.fromkeys({name, *aliases(name, info)}, below)
    return names


def aliases(name: str, info: FieldInfo) -> Iterator[str]:
    """Yield the names under which a field is read besides its own, the one in dumps first."""
    choices = info.validation_alias or kubernetes_name(name)  # older pydantic fills it in late
    if isinstance(choices, AliasChoices):
        yield from (choice for choice in choices.choices if isinstance(choice, str))
    elif isinstance(choices, str):
        yield choices


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model in an annotation such as ``tuple[PodSet, ...]`` or ``X | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        arguments = arguments[:1]
    return next((model for each in arguments if (model := _model_in(each))), None)
