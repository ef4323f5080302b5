"""What every piece of output is made of, and many names in a sentence."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler

from planner.state.bounded import with_bounded_errors


class Record(BaseModel):
    """A frozen piece of output."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401 - pydantic's signature
        """Bound how many errors are collected where a plan is read."""
        return with_bounded_errors(handler(source), most_keys=None)


def name_some(names: Collection[str], most: int) -> str:
    """Name some of several, and count the others."""
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more} more" if more > 0 else "")
