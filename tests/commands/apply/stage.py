"""A cluster behind the real kubectl, in which a plan is carried out: the objects, and who acts.

What Kueue does meanwhile is told by hand, as `docs/design/applying.md` §3 found it: once the
LocalQueue goes on, the jobs of evicted workloads stop, and the preemptor gets what they held.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import planner
from planner.commands.apply.kueue.carry import Carrying, Patience
from planner.commands.apply.kueue.cluster import Cluster, Evictions, Treatment
from planner.kubectl.call import Answer, Kubectl
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from tests.cluster import NOW, PENDING, Object, at
from tests.conftest import FOR_EVER_S
from tests.kubectl.api_server import OK, VERSIONS, Server, api_server, touch

RESERVED = {
    "type": "QuotaReserved",
    "status": "True",
    "reason": "QuotaReserved",
    "lastTransitionTime": at(59),
}


def versioned(items: list[Object]) -> list[Object]:
    """Return objects as an API server has them, with a version and a place each."""
    found = copy.deepcopy(items)
    for item in found:
        item.setdefault("metadata", {})["resourceVersion"] = "1"
    return found


def plan_for(items: list[Object], objective: str = "no-regret") -> Plan:
    """Return the plan for the pending workload among some objects."""
    dump = {"apiVersion": "v1", "kind": "List", "items": items}
    state = read_kueue_objects(dump, where="test", now=NOW)
    plan = planner.solve(state, PENDING, objective)
    assert isinstance(plan, Plan)
    return plan


@dataclass
class Stage:
    """A cluster, what happens in it, and what was asked of it.

    ``before`` may refuse a patch by a status code; ``reply`` is Kueue, told of each patch.
    """

    items: list[Object]
    folder: Path
    before: Callable[[str, Object], int] = lambda _, __: 0
    reply: Callable[[Stage, str, Object], None] = lambda stage, kind, _: stage.kueue(kind)
    patched: list[str] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    options: tuple[str, ...] = ()

    def find(self, kind: str, name: str) -> Object:
        """Return an object, of which there is one."""
        (found,) = [
            item for item in self.items if item["kind"] == kind and item["metadata"]["name"] == name
        ]
        return found

    def workload(self, key: str) -> Object:
        """Return a workload by namespace/name."""
        return self.find("Workload", key.partition("/")[2])

    def queue(self) -> Object:
        """Return the LocalQueue that the preemptor waits in."""
        return self.find("LocalQueue", self.workload(PENDING)["spec"]["queueName"])

    def is_evicted(self, key: str) -> bool:
        """Say whether a workload has the condition Evicted."""
        conditions = self.workload(key)["status"]["conditions"]
        return any((one["type"], one["status"]) == ("Evicted", "True") for one in conditions)

    def kueue(self, kind: str) -> None:
        """Do what Kueue does once the LocalQueue goes on: who is evicted leaves, then admit."""
        if kind == "LocalQueue" and self.queue()["spec"].get("stopPolicy") == "None":
            for item in self.items:
                if item["kind"] == "Workload" and item["metadata"]["name"] != "pending":
                    key = f"ns/{item['metadata']['name']}"
                    if self.is_evicted(key):
                        del item["status"]["admission"]
                        touch(item)
            self.admit()

    def admit(self) -> None:
        """Give the preemptor its quota."""
        found = self.workload(PENDING)
        found["status"] = {"admission": {"clusterQueue": "lender"}, "conditions": [RESERVED]}
        touch(found)

    @contextmanager
    def serve(self) -> Iterator[Path]:
        """Give the configuration file with which kubectl finds the cluster."""

        def after(kind: str, item: Object) -> None:
            self.patched.append(item["metadata"]["name"])
            self.reply(self, kind, item)

        with api_server(self.items, before=self.before, after=after) as server:
            cluster = {"name": "this", "cluster": {"server": server}}
            context = {"name": "this", "context": {"cluster": "this", "user": ""}}
            whole: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster]}
            whole |= {"contexts": [context], "current-context": "this"}
            config = self.folder / "config"
            config.write_text(json.dumps(whole), encoding="utf-8")
            yield config

    def carrying(
        self, plan: Plan, treatment: Treatment | None = None, config: Path | None = None
    ) -> Carrying:
        """Return a run that waits for nothing longer than a moment.

        Without the file of `serve` no process is started for its calls.
        """
        patience = Patience(wait_s=0, poll_s=0.01)
        with_it = treatment or Evictions(plan, patience.clock)
        connect: Any = lambda: self  # noqa: E731 - as a type of its own
        if config is not None:
            connect = partial(Kubectl, kubeconfig=str(config), timeout_s=FOR_EVER_S)
        return Carrying(plan, with_it, Cluster(connect), patience=patience)

    def calls(self, each: Iterable[Sequence[str]]) -> Generator[Answer]:
        """Answer several in their order."""
        yield from (self.call(*words) for words in each)

    def call(self, *words: str) -> Answer:
        """Answer as kubectl would, from the objects."""
        self.asked.append(words)
        named = (word[2:].partition("=") for word in words if word.startswith("--"))
        options = {name: value for name, _, value in named}
        verb, resource, *name = (word for word in words if not word.startswith("--"))
        plural, _, group = resource.partition(".")
        start = f"/apis/{group}/{VERSIONS[group]}" if group else "/api/v1"
        space = f"/namespaces/{options['namespace']}" if "namespace" in options else ""
        path = "/".join([f"{start}{space}/{plural}", *name])
        server = Server(self.items, self.before, lambda kind, item: self.reply(self, kind, item))
        if verb == "get":
            code, body = server.get(path)
            while body.get("metadata", {}).get("continue"):  # a list comes in pieces
                _, more = server.get(f"{path}?continue={body['metadata']['continue']}")
                body = {**more, "items": [*body["items"], *more["items"]]}
        else:
            code, body = server.patch(
                path, f"{options['type']}-patch", json.loads(options["patch"])
            )
            if code == OK:
                self.patched.append(name[0])
        reason = {404: "NotFound", 409: "Conflict"}.get(code, "InternalError")
        said = "" if code == OK else f"Error from server ({reason}): {body.get('message')}"
        return Answer(int(code != OK), json.dumps(body).encode(), said)
