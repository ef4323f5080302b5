"""The facts that the rules look at; small dumps of them: one flavor-resource, a few workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.dump import kueue as objects
from planner.dump import listed
from planner.operations.lint.kueue.absent import Absent, absent_from, as_if_there
from planner.quantity import NANO, UNLIMITED, is_milli
from planner.quota.kueue.holding import effective_priorities
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.quota.kueue.tree import NO_PARENT, FlavorResource
from planner.quota.kueue.tree import Quota as NodeQuota
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from planner.state.kueue_release import NEWEST
from planner.state.kueue_workload import BOOST_ANNOTATION
from planner.state.queues import Preemption

_OF_KUBERNETES: Final = "system-"
"""The prefix of the priority classes that every cluster has, and no batch workload uses."""
_UNCOUNTED: Final = "pods"
"""The one resource that preemption does not count (docs/semantics/kueue.md §4.1)."""


class Facts(Struct, frozen=True, dict=True):
    """A state of Kueue, and what follows from its configuration."""

    state: State

    @cached_property
    def whole(self) -> State:
        """The state as if what its ClusterQueues name were there."""
        return as_if_there(self.state)

    @cached_property
    def absent(self) -> Sequence[Absent]:
        """What objects of the state name and the state lacks."""
        return [*absent_from(self.state)]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The whole state as every decision sees it."""
        return take_snapshot(self.whole)

    @cached_property
    def placed(self) -> Snapshot | None:
        """The same with nodes; ``None`` where topologies do nothing, or nothing is known."""
        if self.whole.release is not NEWEST or not self.whole.topology_of:
            return None
        snapshot = take_snapshot(self.whole, placing=True)
        return snapshot if snapshot.topologies.on else None

    @property
    def is_configured(self) -> bool:
        """Whether it is known how Kueue is configured, and not only assumed."""
        return self.state.configuration_given or self.state.whole

    @property
    def tells_of_shares(self) -> bool:
        """Whether it is known if fair sharing is on: a controller that uses shares writes them."""
        filled = (one.status for one in self.state.cluster_queues)
        return self.is_configured or any(
            one.pending is not None or bool(one.reserved) for one in filled
        )

    @property
    def fair(self) -> bool:
        """Whether fair sharing is on."""
        return self.snapshot.configuration.fair_sharing_on

    @cached_property
    def trees(self) -> Mapping[int, Sequence[int]]:
        """The ClusterQueues by their root, in the order of the dump."""
        by_root: dict[int, list[int]] = {}
        for queue in self.snapshot.queues:
            by_root.setdefault(self.snapshot.tree.root(queue), []).append(queue)
        return by_root

    @cached_property
    def queues(self) -> Sequence[int]:
        """The active ClusterQueues, in the order of the dump."""
        return self.active(self.snapshot.queues)

    @cached_property
    def priorities(self) -> Sequence[int]:
        """Effective priorities of unfinished workloads, and values of priority classes, sorted."""
        state = self.state
        classes = (*state.workload_priority_classes, *state.priority_classes)
        named = {one.value for one in classes if not one.metadata.name.startswith(_OF_KUBERNETES)}
        used = effective_priorities(state.workloads.columns, state.configuration)
        return sorted({*named, *used[state.workloads.unfinished].tolist()})

    @property
    def lowest(self) -> int:
        """The lowest priority there is; 0 if there is none."""
        return self.priorities[0] if self.priorities else 0

    @property
    def highest(self) -> int:
        """The highest priority there is; 0 if there is none."""
        return self.priorities[-1] if self.priorities else 0

    def active(self, queues: Iterable[int]) -> list[int]:
        """Return the ClusterQueues among ``queues`` that take part in scheduling."""
        return [queue for queue in queues if self.snapshot.is_active(queue)]

    def policies(self, queue: int) -> Preemption:
        """Return the preemption policies of a ClusterQueue."""
        return self.snapshot.queues[queue].spec.preemption

    def reclaims(self, queue: int) -> bool:
        """Say whether a ClusterQueue may preempt others of its cohort at all."""
        return self.policies(queue).reclaim_within_cohort != "Never"

    def borrows_by_force(self, queue: int) -> bool:
        """Say whether a ClusterQueue asks to preempt while it borrows."""
        return self.policies(queue).borrow_within_cohort.policy != "Never"

    def knows_others(self, queue: int) -> bool:
        """Say whether all other ClusterQueues of its cohort are known: the dump may lack some."""
        return not (self.state.absent_queues and self.snapshot.queues[queue].spec.cohort_name)

    def knows_cohorts(self, queue: int) -> bool:
        """Say whether all Cohorts above it are objects here: others may have quota elsewhere."""
        there, tree = {one.name for one in self.state.cohorts}, self.snapshot.tree
        return all(tree.nodes[node].name in there for node in tree.ancestors(queue))

    def goes_by_priority(self, queue: int) -> bool:
        """Say whether priorities decide whom a ClusterQueue may preempt."""
        own, borrow = self.policies(queue), self.policies(queue).borrow_within_cohort
        policies = own.within_cluster_queue, own.reclaim_within_cohort, borrow.policy
        return "LowerPriority" in policies

    def forceful(self, queue: int) -> bool:
        """Say whether a ClusterQueue may preempt others while it borrows."""
        return self.borrows_by_force(queue) and self.reclaims(queue)

    def threshold(self, queue: int, otherwise: int) -> int:
        """Return the highest priority that a ClusterQueue may preempt while it borrows."""
        given = self.policies(queue).borrow_within_cohort.max_priority_threshold
        return otherwise if given is None else given

    def frs(self, queue: int) -> Iterator[int]:
        """Yield the flavor-resources that a ClusterQueue has quotas for and preemption counts."""
        for fr in self.snapshot.tree.nodes[queue].quotas:
            if self.snapshot.tree.frs[fr].resource != _UNCOUNTED:
                yield fr

    def anywhere(self, holds: Callable[[int, int], object], queue: int) -> bool:
        """Say whether something holds of a ClusterQueue in any of its flavor-resources."""
        return any(holds(queue, fr) for fr in self.frs(queue))

    def nominal(self, queue: int, fr: int) -> int:
        """Return a ClusterQueue's own nominal quota."""
        return self.snapshot.tree.nominal(queue, fr)

    def most(self, queue: int, fr: int) -> int:
        """Return what a ClusterQueue could use if nothing ran anywhere."""
        return self.snapshot.tree.potential(queue, fr)

    def is_bounded(self, queue: int, fr: int) -> bool:
        """Say whether a flavor-resource can run out at all."""
        return self.most(queue, fr) < UNLIMITED

    def can_borrow(self, queue: int, fr: int) -> bool:
        """Say whether a ClusterQueue could ever use more than its nominal quota."""
        return self.most(queue, fr) > self.nominal(queue, fr)

    def lends(self, queue: int, fr: int) -> bool:
        """Say whether others can borrow quota of a ClusterQueue."""
        tree = self.snapshot.tree
        return tree.subtree[queue][fr] > tree.kept[queue][fr]

    def others(self, queue: int) -> Sequence[int]:
        """Return the other ClusterQueues under the same root."""
        tree = self.trees[self.snapshot.tree.root(queue)]
        return [other for other in tree if other != queue]

    def active_others(self, queue: int) -> list[int]:
        """Return the other ClusterQueues under the same root that take part in scheduling."""
        return self.active(self.others(queue))

    def similar(self, queues: Iterable[int]) -> Iterator[list[int]]:
        """Yield ClusterQueues in groups whose members a rule need not distinguish.

        The members of a group have one parent, the same policies and weight, and the same signs of
        quotas and limits in the same flavor-resources; all are active, or all inactive.
        """
        groups: dict[object, list[int]] = {}
        nodes = self.snapshot.tree.nodes
        for queue in queues:
            node = nodes[queue]
            quotas = frozenset(
                (fr, *(None if n is None else (n > 0) - (n < 0) for n in quota))
                for fr, quota in node.quotas.items()
            )
            key = node.parent, self.policies(queue), quotas, node.active, node.weight_nano
            groups.setdefault(key, []).append(queue)
        yield from groups.values()

    def called(self, queues: Sequence[int]) -> str:
        """Return what to call a group of ClusterQueues: its first member, and how many more."""
        more = f" (and {len(queues) - 1:,} more like it)" if len(queues) > 1 else ""
        return self.name(queues[0]) + more

    def name(self, queue: int) -> str:
        """Return a ClusterQueue as kubectl names it."""
        return f"clusterqueue/{self.snapshot.queue_name(queue)}"

    def names(self, queues: Iterable[int]) -> tuple[str, ...]:
        """Return ClusterQueues as kubectl names them."""
        return tuple(map(self.name, queues))


Object = objects.Object
Change = Callable[[list[Object]], None]
"""A function that changes the objects of a dump before it is read."""


class Cure(NamedTuple):
    """A change of a dump, and the words for it, to stand after "with"."""

    change: Change
    words: str


NAMESPACE: Final = "example"
LEAST: Final = -(2**31)
"""The lowest priority of a workload, without its boost."""
MOST: Final = 2**31 - 1
"""The highest priority of a workload, without its boost."""
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
_MISSING: Final = "example.com/other"
_GIBIBYTE: Final = 2**30


class Job(Struct, frozen=True):
    """A workload of a dump: one pod that asks for an amount.

    ``priority`` may be beyond 32 bits, as that of a workload with a boost: the dump has both.
    ``minute``, counted from noon, is since when it runs or waits; ``created`` is the minute when it
    was created, if that was earlier.
    """

    name: str
    queue: int
    amount: int
    priority: int = 0
    running: bool = True
    minute: int = 0
    boost: str = ""
    created: int | None = None

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{NAMESPACE}/{self.name}"


class World(Struct, frozen=True, dict=True):
    """Some ClusterQueues, their cohorts, and one flavor-resource of theirs."""

    facts: Facts
    queues: Sequence[int]
    fr: int

    @property
    def unit(self) -> int:
        """A small amount that reads well: a core, a gibibyte, or one."""
        quotas = [self.facts.nominal(queue, self.fr) for queue in self.queues]
        least = min(filter(None, quotas), default=1)
        unit = 1000 if is_milli(self._place.resource) else _GIBIBYTE
        return unit if least >= unit else 1

    def most(self, queue: int) -> int:
        """Return what a ClusterQueue of this world could use if nothing ran in it.

        It is less than in the cluster where those who lend there are not here.
        """
        name, snapshot = self.facts.snapshot.queue_name(queue), self._empty
        here = next(node for node in snapshot.queues if snapshot.queue_name(node) == name)
        return snapshot.tree.potential(here, snapshot.fr(*self._place))

    @cached_property
    def _empty(self) -> Snapshot:
        return take_snapshot(read_kueue_objects(self.dump(()), where="example"))

    def dump(self, jobs: Iterable[Job], *changes: Change) -> Object:
        """Return the List that kubectl would print, with some changes made."""
        names = map(self.facts.snapshot.queue_name, self.queues)
        given = self.facts.state.configuration
        fields: Object = {"featureGates": dict(given.feature_gates)} if given.feature_gates else {}
        if given.fair_sharing_on and given.fair_sharing is not None:
            strategies = list(given.fair_sharing.strategies)
            fields["fairSharing"] = {"preemptionStrategies": strategies} if strategies else {}
        if given.release_known_by != "assumed":
            version = {"app.kubernetes.io/version": f"v{given.release.name}"}
            fields["metadata"] = {"labels": {"app.kubernetes.io/name": "kueue", **version}}
        items = [
            *([objects.configuration(**fields)] if fields else []),
            objects.resource_flavor(self._place.flavor, created=NOON),
            *self._cohorts(),
            *map(self._cluster_queue, self.queues),
            *(objects.local_queue(NAMESPACE, name, name, created=NOON) for name in names),
            *map(self._workload, jobs),
        ]
        for change in changes:
            change(items)
        return listed(items)

    def and_lender(self) -> World | None:
        """Return the world with the ClusterQueue added that lends most; None if none lends."""
        facts, tree = self.facts, self.facts.snapshot.tree
        others = [q for q in facts.active_others(self.queues[0]) if q not in self.queues]
        lendable = {q: tree.subtree[q][self.fr] - tree.kept[q][self.fr] for q in others}
        best = max(lendable, key=lendable.__getitem__, default=None)
        if best is None or not lendable[best]:
            return None
        return replace(self, queues=(*self.queues, best))

    @property
    def _place(self) -> FlavorResource:
        return self.facts.snapshot.tree.frs[self.fr]

    def _cohorts(self) -> Iterator[Object]:
        tree = self.facts.snapshot.tree
        above = dict.fromkeys(node for queue in self.queues for node in tree.ancestors(queue))
        for node in (tree.nodes[cohort] for cohort in above):
            parent = "" if node.parent == NO_PARENT else tree.nodes[node.parent].name
            quotas = self._quotas(node.quotas[self.fr]) if self.fr in node.quotas else None
            made = objects.cohort(node.name, parent, quotas, created=NOON)
            yield objects.weighted(made, _weight(node.weight_nano))

    def _cluster_queue(self, queue: int) -> Object:
        facts, node = self.facts, self.facts.snapshot.tree.nodes[queue]
        given, policies = facts.snapshot.queues[queue].spec, facts.policies(queue)
        borrow = policies.borrow_within_cohort
        made = objects.cluster_queue(
            node.name,
            given.cohort_name,
            self._quotas(node.quotas.get(self.fr, NodeQuota(0))),
            objects.Policies(
                policies.within_cluster_queue,
                policies.reclaim_within_cohort,
                borrow.policy,
                borrow.max_priority_threshold,
            ),
            created=NOON,
        )
        spec = objects.weighted(made, _weight(node.weight_nano))["spec"]
        spec["queueingStrategy"] = given.queueing_strategy
        if given.stop_policy != "None":
            spec["stopPolicy"] = given.stop_policy
        rules = facts.snapshot.queues[queue].check_rules
        if rules and not node.active:
            checks = [{"name": rule.name} for rule in rules]
            spec["admissionChecksStrategy"] = {"admissionChecks": checks}
        # Flavors that do not exist make it inactive: each is named in a group of its own.
        named = dict.fromkeys(one.name for group in given.resource_groups for one in group.flavors)
        missing = [name for name in named if name not in facts.snapshot.flavors]
        for number, name in enumerate(missing):
            if name != self._place.flavor:
                resource = f"{_MISSING}-{number}"
                flavor = {"name": name, "resources": [{"name": resource, "nominalQuota": "0"}]}
                group = {"coveredResources": [resource], "flavors": [flavor]}
                spec["resourceGroups"].append(group)
        return made

    def _quotas(self, quota: NodeQuota) -> dict[str, dict[str, objects.Quota]]:
        one = objects.Quota(quota.nominal, quota.borrowing_limit, quota.lending_limit)
        return {self._place.flavor: {self._place.resource: one}}

    def _workload(self, job: Job) -> Object:
        flavor, resource = self._place
        queue = self.facts.snapshot.queue_name(job.queue)
        since = NOON + timedelta(minutes=job.minute)
        created = since if job.created is None else NOON + timedelta(minutes=job.created)
        own = min(max(job.priority, LEAST), MOST)
        boost = job.boost or str(job.priority - own)
        return objects.workload(
            NAMESPACE,
            job.name,
            queue,
            own,
            [objects.PodSet(1, {resource: job.amount})],
            created=created,
            admission=objects.Admission(queue, {resource: flavor}, since) if job.running else None,
            annotations={BOOST_ANNOTATION: boost} if boost != "0" else None,
        )


def read_example(
    dump: Object, pending: str, *, placing: bool = False
) -> tuple[State, Snapshot, Preemptor]:
    """Read a dump as if it came from a cluster, and find a pending workload of it."""
    state = read_kueue_objects(dump, where="example")
    snapshot = take_snapshot(state, placing=placing)
    return state, snapshot, find_preemptor(state, snapshot, pending)


def each_queue(change: Callable[[Object], object], names: Iterable[str]) -> Change:
    """Return a change of a dump that applies ``change`` to the ClusterQueues of some names."""
    wanted = set(names)

    def changed(items: list[Object]) -> None:
        for item in items:
            if item["kind"] == "ClusterQueue" and item["metadata"]["name"] in wanted:
                change(item)

    return changed


def policies(names: Iterable[str], **changed: object) -> Change:
    """Return a change that sets preemption policies of some ClusterQueues."""
    return each_queue(lambda queue: queue["spec"]["preemption"].update(changed), names)


def spec_of(names: Iterable[str], **changed: object) -> Change:
    """Return a change that sets fields of the spec of some ClusterQueues."""
    return each_queue(lambda queue: queue["spec"].update(changed), names)


def without(*path: str) -> Change:
    """Return a change that removes a field from every object that has it."""
    *above, last = path

    def change(items: list[Object]) -> None:
        for item in items:
            reduce(lambda inner, name: inner.get(name, {}), above, item).pop(last, None)

    return change


def _weight(nano: int) -> str | None:
    """Return a weight as text; ``None`` where it is 1, the default."""
    if nano == NANO:
        return None
    return str(nano // NANO) if nano % NANO == 0 else f"{nano}n"
