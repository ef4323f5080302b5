"""A stand-in for the API server, on loopback: what the real kubectl needs to list objects.

Source: Kubernetes API conventions (lists in chunks, kind Status) and the documentation page
"Kubernetes API discovery", unaggregated.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.stand_in import RESOURCES, Object

CHUNK = 3
"""Objects in one piece of a list."""
NAMESPACED = {
    *("Workload", "LocalQueue", "LimitRange", "PodDisruptionBudget", "ConfigMap", "Deployment"),
    *("Lease", "Job"),
}
KINDS = {**RESOURCES, "Lease": "leases.coordination.k8s.io", "Job": "jobs.batch"}
VERSIONS = {
    "kueue.x-k8s.io": "v1beta2",
    "scheduling.k8s.io": "v1",
    "node.k8s.io": "v1",
    "policy": "v1",
    "resource.k8s.io": "v1",
    "apps": "v1",
    "coordination.k8s.io": "v1",
    "batch": "v1",
    "": "v1",
}


Hook = Callable[[str, Object], int]
"""Is told of each patch before it is made, as kind and the object; other than 0 is the status code
that the server fails with instead."""
Told = Callable[[str, Object], None]
"""Is told of each patch after it was made."""
OK, CREATED, GONE = 200, 201, 410
CUT = "CUT"
"""In a log: whoever watches is cut off. An object under ERROR is what the server says is wrong."""
Log = list[tuple[str, Object]]
"""What happened to objects, from the start on: ADDED, MODIFIED, DELETED; ERROR, or CUT."""
LOOK_S = 0.01


@contextmanager
def api_server(  # noqa: C901, PLR0913, PLR0917 - a handler with what happens in it
    objects: Iterable[Object],
    missing: Iterable[str] = (),
    forbidden: Iterable[str] = (),
    before: Hook = lambda _, __: 0,
    after: Told = lambda _, __: None,
    log: Log | None = None,
    fault: Callable[[str], int] = lambda _: 0,
    whole: AbstractContextManager[Any] | None = None,
) -> Iterator[str]:
    """Serve objects; give the address. Kinds may be missing, or forbidden to list.

    Patches change the objects themselves; ``before`` and ``after`` each of them a story can do as
    others would. Whoever watches is told what comes to the ``log``. ``fault`` is asked before each
    answer to a GET, with its path: it may take its time, or say which status code is sent instead.
    While ``whole`` is held by others, nothing is read or changed.
    """
    api = Server(objects, before, after, missing, forbidden)
    api.log = log if log is not None else api.log
    ended, held = Event(), whole or Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            failing = fault(self.path)
            if failing:
                reason = "Expired" if failing == GONE else "InternalError"
                self._reply(*failure(failing, reason, "something is in the way"))
                return
            with held:
                code, body = copy.deepcopy(api.get(self.path))
            query = parse_qs(urlsplit(self.path).query)
            if code == OK and query.get("watch", [""])[0] in {"1", "true"}:
                first = int(query.get("resourceVersion", ["1"])[0] or "1") - 1
                self._stream(body["kind"].removesuffix("List"), first)
            else:
                self._reply(code, body)

        def _stream(self, kind: str, place: int) -> None:
            """Send what comes to the log, until whoever reads has gone."""
            self.send_response(OK)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            while not ended.is_set():
                new, place = api.log[place:], len(api.log)
                for what, item in new:
                    if what == CUT:
                        return
                    if what == "ERROR" or item["kind"] == kind:
                        text = json.dumps({"type": what, "object": item})
                        try:
                            self.wfile.write(text.encode() + b"\n")
                            self.wfile.flush()
                        except OSError:
                            return
                ended.wait(LOOK_S)

        def do_PATCH(self) -> None:
            with held:
                answer = api.patch(self.path, self.headers["Content-Type"], self._sent())
            self._reply(*answer)

        def do_POST(self) -> None:
            with held:
                answer = api.create(self.path, self._sent())
            self._reply(*answer)

        def do_DELETE(self) -> None:
            with held:
                answer = api.delete(self.path)
            self._reply(*answer)

        def _sent(self) -> Any:
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def _reply(self, code: int, body: Object) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Warning", '299 - "an old version"')
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            ended.set()
            server.shutdown()
            thread.join()


class Server:
    """What the API server answers, without a network."""

    def __init__(
        self,
        objects: Iterable[Object],
        before: Hook = lambda _, __: 0,
        after: Told = lambda _, __: None,
        missing: Iterable[str] = (),
        forbidden: Iterable[str] = (),
    ) -> None:
        self.log: Log = []
        self._objects = objects if isinstance(objects, list) else list(objects)
        self._before = before
        self._after = after
        self._forbidden = set(forbidden)
        absent = set(missing)
        self._kinds = {name: kind for kind, name in KINDS.items() if kind not in absent}

    def get(self, target: str) -> tuple[int, Object]:
        """Return the status code and the body for a path with its query."""
        path, query = urlsplit(target).path.strip("/"), parse_qs(urlsplit(target).query)
        groups = {"api": "", **{f"apis/{name}": name for name in VERSIONS if name}}
        for prefix, group in groups.items():
            start = f"{prefix}/{VERSIONS[group]}"
            if path == start:
                return 200, self._resources(group)
            if path.startswith(f"{start}/"):
                return self._objects_at(group, path.removeprefix(f"{start}/").split("/"), query)
        if path == "api":
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == "apis":
            return 200, _groups()
        return failure(404, "NotFound", "the server could not find the requested resource")

    def patch(self, target: str, kind: str, patch: Any) -> tuple[int, Object]:
        """Change an object, as RFC 7386 and RFC 6902 say, unless it is another version."""
        code, found = self.get(urlsplit(target).path.removesuffix("/status"))
        failing = self._before(found["kind"], found) if code == OK else code
        if failing:
            return failure(failing, "InternalError", "something is in the way")
        changed = copy.deepcopy(found)
        if "merge-patch" in kind:
            version = patch.get("metadata", {}).get("resourceVersion")
            if version not in {None, found["metadata"]["resourceVersion"]}:
                return failure(409, "Conflict", "the object has been modified")
            changed = _merged(changed, patch)
        elif not all(_operated(changed, one) for one in patch):
            return failure(422, "Invalid", "testing value failed")
        of_status = urlsplit(target).path.endswith("/status")
        kept = {"status": changed.get("status")} if of_status else {"status": found.get("status")}
        changed = {**(found if of_status else changed), **kept}
        touch(changed)
        found.clear()
        found.update(changed)
        self._after(found["kind"], found)
        return OK, copy.deepcopy(found)

    def create(self, target: str, item: Object) -> tuple[int, Object]:
        """Add an object, in the namespace of the path."""
        _, _, namespace = urlsplit(target).path.partition("/namespaces/")
        of = {"namespace": namespace.partition("/")[0]} if namespace else {}
        item["metadata"] |= {**of, "uid": f"uid-{len(self._objects)}", "resourceVersion": "1"}
        self._objects.append(item)
        self._after(item["kind"], item)
        return CREATED, copy.deepcopy(item)

    def delete(self, target: str) -> tuple[int, Object]:
        """Take an object away; a namespace is there by its name alone."""
        code, found = self.get(urlsplit(target).path)
        if found in self._objects:
            self._objects.remove(found)
            self._after(found["kind"], found)
        return code, found

    def _resources(self, group: str) -> Object:
        rows = []
        for name, kind in self._kinds.items():
            plural, _, of_group = name.partition(".")
            if of_group == group:
                verbs = ["create", "delete", "get", "list", "patch", "watch"]
                row = {"name": plural, "singularName": "", "kind": kind, "verbs": verbs}
                rows.append({**row, "namespaced": kind in NAMESPACED})
        version = f"{group}/{VERSIONS[group]}".lstrip("/")
        whole = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version}
        return {**whole, "resources": rows}

    def _objects_at(
        self, group: str, path: list[str], query: dict[str, list[str]]
    ) -> tuple[int, Object]:
        namespace = None
        if path[0] == "namespaces" and len(path) > 1:
            _, namespace, *path = path
        if not path:
            return 200, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        full_name = f"{path[0]}.{group}" if group else path[0]
        kind = self._kinds[full_name]
        if kind in self._forbidden:
            who = f'User "ada" cannot list resource "{path[0]}" in API group "{group}"'
            text = f"{full_name} is forbidden: {who} at the cluster scope"
            return failure(403, "Forbidden", text)
        found = [
            each
            for each in self._objects
            if each["kind"] == kind and namespace in {None, each["metadata"].get("namespace")}
        ]
        if len(path) > 1:
            named = [each for each in found if each["metadata"]["name"] == path[1]]
            text = f'{full_name} "{path[1]}" not found'
            return (200, named[0]) if named else failure(404, "NotFound", text)
        first = int(query.get("continue", ["0"])[0])
        rest = {"continue": str(first + CHUNK)} if len(found) > first + CHUNK else {}
        version = f"{group}/{VERSIONS[group]}".lstrip("/")
        whole = {"kind": f"{kind}List", "apiVersion": version}
        metadata = {"resourceVersion": str(len(self.log) + 1), **rest}
        return 200, {**whole, "metadata": metadata, "items": found[first : first + CHUNK]}


def touch(item: Object) -> None:
    """Give an object the next version."""
    item["metadata"]["resourceVersion"] = str(int(item["metadata"]["resourceVersion"]) + 1)


def _merged(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for name, one in patch.items():
        if one is None:
            found.pop(name, None)
        else:
            found[name] = _merged(found.get(name), one)
    return found


def _operated(value: Any, operation: Object) -> bool:
    """Make one operation of a JSON patch; say whether it could be made."""
    path = [one.replace("~1", "/").replace("~0", "~") for one in operation["path"].split("/")[1:]]
    *way, last = path
    try:
        for name in way:
            value = value[int(name) if isinstance(value, list) else name]
        if operation["op"] == "add" and isinstance(value, list):
            value.insert(len(value) if last == "-" else int(last), operation["value"])
            return True
        place = int(last) if isinstance(value, list) else last
        if operation["op"] == "add":
            value[place] = operation["value"]
            return True
        found = value[place]
        if operation["op"] == "remove":
            del value[place]
        elif operation["op"] == "replace":
            value[place] = operation["value"]
    except (KeyError, IndexError, TypeError):
        return False
    return operation["op"] != "test" or bool(found == operation["value"])


def _groups() -> Object:
    rows = []
    for name, version in VERSIONS.items():
        if name:
            of_group = {"groupVersion": f"{name}/{version}", "version": version}
            rows.append({"name": name, "versions": [of_group], "preferredVersion": of_group})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}


def failure(code: int, reason: str, message: str) -> tuple[int, Object]:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return code, {**status, "message": message, "reason": reason, "code": code}
