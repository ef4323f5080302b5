"""The workloads of random states, and what all of such a state is drawn with."""

import random
from typing import Any, Final

LARGEST: Final = {"cpu": 34, "memory": 55, "nvidia.com/gpu": 12, "ephemeral-storage": 55}
"""The largest unit of a resource, as a power of 2; what work is counted in must stay addable."""

CANDIDATES: Final = 10
OURS: Final = "preemption-planner.io/"

Object = dict[str, Any]


class Draw:
    """What a state is drawn with: its resources, their units, its queues, and who runs in them."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(f"oracle/{seed}")  # noqa: S311 - test data
        self.fair = self.likely(0.5)
        self.crowded = self.likely(0.4)
        self.odd = self.likely(0.4)  # quotas are any numbers, in nobody's unit
        self.bytes = self.likely(0.35)  # memory and disk as they are in every cluster
        names = list(LARGEST)
        self.chance.shuffle(names)
        self.resources = names[: self.chance.choice((1, 1, 2, 2) if self.crowded else (1, 2, 3, 4))]
        if self.bytes:
            self.resources = self.one_of(["memory", "ephemeral-storage", "cpu"], names[:2])
        self.units = {name: self._unit(name) for name in self.resources}
        split = self.likely(0.2)
        self.flavor = {
            name: "other" if split and place % 2 else "any"
            for place, name in enumerate(self.resources)
        }
        self.groups = [
            [name for name in self.resources if self.flavor[name] == flavor]
            for flavor in ("any", "other")
        ]
        self.queues = [
            f"cq-{index}" for index in range(self.chance.randint(2, 3 if self.crowded else 4))
        ]

    def likely(self, share: float) -> bool:
        """Return True in this share of cases."""
        return self.chance.random() < share

    def one_of(self, *options: Any) -> Any:
        """Return one of some options."""
        return self.chance.choice(options)

    def _unit(self, resource: str) -> int:
        if self.bytes and resource != "nvidia.com/gpu":
            return 1 << self.chance.randint(10 if resource == "cpu" else 28, 34)
        kind = self.chance.randrange(4)
        if kind == 0:
            return 1
        power = self.chance.randint(0, LARGEST[resource])
        if kind == 1:
            return 1 << min(power, 30)
        return (1 << power) + self.chance.choice((0, 0, 1, -1, power)) or 1

    def amount(self, resource: str, most: int = 5) -> int:
        """Return some units of a resource, at times one more or less."""
        units = self.chance.choice((0, 1, 1, 1, 2, 2, 3, most)) * self.units[resource]
        return max(0, units + self.chance.choice((0, 0, 0, 0, 1, -1)))

    def workloads(self) -> list[Object]:
        """Draw who holds quota; ``_usage`` is what each of them uses."""
        held: list[Object] = []
        for index in range(self.how_many()):
            like = self.chance.choice(held) if held and self.likely(0.3) else None
            held.append(self._workload(index, like))
        return held

    def how_many(self) -> int:
        """Return how many workloads hold quota."""
        least = CANDIDATES - 2 if self.crowded else 2
        return self.chance.randint(least, CANDIDATES)

    def _workload(self, index: int, like: Object | None) -> Object:
        usage = {
            name: str(self.amount(name)) if place == 0 or self.likely(0.8) else None
            for place, name in enumerate(self.resources)
        }
        if like is not None:
            usage = like["_usage"]
        named = {name: amount for name, amount in usage.items() if amount is not None}
        queue = self.chance.choice(self.queues)
        count = self.chance.randint(1, 3)
        same = like is not None and self.likely(0.6)
        spec = {
            "queueName": "main",
            "priority": self.chance.choice((0, 0, 1, 1, 2, 4)[: 5 + (not self.crowded)]),
        }
        pod_set: Object = {
            "name": "main",
            "count": count,
            "template": {"spec": {"containers": [{"name": "main"}]}},
        }
        if self.likely(0.2):
            pod_set["template"]["spec"]["terminationGracePeriodSeconds"] = self.one_of(0, 60, 600)
        admission = {
            "clusterQueue": queue,
            "podSetAssignments": [
                {
                    "name": "main",
                    "count": count,
                    "flavors": {name: self.flavor[name] for name in named},
                    "resourceUsage": {name: as_text(name, int(u)) for name, u in named.items()},
                }
            ],
        }
        status: Object = {"admission": admission, "conditions": self._conditions()}
        if self.likely(0.15):
            status["schedulingStats"] = {
                "evictions": [
                    {"reason": "Preempted", "count": self.chance.randint(1, 3)},
                    {"reason": "NodeFailures", "count": 1},
                ][: self.chance.randint(1, 2)]
            }
        if same and like is not None:
            spec, status = like["spec"] | {}, like["status"]
            pod_set = spec.pop("podSets")[0]
        return {
            "kind": "Workload",
            "metadata": {**self._metadata(f"job-{index}"), "annotations": self._annotations()},
            "spec": {**spec, "podSets": [pod_set]},
            "status": status,
            "_usage": named,
        }

    def _conditions(self) -> list[Object]:
        hour, minute = self.chance.randint(6, 10), self.chance.choice((0, 0, 17, 42))
        reserved = {
            "type": "QuotaReserved",
            "status": "True",
            "reason": "QuotaReserved",
            "lastTransitionTime": f"2026-03-01T{hour:02}:{minute:02}:00Z",
        }
        found = [reserved]
        if self.likely(0.2):
            status = self.one_of("True", "True", "False")
            # Of who is not ready some never were, and some were ready in the run before only.
            unready = ("WaitForStart", "WaitForRecovery")[hour % 2]
            since = hour + (-1 if minute == 42 else 1)
            found.append(
                {
                    "type": "PodsReady",
                    "status": status,
                    "reason": "Started" if status == "True" else unready,
                    "lastTransitionTime": f"2026-03-01T{since:02}:{minute:02}:30Z",
                }
            )
        if self.likely(0.12):
            found.append(
                {
                    "type": "Evicted",
                    "status": "True",
                    "reason": self.one_of("Preempted", "PodsReadyTimeout", "AdmissionCheck"),
                    "lastTransitionTime": "2026-03-01T11:30:00Z",
                }
            )
        return found

    def _metadata(self, name: str) -> Object:
        return {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{self.chance.randint(0, 99)}-{name}",
            "creationTimestamp": f"2026-03-01T05:{self.chance.choice((10, 10, 20, 30))}:00Z",
        }

    def _annotations(self) -> dict[str, str]:
        found = {}
        if self.likely(0.12):
            found[f"{OURS}tier"] = "last"
        if self.likely(0.15):
            hour = self.chance.randint(5, 11)
            found[f"{OURS}last-checkpoint"] = f"2026-03-01T{hour:02}:59:01Z"
        if self.likely(0.1):
            found[f"{OURS}checkpoint-seconds"] = str(self.chance.choice((5, 30, 31, 90)))
        if self.likely(0.1):
            found[f"{OURS}restart-seconds"] = str(self.chance.choice((0, 7, 3600)))
        if self.likely(0.15):
            found["kueue.x-k8s.io/priority-boost"] = str(self.chance.choice((1, -1, 2, "high")))
        return found

    def wish(self, held: list[Object]) -> dict[str, int]:
        """Return what the preemptor asks for: often about what one or two workloads hold."""
        some = self.chance.randint(2, 4) if self.crowded else self.chance.randint(1, 2)
        like = (
            self.chance.sample(held, min(some, len(held)))
            if self.crowded or self.likely(0.7)
            else []
        )
        wish = {}
        for place, resource in enumerate(self.resources):
            amount = sum(int(each["_usage"].get(resource, 0)) for each in like)
            amount = amount or self.amount(resource, 4)
            wish[resource] = max(0 if place else 1, amount + self.chance.choice((0, 0, 0, 1, -1)))
        return wish

    def incoming(self, wish: dict[str, int]) -> Object:
        """Draw the workload that waits."""
        requests = {name: as_text(name, amount) for name, amount in wish.items()}
        container = {"name": "main", "resources": {"requests": requests}}
        pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
        return {
            "kind": "Workload",
            "metadata": self._metadata("incoming"),
            "spec": {
                "queueName": "main",
                "priority": 5 if self.crowded else self.chance.choice((1, 2, 3, 5, 5)),
                "podSets": [pod_set],
            },
        }

    def local_queue(self) -> Object:
        """Return the LocalQueue of all workloads."""
        return {
            "kind": "LocalQueue",
            "metadata": {"name": "main", "namespace": "team"},
            "spec": {"clusterQueue": self.queues[0]},
        }


def as_text(resource: str, amount: int) -> str:
    """Return an amount as a quantity."""
    return f"{amount}m" if resource == "cpu" else str(amount)
