"""What YuniKorn decides for an ask: one entry for generic and required-node preemption.

Source: docs/semantics/yunikorn.md §3 to §11; yunikorn-core be3bb487.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.generic import try_preemption
from planner.reference.yunikorn.preconditions import Preconditions, check
from planner.reference.yunikorn.predicates import predicates_of
from planner.reference.yunikorn.required_node import (
    RequiredNodeConditions,
    check_required_node,
    preempt_required_node,
)

Kind = Literal["generic", "required-node"]
NO_TIES: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided for one ask.

    A preemption may be triggered without victims; ``node`` is the node it reserves.
    """

    kind: Kind
    conditions: Preconditions | RequiredNodeConditions | None
    triggered: bool = False
    node: str | None = None
    victims: tuple[Candidate, ...] = field(default=())

    @property
    def victim_keys(self) -> tuple[str, ...]:
        """The allocation keys of the victims, in the order in which they are released."""
        return tuple(victim.key for victim in self.victims)


def decide(
    cluster: Cluster,
    asking: Asking,
    *,
    callback: bool = True,
    ties: Mapping[str, int] = NO_TIES,
) -> Decision:
    """Decide for an ask whether it preempts, on which node, and whom.

    Parameters
    ----------
    cluster, asking
        The partition made ready, and the ask in it.
    callback
        Whether the shim has registered its predicates, as it always does in a cluster.
    ties
        Ranks by allocation key for allocations that have no order in the core: equal in opt-out,
        originator and creation time. Without it they keep the order of the state.
    """
    if asking.ask.required_node:
        return _decide_required_node(cluster, asking, ties)
    return _decide_generic(cluster, asking, ties, callback=callback)


def _decide_generic(
    cluster: Cluster, asking: Asking, ties: Mapping[str, int], *, callback: bool
) -> Decision:
    predicates = predicates_of(cluster.x)
    conditions = check(cluster, asking, predicates)
    direct = cluster.x.direct
    # Some recorded states call the preemptor directly, whatever its conditions say.
    if direct is None and not conditions.attempted:
        return Decision("generic", conditions)
    success = try_preemption(
        cluster,
        asking,
        predicates if callback else None,
        nodes_tried=conditions.nodes_tried if direct is None else direct.nodes_tried,
        ties=ties,
    )
    if success is None:
        return Decision("generic", conditions)
    return Decision("generic", conditions, True, success.node_id, success.victims)  # noqa: FBT003


def _decide_required_node(cluster: Cluster, asking: Asking, ties: Mapping[str, int]) -> Decision:
    ask = asking.ask
    room = cluster.node(ask.required_node)
    if room is None:
        return Decision("required-node", None)
    conditions = check_required_node(asking, room)
    if cluster.x.direct is None and not conditions.attempted:
        return Decision("required-node", conditions)
    victims = preempt_required_node(cluster, ask, room, ties)
    if not victims:
        return Decision("required-node", conditions)
    return Decision("required-node", conditions, True, room.node_id, victims)  # noqa: FBT003
