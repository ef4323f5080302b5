"""A cluster in which Kueue decides, as its replay does, and others come and go; time is made up.

Who has a closed gate preempts nobody, and gets the condition BlockedOnPreemptionGates. Boosts
count. An eviction takes a while, and closes gates. All changes are those of an API server, which
tells of each of them: nothing else is known to whoever steers.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any, cast

from planner.objective.profiles import PROFILES
from planner.operations.kubectl.call import Answer, Kubectl
from planner.operations.kubectl.kueue_dump import Dump, trim
from planner.operations.kubectl.kueue_resource import WATCHED, WORKLOADS
from planner.operations.kubectl.proxy import Proxy, Reply
from planner.operations.kubectl.watch import Source, WatchEvent
from planner.operations.steer.kueue.carry import Hands, Lease
from planner.operations.steer.kueue.decide import Replay
from planner.operations.steer.kueue.loop import Cluster, How, Steer
from planner.operations.steer.kueue.marks import BLOCKED, GATE, NOTE
from planner.operations.steer.kueue.propose import propose, replayed
from planner.operations.steer.record import Act, Line, Steered
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.aftermath import admit
from planner.reference.kueue.cycle.processing import Entry
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.state.kueue import State
from planner.state.kueue_workload import BOOST_ANNOTATION
from tests.cluster import FLAVOR, KUEUE, Object, at, cohort, queue, running
from tests.operations.kubectl.api_server import OK, Server, failure, touch

START = datetime(2026, 5, 1, 13, 0, tzinfo=UTC)
GATES = {"MultiKueueOrchestratedPreemption": True, "PriorityBoost": True}
LEAVES_S = 3.0
"""Seconds in which the pods of a victim end."""
TICK_S = 0.5
CYCLES = 60
LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "steer", "namespace": "preemption-planner-steer"},
}
MIN_LOST = PROFILES["min-lost-work"]


class Killed(BaseException):
    """The process was killed."""


class Over(Exception):  # noqa: N818 - it is what happened
    """The story is at its end."""


def settings(gates: dict[str, bool] | None = None, image: str = "kueue:ours") -> list[Object]:
    """Return the ConfigMap and the Deployment of Kueue's manager."""
    on = "".join(
        f"  {k}: {str(v).lower()}\n" for k, v in (GATES if gates is None else gates).items()
    )
    text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    text += f"featureGates:\n{on}" if on else ""
    of = {"namespace": "kueue-system"}
    config = {"kind": "ConfigMap", "metadata": {"name": "kueue-manager-config", **of}}
    containers = [{"image": f"registry.k8s.io/kueue/{image}"}]
    manager = {"kind": "Deployment", "metadata": {"name": "kueue-controller-manager", **of}}
    return [
        {"apiVersion": "v1", **config, "data": {"controller_manager_config.yaml": text}},
        {
            "apiVersion": "apps/v1",
            **manager,
            "spec": {"template": {"spec": {"containers": containers}}},
        },
    ]


def gated(workload: Object) -> Object:
    """Return a workload with our gate."""
    found = copy.deepcopy(workload)
    found["spec"]["preemptionGates"] = [{"name": GATE}]
    return found


@dataclass
class World(Source):
    """The cluster: its objects, the clock, and what Kueue decided.

    ``churn`` is called before each tick with the world. ``decisions`` are Kueue's own: when, for
    whom, whom it evicts. ``kill_at`` is the change of ours, counted from 1, after which the process
    dies; ``forbidden`` are resources, with their subresource, that may not be changed; changes of
    those in ``refuses`` are conflicts. ``raw`` is what there is at paths; ``after_boost`` is called
    after each change of ours, and ``ending`` is raised at the end.
    """

    items: list[Object]
    churn: Callable[[World], None] = lambda _: None
    now_s: float = 0.0
    until_s: float = 60.0
    decisions: list[tuple[float, str, frozenset[str]]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    kill_at: int = 0
    forbidden: frozenset[str] = frozenset()
    lines: list[Line] = field(default_factory=list)
    options: tuple[str, ...] = ()
    gone: set[str] = field(default_factory=set)
    after_boost: Callable[[World], None] = lambda _: None
    refuses: frozenset[str] = frozenset()
    raw: Mapping[str, Object] = field(default_factory=dict)
    ending: type[BaseException] = Over
    start: datetime = START

    def __post_init__(self) -> None:
        self.resources = WATCHED
        self._told = False
        self._seen: dict[str, str] = {}
        self._leaves: dict[str, float] = {}
        self._decided: list[str] = []
        self._sticky: dict[int, str | None] = {}
        for one in self.items:
            one["metadata"].setdefault("resourceVersion", "1")

    # What there is.

    def stamp(self) -> str:
        """Return the time as it stands in objects."""
        return f"{self.start + timedelta(seconds=self.now_s):%Y-%m-%dT%H:%M:%SZ}"

    def workloads(self) -> list[Object]:
        """Return all workloads."""
        return [one for one in self.items if one["kind"] == "Workload"]

    def find(self, key: str) -> Object:
        """Return a workload."""
        (found,) = (one for one in self.workloads() if _key(one) == key)
        return found

    @property
    def keys(self) -> list[str]:
        """The keys of all workloads."""
        return [*map(_key, self.workloads())]

    def is_gated(self, key: str) -> bool:
        """Say whether a workload has a gate, open or closed."""
        return bool(self.find(key)["spec"].get("preemptionGates"))

    def replay(self, key: str) -> Replay:
        """Say whom Kueue would evict for a workload, its gates open."""
        state = self.state()
        return replayed(state, take_snapshot(state), key)

    def state(self) -> State:
        """Return the state as Kueue sees it."""
        dump = {"apiVersion": "v1", "kind": "List", "items": self.items}
        return read_kueue_objects(dump, where="world", now=self.stamp())

    def condition(self, key: str, kind: str, status: str, message: str = "") -> None:
        """Set a condition as a controller does: nothing if it is so already."""
        one = self.find(key)
        conditions = one.setdefault("status", {}).setdefault("conditions", [])
        old = next((c for c in conditions if c["type"] == kind), None)
        if old is not None and (old["status"], old.get("message")) == (status, message):
            return
        new = {"type": kind, "status": status, "reason": kind, "message": message}
        new["lastTransitionTime"] = self.stamp()
        conditions[:] = [c for c in conditions if c["type"] != kind] + [new]
        touch(one)

    def holds(self, key: str) -> bool:
        """Say whether a workload holds quota."""
        return "admission" in self.find(key).get("status", {})

    def boosts(self) -> dict[str, str]:
        """Return the boosts of ours."""
        found = ((_key(one), one["metadata"].get("annotations", {})) for one in self.workloads())
        return {key: a.get(BOOST_ANNOTATION, "") for key, a in found if NOTE in a}

    def closed(self) -> list[str]:
        """Return the workloads that wait with a closed gate of ours."""
        found = []
        for one in self.workloads():
            status = one.get("status", {})
            states = {g["name"]: g["position"] for g in status.get("preemptionGates", [])}
            names = [g["name"] for g in one["spec"].get("preemptionGates", [])]
            if GATE in names and states.get(GATE) != "Open" and not self.holds(_key(one)):
                found.append(_key(one))
        return found

    # What happens.

    def finish(self, key: str) -> None:
        """Let a job end: it gives its quota back at once."""
        del self.find(key)["status"]["admission"]
        self.condition(key, "Finished", "True")
        self._leaves.pop(key, None)
        self.gone.add(key)

    def arrive(self, workload: Object) -> None:
        """Create a workload."""
        workload["metadata"] |= {"resourceVersion": "1", "creationTimestamp": self.stamp()}
        self.items.append(workload)

    def vanish(self, key: str) -> None:
        """Delete a workload."""
        self.items.remove(self.find(key))
        self._leaves.pop(key, None)

    def kueue(self) -> None:
        """Let victims leave whose time has come; then decide until nothing moves."""
        for key, at_s in [*self._leaves.items()]:
            if at_s <= self.now_s:
                self._evicted(key)
        if self._decided == self._versions():
            return  # it would find everything as it left it
        self._decide()
        self._decided = self._versions()

    def _versions(self) -> list[str]:
        return [f"{_key(one)} {one['metadata']['resourceVersion']}" for one in self.workloads()]

    def _decide(self) -> None:
        parked: set[str] = set()
        for _ in range(CYCLES):
            state = self.state()
            snapshot = take_snapshot(state)
            queues = waiting_queues(state, snapshot)
            for node, waiting in queues.items():
                waiting.active = [one for one in waiting.active if one.key not in parked]
                waiting.preemptor = self._sticky.get(node)
            ran = schedule(state, snapshot, queues)
            tried = {one.key for waiting in queues.values() for one in waiting.parked}
            self._sticky = {node: waiting.preemptor for node, waiting in queues.items()}
            moves = [self._moved(snapshot, one) for one in ran.entries]
            if not any(moves) and parked >= tried:
                return  # the next cycle would be the same
            parked |= tried

    def _moved(self, snapshot: Any, entry: Entry) -> bool:
        key, uid = entry.preemptor.key, entry.preemptor.workload.metadata.uid
        if entry.outcome == "admitted" and entry.decision is not None:
            held = admit(snapshot, entry.preemptor, entry.decision.assignment)
            status = held.workload.status.model_dump(mode="json", by_alias=True)
            self.find(key).setdefault("status", {})["admission"] = status["admission"]
            for kind in ("QuotaReserved", "Admitted"):
                self.condition(key, kind, "True")
            for kind in ("Evicted", "Preempted", BLOCKED):
                self.condition(key, kind, "False", "Previously: it was so")
            return True
        if entry.outcome == "preemptionGated":
            self.condition(key, BLOCKED, "True")
        if entry.outcome != "preempting" or entry.decision is None:
            return False
        targets = {one.workload.key for one in entry.decision.search.targets}
        text = f"Preempted to accommodate a workload (UID: {uid}, JobUID: j) due to x"
        new = targets - self._leaves.keys()
        for one in new:
            self.condition(one, "Evicted", "True", text)
            self.condition(one, "Preempted", "True", text)
            self._leaves[one] = self.now_s + LEAVES_S
        self.decisions.append((self.now_s, key, frozenset(targets)))
        return bool(new)

    def _evicted(self, key: str) -> None:
        del self._leaves[key]
        status = self.find(key)["status"]
        del status["admission"]
        for gate in status.get("preemptionGates", []):
            gate["position"] = "Closed"
        for kind in ("QuotaReserved", "Admitted"):
            self.condition(key, kind, "False", "evicted")

    # What is told of it, and what is asked of it.

    def poll(self, timeout_s: float) -> Sequence[WatchEvent]:
        """Let time pass, if there is any, and tell what changed."""
        if not self._told:
            self._told = True
            return [WatchEvent(one, "BEGUN") for one in WATCHED]
        if timeout_s > 0:
            self.now_s += TICK_S
            if self.now_s >= self.until_s:
                raise self.ending
            self.churn(self)
            self.kueue()
        return self.news()

    def news(self) -> list[WatchEvent]:
        """Return what happened to workloads since it was asked last."""
        events = []
        there = {_key(one): one for one in self.workloads()}
        for key, one in there.items():
            version = one["metadata"]["resourceVersion"]
            if self._seen.get(key) != version:
                kind = "MODIFIED" if key in self._seen else "ADDED"
                self._seen[key] = version
                events.append(WatchEvent(WORKLOADS, kind, copy.deepcopy(one)))
        for key in self._seen.keys() - there.keys():
            del self._seen[key]
            namespace, _, name = key.partition("/")
            gone = {"kind": "Workload", "metadata": {"namespace": namespace, "name": name}}
            events.append(WatchEvent(WORKLOADS, "DELETED", gone))
        return events

    def take(self) -> Dump:
        """Read everything."""
        objects = tuple(trim(one) for one in copy.deepcopy(self.items) if one["kind"] != "Lease")
        return Dump(objects, {}, (), self.start + timedelta(seconds=self.now_s))

    def close(self) -> None:
        """Whoever watched is gone."""
        self._told, self._seen = False, {}

    def call(self, *words: str) -> Answer:
        """Answer as kubectl would, whether something is permitted, or what there is at a path."""
        named = (word[2:].partition("=") for word in words if word.startswith("--"))
        options = {name: value for name, _, value in named}
        if "raw" in options:
            found = self.raw.get(options["raw"])
            return Answer(int(found is None), json.dumps(found).encode(), "NotFound")
        what = "/".join(filter(None, (words[3], options.get("subresource", ""))))
        return Answer(int(what in self.forbidden), b"no", "")

    def ask(self, method: str, path: str, change: Any = None, kind: str = "") -> Reply:
        """Answer as the API server would; Kueue decides at once where a gate was opened."""
        code, body = self._asked(method, path, change, kind)
        return Reply(code, body, f"{body.get('message')} ({body.get('reason')})")

    def _asked(self, method: str, path: str, change: Any, kind: str) -> tuple[int, Object]:
        server = Server(self.items)
        if method == "GET":
            return server.get(path)
        _, _, group, _, _, namespace, plural, name, *part = path.split("/")
        what = "/".join((f"{plural}.{group}", *part))
        if what in self.forbidden:
            return failure(403, "Forbidden", f'User "ada" cannot patch {what}')
        if f"{namespace}/{name}" in self.refuses:
            return failure(409, "Conflict", "it has been modified")
        code, body = server.patch(path, f"{kind}-patch", change)
        if code == OK and plural == "workloads":
            self.written.append(name)
            if self.kill_at and len(self.written) == self.kill_at:
                raise Killed
            if part:
                self.kueue()
            self.after_boost(self)
        return code, body

    # Whoever steers.

    @property
    def hands(self) -> Hands:
        """What changes the cluster."""
        return Hands(cast("Callable[[], Kubectl]", lambda: self), cast("Proxy", self))

    def steer(self, how: How | None = None, lease: Lease | None = None, **more: Any) -> list[Line]:
        """Steer until the story is at its end, or the process is killed; return what was told."""
        how = how or How()
        how = How(how.policy, how.scope, how.dry_run, lambda: self.now_s)
        planned = partial(propose, profile=MIN_LOST)
        cluster = Cluster(self, self.take, {}, self.hands)
        steer = Steer(cluster, planned, self.lines.append, how, lease, **more)
        with suppress(Over, Killed):
            steer.run()
        return self.lines

    def acts(self, act: str) -> list[Act]:
        """Return what was done of a kind."""
        return [one for one in self.lines if isinstance(one, Act) and one.act == act]

    def steered(self) -> list[Steered]:
        """Return what came of each preemptor."""
        return [one for one in self.lines if isinstance(one, Steered)]

    def decision_after(self, opened: Act) -> frozenset[str] | None:
        """Return whom Kueue evicts first after a gate is opened; ``None`` if the workload fits."""
        came = (one for one in self.steered() if one.preemptor == opened.preemptor)
        until = next((one.at for one in came if one.at >= opened.at), None)
        for at_s, key, victims in self.decisions:
            at = self.start + timedelta(seconds=at_s)
            if key == opened.preemptor and at >= opened.at and (until is None or at <= until):
                return victims
        return None

    def first_decisions(self) -> dict[str, frozenset[str]]:
        """Return whom Kueue evicted first for each preemptor."""
        found: dict[str, frozenset[str]] = {}
        for _, key, victims in self.decisions:
            found.setdefault(key, victims)
        return found


def _key(one: Object) -> str:
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


# Made-up populations.


def workload(name: str, queue: str, amount: int, priority: int, uid: str = "") -> Object:
    """Return a workload that waits, without a gate."""
    container = {"name": "main", "resources": {"requests": {"gpu": amount}}}
    pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    metadata = {"name": name, "namespace": "ns", "uid": uid or f"uid-{name}"}
    metadata["creationTimestamp"] = "2026-05-01T12:59:00Z"
    spec = {"queueName": queue, "priority": priority, "podSets": [pods]}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": metadata, "spec": spec}


def population(random: Random, waiting: int = 1) -> list[Object]:
    """Return the objects of a full cohort tree, and workloads that wait behind gates."""
    policies = ["LowerPriority", "Any"]
    names = [f"q{i}" for i in range(random.randint(2, 3))]
    items: list[Object] = [*cohort("all"), *settings(), copy.deepcopy(LEASE)]
    items.append({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}})
    total = 0
    for name in names:
        nominal = random.randint(4, 8)
        total += nominal
        reclaim = random.choice(policies)
        borrow = "LowerPriority" if random.random() < 0.3 else "Never"
        of = queue(name, nominal, "all", within="LowerPriority", reclaim=reclaim, borrow=borrow)
        items += of
    used = 0
    while used < total:
        amount = min(random.randint(1, 3), total - used)
        used += amount
        minute = random.randint(1, 50)
        items += running(
            f"run-{used}", random.choice(names), amount, random.randint(0, 2), minute=minute
        )
    for number in range(waiting):
        wanted = workload(f"wait-{number}", random.choice(names), random.randint(2, 4), 5)
        wanted["metadata"]["creationTimestamp"] = at(55 + number)
        items.append(gated(wanted))
    return items


def settled(items: list[Object], **more: Any) -> World:
    """Return a world in which Kueue has looked at everything once."""
    world = World(items, **more)
    world.kueue()
    return world
