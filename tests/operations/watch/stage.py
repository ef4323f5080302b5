"""A cluster of Kueue that goes on, told by hand: no kubectl, and a clock that is moved."""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from planner.commands.audit.judge import Question
from planner.errors import InputError
from planner.objective.profiles import PROFILES
from planner.operations.kubectl.kueue_dump import Dump, trim
from planner.operations.kubectl.kueue_resource import WATCHED, WORKLOADS
from planner.operations.kubectl.watch import Source, WatchEvent
from planner.operations.watch.kueue.follower import Pace, Watched
from planner.operations.watch.kueue.keep import Store
from planner.operations.watch.kueue.live import Live
from planner.operations.watch.record import Line
from tests.cluster import Object
from tests.operations.kubectl.api_server import touch

Told = TypeVar("Told", bound=Line)
QUESTION = Question((PROFILES["min-lost-work"],), 60.0)
TAKEN = datetime(2026, 5, 1, 13, 0, tzinfo=UTC)
UID = "uid-pending"


class Ended(Exception):  # noqa: N818 - it is what happened
    """The script is at its end."""


@dataclass
class Cluster(Source):
    """A cluster, and what is to happen in it: a step for each poll."""

    items: list[Object]
    steps: list[Callable[[], Sequence[WatchEvent]]] = field(default_factory=list)
    now: float = 1000.0
    cpu_s: float = 0.0
    lines: list[Line] = field(default_factory=list)
    failing: int = 0
    reads: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.resources = WATCHED

    def poll(self, timeout_s: float) -> Sequence[WatchEvent]:
        """Do the next step; each takes as long as it may."""
        if not self.steps:
            raise Ended
        self.now += max(timeout_s, 0.1)
        return self.steps.pop(0)()

    def take(self) -> Dump:
        """Read everything."""
        self.reads.append(self.now)
        if self.failing:
            self.failing -= 1
            raise InputError("kubectl get", "the server was refused")
        objects = tuple(trim(one) for one in copy.deepcopy(self.items))
        return Dump(objects, {}, (), TAKEN)

    def begin(self) -> list[WatchEvent]:
        """Tell that all that changes from now on will be told."""
        return [WatchEvent(one, "BEGUN") for one in WATCHED]

    def find(self, key: str) -> Object:
        """Return a workload."""
        name = key.partition("/")[2]
        (found,) = [
            one
            for one in self.items
            if one["kind"] == "Workload" and one["metadata"]["name"] == name
        ]
        return found

    def change(self, key: str, kind: str = "MODIFIED") -> WatchEvent:
        """Give a workload another version, and tell of it."""
        found = self.find(key)
        touch(found)
        return WatchEvent(WORKLOADS, kind, copy.deepcopy(found))

    def preempt(
        self, *keys: str, moment: str = "2026-05-01T13:00:07Z", uid: str = UID
    ) -> list[WatchEvent]:
        """Let Kueue evict some workloads for the one that waits, or another one."""
        changes = []
        for key in keys:
            text = f"Preempted to accommodate a workload (UID: {uid}, JobUID: j) due to x"
            for kind in ("Evicted", "Preempted"):
                said = {"type": kind, "status": "True", "reason": "Preempted", "message": text}
                condition = {**said, "lastTransitionTime": moment}
                self.find(key)["status"]["conditions"].append(condition)
            changes.append(self.change(key))
        return changes

    def admit_again(self, *keys: str) -> list[WatchEvent]:
        """Let workloads that were evicted be admitted again."""
        changes = []
        for key in keys:
            for one in self.find(key)["status"]["conditions"]:
                if one["type"] in {"Evicted", "Preempted"}:
                    one |= {"status": "False", "message": f"Previously: {one['message']}"}
                    one["lastTransitionTime"] = "2026-05-01T13:00:08Z"
            changes.append(self.change(key))
        return changes

    def run(self, store: Store | None = None) -> list[Line]:
        """Watch until the script is at its end; return what was told."""
        used = iter(range(10**6))
        pace = Pace(5.0, 600.0, lambda: self.now, lambda: self.cpu_s + next(used) * 1e-6)
        cluster = Watched(self, self.take, {})
        watched = Live(cluster, QUESTION, self.lines.append, pace, store)
        with pytest.raises(Ended):
            watched.run()
        return self.lines


def nothing() -> Sequence[WatchEvent]:
    return ()


def of(lines: Iterable[Line], kind: type[Told]) -> list[Told]:
    return [one for one in lines if isinstance(one, kind)]
