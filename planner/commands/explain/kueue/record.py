"""What is answered about Kueue."""

# pyright: reportIncompatibleVariableOverride=false
# A frozen record may have fields of a narrower type.

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.commands.explain.record import (
    CommonClash,
    CommonExplanation,
    CommonShortfall,
    CommonStanding,
)
from planner.plan import SCHEMA_VERSION, Amount, NodesAround, PodSetPlaces, Record


class Standing(CommonStanding):
    """A workload as Kueue's rules see it.

    ``workload`` is namespace/name. ``reason`` is Kueue's code for it, only for a candidate.
    """

    workload: str
    cluster_queue: str
    reason: str = ""
    usage: tuple[Amount, ...] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return self.workload


class Shortfall(CommonShortfall):
    """What is missing of one flavor-resource, and what all candidates together hold of it.

    In a flavor that was not assigned, ``most`` is what the ClusterQueue could use if nothing
    ran.
    """

    flavor: str
    most: int

    @property
    def name(self) -> str:
        """The flavor-resource."""
        return f"{self.flavor}/{self.resource}"


class Clash(CommonClash[Shortfall]):
    """Why Kueue has no plan at all."""


class Opening(Record):
    """The fewest running workloads without which pods have a place in a domain.

    Places alone count, not quota. ``victims`` is ``None`` if not even all together are enough;
    ``proved`` says that there is no smaller set.
    """

    victims: tuple[str, ...] | None
    proved: bool


class DomainRoom(Record):
    """What one domain holds of what a podset asks for, in slots, or in slices where it asks so.

    ``domain`` has its values from the highest level down; it is empty for all nodes of the flavor
    together. It ``holds`` so many now, besides the pod of a leader, ``empty`` so many if Kueue had
    placed nobody, and ``lacks`` so many. ``whoever`` opens it among all that run, ``candidates``
    among those that Kueue may preempt for this workload as each stands; ``None`` where that was
    not looked for.
    """

    domain: tuple[str, ...]
    name: str
    holds: int
    empty: int
    lacks: int
    whoever: Opening | None = None
    candidates: Opening | None = None
    text: str


class FlavorRoom(Record):
    """Where the pods of a podset, or of a group of two, have a place in one flavor.

    ``assigned`` says that Kueue assigned this flavor: it tries no other one for want of nodes.
    ``manner`` is how strictly the ``level`` is meant. A slot is the place of one pod, ``slot`` what
    one asks for; ``size`` pods make a slice. So many slices are ``wanted``. There are so many
    ``domains`` of the level, the ``closest`` of which are told, and all of the flavor before them
    where that is what decides.
    """

    pod_sets: tuple[str, ...]
    flavor: str
    assigned: bool
    topology: str
    level: str
    manner: Literal["required", "preferred", "unconstrained"]
    slot: str
    size: int
    wanted: int
    domains: int
    closest: tuple[DomainRoom, ...]


class Together(Record):
    """All podsets placed one after the other, as Kueue does it, where each by itself has a place.

    ``when`` says on which nodes: as they are ``now``, with all ``candidates`` gone, or ``empty``.
    Of those who run now some are left out, ``without`` whom each by itself has a place. ``places``
    are those of podsets that found one before others did not, which are ``lacking``, with Kueue's
    own ``message``. ``order`` is one in which all of them would have a place, if that was found.
    """

    when: Literal["now", "candidates", "empty"]
    without: tuple[str, ...] = ()
    places: tuple[PodSetPlaces, ...]
    lacking: tuple[str, ...]
    order: tuple[str, ...] = ()
    message: str
    text: str


class OnNodes(Record):
    """Whether the pods of a workload have a place on nodes, with quota and nodes as they are.

    ``mode`` is that of Kueue's own assignment, ``victims`` whom Kueue itself would evict, and
    ``message`` what it writes; ``around`` are the nodes with these gone. ``together`` is there
    where no single podset is the reason. ``unknown`` says why nothing of this is known.
    """

    unknown: str = ""
    mode: Literal["Fit", "Preempt", "NoFit"] | None = None
    victims: tuple[str, ...] = ()
    message: str = ""
    flavors: tuple[FlavorRoom, ...] = ()
    together: Together | None = None
    around: tuple[NodesAround, ...] = ()


class Explanation(CommonExplanation):
    """The answer to a question about a pending workload of Kueue.

    ``nodes`` is there where a topology decides about its pods.
    """

    scheduler: Literal["kueue"] = "kueue"
    rules: Literal["kueue-classical", "kueue-fair"]
    cluster_queue: str
    workloads: tuple[Standing, ...] = ()
    clash: Clash | None = None
    nodes: OnNodes | None = None

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The workloads that are explained."""
        return self.workloads

    @property
    def preemptor_queue(self) -> str:
        """The queue it waits in."""
        return self.cluster_queue


class Party(Record):
    """One side of a preemption as a message tells it; ``None`` where it does not.

    ``path`` is the way from the root cohort down to the ClusterQueue. ``workload`` is
    namespace/name, as the message says it or as the state knows the UID.
    """

    workload: str | None = None
    uid: str | None = None
    job_uid: str | None = None
    cluster_queue: str | None = None
    path: tuple[str, ...] = ()
    effective_priority: int | None = None
    base_priority: int | None = None
    boost: int | None = None


class PreemptionMessage(Record):
    """What Kueue's text about a preemption says: who, whom, why.

    ``reason`` is the scheduler's code, ``None`` where the text gives none; ``law`` says what
    stands behind it under classical preemption or fair sharing.
    """

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    kind: Literal["Preempted", "PreemptedWorkload"]
    reason: str | None = None
    law: str | None = None
    preemptor: Party
    victim: Party
    text: str
