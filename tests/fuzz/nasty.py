"""States that nobody damaged, and that are hard: many places for pods, many who are alike.

Each is made by a number alone, and asked with little time.
"""

import json
from random import Random
from typing import Any, Final

from tests.cluster import NOW, cohort, configuration, dump_of, pending, queue, running
from tests.fuzz.case import Case
from tests.reference.topology.racks import RACK, flavor, node, pods, room, runs, topology, waits

STYLES: Final = ("json", "plain", "table", "html")
LIMIT: Final = "0.2"
"""Seconds for each optimum."""
QUESTIONS: Final[tuple[tuple[str, ...], ...]] = (
    ("solve", "--objective", "no-regret"),
    ("solve", "--objective", "exact-fit"),
    ("solve", "--objective", "min-lost-work", "--certify"),
    ("explain",),
    ("audit", "--jobs", "1"),
    ("compare", "--jobs", "1"),
    ("watch",),
)


def places(chance: Random, most: int = 3000) -> dict[str, Any]:
    """Return a cluster of up to so many nodes in racks, whose GPUs are nearly all taken."""
    nodes, in_rack = chance.randint(most // 3, most), chance.choice((2, 10, 100, most))
    want, gpus = chance.choice(((2, 8), (12, 4), (60, 1))), 8
    parts = [*topology(), *flavor()]
    for number in range(nodes):
        parts += node(f"n{number}", f"r{number // in_rack}", cpu=16, gpu=gpus)
        left = gpus
        while left and chance.random() < 0.99:
            taken = min(left, chance.choice((1, 1, 2, 4)))
            left -= taken
            moment: dict[str, Any] = {
                "priority": chance.choice((0, 0, 1, 2)),
                "minute": chance.randrange(50),
            }
            parts += runs(f"w{number}-{left}", {"gpu": taken}, {f"n{number}": 1}, **moment)
    parts += room({"gpu": gpus * nodes, "pods": 110 * nodes})
    asked = chance.choice(({"required": RACK}, {"preferred": RACK}, {"unconstrained": True}))
    count, each = want
    parts += waits(pods("a", count, {"gpu": each}, asked))
    return {"apiVersion": "v1", "kind": "List", "items": parts}


def ties(chance: Random, most: int = 60) -> dict[str, Any]:
    """Return queues with the same share whose workloads nothing tells apart but their names."""
    queues, each = chance.randint(2, most), chance.randint(1, 8)
    rules: dict[str, Any] = {"reclaim": "Any", "within": "LowerPriority", "weight": "1"}
    parts = [*cohort("all")]
    for number in range(queues):
        parts += queue(f"q{number}", chance.choice((1, 2)), "all", **rules)
        for other in range(each):
            parts += running(f"w{number}-{other}", f"q{number}", 1, minute=5)
    parts += queue("asks", queues * each, "all", **rules)
    parts += pending("asks", max(1, queues * each // chance.choice((1, 2, 3))))
    found = dump_of(*([part] for part in parts))
    found["items"] += configuration(fairSharing={"enable": True})
    return found


def knapsack(chance: Random, most: int = 60) -> dict[str, Any]:
    """Return a queue whose workloads have sizes that hardly ever add up to what is asked for."""
    sizes = [chance.randint(10**5, 10**6) for _ in range(chance.randint(10, most))]
    parts = [queue("q", sum(sizes), within="LowerPriority")]
    for number, size in enumerate(sizes):
        priority = chance.randrange(3)
        parts += [running(f"w{number}", "q", size, priority, minute=chance.randrange(50))]
    return dump_of(*parts, pending("q", sum(sizes) // 2 + 1))


KINDS: Final = (places, ties, knapsack)


def nasty(number: int) -> Case:
    """Return the input of a number."""
    chance = Random(f"nasty:{number}")  # noqa: S311 - the same input every time
    kind, *words = chance.choice(QUESTIONS)
    value = KINDS[number % len(KINDS)](chance)
    value["metadata"] = {"annotations": {"preemption-planner.io/taken-at": NOW}}
    style = chance.choice(STYLES[:3] if kind in {"compare", "explain"} else STYLES)
    style = chance.choice(("plain", "jsonl")) if kind == "watch" else style
    words += ["state.json", f"--time-limit={LIMIT}", f"--format={style}"]
    files = {"state.json": json.dumps(value).encode()}
    return Case(number, kind, "structure", tuple(words), files, (), (), {}, b"")
