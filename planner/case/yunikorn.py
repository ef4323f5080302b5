"""An ask of YuniKorn, or a queue above its maximum, in a state: what the core decides for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from planner.problem.yunikorn import YuniKornProblem, build_yunikorn_problem
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.decision import Decision, decide
from planner.state.yunikorn import YuniKornState


class Case(Struct, frozen=True, dict=True):
    """One ask in one partition of a state; ``costs`` are those of evictions, where given."""

    state: YuniKornState
    cluster: Cluster
    asking: Asking
    costs: Mapping[str, int] | None = None

    @cached_property
    def decision(self) -> Decision:
        """What the core itself decides."""
        return decide(self.cluster, self.asking)

    @cached_property
    def problem(self) -> YuniKornProblem:
        """The decision in integers, with the allocations that may go."""
        return build_yunikorn_problem(self.cluster, self.asking)
