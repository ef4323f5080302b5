"""Changes carried into the cluster over one kept connection; and the Lease of who may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from planner.errors import InputError
from planner.operations.kubectl.call import PROGRAM, Kubectl
from planner.operations.kubectl.kueue_resource import (
    WORKLOADS,
    LiveObject,
    hint_of,
)
from planner.operations.kubectl.proxy import Proxy, Reply
from planner.operations.steer.kueue.marks import Marked, Patch
from planner.reader.parse import parse_json
from planner.state.name import is_key, not_allowed

LEASES: Final = "leases.coordination.k8s.io"
LEASE: Final = "preemption-planner-steer/steer"
LEASE_S: Final = 15
"""Seconds after which a Lease that nobody renews is another's to take."""
RENEWED_S: Final = 5.0
RIGHT: Final = "`planner steer --manifests` prints the ClusterRole that permits it"
"""What helps where the cluster forbids a change."""


class Denied(InputError):  # noqa: N818 - it is what happened
    """The cluster forbids a change."""


class Hands:
    """What changes a cluster: by requests to the API server over one connection that is kept.

    ``connect`` makes a kubectl, with its limits, for whatever is asked only once.
    """

    def __init__(self, connect: Callable[[], Kubectl], proxy: Proxy | None = None) -> None:
        self._connect = connect
        self._proxy = proxy or Proxy(connect, PATHS)

    def patch(self, patches: Iterable[Patch]) -> list[tuple[Patch, Marked | None]]:
        """Make changes, one after the other; return each with the object after it.

        It is ``None`` where the server refused: the object is no longer what the patch tests, or is
        gone. Raises ``Denied`` if a change is forbidden, another ``InputError`` if the server
        cannot be reached, or a name is none that Kubernetes allows.
        """
        wanted = [*patches]
        if odd := not_allowed(one.key for one in wanted):
            raise InputError("the cluster", odd)
        done: list[tuple[Patch, Marked | None]] = []
        for one in wanted:
            path = _path(one.resource, one.key, one.subresource)
            reply, after = self._proxy.ask("PATCH", path, one.change, one.kind), None
            if reply.code not in _REFUSED:
                after = Marked(_object(f"patch {one.resource}", reply, f"the right to {one.title}"))
            done.append((one, after))
        return done

    def find(self, resource: str, key: str) -> LiveObject | None:
        """Return an object as it is now, or ``None`` if the cluster does not have it."""
        if odd := not_allowed([key]):
            raise InputError("the cluster", odd)
        reply = self._proxy.ask("GET", _path(resource, key))
        if reply.code == HTTPStatus.NOT_FOUND:
            return None
        return LiveObject(_object(f"get {resource}", reply, f"the right to get {resource}"))

    def may(self, verb: str, resource: str, subresource: str = "", namespace: str = "") -> bool:
        """Say whether the cluster permits something, in a namespace or in all."""
        part = (f"--subresource={subresource}",) if subresource else ()
        place = (f"--namespace={namespace}",) if namespace else ("--all-namespaces",)
        return self._connect().call("auth", "can-i", verb, resource, *part, *place).code == 0

    def raw(self, path: str) -> dict[str, Any] | None:
        """Return what the server has at a path; ``None`` if it has nothing there."""
        answer = self._connect().call("get", f"--raw={path}")
        found = [*parse_json(answer.output, f"{PROGRAM} get --raw")] if answer.code == 0 else []
        return found[0] if found and isinstance(found[0], dict) else None

    def close(self) -> None:
        """End the connection; the next change makes another."""
        self._proxy.close()


_REFUSED: Final = {
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.UNPROCESSABLE_ENTITY,  # a test of the patch fails
}
_VERSIONS: Final = {WORKLOADS: "v1beta2", LEASES: "v1"}
PATHS: Final = (
    r"/apis/(kueue\.x-k8s\.io/v1beta2/namespaces/[^/]+/workloads/[^/]+(/status)?"
    r"|coordination\.k8s\.io/v1/namespaces/[^/]+/leases/[^/]+)"
)
"""All that goes over the connection."""


def _path(resource: str, key: str, subresource: str = "") -> str:
    namespace, _, name = key.partition("/")
    plural, _, group = resource.partition(".")
    path = f"/apis/{group}/{_VERSIONS[resource]}/namespaces/{namespace}/{plural}/{name}"
    return f"{path}/{subresource}" if subresource else path


def _object(where: str, reply: Reply, right: str) -> dict[str, Any]:
    if reply.code == HTTPStatus.FORBIDDEN:
        raise Denied(where, f"is forbidden: {reply.said}", right, RIGHT)
    if reply.code != HTTPStatus.OK:
        raise InputError(where, f"failed: {reply.said}", hint=hint_of(reply.said))
    return reply.value


class Lease:
    """The Lease by which one of several acts: the others wait until it is not renewed any more.

    The Lease is part of the set-up, and never made here. When another renewed it is told by the
    clock of this machine, from when its renewal was seen first.
    """

    def __init__(self, hands: Hands, key: str, holder: str, seconds: Callable[[], float]) -> None:
        if not is_key(key):
            raise InputError("--lease", not_allowed([key]), "NAMESPACE/NAME")
        self._hands, self._key, self._holder, self._seconds = hands, key, holder, seconds
        self._seen: tuple[object, float] = None, 0.0
        self._due = 0.0
        self.held_by = ""

    @property
    def is_ours(self) -> bool:
        """Whether we hold it, as far as it was looked at."""
        return self.held_by == self._holder

    def keep(self) -> bool:
        """Look at the Lease and renew it, or take it, where that is due; say whether we hold it.

        Raises ``InputError`` if the cluster does not have it.
        """
        now = self._seconds()
        if now < self._due:
            return self.is_ours
        self._due = now + RENEWED_S
        found = self._hands.find(LEASES, self._key)
        if found is None:
            hint = "`planner steer --manifests` prints it with the rest of the set-up"
            raise InputError(f"Lease {self._key}", "is not there", hint=hint)
        self.held_by = str(found.at("spec", "holderIdentity") or "")
        if self._seen[0] != found.version:
            self._seen = found.version, now
        if self.held_by in {"", self._holder} or now - self._seen[1] >= LEASE_S:
            moment = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
            spec = {"holderIdentity": self._holder, "leaseDurationSeconds": LEASE_S}
            test = {"op": "test", "path": "/metadata/resourceVersion", "value": found.version}
            change = {"op": "add", "path": "/spec", "value": {**spec, "renewTime": moment}}
            ((_, taken),) = self._hands.patch([self._patch([test, change])])
            self.held_by = self._holder if taken else ""
        return self.is_ours

    def leave(self) -> None:
        """Let another have it at once, if we hold it."""
        if self.is_ours:
            empty = {"op": "add", "path": "/spec/holderIdentity", "value": ""}
            self._hands.patch([self._patch([empty])])
            self.held_by = ""

    def _patch(self, operations: Sequence[dict[str, Any]]) -> Patch:
        return Patch(f"hold Lease {self._key}", self._key, tuple(operations), resource=LEASES)
