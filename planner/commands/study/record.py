"""What the answers to a question about many states have in common."""

from __future__ import annotations

from typing import Annotated, Final, Generic, Literal, TypeVar, get_args

from pydantic import GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from planner.plan.base import Record
from planner.plan.label import Label, Tone
from planner.scheduler import schedulers
from planner.wing import rule_sets

Outcome = Literal["failed", "bug", "timeout", "out-of-memory", "killed"]
TONES: Final[dict[str, Tone]] = dict.fromkeys(get_args(Outcome), "bad")
RowT = TypeVar("RowT", bound=Record)

Rules = Annotated[
    str,
    GetPydanticSchema(
        lambda *_: literal_schema(
            [
                *(name for one in schedulers() for name in one.words.rules),
                *(one.name for one in rule_sets() if one.replaces),
            ]
        )
    ),
]


class Failure(Record):
    """A state, or one pending workload of it, that could not be answered for.

    ``failed`` says that the input cannot be used, ``bug`` that the planner failed.
    """

    state: Annotated[str, Label("State", "key")]
    pending: Annotated[str | None, Label("Preemptor", "key", below="state")] = None
    outcome: Annotated[Outcome, Label("Outcome", tones=TONES)] = "failed"
    detail: Annotated[str, Label("Why", "text")]


class Answered(Record, Generic[RowT]):
    """Everything about one state."""

    state: str
    rows: tuple[RowT, ...] = ()
    failures: tuple[Failure, ...] = ()
