"""All legal victim sets of a small YuniKorn cluster, by trying every subset step by step.

Written from docs/semantics/yunikorn.md §4 to §7, §11.1 and §15, over the queues themselves: no
problem arrays, no classes, no closed forms. An order of removals is searched, not derived.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from planner.quantity import NANO
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, is_usable
from planner.quota.yunikorn.held_back import passed_over
from planner.quota.yunikorn.queue import Queue, Snapshot, under, walk
from planner.quota.yunikorn.resource import (
    Resource,
    fits_in,
    fits_loose,
    fits_raw,
    ge_all,
    minus,
    minus_known,
    plus,
    share_type,
)
from planner.reference.yunikorn.candidates import Candidate, find_candidates, find_fence, in_leaf
from planner.state.yunikorn import Allocation
from planner.state.yunikorn_pods import KubernetesObjects, Pod
from planner.state.yunikorn_release import V1_8
from tests.subsets import subsets
from tests.yunikorn.admitted import NodeSets

Victims = tuple[Candidate, ...]


def legal_sets(cluster: Cluster, asking: Asking, rules: str) -> NodeSets:
    """Return the legal victim sets of each usable node, by the rules of a rule set."""
    ask = asking.ask
    if asking.shares is not None:
        return {"": set(_within_max(cluster, asking, asking.shares))}
    if ask.required_node:
        return _on_required_node(cluster, asking)
    candidates: Sequence[Candidate] = ()
    may_preempt = is_first(cluster, asking) and ask.x.allow_preempt_other
    if cluster.partition.preemption.enabled and may_preempt:
        fence = find_fence(asking.leaf, ask, cluster.release)
        candidates = find_candidates(asking.leaf, ask, fence)
    trial = Trial(asking, older=cluster.release < V1_8)
    sets: NodeSets = {}
    for room in cluster.nodes:
        if not is_usable(cluster, room, ask) or cluster.closes(room.node_id, ask):
            continue
        has_room = fits_in(room.available, ask.resource) and pod_fits(cluster, asking, room, ())
        sets[room.node_id] = {
            _keys(victims)
            for victims in subsets([c for c in candidates if has_room or is_on(c, room)], 1)
            if (has_room or fits_in(freed(room, victims), ask.resource))
            and pod_fits(cluster, asking, room, victims)
            and trial.has_order(frozenset(victims))
            and trial.within_guaranteed(victims)
            and (
                rules == "yunikorn-code"
                or (trial.within_limits(victims) and trial.keeps_guaranteed(cluster, victims))
            )
        }
    return sets


def _on_required_node(cluster: Cluster, asking: Asking) -> NodeSets:
    ask = asking.ask
    room = cluster.node(ask.required_node)
    if room is None or cluster.closes(room.node_id, ask):
        return {}
    held = [
        Candidate(allocation, cluster.tree.leaf_of(application), application.application_id)
        for application in cluster.partition.applications
        for allocation in application.allocations
        if allocation.node_id == room.node_id
        and allocation.priority <= ask.priority
        and not (allocation.required_node or allocation.preempted)
        and (cluster.release < V1_8 or not allocation.x.released)
        and share_type(allocation.resource, ask.resource)
    ]
    trial = Trial(asking)
    legal = {
        _keys(victims)
        for victims in subsets(held if is_first(cluster, asking) else [], 1)
        if ge_all(freed(room, victims), ask.resource)
        and trial.within_limits(victims)
        and pod_fits(cluster, asking, room, victims)
    }
    return {room.node_id: legal}


def _within_max(
    cluster: Cluster, asking: Asking, shares: Mapping[str, Resource]
) -> Iterator[frozenset[str]]:
    """Yield the sets that bring a queue to its maximum, of those whom the core finds in leaves."""
    queue, trial, by_path = asking.leaf, Trial(asking), cluster.tree.by_path
    found = [one for path, part in shares.items() for one in in_leaf(by_path[path], part)]
    for victims in subsets(found):
        after = minus(minus_known(queue.allocated, queue.preempting), _below(queue, victims))
        within = all(after.get(t, 0) <= most for t, most in (queue.max or {}).items())
        if within and trial.keeps_guaranteed(cluster, victims):
            yield _keys(victims)


class Trial:
    """Removals tried on copies of the queues, for one ask; ``older`` are the rules up to 1.7."""

    def __init__(self, asking: Asking, *, older: bool = False) -> None:
        self.asking = asking
        self.older = older
        self.has_order = cache(self._has_order)

    def _has_order(self, victims: frozenset[Candidate]) -> bool:
        """Say whether some order exists in which everybody has a turn: try each as the last."""
        return not victims or any(
            self._after(victims - {last}).takeable(last.queue) and self.has_order(victims - {last})
            for last in victims
        )

    def within_guaranteed(self, victims: Victims) -> bool:
        """Try the ask at once; otherwise count it and look again after each removal."""
        ask, snapshot = self.asking.ask.resource, self._after(())
        rest = snapshot.remaining()
        if rest is not None and fits_raw(rest, ask) and not self.older:
            return True
        snapshot.add(self.asking.leaf, ask)
        for victim in victims:
            snapshot.remove(victim.queue, victim.resource)
            rest = snapshot.remaining()
            if rest is not None and (ge_all(rest, {}) if self.older else under(rest, ask)):
                return True
        return False

    def within_limits(self, victims: Victims) -> bool:
        """Look at the maxima of the ask's path; with a required node, at its headroom."""
        ask, required = self.asking.ask.resource, bool(self.asking.ask.required_node)
        for queue in self.asking.leaf.lineage:
            total = plus(minus(queue.allocated, _below(queue, victims)), ask)
            asked = {t: total[t] for t, amount in ask.items() if amount or not required}
            if not (fits_loose if queue.parent or required else fits_in)(queue.max, asked):
                return False
        return True

    def keeps_guaranteed(self, cluster: Cluster, victims: Victims) -> bool:
        """Look at every queue's guaranteed."""
        return all(self._keeps_guaranteed(queue, victims) for queue in walk(cluster.tree.root))

    def _keeps_guaranteed(self, queue: Queue, victims: Victims) -> bool:
        before = minus_known(queue.allocated, queue.preempting) or {}
        after = minus(before, _below(queue, victims))
        if queue in self.asking.leaf.lineage:
            after = plus(after, self.asking.ask.resource)
        return all(
            after.get(t, 0) >= min(amount, before.get(t, 0))
            for t, amount in (queue.guaranteed or {}).items()
        )

    def _after(self, victims: Victims | frozenset[Candidate]) -> Snapshot:
        ask = self.asking.ask.resource
        snapshot = Snapshot(self.asking.leaf, ask, older=self.older)
        for victim in victims:
            snapshot.remove(victim.queue, victim.resource)
        return snapshot


def is_first(cluster: Cluster, asking: Asking) -> bool:
    """Say whether the ask has not preempted before, and the core looks at it."""
    return not (asking.ask.triggered_preemption or passed_over(cluster, asking))


def is_on(candidate: Candidate, room: NodeRoom) -> bool:
    """Say whether a candidate is on a node."""
    return candidate.allocation.node_id == room.node_id


def pod_fits(cluster: Cluster, asking: Asking, room: NodeRoom, victims: Victims) -> bool:
    """Count anew what Kubernetes has on a node beside the pod, with the victims there gone.

    Pods of these tests have plain containers, and amounts are whole in the units of Kubernetes.
    """
    objects = cluster.objects or KubernetesObjects.blank()
    mine = next(
        (one for one in objects.pods if one.metadata.uid == asking.ask.allocation_key), None
    )
    if mine is None:
        return True
    at = {one.allocation_key: one.node_id for one in allocations_of(cluster)}
    gone = {victim.key for victim in victims if is_on(victim, room)}
    stay = [
        one
        for one in objects.pods
        if (one.spec.node_name or at.get(one.metadata.uid)) == room.node_id
        and one.metadata.uid not in gone
        and not one.status.is_over
    ]
    (has,) = (one for one in objects.nodes if one.metadata.name == room.node_id)
    used = Counter[str]()
    for container in (container for one in (*stay, mine) for container in one.spec.containers):
        used.update(container.resources.requests)
    used["pods"] = (len(stay) + 1) * NANO
    asked = [container.resources.requests for container in mine.spec.containers]
    wanted = {t for requests in asked for t, amount in requests.items() if amount} | {"pods"}
    if any(used[t] > has.status.allocatable.get(t, 0) for t in wanted):
        return False
    taken = [port for one in stay for port in _ports(one)]
    return not any(
        (number, protocol) == (other[0], other[1])
        and (address == other[2] or "" in {address, other[2]})
        for number, protocol, address in _ports(mine)
        for other in taken
    )


def _ports(pod: Pod) -> list[tuple[int, str, str]]:
    ports = [port for container in pod.spec.containers for port in container.ports]
    return [
        (port.host_port, port.protocol, port.host_ip.replace("0.0.0.0", ""))  # noqa: S104
        for port in ports
        if port.host_port
    ]


def allocations_of(cluster: Cluster) -> Iterator[Allocation]:
    """Yield all allocations of a partition."""
    return (each for one in cluster.partition.applications for each in one.allocations)


def _keys(victims: Victims) -> frozenset[str]:
    return frozenset(victim.key for victim in victims)


def freed(room: NodeRoom, victims: Victims) -> Resource:
    """Return what is available on a node with the victims on it gone."""
    total = room.available
    for victim in victims:
        total = plus(total, victim.resource) if is_on(victim, room) else total
    return total


def _below(queue: Queue, victims: Victims) -> Resource:
    total: Resource = {}
    for victim in victims:
        total = plus(total, victim.resource) if queue in victim.queue.lineage else total
    return total
