"""One plan carried out in a cluster, for one preemptor that is blocked on its gate.

record.py  the record of a run: its steps, and its outcome
kueue.py   whether a plan can be carried out, with what commands, and the carrying out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from planner.scheduler import Part

COMMANDS: Final = Part[Callable[[Any, Any, Sequence[str]], Any]]("commands")
"""Returns a plan for a state with the commands that carry it out, or why there are none.

The given options of kubectl say which cluster it is.
"""
