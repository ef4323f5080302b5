"""How long ``planner steer`` takes from a blocked workload to its open gate.

``python -m tests.benchmarks.steering --workloads 10000``: a JSON object for each pending workload
of a made-up cluster that Kueue would preempt for, each blocked in a steering of its own. It is the
processor time of this process; with ``--kubectl`` it is the time that passes, changes included,
which then go through kubectl to a stand-in for the API server.
"""

import argparse
import copy
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from planner.objective.profiles import PROFILES
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.kueue_dump import Dump, trim
from planner.operations.kubectl.kueue_resource import WATCHED, WORKLOADS
from planner.operations.kubectl.watch import Source, WatchEvent
from planner.operations.steer.kueue.carry import Hands
from planner.operations.steer.kueue.loop import Cluster, How, Steer
from planner.operations.steer.kueue.marks import BLOCKED, GATE, Marked, Patch
from planner.operations.steer.kueue.propose import propose
from planner.operations.steer.record import Act
from planner.research.generate.generate import generate_objects
from planner.state.clock import present
from tests.operations.kubectl.api_server import Server
from tests.operations.kubectl.served import served
from tests.operations.steer.world import settings

Object = dict[str, Any]


class Opened(Exception):  # noqa: N818 - it is what happened
    """The gate was opened."""


class Still(Source):
    """A cluster in which one workload is blocked, and nothing else happens but what is done."""

    def __init__(self, items: list[Object], blocked: Object, hands: Hands | None = None) -> None:
        self.items, self.blocked, self.resources = items, blocked, WATCHED
        self.hands, self.clock = hands, time.perf_counter if hands else time.process_time
        self.polls: list[list[WatchEvent]] = [[WatchEvent(one, "BEGUN") for one in WATCHED], []]
        self.since = 0.0

    def poll(self, timeout_s: float) -> Sequence[WatchEvent]:  # noqa: ARG002 - nobody waits here
        """Tell what was done since the last time; in the beginning, who is blocked."""
        if self.polls:
            return self.polls.pop(0)
        if self.since == 0.0:
            stamp = f"{present():%Y-%m-%dT%H:%M:%SZ}"
            condition = {"type": BLOCKED, "status": "True", "lastTransitionTime": stamp}
            self.blocked["status"] = {"conditions": [condition]}
            self.blocked["metadata"]["resourceVersion"] = "2"
            self.since = self.clock()
            return [WatchEvent(WORKLOADS, "MODIFIED", copy.deepcopy(self.blocked))]
        return []

    def take(self) -> Dump:
        """Read everything."""
        return Dump(tuple(trim(one) for one in copy.deepcopy(self.items)), {}, (), present())

    def close(self) -> None:
        """Do nothing."""

    def patch(self, patches: Any) -> list[tuple[Patch, Marked | None]]:
        """Make changes at once; end where a gate is opened."""
        wanted: list[Patch] = [*patches]
        done = [] if self.hands is None else self.hands.patch(wanted)
        for _, changed in done:
            assert changed is not None
            self.polls.append([WatchEvent(WORKLOADS, "MODIFIED", dict(changed.value))])
        if any(one.subresource for one in wanted):
            raise Opened
        for one in wanted if self.hands is None else ():
            namespace, _, name = one.key.partition("/")
            path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/workloads/{name}"
            _, body = Server(self.items).patch(path, "merge-patch", one.change)
            self.polls.append([WatchEvent(WORKLOADS, "MODIFIED", body)])
            done.append((one, Marked(body)))
        return done


def measured(workloads: int, seed: int, objective: str, *, kubectl: bool) -> Iterator[Object]:
    """Yield what each took for whom Kueue would preempt, from the event to the open gate."""
    knobs = {"workloads": workloads, "pending": 10}
    items = [*generate_objects("large", seed, knobs)["items"], *settings()]
    for one in items:
        one["metadata"] |= {"resourceVersion": "1"}
        one["metadata"].setdefault("uid", f"{one['kind']}-{one['metadata']['name']}")
    waiting = [one for one in items if one["kind"] == "Workload" and not one.get("status")]
    for place in range(len(waiting)):
        there = copy.deepcopy(items)
        waits = [one for one in there if one["kind"] == "Workload" and not one.get("status")]
        waits[place]["spec"]["preemptionGates"] = [{"name": GATE}]
        with _hands(there) if kubectl else nullcontext() as hands:
            row = _one(Still(there, waits[place], hands), objective)
        if row:
            yield {"workloads": workloads, "seed": seed, **row}


@contextmanager
def _hands(items: list[Object]) -> Iterator[Hands]:
    with TemporaryDirectory() as folder, served(items, Path(folder)) as config:
        hands = Hands(lambda: Kubectl(kubeconfig=str(config)))
        hands.find(WORKLOADS, "ns/none")  # as the Lease is asked for, before anything is to be done
        yield hands
        hands.close()


def _one(cluster: Still, objective: str) -> Object:
    told: list[Act] = []
    steer = Steer(
        Cluster(cluster, cluster.take, {}, cast("Hands", cluster)),
        lambda state, key: propose(state, key, PROFILES[objective]),
        lambda line: told.append(line) if isinstance(line, Act) else None,
        How(seconds=cluster.clock),
    )
    try:
        steer.run(until=lambda: cluster.since > 0.0 and not told and not cluster.polls)
    except Opened:
        plan = next(one for one in told if one.act == "plan")
        used = round(cluster.clock() - cluster.since, 3)
        return {
            "s": used,
            "victims": len(plan.victims),
            "boosts": len(plan.boosts),
            "why": told[-1].why,
        }
    return {}


def main() -> None:
    """Write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=1000)
    parser.add_argument("--objective", default="min-lost-work")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--kubectl", action="store_true")
    asked = parser.parse_args()
    for seed in range(asked.seeds):
        for row in measured(asked.workloads, seed, asked.objective, kubectl=asked.kubectl):
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
