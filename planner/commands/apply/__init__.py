"""A plan carried out in a cluster, one call of kubectl after the other.

record.py  what was done, and what came of it
kueue/     the two ways that a live Kueue goes along with: evictions behind a hold, and boosts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from planner.scheduler import Part

COMMANDS: Final = Part[Callable[[Any, Any, Sequence[str]], Any]]("commands")
"""Returns a plan for a state with the commands that carry it out, or why there are none.

They have some options of kubectl at their ends.
"""
