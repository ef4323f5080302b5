"""Single objects of a live cluster, as they are now, and the calls of kubectl that change them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from planner.errors import InputError, ParseError
from planner.kubectl.call import PROGRAM, Answer, Kubectl, last_words
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject, is_forbidden, is_missing
from planner.reader.parse import parse_json
from planner.state.kueue import API_GROUP

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
    return Call(f"hold LocalQueue {queue.key}", _patch(LOCAL_QUEUES, queue.key, _MERGE, change))


def lift(key: str, mark: str) -> Call:
    """Let a LocalQueue go on as before, for only one that is open is ever held.

    Unlike the other calls it names no version: a hold must not stay because somebody else changed
    something meanwhile.
    """
    change = {"metadata": {"annotations": {mark: None}}, "spec": {"stopPolicy": OPEN}}
    return Call(f"lift the hold of LocalQueue {key}", _patch(LOCAL_QUEUES, key, _MERGE, change))


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
    return Call(f"evict {workload.key}", _patch(WORKLOADS, workload.key, options, operations))


def annotate(workload: LiveObject, values: Mapping[str, str | None], title: str) -> Call:
    """Set annotations of a workload as it was read; those that are ``None`` are taken away."""
    metadata = {"resourceVersion": workload.version, "annotations": dict(values)}
    return Call(title, _patch(WORKLOADS, workload.key, _MERGE, {"metadata": metadata}))


_MERGE: Final = ("--type=merge",)


def _patch(resource: str, key: str, options: Sequence[str], change: object) -> tuple[str, ...]:
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
