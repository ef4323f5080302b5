"""What a plan does to the nodes, where a scheduler places pods on racks of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planner.scheduler import Part

PICTURE: Final = Part[Callable[..., Any]]("nodes")
"""What adds the nodes around it to a plan; made of the state and the plan."""
