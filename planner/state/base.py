"""Building blocks of the input schema: scalars as Kubernetes means them, and the base model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from planner.quantity import SUFFIXES, QuantityError, parse_quantity


class Schema(BaseModel):
    """A frozen piece of a Kubernetes object.

    Unknown fields are ignored and ``null`` means absent, as in the API server. Fields are
    written with their Kubernetes names in dumps and with ours in Python.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _null_means_absent(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
        if type(value) is dict and None in value.values():
            return {key: item for key, item in value.items() if item is not None}
        return value


def _read_quantity(value: object) -> int:
    # JSON and YAML numbers are legal quantities; bool is an int in Python but not here.
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        text = repr(value).replace("+", "")
    else:
        message = f"should be a quantity: {SUFFIXES}"
        raise ValueError(message)  # noqa: TRY004 - pydantic turns ValueError into its own error
    try:
        return parse_quantity(text)
    except QuantityError:
        message = f"should be a quantity: {SUFFIXES}"
        raise ValueError(message) from None


def _not_negative(value: int) -> int:
    if value < 0:
        message = "should not be negative"
        raise ValueError(message)
    return value


_QUANTITY_SCHEMA = WithJsonSchema(
    {
        "anyOf": [{"type": "string"}, {"type": "number"}],
        "description": f"Kubernetes quantity: {SUFFIXES}",
    }
)

Quantity = Annotated[int, BeforeValidator(_read_quantity), _QUANTITY_SCHEMA]
"""An exact amount in nano-units; any sign."""


def _read_amount(value: object) -> int:
    return _not_negative(_read_quantity(value))


Amount = Annotated[int, BeforeValidator(_read_amount), _QUANTITY_SCHEMA]
"""An exact amount in nano-units, not negative."""


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 timestamp, such as ``2026-03-08T21:06:00Z``, as UTC.

    Raises
    ------
    ValueError
        If the text is no timestamp, or names no time zone.
    """
    try:
        moment = datetime.fromisoformat(text) if text[10:11] in {"T", "t", " "} else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        message = "should be an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise ValueError(message)
    return moment.astimezone(UTC)


def _read_time(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        message = "should be an RFC 3339 timestamp such as 2026-03-08T21:06:00Z"
        raise ValueError(message)  # noqa: TRY004 - pydantic turns ValueError into its own error
    return parse_time(value)


Time = Annotated[
    datetime,
    BeforeValidator(_read_time),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]

Int32 = Annotated[int, Strict(), Field(ge=-(2**31), le=2**31 - 1)]
Count = Annotated[int, Strict(), Field(ge=0, le=2**31 - 1)]
PositiveCount = Annotated[int, Strict(), Field(ge=1, le=2**31 - 1)]
Bool = Annotated[bool, Strict()]
Name = Annotated[str, StringConstraints(min_length=1, max_length=253)]


class Metadata(Schema):
    """The part of ``metadata`` that decides anything."""

    name: Name
    namespace: str = ""
    uid: str = ""
    creation_timestamp: Time | None = Field(default=None, alias="creationTimestamp")
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Condition(Schema):
    """One entry of ``status.conditions``."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = Field(default=None, alias="lastTransitionTime")

    @property
    def is_true(self) -> bool:
        """Whether the condition holds."""
        return self.status == "True"
