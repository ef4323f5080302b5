"""Building blocks of the input schema: scalars as Kubernetes means them, and the base model.

Equal values become one object: most workloads of a dump are of a few shapes.

Modules that are mostly models have no ``from __future__ import annotations``: pydantic evaluates
every annotation when a class is made, and would have to compile each one that is text.
"""

import json
import marshal
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Self, cast

from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PlainSerializer,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from planner.quantity import SUFFIXES, QuantityError, format_quantity, parse_quantity

TIMESTAMP: Final = "an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"

_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_TIME: Final = {"expected": TIMESTAMP}
_QUANTITY: Final = {"expected": f"a quantity: {SUFFIXES}"}
_AMOUNT: Final = {"expected": "a quantity of 0 or more"}
_LARGEST_NUMBER: Final = 10**300
"""Python refuses to write very long integers, and no float beyond this is a quantity."""
MOST_KEYS: Final = 10_000
"""How many entries a mapping of names to values has at most."""

_TOO_MANY: Final = {"most": MOST_KEYS}
_BEFORE: Final = "function-before"
_LISTS: Final = ("tuple", "list")
_BY_VALUE: Final = 2
"""The version of marshal in which equal values have equal bytes: later ones note shared parts."""
LONGEST_SHARED: Final = 4096
MOST_SHARED: Final = 4 * 2**20
"""Bytes of texts whose values are remembered; beyond that everything is forgotten."""


def with_bounded_errors(schema: CoreSchema, most_keys: int | None = MOST_KEYS) -> CoreSchema:
    """Let every list in a schema of pydantic end at its first bad entry, and bound its mappings.

    Pydantic collects all errors, a kilobyte each; only the first is ever shown. ``most_keys`` is
    how many entries a mapping may have.
    """
    todo: list[Any] = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, list | tuple):
            todo += part
        elif isinstance(part, dict):
            if part.get("type") in _LISTS:
                part["fail_fast"] = True
            elif part.get("type") == "dict" and "keys_schema" in part and most_keys is not None:
                mapping = cast("CoreSchema", dict(part))
                part.clear()
                part.update(core_schema.no_info_before_validator_function(_not_too_long, mapping))
                part = mapping
            elif part.get("type") == _BEFORE and part["function"]["function"] is _not_too_long:
                part = part["schema"]  # a nested schema, bounded when it was made
            todo += part.values()
    return schema


def _not_too_long(value: object) -> object:
    if isinstance(value, dict) and len(value) > MOST_KEYS:
        raise PydanticCustomError("too_many", "should have at most {most} entries", _TOO_MANY)
    return value


def kubernetes_name(field: str) -> Any:  # noqa: ANN401 - what pydantic asks for has no None
    """Return what Kubernetes calls a field, ``minCount`` for ``min_count``; None if the same."""
    return to_camel(field) if "_" in field else None  # to look for one name twice takes time


class Schema(BaseModel):
    """A frozen piece of a Kubernetes object.

    Unknown fields are ignored. Fields are written with their Kubernetes names in dumps and
    with ours in Python.
    """

    # A least length, even of 0, makes pydantic look into every string: one with half a
    # surrogate pair, which no terminal or file could take, is refused.
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        str_min_length=0,
        defer_build=True,
        alias_generator=AliasGenerator(kubernetes_name),
    )

    wrong_as_a_whole: ClassVar[Callable[[Any], bool] | None] = None
    """Says whether an object is refused though each field is right; ``None`` if it never is."""
    also_read: ClassVar[Mapping[str, Any]] = {}
    """Names that only a validator reads, so that no field has them, each with its type."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Bound how many errors are collected."""
        return with_bounded_errors(handler(source))

    @classmethod
    def blank(cls) -> Self:
        """Return an object in which no field is given; no validator has to be made for that."""
        return cls.model_construct()


_NOTHING_SAID: Final[set[str]] = set()


def forget_what_was_said(*parts: Schema) -> None:
    """Forget which fields of these objects were given and which are defaults.

    Pydantic keeps a set of names for each object, almost half the memory of a large dump.
    """
    for part in parts:
        object.__setattr__(part, "__pydantic_fields_set__", _NOTHING_SAID)


def shared() -> WrapValidator:
    """Return a validator that makes equal values of a field one object, and reads them only once.

    The field holds an object of the schema or a tuple of them.
    """
    known: dict[bytes, Any] = {}
    length = 0

    def read(value: Any, handler: ValidatorFunctionWrapHandler) -> object:  # noqa: ANN401 - any JSON
        nonlocal length
        try:
            text = marshal.dumps(value, _BY_VALUE)
        except ValueError:  # not JSON: an object that was read before
            return handler(value)
        found = known.get(text)
        if found is not None:
            return found
        found = handler(value)
        forget_what_was_said(*((found,) if isinstance(found, Schema) else found or ()))
        if len(text) <= LONGEST_SHARED:
            if length + len(text) > MOST_SHARED:
                known.clear()
                length = 0
            known[text] = found
            length += len(text)
        return found

    return WrapValidator(read)


def slim(whole: Any) -> None:  # noqa: ANN401 - an object with metadata, spec and status
    """Free the memory of an object that only its reading needed; shared parts are slim already."""
    status = whole.status
    conditions = getattr(status, "conditions", ())
    forget_what_was_said(whole, whole.metadata, whole.spec, status, *conditions)


class KubernetesObject(Schema):
    """A whole object, in which ``null`` means absent at any depth, as in the API server."""

    @model_validator(mode="wrap")
    @classmethod
    def _null_means_absent(cls, value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        # Nulls are rare and mostly stand where nothing is read: only a failure makes a copy.
        try:
            return handler(value)
        except ValidationError:
            stripped = _without_nulls(value)
        return handler(stripped)


def _without_nulls(value: object) -> object:
    """Copy a JSON value without the nulls of its objects; a loop, since it may be deep."""
    root: list[Any] = [value]
    todo: list[Any] = [root]
    while todo:
        container = todo.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in pairs:
            copy: dict[Any, object] | list[object]
            if isinstance(item, dict):
                copy = {name: each for name, each in item.items() if each is not None}
            elif isinstance(item, list):
                copy = list(item)
            else:
                continue
            container[key] = copy
            todo.append(copy)
    return root[0]


def _read_quantity(value: object) -> int:
    # JSON and YAML numbers are legal quantities; bool is an int in Python but not here.
    if type(value) is str:
        text = value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        text = repr(value) if abs(value) < _LARGEST_NUMBER else ""
    else:
        text = ""
    try:
        return parse_quantity(text)
    except QuantityError:
        raise PydanticCustomError("quantity", "should be {expected}", _QUANTITY) from None


def _read_amount(value: object) -> int:
    nano = _read_quantity(value)
    if nano < 0:
        raise PydanticCustomError("negative", "should be {expected}", _AMOUNT)
    return nano


_QUANTITY_SCHEMA = WithJsonSchema(
    {
        "anyOf": [{"type": "string"}, {"type": "number"}],
        "description": f"Kubernetes quantity: {SUFFIXES}",
    }
)

_AS_TEXT = PlainSerializer(format_quantity, return_type=str)
"""Quantities are written as text: a number would be read as whole units."""


def _quantity_text(value: object) -> str:
    # A number counts as its text, as for the API server.
    _read_quantity(value)
    return value if isinstance(value, str) else repr(value)


QuantityText = Annotated[str, BeforeValidator(_quantity_text), _QUANTITY_SCHEMA]
"""A quantity as it is written: a double made of it depends on the text."""

Quantity = Annotated[int, BeforeValidator(_read_quantity), _AS_TEXT, _QUANTITY_SCHEMA]
"""An exact amount in nano-units; any sign."""

Amount = Annotated[int, BeforeValidator(_read_amount), _AS_TEXT, _QUANTITY_SCHEMA]
"""An exact amount in nano-units, not negative."""


@lru_cache(maxsize=65536)
def parse_time(text: str) -> datetime:
    """Read an RFC 3339 timestamp, such as ``2026-03-08T21:06:00Z``, as UTC.

    Raises ``ValueError`` if the text is no timestamp, or names no time zone.
    """
    try:
        if _RFC_3339.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):  # such as the 30th of February
        pass
    message = f"should be {TIMESTAMP}"
    raise ValueError(message)


def _read_time(value: object) -> datetime | None:
    if value is None or (isinstance(value, datetime) and value.tzinfo is not None):
        return value
    try:
        moment = parse_time(value if isinstance(value, str) else "")
    except ValueError:
        raise PydanticCustomError("timestamp", "should be {expected}", _TIME) from None
    return None if moment == _ZERO else moment


_ZERO: Final = datetime.min.replace(tzinfo=UTC)
Time = Annotated[
    datetime | None,
    BeforeValidator(_read_time),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
]
"""A time, if there is one: Go's zero time, written out, says no more than a missing one."""


def _as_read(value: object) -> bytes | None:
    # Bytes: a text with half a surrogate pair has none, and is refused as everywhere.
    if value is None:
        return None
    return json.dumps(_without_nulls(value), ensure_ascii=False, sort_keys=True).encode()


AsRead = Annotated[
    object,
    BeforeValidator(_as_read),
    PlainSerializer(json.loads, when_used="unless-none"),
]
"""A value that is only compared and written out again; one that is not there is ``None``."""

Int32 = Annotated[int, Strict(), Field(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Strict(), Field(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Strict(), Field(ge=0, le=2**31 - 1)]
PositiveCount = Annotated[int, Strict(), Field(ge=1, le=2**31 - 1)]
Bool = Annotated[bool, Strict()]
Name = Annotated[str, StringConstraints(min_length=1, max_length=253)]


class Owner(Schema):
    """One entry of ``metadata.ownerReferences``."""

    api_version: str = ""
    kind: str = ""
    uid: str = ""


_ELASTIC_JOB: Final = "/elastic-job"
"""How the annotation ends that the slices of an elastic job have."""


def _owners_that_count(value: object, info: ValidationInfo) -> object:
    # Every workload has a job as its owner, which would be kept 100,000 times: it tells something
    # of the slices of an elastic job only, which are one run.
    annotations = info.data.get("annotations", ())
    elastic = any(name.endswith(_ELASTIC_JOB) for name in annotations)
    if elastic or not isinstance(value, (list, tuple)):
        return value
    return [one for one in value if not isinstance(one, dict) or one.get("kind") == "Workload"]


def _text_or_nothing(value: object) -> object:
    # The field decides nothing: a value that is no text counts as missing.
    return value if isinstance(value, str) else ""


class Metadata(Schema):
    """The part of ``metadata`` that decides anything.

    Of the owners it has those of kind Workload, and the jobs of elastic workloads.
    ``resource_version`` decides nothing: commands that carry a plan out test it.
    """

    name: Name
    namespace: str = ""
    uid: str = ""
    resource_version: Annotated[str, BeforeValidator(_text_or_nothing)] = ""
    creation_timestamp: Time = None
    deletion_timestamp: Time = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    owners: Annotated[tuple[Owner, ...], BeforeValidator(_owners_that_count)] = Field(
        default=(), alias="ownerReferences"
    )


class NamedObject(KubernetesObject):
    """An object with a name, in a namespace or not."""

    metadata: Metadata

    @property
    def name(self) -> str:
        """Its name, without a namespace."""
        return self.metadata.name

    @property
    def key(self) -> str:
        """``namespace/name``, as users and Kueue write it."""
        return f"{self.metadata.namespace}/{self.metadata.name}"


class Condition(Schema):
    """One entry of ``status.conditions``."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: Time = None

    @property
    def is_true(self) -> bool:
        """Whether the condition holds."""
        return self.status == "True"
