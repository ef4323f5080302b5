"""A plan carried out in a cluster, one call of kubectl after the other.

record.py  what was done, and what came of it
kueue/     the two ways that a live Kueue goes along with: evictions behind a hold, and boosts
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from planner.scheduler import Part


class WithCommands(Protocol):
    """What is asked of a scheduler whose plans can be carried out."""

    def __call__(self, state: Any, plan: Any, options: Sequence[str]) -> Any:  # noqa: ANN401 - of one scheduler
        """Return a plan with the commands that carry it out, or why there are none."""


COMMANDS: Final = Part[WithCommands]("commands")
