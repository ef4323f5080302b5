"""What other programs may ask about, over HTTP or a protocol for agents: no file, and in bounds."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

TEXT: Final = r"^[^\x00-\x1f]+$"
"""Text without control characters."""
MOST_EDITS: Final = 100
LONGEST_NAME: Final = 600
Edit = Annotated[str, Field(pattern=TEXT, max_length=1200)]
"""An edit of a state, as `planner whatif --set` takes it."""
FOR_THE_PLAN: Final = 0.8
"""The share of the seconds that plans may take: reading and writing take some, too."""


class Bounded(BaseModel):
    """Something that is asked, with nothing in it that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Who(Bounded):
    """For whom to plan, and under which objective."""

    pending: str | None = Field(
        default=None,
        pattern=TEXT,
        max_length=LONGEST_NAME,
        description="The pending workload; may be left out where only one is pending.",
    )
    objective: str = Field(
        default="no-regret",
        pattern="^[a-z-]+$",
        max_length=60,
        description="What to minimise: the name of an objective.",
    )


class Why(Who):
    """About which workload or allocation to ask besides."""

    victim: str | None = Field(
        default=None,
        pattern=TEXT,
        max_length=LONGEST_NAME,
        description="A running workload: why it must go, or what it would take to evict it.",
    )
