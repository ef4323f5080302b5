"""The answers about YuniKorn's plans, as records."""

# pyright: reportIncompatibleVariableOverride=false
# A frozen record may have fields of a narrower type.

from __future__ import annotations

from typing import Annotated, Literal

from planner.commands.explain.record import (
    CommonClash,
    CommonExplanation,
    CommonShortfall,
    CommonStanding,
)
from planner.plan.label import Label
from planner.plan.yunikorn import ResourceAmount, RuleSet


class YuniKornStanding(CommonStanding):
    """An allocation as YuniKorn's laws see it.

    ``allocation`` is its key, ``pod`` its namespace/name where the state tells. ``priority`` is
    its own, ``adjusted_priority`` that on the scale of the ask's own priority, after the offsets
    and fences of the queues. ``position`` is its place among the candidates of all nodes;
    ``node_position`` that among the ``node_candidates`` of its node, which is the order in which
    the core looks at them there.
    """

    allocation: Annotated[str, Label(role="key")]
    pod: Annotated[str | None, Label()] = None
    application: Annotated[str, Label()]
    queue: Annotated[str, Label()]
    node: Annotated[str, Label()]
    adjusted_priority: Annotated[int, Label()]
    originator: Annotated[bool, Label()]
    opted_out: Annotated[bool, Label()]
    node_position: Annotated[int | None, Label()] = None
    node_candidates: Annotated[int, Label()] = 0
    usage: tuple[ResourceAmount, ...] = ()

    @property
    def name(self) -> str:
        """What people call the allocation: its pod, where that is known."""
        return self.pod or self.allocation

    @property
    def place(self) -> str:
        """Where a candidate stands in the core's order on its node, if that has one."""
        if self.node_position is None:
            return f"one of {self.candidates} in leaves that the core searches"
        place = f"place {self.node_position} of {self.node_candidates}"
        return f"{place} in YuniKorn's order on node {self.node}"


class YuniKornShortfall(CommonShortfall):
    """What is missing of one resource type in one place, and what candidates hold there.

    ``place`` is the node with the least shortfall, the maximum of a queue on the ask's path, or
    what counts as the guaranteed of the ask's queue; ``where`` names the node or the queue.
    """

    place: Literal["node", "max", "guaranteed"]
    where: str

    @property
    def name(self) -> str:
        """The place and the resource type."""
        return f"{self.place}/{self.where}/{self.resource}"


class YuniKornClash(CommonClash[YuniKornShortfall]):
    """Why YuniKorn has no plan at all."""


class YuniKornExplanation(CommonExplanation):
    """The answer to a question about an ask of YuniKorn.

    ``preemptor`` is the key of the ask, ``pod`` its namespace/name where the state tells.
    ``node`` is the node of the optimal plan. ``pods`` names the pods of the allocations whose
    keys stand anywhere in the answer.
    """

    scheduler: Literal["yunikorn"] = "yunikorn"
    rules: Annotated[RuleSet, Label()]
    pod: Annotated[str | None, Label(absent="none")] = None
    application: Annotated[str, Label()]
    queue: Annotated[str, Label()]
    node: Annotated[str | None, Label(absent="none")] = None
    allocations: tuple[YuniKornStanding, ...] = ()
    clash: YuniKornClash | None = None
    pods: dict[str, str] = {}

    @property
    def standings(self) -> tuple[YuniKornStanding, ...]:
        """The allocations that are explained."""
        return self.allocations

    @property
    def preemptor_name(self) -> str:
        """What people call the preemptor: its pod, where that is known."""
        return self.pod or self.preemptor

    @property
    def preemptor_queue(self) -> str:
        """The queue that the ask waits in."""
        return self.queue

    @property
    def names(self) -> dict[str, str]:
        """What people call allocations, by their keys: their pods, where these are known."""
        return self.pods
