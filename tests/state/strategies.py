"""Objects of any class of ours, drawn from the annotations of its fields."""

import types
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from planner.state import base, yunikorn
from planner.state.kueue import Workload, Workloads

Strategy = st.SearchStrategy[Any]

MOST: Final = 2
"""How many entries a list or mapping has at most."""

_SUFFIXES: Final = ["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e-7", "e0", "e20", "E99"]
_DIGITS: Final = st.from_regex(r"[0-9]{1,29}(\.[0-9]{0,29})?", fullmatch=True)
_AMOUNTS: Final = st.builds("{}{}".format, _DIGITS, st.sampled_from(_SUFFIXES))
_QUANTITIES: Final = st.builds("{}{}".format, st.sampled_from(["", "-"]), _AMOUNTS)
_YUNIKORN: Final = st.builds(
    "{}{}".format, st.integers(0, 7), st.sampled_from(["", "k", "M", "E", "Ki", "Gi", "Ti", "Ei"])
)


def _reader_of(annotated: Any) -> object:
    return get_args(annotated)[1].func


_BY_READER: Final[dict[object, Strategy]] = {
    _reader_of(base.Amount): _AMOUNTS,
    _reader_of(base.Quantity): _QUANTITIES,
    _reader_of(yunikorn.Quantities): st.dictionaries(
        st.sampled_from(["memory", "pods", "nvidia.com/gpu"]), _YUNIKORN, max_size=MOST
    ).flatmap(
        lambda rest: st.sampled_from([7, "1500m", "2k"]).map(lambda vcore: {**rest, "vcore": vcore})
    ),
}
"""What is written where one of the schema's own readers stands before a field."""

_TIMES: Final = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
_ANY: Final = st.sampled_from(["text", 7, {"of": ["a", "list"]}])
_PLAIN: Final[dict[object, Callable[[tuple[object, ...]], Strategy]]] = {
    bool: lambda _: st.booleans(),
    int: lambda bounds: st.integers(
        next((one.ge for one in bounds if isinstance(one, Ge)), None),  # type: ignore[arg-type]
        next((one.le for one in bounds if isinstance(one, Le)), None),  # type: ignore[arg-type]
    ),
    float: lambda _: st.floats(allow_nan=False, allow_infinity=False),
    str: lambda bounds: st.text(
        st.characters(exclude_categories=["Cs"]),
        min_size=max((one.min_length for one in bounds if isinstance(one, MinLen)), default=0),
        max_size=min((one.max_length for one in bounds if isinstance(one, MaxLen)), default=9),
    ),
    datetime: lambda _: _TIMES,
    object: lambda _: _ANY,
    Any: lambda _: _ANY,
    types.NoneType: lambda _: st.none(),
}


@cache
def objects(model: type[BaseModel]) -> Strategy:
    """Return a strategy for what an object of a class can be made of."""
    has_infinity = model.model_config.get("ser_json_inf_nan") == "strings"
    fields = {
        name: st.floats(allow_nan=False)
        if has_infinity and info.annotation is float
        else _values(info.annotation, tuple(info.metadata))
        for name, info in model.model_fields.items()
    }
    needed = {name: each for name, each in fields.items() if model.model_fields[name].is_required()}
    others = {name: each for name, each in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=others)


def _values(annotation: Any, metadata: tuple[object, ...] = ()) -> Strategy:
    for each in metadata:
        if isinstance(each, BeforeValidator) and each.func in _BY_READER:
            return _BY_READER[each.func]
    if hasattr(annotation, "__metadata__"):
        inner = tuple(
            part
            for each in annotation.__metadata__
            for part in (each.metadata if isinstance(each, FieldInfo) else (each,))
        )
        return _values(annotation.__origin__, (*metadata, *inner))
    if annotation is Workloads:
        return st.lists(st.deferred(lambda: objects(Workload)), max_size=MOST)
    if annotation in _PLAIN:
        return _PLAIN[annotation](metadata)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return st.deferred(lambda: objects(annotation))
    return _composed(get_origin(annotation), get_args(annotation))


def _composed(origin: Any, parts: tuple[Any, ...]) -> Strategy:
    if origin is Literal:
        return st.sampled_from(parts)
    if origin in {Union, types.UnionType}:
        return st.one_of(*map(_values, parts))
    if origin is dict or str(origin).endswith("Mapping'>"):
        return st.dictionaries(_values(parts[0]), _values(parts[1]), max_size=MOST)
    if parts[-1] is Ellipsis:
        return st.lists(_values(parts[0]), max_size=MOST).map(tuple)
    return st.tuples(*map(_values, parts))
