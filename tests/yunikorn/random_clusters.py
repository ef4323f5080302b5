"""Random small YuniKorn clusters with one ask, for comparisons with brute force."""

from collections import Counter
from copy import deepcopy
from random import Random
from typing import Any, Final

from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    machine,
    node,
    pod,
    queue,
)

MOST_ALLOCATIONS: Final = 8
"""All subsets of them are tried."""

_NODES: Final = ("n1", "n2")
_LEAVES: Final = (
    "root.a.q1",  # a plain prefix of the path of root.a.q10
    "root.a.q10",
    "root.b.c.q1",
    "root.b.c.q2",
    "root.b.q3",
)
_ASKING: Final = ("root.a.q10", "root.b.q3", "root.a.q1")

_FLAGS: Final[tuple[Json, ...]] = (
    {"originator": True},
    {"preempted": True},
    {"x": {"allowPreemptSelf": False}},
    {"x": {"released": True}},
    {"requiredNodeId": "n1"},
)
_PROPERTIES: Final[tuple[Json, ...]] = (
    {"priority_offset": "1"},
    {"priority_offset": "-1"},
    {"priority_policy": "fence"},
    {"priority_policy": "fence", "priority_offset": "1"},
    {"preemption_policy": "disabled"},
    {"preemption_policy": "fence"},
    {"max": {"gpu": 12}},
    {"max": {"gpu": 20, "mem": 16}},
)
_OF_ASK: Final[tuple[Json, ...]] = (
    {"triggeredPreemption": True},
    {"x": {"allowPreemptOther": False}},
    {"requiredNodeId": "n1"},
    {"requiredNodeId": "n2"},
)


def random_cluster(seed: int, *, plain: bool, twins: bool = False) -> Json:
    """Draw an instance: five leaves on three levels, two nodes, and the ask ``ask``.

    A plain one has no policies, offsets, maxima or flags and one node with everything on it, so
    that guaranteed amounts decide. With ``twins`` each allocation is there twice.
    """
    return _Draw(seed, plain=plain, twins=twins).cluster()


def random_pods(seed: int, *, twins: bool = False) -> Json:
    """Draw such an instance, and what Kubernetes has of it: pods, which ask for other amounts.

    Some want a port of their node, as the ask mostly does; others are of another scheduler.
    """
    value = random_cluster(seed, plain=seed % 3 > 0, twins=twins)
    chance = Random(seed + 1)  # noqa: S311 - the same pods every time
    drawn: dict[str, Json] = {}

    def made(uid: str, on: str = "", often: float = 0.4) -> Json:
        ports = [{"hostPort": chance.choice((80, 81))}] if chance.random() < often else []
        requests = {"gpu": str(chance.randint(0, 2))}
        return pod(uid, on, container={"resources": {"requests": requests}, "ports": ports})

    for app in value["applications"]:
        for held in app["allocations"]:
            name = held["allocationKey"]
            like = drawn.setdefault(name.lstrip("vtwin"), made(name, held["nodeId"]))
            drawn[name] = deepcopy(like)
            drawn[name]["metadata"] |= {"uid": name, "name": name}
    pods = [one for name, one in drawn.items() if name == one["metadata"]["uid"]]
    pods += [made("foreign", chance.choice(_NODES), 0.1), made("ask", often=0.7)]
    taint = [{"key": "k", "value": "", "effect": "NoSchedule"}] * (chance.random() < 0.2)
    nodes = [machine("n1", chance.randint(4, 9), gpus=chance.randint(4, 9), taints=taint)]
    nodes += [machine("n2", chance.randint(4, 9), gpus=chance.randint(4, 9))]
    return {**value, "objects": [*pods, *nodes]}


def random_lowered(seed: int, *, plain: bool, twins: bool = False) -> tuple[Json, str]:
    """Draw such an instance in which a queue uses more than its maximum, and the queue's path."""
    value, chance = random_cluster(seed, plain=plain, twins=twins), Random(seed)  # noqa: S311
    app = chance.choice([app for app in value["applications"] if app["allocations"]])
    app["allocations"].append(allocation("more", {"gpu": 2, "mem": 2}))
    path = ".".join(app["queueName"].split(".")[: chance.randint(2, 4)])
    used = Counter[str]()
    for app in value["applications"]:
        for held in app["allocations"] if f"{app['queueName']}.".startswith(f"{path}.") else ():
            used.update(held["resource"])
    (lowered,) = value["queues"]["partitions"][0]["queues"]
    for name in path.split(".")[1:]:
        (lowered,) = (one for one in lowered["queues"] if one["name"] == name)
    types = chance.sample(sorted(used), chance.randint(1, len(used)))
    lowered["resources"]["max"] = {t: chance.randint(1, used[t] - 1) for t in types}
    return value, path


class _Draw:
    def __init__(self, seed: int, *, plain: bool, twins: bool) -> None:
        self.random = Random(seed)  # noqa: S311 - the same clusters every time
        self.plain = plain
        self.names = ("v", "twin") if twins else ("v",)
        self.asking = self.random.choice(_ASKING)

    def cluster(self) -> Json:
        held: dict[str, list[Json]] = {leaf: [] for leaf in _LEAVES}
        others = [leaf for leaf in _LEAVES if leaf != self.asking]
        for number in range(self.random.randint(3, MOST_ALLOCATIONS) // len(self.names)):
            leaf = self.random.choice(others if self.random.random() < 0.9 else _LEAVES)
            on = "n1" if self.plain else self.random.choice(_NODES)
            more = {"priority": str(self.random.randint(-1, 0)), **self.seldom(_FLAGS, 0.15)}
            size = self.amount(0, 4)
            held[leaf] += [allocation(f"{v}{number}", size, on=on, **more) for v in self.names]
        request = ask("ask", self.amount(1, 4), **self.seldom(_OF_ASK, 0.15))
        nodes = [
            node(name, {"gpu": 20, "mem": 20}, available=self.amount(-1, 2)) for name in _NODES
        ]
        running = [application(f"runs-{leaf}", leaf, *held[leaf]) for leaf in _LEAVES]
        queues = [
            self.queue("root.a", self.queue("root.a.q1"), self.queue("root.a.q10")),
            self.queue(
                "root.b",
                self.queue("root.b.c", self.queue("root.b.c.q1"), self.queue("root.b.c.q2")),
                self.queue("root.b.q3"),
            ),
        ]
        asks = application("asks", self.asking, asks=(request,))
        return cluster_value(queues, nodes, [*running, asks])

    def queue(self, path: str, *children: Json) -> Json:
        """Draw a queue: a plentiful guaranteed lets the ask preempt, a scarce one others give."""
        guaranteed: Json = {}
        if path == self.asking:
            guaranteed = self.amount(4, 10) if self.random.random() < 0.8 else {}
        elif self.random.random() < 0.7:
            guaranteed = self.amount(0, 5) if self.random.random() < 0.8 else self.amount(6, 12)
        more = self.seldom(_PROPERTIES, 0.15)
        return queue(path.rpartition(".")[2], *children, guaranteed=guaranteed, **more)

    def amount(self, least: int, most: int) -> dict[str, int]:
        """Draw an amount of both types, sometimes of one only."""
        types = self.random.choice([("gpu", "mem"), ("gpu", "mem"), ("gpu",), ("gpu",), ("mem",)])
        return {t: self.random.randint(least, most) for t in types}

    def seldom(self, words: tuple[Json, ...], chance: float) -> dict[str, Any]:
        """Draw one of some words with a small chance; a plain cluster has none of them."""
        drawn = self.random.random() < chance
        return self.random.choice(words) if drawn and not self.plain else {}
