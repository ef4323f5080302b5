"""State to snapshot: the quota tree, the workloads that hold quota in it, and the preemptor.

Source: docs/semantics/kueue.md §2: which objects count, inactive queues, implicit cohorts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Final

import numpy as np
from msgspec import Struct

from planner.errors import LookupFailed
from planner.garbage import without_garbage_collection
from planner.quota.kueue.activity import Activity, cohorts_of, notes_on
from planner.quota.kueue.admission import Admissions
from planner.quota.kueue.amount import Arithmetic, arithmetic_of
from planner.quota.kueue.devices import Devices
from planner.quota.kueue.holders import Holders
from planner.quota.kueue.holding import Shapes
from planner.quota.kueue.past_use import PastUse
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.topology import NO_TOPOLOGIES, Occupancy, Topologies
from planner.quota.kueue.tree import NO_PARENT, FlavorResource, Node, Quota, QuotaTree, Usage
from planner.state.kept import Kept
from planner.state.kueue import ClusterQueue, Configuration, ResourceFlavor, State, Workload
from planner.state.kueue_workloads import Workloads
from planner.state.pods import PodDisruptionBudget
from planner.state.queues import ClusterQueueSpec, CohortSpec, QuotaSpec


class _ByKey(Mapping[str, Workload]):
    """Workloads by their keys; a workload object is made when it is looked up."""

    def __init__(self, workloads: Workloads, places: Mapping[str, int]) -> None:
        self._workloads: Final = workloads
        self._places: Final = places

    def __getitem__(self, key: str) -> Workload:
        return self._workloads[self._places[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Preemptor(Struct, frozen=True):
    """The pending workload that is to get room, and the ClusterQueue it waits for.

    ``rejection`` says in Kueue's words why the devices it claims keep it out of every queue;
    ``notes`` are notes on its request; ``buffer`` is how much later another workload of equal
    priority must have queued to count as newer.
    """

    workload: Workload
    queue: int
    priority: int
    queued_at: datetime
    pod_sets: Sequence[PodSetRequest]
    rejection: str = ""
    notes: Sequence[str] = ()
    buffer: timedelta = timedelta()

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.workload.key

    def queued_before(self, queued_at: datetime) -> bool:
        """Say whether a workload queued at ``queued_at`` counts as newer than this one (§5.2)."""
        return queued_at - self.queued_at > self.buffer


class Snapshot(Struct, frozen=True, dict=True):
    """Everything a decision needs, at one moment.

    All planning for the state shares it, so it must not be changed. ``usage`` is the usage of all
    admitted workloads; take a copy before changing it.
    ``queues`` maps a node to its ClusterQueue; ``admitted`` maps it to the holders there;
    ``waiting`` has all other workloads by key, also finished or deactivated ones. In the middle of
    a cycle ``placed`` counts instead of what admitted workloads take on nodes.
    """

    now: datetime
    configuration: Configuration
    tree: QuotaTree
    usage: Usage
    queues: Mapping[int, ClusterQueue]
    node_of: Mapping[str, int]
    waiting: Mapping[str, Workload]
    flavors: Mapping[str, ResourceFlavor]
    admitted: Mapping[int, Holders]
    fr_index: Mapping[FlavorResource, int]
    inactive: Mapping[str, str]
    notes: Sequence[str]
    budgets: Sequence[PodDisruptionBudget]
    past_use: PastUse
    devices: Devices
    topologies: Topologies = NO_TOPOLOGIES
    placed: Occupancy | None = None

    def holders(self, queues: Iterable[int]) -> Holders:
        """Return all holders in these ClusterQueues; asked again, the same object."""
        asked = [self.admitted[queue] for queue in queues]
        kept = next(iter(self._last), None)
        # By identity: as a simulation goes on, it replaces the holders of a queue.
        if kept is None or [*map(id, asked)] != [*map(id, kept[0])]:
            kept = asked, Holders.joined(asked)
            self._last[:] = [kept]  # as a whole: other threads may use the same snapshot
        return kept[1]

    def contenders(self, queue: int) -> Holders:
        """Return all holders in the active ClusterQueues of the tree that a ClusterQueue is in.

        They are in the order of the tree's nodes; asked again, the same object.
        """
        return self.holders(self.contending(queue))

    def contending(self, queue: int) -> Sequence[int]:
        """Return the active ClusterQueues of the tree that a ClusterQueue is in, in its order."""
        below = self.tree.below(self.tree.root(queue))
        return [at for at in below if at in self.admitted and self.is_active(at)]

    @cached_property
    def _last(self) -> list[tuple[Sequence[Holders], Holders]]:
        """The holders by queue that were joined last, and the result; empty before that."""
        return []

    def past_of(self, queue: int, workload: Workload) -> float | None:
        """Return the past use of a workload's LocalQueue, if the ClusterQueue orders by that."""
        orders = self.past_use.orders(self.queues[queue])
        place = workload.metadata.namespace, workload.spec.queue_name
        return self.past_use.used_by(*place) if orders else None

    def queue_name(self, node: int) -> str:
        """Return the name of a ClusterQueue or cohort node."""
        return self.tree.nodes[node].name

    def is_active(self, node: int) -> bool:
        """Say whether the ClusterQueue takes part in scheduling."""
        return self.tree.nodes[node].active

    def fr_or_none(self, flavor: str, resource: str) -> int | None:
        """Return the index of a flavor-resource, or ``None`` if nothing knows the pair."""
        return self.fr_index.get(FlavorResource(flavor, resource))

    def fr(self, flavor: str, resource: str) -> int:
        """Return the index of a flavor-resource.

        Raises ``LookupFailed`` if neither a quota nor a workload nor the given assignment knows the
        pair.
        """
        index = self.fr_or_none(flavor, resource)
        if index is None:
            raise LookupFailed(
                "assignment",
                f'no ClusterQueue or Cohort has quota for "{resource}" in flavor "{flavor}"',
            )
        return index


def take_snapshot(
    state: State,
    now: datetime | None = None,
    extra: Iterable[FlavorResource] = (),
    *,
    placing: bool = False,
) -> Snapshot:
    """Return the snapshot of a state; the last snapshot of its kind is used again if it fits.

    - ``state``: The state that was read.
    - ``now``: The clock; the state's own when absent.
    - ``extra``: Flavor-resources to index although no quota or workload names them.
    - ``placing``: Whether pods need a place on nodes, too, where a flavor has a topology; else
      quota only.
    """
    clock, wanted = now or state.now, tuple(extra)
    kept, asked = _LAST[placing], (clock, clock.tzinfo)
    make = partial(build_snapshot, state, clock, wanted, placing=placing)
    found = kept.recall(state, asked, make)
    return found if found.fr_index.keys() >= {*wanted} else kept.keep(state, asked, make())


_LAST: Final = {placing: Kept[Snapshot]() for placing in (False, True)}
"""The snapshots that were built last, without and with places of pods."""


@without_garbage_collection()
def build_snapshot(
    state: State, clock: datetime, extra: Iterable[FlavorResource] = (), *, placing: bool = False
) -> Snapshot:
    """Build the snapshot of a state at a moment; the arguments are those of ``take_snapshot``."""
    activity, configuration = Activity.in_state(state, placing=placing), state.configuration
    arithmetic = arithmetic_of(configuration.rules)
    # First of all the flavor-resources that any ClusterQueue or Cohort has quota for.
    owners = [cq.spec for cq in state.cluster_queues] + [co.spec for co in cohorts_of(state)]
    quotas = (each for owner in owners for each in owner.quotas)
    frs = dict.fromkeys(FlavorResource(flavor, quota.name) for flavor, quota in quotas)
    index = {fr: number for number, fr in enumerate(frs)}
    nodes = _nodes(state, activity, index, arithmetic)
    node_of = {node.name: i for i, node in enumerate(nodes) if node.is_queue}
    queues = {node_of[cq.name]: cq for cq in state.cluster_queues}
    shapes, past_use = Shapes(configuration, index), PastUse(state)
    admissions = Admissions(state, clock, node_of, shapes, past_use)
    admitted = admissions.holders()
    for fr in extra:
        index.setdefault(fr, len(index))
    usage = Usage(tree := QuotaTree(nodes, tuple(index), arithmetic))
    _add_up(usage, state, Holders.joined(admitted.values()))
    return Snapshot(
        now=clock,
        configuration=configuration,
        tree=tree,
        usage=usage,
        queues=queues,
        node_of=node_of,
        waiting=_ByKey(state.workloads, admissions.waiting),
        flavors={flavor.name: flavor for flavor in state.resource_flavors},
        admitted=admitted,
        fr_index=index,
        inactive=activity.inactive,
        notes=notes_on(state, activity),
        budgets=state.pod_disruption_budgets,
        past_use=past_use,
        devices=Devices.in_state(state),
        topologies=Topologies.in_state(state, admitted.values()) if placing else NO_TOPOLOGIES,
    )


def _add_up(usage: Usage, state: State, every: Holders) -> None:
    """Add up the usage of all holders: by queue, or by workload where the order matters."""
    if state.configuration.rules.clamps_reclaimable and not usage.tree.arithmetic.wraps:
        first, which = every.alike
        usage.add_locally(every.columns.queue, which, [one.usage for one in first])
        usage.settle()
        return
    # In older releases usage may be negative or wrap around: what cohorts see then depends on the
    # order.
    nodes, which = every.columns.queue.tolist(), every.columns.usage.tolist()
    for at in np.argsort(every.places).tolist():
        usage.add(nodes[at], every.table.filled.shapes[which[at]].usage)


def _nodes(
    state: State, activity: Activity, index: Mapping[FlavorResource, int], arithmetic: Arithmetic
) -> list[Node]:
    """Lay out the nodes: cohorts first, then ClusterQueues.

    Cohorts in a cycle are left out; their queues stand alone, and are inactive.
    """
    specs = {cohort.name: cohort.spec for cohort in cohorts_of(state)}
    lends = state.configuration.gate("LendingLimit")
    # Cohorts first: a queue then finds its parent's number, whatever the order of the dump.
    names = [name for name in activity.parents if name not in activity.looping]
    position = {name: i for i, name in enumerate(names)}
    inactive = activity.inactive.keys()

    def node(
        name: str, parent: str, spec: CohortSpec | ClusterQueueSpec | None, *, is_queue: bool
    ) -> Node:
        active = not is_queue or name not in inactive
        above = position.get(parent, NO_PARENT)
        if spec is None:
            return Node(name, above, is_queue, active, {})
        quotas = _quotas(spec, index, arithmetic, lends=lends)
        return Node(name, above, is_queue, active, quotas, spec.fair_sharing.weight)

    cohorts = [node(one, activity.parents[one], specs.get(one), is_queue=False) for one in names]
    queues = ((cq.name, cq.spec.cohort_name, cq.spec) for cq in state.cluster_queues)
    return [*cohorts, *(node(*queue, is_queue=True) for queue in queues)]


def _quotas(
    owner: QuotaSpec,
    index: Mapping[FlavorResource, int],
    arithmetic: Arithmetic,
    *,
    lends: bool,
) -> dict[int, Quota]:
    """Return quotas in units; without ``lends``, lending limits are ignored."""
    units = arithmetic.quota

    def limit(nano: int | None, resource: str) -> int | None:
        return None if nano is None else units(nano, resource)

    return {
        index[FlavorResource(flavor, quota.name)]: Quota(
            units(quota.nominal_quota, quota.name),
            limit(quota.borrowing_limit, quota.name),
            limit(quota.lending_limit, quota.name) if lends else None,
        )
        for flavor, quota in owner.quotas
    }
