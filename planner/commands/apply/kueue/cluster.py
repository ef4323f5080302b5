"""Single objects of a live cluster, as they are now, and the calls of kubectl that change them.

With those, what is done to workloads so that Kueue evicts the planned victims, and nobody else.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from planner.commands.apply.record import Way
from planner.commands.boost.kueue.find import WorkloadBoost
from planner.errors import InputError, ParseError
from planner.kubectl.call import PROGRAM, Answer, Kubectl, last_words
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject, is_forbidden, is_missing
from planner.plan.kueue import Plan
from planner.reader.parse import parse_json
from planner.state.kueue import API_GROUP
from planner.state.kueue_workload import BOOST_ANNOTATION

LOCAL_QUEUES: Final = f"localqueues.{API_GROUP}"
OPEN: Final = "None"
"""The stop policy of a LocalQueue that is not stopped, and its default."""
CLUSTER_ROLE: Final = (
    "kubectl create clusterrole preemption-planner-apply --verb=get,list,patch "
    f"--resource={LOCAL_QUEUES} --resource={WORKLOADS} --resource={WORKLOADS}/status"
)
"""The command that makes the least ClusterRole for this, beside that of a snapshot."""


class Surprise(Exception):  # noqa: N818 - it is what happened
    """The cluster is not as it has to be for the next step."""


class Call(Struct, frozen=True):
    """A call of kubectl that changes an object: what it is for, and its words."""

    title: str
    words: tuple[str, ...]


class Cluster:
    """A live cluster, object by object.

    ``connect`` makes a kubectl, with its limits of time and bytes, for one call. Whatever asks it
    raises InputError if it fails.
    """

    def __init__(self, connect: Callable[[], Kubectl]) -> None:
        self._connect = connect
        self._at_hand: dict[str, LiveObject] = {}

    @property
    def options(self) -> Sequence[str]:
        """The options of kubectl that say which cluster it is."""
        return self._connect().options

    def look_at(self, keys: Collection[str]) -> None:
        """Read several workloads in one call: `find` returns each of them once, and then asks.

        A change of an older version is refused by the server, and tried anew.
        """
        if len(keys) > 1:
            wanted, namespaces = {*keys}, {key.partition("/")[0] for key in keys}
            listed = self.workloads(namespaces.pop() if len(namespaces) == 1 else None)
            self._at_hand = {one.key: one for one in listed if one.key in wanted}

    def find(self, resource: str, key: str) -> LiveObject | None:
        """Return an object as it is now, or ``None`` if the cluster does not have it."""
        if resource == WORKLOADS and key in self._at_hand:
            return self._at_hand.pop(key)
        namespace, _, name = key.partition("/")
        words = ("get", resource, name, f"--namespace={namespace}", "--output=json")
        answer = self._connect().call(*words)
        if answer.code != 0 and is_missing(answer):
            return None
        return LiveObject(_object(answer, words))

    def need(self, resource: str, key: str, kind: str = "") -> LiveObject:
        """Return an object as `find` does; ``kind`` stands before its name in the message.

        Raises
        ------
        Surprise
            If the cluster does not have it.
        """
        found = self.find(resource, key)
        if found is None:
            raise Surprise(f"{kind}{key} is gone")
        return found

    def workloads(self, namespace: str | None = None) -> Iterator[LiveObject]:
        """List all workloads as they are now, or those of a namespace."""
        where = f"--namespace={namespace}" if namespace else "--all-namespaces"
        words = ("get", WORKLOADS, where, "--output=json")
        items = _object(self._connect().call(*words), words).get("items")
        listed = items if isinstance(items, list) else []
        return (LiveObject(one) for one in listed if isinstance(one, dict))

    def command(self, call: Call) -> str:
        """Return the command line of a call, as a shell takes it."""
        return shlex.join((PROGRAM, *call.words, *self.options))

    def change(self, call: Call) -> str:
        """Run a call that changes something; say why the server did not do it, if it did not."""
        answer = self._connect().call(*call.words)
        if answer.code == 0:
            return ""
        if is_forbidden(answer):
            raise _failure(answer, call.words)
        return last_words(answer.stderr) or f"exit code {answer.code}"


def hold(queue: LiveObject, mark: str, value: str) -> Call:
    """Keep what waits in a LocalQueue from being looked at; ``mark`` tells whose hold it is.

    What its workloads hold already they keep.
    """
    metadata = {"resourceVersion": queue.version, "annotations": {mark: value}}
    change = {"metadata": metadata, "spec": {"stopPolicy": "Hold"}}
    return Call(f"hold LocalQueue {queue.key}", _patch(LOCAL_QUEUES, queue.key, change))


def lift(key: str, mark: str) -> Call:
    """Let a LocalQueue go on as before, for only one that is open is ever held.

    Unlike the other calls it names no version: a hold must not stay because somebody else changed
    something meanwhile.
    """
    change = {"metadata": {"annotations": {mark: None}}, "spec": {"stopPolicy": OPEN}}
    return Call(f"lift the hold of LocalQueue {key}", _patch(LOCAL_QUEUES, key, change))


def evict(workload: LiveObject, message: str, now: datetime) -> Call:
    """Say in the status of a workload that it is evicted.

    The other conditions stay as they are: the patch tests that the object is the one that was
    read, and then adds its one condition, or replaces it, for there may be one of each type only.

    Source: docs/design/applying.md §3, first row.
    """
    condition = {
        "type": "Evicted",
        "status": "True",
        "reason": "Preempted",
        "message": message,
        "lastTransitionTime": f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
    kinds = [one.get("type") for one in workload.conditions]
    known = "Evicted" in kinds
    place = f"/status/conditions/{kinds.index('Evicted') if known else '-'}"
    operations = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": workload.version},
        {"op": "replace" if known else "add", "path": place, "value": condition},
    ]
    options = ("--subresource=status", "--type=json")
    return Call(f"evict {workload.key}", _patch(WORKLOADS, workload.key, operations, options))


def annotate(workload: LiveObject, values: Mapping[str, str | None], title: str) -> Call:
    """Set annotations of a workload as it was read; those that are ``None`` are taken away."""
    metadata = {"resourceVersion": workload.version, "annotations": dict(values)}
    return Call(title, _patch(WORKLOADS, workload.key, {"metadata": metadata}))


def _patch(
    resource: str, key: str, change: object, options: Sequence[str] = ("--type=merge",)
) -> tuple[str, ...]:
    namespace, _, name = key.partition("/")
    patch = json.dumps(change, separators=(",", ":"))
    return ("patch", resource, name, f"--namespace={namespace}", *options, f"--patch={patch}")


def _object(answer: Answer, words: Sequence[str]) -> dict[str, Any]:
    if answer.code != 0:
        raise _failure(answer, words)
    where = shlex.join((PROGRAM, *words[:3]))
    values = list(parse_json(answer.output, where))
    if len(values) != 1 or not isinstance(values[0], dict):
        raise ParseError(where, "printed no JSON object", "what kubectl get -o json prints")
    return values[0]


def _failure(answer: Answer, words: Sequence[str]) -> InputError:
    hint = f"an administrator grants it: {CLUSTER_ROLE}" if is_forbidden(answer) else ""
    said = last_words(answer.stderr) or f"ended with exit code {answer.code}"
    return InputError(shlex.join((PROGRAM, *words[:3])), f"failed: {said}", hint=hint)


BOOSTED: Final = "preemption-planner.io/boosted-for"
"""The annotation of a workload whose boost is for a plan: which, and what the boost was before."""


class Treatment:
    """One way to have a plan carried out: what is done to each of some workloads.

    ``keys`` are those that are changed, as namespace/name, in order.
    """

    way: Way
    keys: tuple[str, ...]

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that changes a workload, or ``None`` if it is as it should be already.

        Raises
        ------
        Surprise
            If it is no longer what it was when the plan was made.
        """
        raise NotImplementedError

    def restore(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that takes the change back once the preemptor is in, if one does."""
        del cluster, key
        return None


class Evictions(Treatment):
    """Every victim is said to be evicted, for the preemptor's sake, while nobody else may preempt.

    Those that are being evicted anyway are left alone. Kueue takes such workloads first and counts
    what they free; the controller of its kind stops the job and queues it again, and Kueue itself
    takes the condition back when it admits the victim again (docs/design/applying.md §3).
    """

    way: Way = "eviction"

    def __init__(self, plan: Plan, clock: Callable[[], datetime]) -> None:
        self._queues = {one.workload: one.cluster_queue for one in plan.victims if not one.evicted}
        self.keys = tuple(self._queues)
        self._message = f"Evicted to make room for {plan.preemptor}, as planned"
        self._clock = clock

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that says that it is evicted."""
        found = cluster.need(WORKLOADS, key)
        if found.is_true("Evicted"):
            if found.condition("Evicted").get("message") == self._message:
                return None  # by an earlier run, or a call whose answer was lost
            raise Surprise(f"{key} is being evicted by somebody else")
        if not found.holds_quota:
            raise Surprise(f"{key} holds no quota any more")
        if found.at("status", "admission", "clusterQueue") != self._queues[key]:
            raise Surprise(f"{key} does not run in ClusterQueue {self._queues[key]} any more")
        return evict(found, self._message, self._clock())


class BoostedPriorities(Treatment):
    """The priorities change a little, so that Kueue's own algorithm chooses the planned victims.

    A boost stays until it is taken away, and counts in every later preemption: an annotation beside
    it says what it was before, so that also another run can take it back.
    """

    way: Way = "boosts"

    def __init__(self, boosts: Iterable[WorkloadBoost], digest: str) -> None:
        self._boosts = {one.workload: str(one.boost) for one in boosts}
        self.keys = tuple(self._boosts)
        self._digest = digest

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that sets the boost, and notes what it was before."""
        found = cluster.need(WORKLOADS, key)
        if BOOSTED in found.annotations:
            if mark_of(found, BOOSTED).get("plan") == self._digest:
                return None
            undo = "planner apply --undo takes that back"
            raise Surprise(f"{key} is boosted for another plan: {undo}")
        boost = self._boosts[key]
        note = json.dumps({"plan": self._digest, "before": found.annotations.get(BOOST_ANNOTATION)})
        values: Mapping[str, str | None] = {BOOST_ANNOTATION: boost, BOOSTED: note}
        return annotate(found, values, f"boost the priority of {key} by {boost}")

    def restore(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that gives it the boost back that it had."""
        return unboost(cluster, key, self._digest)


def unboost(cluster: Cluster, key: str, digest: str) -> Call | None:
    """Return the call that takes the boost for a plan back, as the note beside it says."""
    found = cluster.find(WORKLOADS, key)
    note = {} if found is None else mark_of(found, BOOSTED)
    if found is None or note.get("plan") != digest:
        return None
    before = note.get("before")
    values = {BOOST_ANNOTATION: before if isinstance(before, str) else None, BOOSTED: None}
    return annotate(found, values, f"take the boost of {key} back")


def mark_of(item: LiveObject, mark: str) -> dict[str, Any]:
    """Return what an annotation of ours says; empty if it is not there, or says something else."""
    try:
        value = json.loads(item.annotations.get(mark, ""))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
