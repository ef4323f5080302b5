"""A plan carried out in a cluster, one call of kubectl after the other.

record.py  the record of a run: its steps, and its outcome
kueue/     the two ways that work with a live Kueue: evictions behind a hold, and boosts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from planner.scheduler import Part

COMMANDS: Final = Part[Callable[[Any, Any, Sequence[str]], Any]]("commands")
"""Returns a plan for a state with the commands that carry it out, or why there are none.

The given options of kubectl stand at the end of each command.
"""
