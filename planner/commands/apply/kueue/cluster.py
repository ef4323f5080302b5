"""Single objects of a live cluster, as they are now, and the calls of kubectl that change them.

With these calls, two treatments of workloads that make Kueue evict the planned victims only.
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
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject, hint_of, is_forbidden, is_missing
from planner.plan.kueue import Plan
from planner.reader.parse import parse_json
from planner.state.kueue import API_GROUP
from planner.state.kueue_workload import BOOST_ANNOTATION

LOCAL_QUEUES: Final = f"localqueues.{API_GROUP}"
OPEN: Final = "None"
"""The stop policy of a LocalQueue that is not stopped, and its default."""
HELD: Final = "preemption-planner.io/held-for"
"""The annotation of a LocalQueue that is held: for which plan, and for which preemptor."""
CLUSTER_ROLE: Final = (
    "kubectl create clusterrole preemption-planner-apply --verb=get,list,patch "
    f"--resource={LOCAL_QUEUES} --resource={WORKLOADS} --resource={WORKLOADS}/status"
)
"""The command that makes the least ClusterRole to carry out plans, beside that of a snapshot."""


class Surprise(Exception):  # noqa: N818 - it is what happened
    """The cluster is not as it has to be for the next step."""


class Call(Struct, frozen=True):
    """A call of kubectl that changes an object: what it is for, and its words."""

    title: str
    words: tuple[str, ...]


class Cluster:
    """A live cluster, object by object.

    ``connect`` makes a kubectl, with its limits of time and bytes, for one call. Methods that call
    kubectl raise InputError if it fails.
    """

    def __init__(self, connect: Callable[[], Kubectl]) -> None:
        self._connect = connect
        self._at_hand: dict[str, LiveObject] = {}

    @property
    def options(self) -> Sequence[str]:
        """The options of kubectl that say which cluster it is."""
        return self._connect().options

    def look_at(self, keys: Collection[str]) -> None:
        """Read several workloads in one call: `find` returns each of them once without a call.

        The server refuses a change of a version that is outdated by then; it is tried anew.
        """
        if len(keys) > 1:
            wanted, namespaces = {*keys}, {key.partition("/")[0] for key in keys}
            listed = self.listed(WORKLOADS, namespaces.pop() if len(namespaces) == 1 else None)
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

        Raises ``Surprise`` if the cluster does not have it.
        """
        found = self.find(resource, key)
        if found is None:
            raise Surprise(f"{kind}{key} is gone")
        return found

    def listed(self, resource: str, namespace: str | None = None) -> Iterator[LiveObject]:
        """List all objects of a kind, or those of a namespace, as they are now."""
        where = f"--namespace={namespace}" if namespace else "--all-namespaces"
        words = ("get", resource, where, "--output=json")
        items = _object(self._connect().call(*words), words).get("items")
        found = items if isinstance(items, list) else []
        return (LiveObject(one) for one in found if isinstance(one, dict))

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


def hold(queue: LiveObject, note: str) -> Call:
    """Return the call that holds a LocalQueue: Kueue looks at no workload that waits in it.

    Its workloads keep the quota that they hold. The ``note`` says whose hold it is.
    """
    metadata = {"resourceVersion": queue.version, "annotations": {HELD: note}}
    change = {"metadata": metadata, "spec": {"stopPolicy": "Hold"}}
    return Call(f"hold LocalQueue {queue.key}", _patch(LOCAL_QUEUES, queue.key, change))


def lift(key: str) -> Call:
    """Return the call that opens a held LocalQueue; it was open before, as only those are held.

    Unlike the other calls it names no version: a hold must not stay because another client changed
    the LocalQueue meanwhile.
    """
    change = {"metadata": {"annotations": {HELD: None}}, "spec": {"stopPolicy": OPEN}}
    return Call(f"lift the hold of LocalQueue {key}", _patch(LOCAL_QUEUES, key, change))


def evict(workload: LiveObject, message: str, now: datetime) -> Call:
    """Return the call that sets the condition Evicted in the status of a workload.

    The other conditions stay as they are: the patch tests that the object is in the version that
    was read, and then adds or replaces this condition, for each type may be there once only.

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
    """Return the call that sets annotations of a workload as it was read; ``None`` removes one."""
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
    said = last_words(answer.stderr) or f"ended with exit code {answer.code}"
    granted = f"an administrator grants it: {CLUSTER_ROLE}"
    hint = granted if is_forbidden(answer) else hint_of(said)
    return InputError(shlex.join((PROGRAM, *words[:3])), f"failed: {said}", hint=hint)


BOOSTED: Final = "preemption-planner.io/boosted-for"
"""The annotation of a workload boosted for a plan: which plan, and what the boost was before."""


class Treatment:
    """One way to have a plan carried out: a change to each of its workloads.

    ``keys`` are the workloads that are changed, as namespace/name, in order.
    """

    way: Way
    keys: tuple[str, ...]

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that changes a workload, or ``None`` if it is as it should be already.

        Raises ``Surprise`` if the workload is no longer what it was when the plan was made.
        """
        raise NotImplementedError

    def restore(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that takes the change back in the end; ``None`` if there is none."""
        del cluster, key
        return None


class Evictions(Treatment):
    """Every victim gets the condition Evicted while the preemptor's LocalQueue is held.

    Victims that are being evicted anyway are left alone. Kueue takes evicted workloads first and
    counts what they free; the controller of the victim's kind stops its job and queues it again,
    and Kueue removes the condition when it admits the victim again (docs/design/applying.md §3).
    """

    way: Way = "eviction"

    def __init__(self, plan: Plan, clock: Callable[[], datetime]) -> None:
        self._queues = {one.workload: one.cluster_queue for one in plan.victims if not one.evicted}
        self.keys = tuple(self._queues)
        self._message = f"Evicted to make room for {plan.preemptor}, as planned"
        self._clock = clock

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that sets the condition Evicted of a victim."""
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
    """Priorities change a little, so that Kueue's own algorithm chooses the planned victims.

    A boost stays until it is taken away, and counts in every later preemption: the annotation
    ``BOOSTED`` says what the boost was before, so that another run can take it back, too.
    """

    way: Way = "boosts"

    def __init__(self, boosts: Iterable[WorkloadBoost], digest: str) -> None:
        self._boosts = {one.workload: str(one.boost) for one in boosts}
        self.keys = tuple(self._boosts)
        self._digest = digest

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that sets the boost, and notes what the boost was before."""
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
        """Return the call that gives a workload back the boost that it had before."""
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
    """Return the JSON object in an annotation of ours; empty if it is missing, or no object."""
    try:
        value = json.loads(item.annotations.get(mark, ""))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
