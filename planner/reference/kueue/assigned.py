"""An assignment of flavors with what else is known of it.

Source: docs/semantics/kueue.md §4.1 and §7.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from planner.quota.kueue.assignment import Assignment

if TYPE_CHECKING:
    from planner.reference.kueue.topology.find import Placement

Tried = Sequence[Mapping[str, int]]
"""How far walks came: podset by podset, the place of a flavor per resource."""

# As in Kueue, where the next walk begins one behind it: at the first flavor.
LAST: Final = -1


@dataclass(frozen=True, slots=True)
class Assigned:
    """An assignment with what a scheduling cycle asks of it.

    ``usage`` is per fr over all podsets, zeros and the request for ``pods`` included; ``tried``
    says, podset by podset, at which of its flavors the walk for a resource that got one stopped,
    from 0, or -1 for the last; ``reason`` is Kueue's reason for NoFit, empty for every other
    mode; ``message`` is what Kueue writes on the workload. All four are empty where no walk was
    made: the flavors were given, or the queue is inactive. ``placements`` says by podset where the
    pods go, where that is decided, and ``delayed`` for which podsets that is done later.
    """

    assignment: Assignment
    usage: Mapping[int, int] = field(default_factory=dict)
    tried: Tried = ()
    reason: str = ""
    message: str = ""
    placements: Mapping[str, Placement] = field(default_factory=dict)
    delayed: frozenset[str] = frozenset()

    @property
    def untried(self) -> bool:
        """Whether a walk stopped before the last flavor (§7.5)."""
        return any(place != LAST for places in self.tried for place in places.values())
