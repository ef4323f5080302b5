"""A cluster that stories speak to through kubectl alone: a real one with Kueue, or a stand-in.

Stories make Jobs, and look at what Kueue makes of them. In the stand-in each Job has its Workload
at once, with the gate that the admission policy gives, and Kueue's decisions are the replay's; time
is real.
"""

from __future__ import annotations

import copy
import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, NamedTuple
from uuid import uuid4

from planner.operations.kubectl.kueue_resource import LiveObject
from planner.operations.steer.kueue.marks import Marked
from planner.state.kueue_workload import preemptor_uid
from tests.cli.running import command, environment
from tests.cluster import KUEUE, Object
from tests.conftest import FOR_EVER_S
from tests.operations.kubectl.api_server import Log
from tests.operations.kubectl.served import served
from tests.operations.steer.world import LEASE, World, gated, settings

GPU = "example.com/gpu"


class Live(NamedTuple):
    """A cluster, by the configuration of kubectl, and the names that one story has for itself."""

    config: Path
    home: Path
    name: str

    def kubectl(self, *words: str, given: object = None) -> str:
        """Run kubectl; return what it prints."""
        done = subprocess.run(
            ["kubectl", f"--kubeconfig={self.config}", *words],  # noqa: S607
            input=None if given is None else json.dumps(given),
            env=environment({"HOME": str(self.home)}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, *items: Object) -> None:
        """Create objects."""
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        self.kubectl("create", "--validate=false", "--filename=-", given=listed)

    def queues(self) -> Iterator[Object]:
        """Yield a queue that lends 2, one that borrows them, and what else Jobs of the story need.

        The lender takes back what it lends. ``low`` and ``high`` are priorities.
        """
        gates = {"preemption-planner.io/steer": "true"}
        space = {"metadata": {"name": self.name, "labels": gates}}
        yield {"apiVersion": "v1", "kind": "Namespace", **space}
        flavor = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": self.name}}
        yield flavor
        for name, value in (("low", 1), ("high", 9)):
            metadata = {"name": f"{self.name}-{name}"}
            yield {
                "apiVersion": KUEUE,
                "kind": "WorkloadPriorityClass",
                "metadata": metadata,
                "value": value,
            }
        for name, amount in (("lender", 2), ("borrower", 0)):
            quota = {"name": GPU, "nominalQuota": amount}
            spec = {
                "cohortName": self.name,
                "namespaceSelector": {},
                "resourceGroups": [
                    {
                        "coveredResources": [GPU],
                        "flavors": [{"name": self.name, "resources": [quota]}],
                    }
                ],
                "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            }
            metadata = {"name": f"{self.name}-{name}"}
            yield {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": metadata, "spec": spec}
            local = {"name": name, "namespace": self.name}
            at = {"clusterQueue": f"{self.name}-{name}"}
            yield {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": local, "spec": at}

    def submit(self, name: str, queue: str, priority: str = "low", gpus: int = 1) -> Marked:
        """Create a Job; return its Workload, once it holds quota or is blocked on its gate."""
        self.start(name, queue, priority, gpus)
        return self.wait(name, lambda one: one.holds_quota or one.blocked_since is not None)

    def start(self, name: str, queue: str, priority: str = "low", gpus: int = 1) -> None:
        """Create a Job."""
        labels = {
            "kueue.x-k8s.io/queue-name": queue,
            "kueue.x-k8s.io/priority-class": f"{self.name}-{priority}",
        }
        amounts = {GPU: str(gpus)}
        container = {
            "name": "main",
            "image": "registry.k8s.io/pause:3.10",
            "resources": {"requests": amounts, "limits": amounts},
        }
        pods = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": self.name, "labels": labels},
            "spec": {"suspend": True, "template": pods},
        }
        self.create(job)

    def end(self, name: str) -> None:
        """Take a Job away."""
        self.kubectl("delete", "job", name, f"--namespace={self.name}", "--wait=false")

    def workloads(self) -> dict[str, Marked]:
        """Return the Workloads of the story, by the names of their Jobs."""
        words = ("get", "workloads.kueue.x-k8s.io", f"--namespace={self.name}", "--output=json")
        items = json.loads(self.kubectl(*words))["items"]
        return {one["metadata"]["ownerReferences"][0]["name"]: Marked(one) for one in items}

    def wait(self, name: str, until: Callable[[Marked], bool]) -> Marked:
        """Wait until something holds of the Workload of a Job, and return it."""
        end = time.monotonic() + FOR_EVER_S
        while True:
            found = self.workloads().get(name)
            if found is not None and until(found):
                return found
            assert time.monotonic() < end, found and found.value
            time.sleep(0.2)

    def evicted_for(self, uid: str) -> set[str]:
        """Return the Jobs that were evicted for a Workload, also those that are back."""

        def whom(one: LiveObject) -> str:
            return preemptor_uid(str(one.condition("Preempted").get("message")))

        return {name for name, one in self.workloads().items() if whom(one) == uid}

    def left(self) -> tuple[set[str], set[str]]:
        """Return whom a boost of ours is left on, and who waits behind a closed gate of ours."""
        found = self.workloads().items()
        boosted = {name for name, one in found if one.boosted_for is not None}
        return boosted, {
            name for name, one in found if one.is_gated and one.waits and not one.is_open
        }

    @contextmanager
    def steering(self) -> Iterator[subprocess.Popen[str]]:
        """Run the planner, and interrupt it in the end."""
        # However busy the machine is: nothing here is about a plan that takes too long.
        how = ("steer", "--kubeconfig", str(self.config), "--patience", "none", "--format", "jsonl")
        with subprocess.Popen(
            command(*how, "--objective", "min-lost-work"),
            env=environment({"HOME": str(self.home)}),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.communicate()


def lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """Yield what the planner tells."""
    assert process.stdout is not None
    return map(json.loads, process.stdout)


@contextmanager
def story(config: Path, home: Path) -> Iterator[Live]:
    """Give the queues of one story, and take them away in the end."""
    live = Live(config, home, f"steer-{uuid4().hex[:8]}")
    items = [*live.queues()]
    live.create(*items)
    try:
        yield live
    finally:
        for name in live.workloads():
            live.end(name)
        gone = {"apiVersion": "v1", "kind": "List", "items": items[::-1]}
        live.kubectl("delete", "--wait=false", "--filename=-", given=gone)


# The stand-in.


def _workload(job: Object, items: Iterable[Object]) -> Object:
    """Return what Kueue makes of a Job."""
    labels, name = job["metadata"]["labels"], f"job-{job['metadata']['name']}"
    wanted = labels["kueue.x-k8s.io/priority-class"]
    (priority,) = (
        one["value"]
        for one in items
        if one["kind"] == "WorkloadPriorityClass" and one["metadata"]["name"] == wanted
    )
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"]}
    metadata = {
        "name": name,
        "namespace": job["metadata"]["namespace"],
        "uid": f"{job['metadata']['uid']}-workload",
        "ownerReferences": [{**owner, "uid": job["metadata"]["uid"]}],
    }
    template = copy.deepcopy(job["spec"]["template"])
    pods = {"name": "main", "count": 1, "template": template}
    queue = labels["kueue.x-k8s.io/queue-name"]
    spec = {"queueName": queue, "priority": priority, "podSets": [pods]}
    return gated({"apiVersion": KUEUE, "kind": "Workload", "metadata": metadata, "spec": spec})


@contextmanager
def stand_in(folder: Path) -> Iterator[Path]:
    """Serve a cluster in which Kueue goes on deciding; give kubectl's configuration."""
    items = [*settings(), copy.deepcopy(LEASE)]
    world, begun = World(items, start=datetime.now(UTC)), time.monotonic()
    log: Log = []
    whole, ended = Lock(), Event()

    def changed(kind: str, item: Object) -> None:
        if kind == "Job" and item in items:
            world.arrive(_workload(item, items))
        elif kind == "Job":
            world.vanish(f"{item['metadata']['namespace']}/job-{item['metadata']['name']}")

    def decide() -> None:
        while not ended.wait(0.1):
            with whole:
                world.now_s = time.monotonic() - begun
                world.kueue()
                log.extend((one.kind, one.value) for one in world.news())

    with served(items, folder, after=changed, log=log, whole=whole) as config:
        thread = Thread(target=decide)
        thread.start()
        try:
            yield config
        finally:
            ended.set()
            thread.join()
