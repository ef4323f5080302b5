"""Clusters of any size and form to measure with, the same for the same seed.

Queues share cohorts up to four levels deep and use all GPUs and all memory there are; some use
more than their quota. The preemptor's queue has lent out what the preemptor now wants back.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Literal

from tests.cluster import Object, cohort, dump_of, fair_sharing, pending, queue, running

GPU, MEMORY, CPU = "nvidia.com/gpu", "memory", "cpu"
UNITS = {GPU: 1, MEMORY: 2**20, CPU: 1}
"""What amounts are multiples of."""

PRIORITY = 1000
NOW = datetime(2026, 5, 1, 13, tzinfo=UTC)

_BRANCHES = 3
"""Cohorts below a cohort."""

_BORROWERS = {True: 0.8, False: 0.2}
"""How many queues of a cohort use more than their quota: of every second many, else few."""

Shapes = Literal["t-shirt", "distinct"]


@dataclass(frozen=True, slots=True)
class Form:
    """What a cluster is like.

    ``depth`` counts the levels of cohorts; ``victims`` is about how many workloads the
    preemptor's GPUs are worth; with ``t-shirt`` shapes there are forty, with ``distinct`` ones no
    two workloads ask for the same.
    """

    workloads: int
    queues: int = 20
    depth: int = 2
    shapes: Shapes = "t-shirt"
    victims: int = 12
    fair: bool = False
    seed: int = 0

    @property
    def name(self) -> str:
        """A name that says it all."""
        kind = "fair" if self.fair else "classical"
        size = f"{self.workloads}-{self.queues}q-{self.depth}d"
        return f"{kind}-{size}-{self.shapes}-{self.victims}v"


def cluster(form: Form) -> Object:
    """Return the List that kubectl would print; ``ns/pending`` is pending."""
    chance = random.Random(form.name + str(form.seed))  # noqa: S311 - test data
    parts: list[Object] = []
    leaves = _cohorts(form, parts)
    used = [dict.fromkeys(UNITS, 0) for _ in range(form.queues)]
    catalogue = [_shape(chance) for _ in range(40)]
    for number in range(form.workloads):
        place = chance.randrange(form.queues)
        shape = chance.choice(catalogue) if form.shapes == "t-shirt" else _shape(chance)
        for resource, amount in shape.items():
            used[place][resource] += amount
        priority = chance.choice([0, 0, 10, 50, 100, 200])
        (workload,) = running(f"w{number}", f"q{place}", shape, priority)
        since = NOW - timedelta(seconds=chance.randint(60, 3 * 86_400))
        _date(workload, since, chance.randint(0, 600))
        parts.append(workload)
    request = _request(form, used)
    quotas = _quotas(form, chance, used, request)
    for number, quota in enumerate(quotas):
        parts += queue(
            f"q{number}",
            quota,
            f"c{form.depth - 1}-{number % leaves}",
            within="LowerPriority",
            reclaim="Any",
            borrow="LowerPriority",
            threshold=50,
        )
    parts += pending("q0", request, PRIORITY)
    return dump_of(parts, fair_sharing() if form.fair else ())


def _shape(chance: random.Random) -> dict[str, int]:
    """Return GPUs, bytes and cores of a workload."""
    gpus = chance.choice([1, 1, 1, 2, 2, 4, 8])
    return {
        GPU: gpus,
        MEMORY: gpus * chance.randint(8 * 1024, 64 * 1024) * UNITS[MEMORY],
        CPU: gpus * chance.randint(2, 12),
    }


def _date(workload: Object, since: datetime, waited: int) -> None:
    """Let a workload be created some seconds before it got its quota."""
    for condition in workload["status"]["conditions"]:
        condition["lastTransitionTime"] = f"{since:%Y-%m-%dT%H:%M:%SZ}"
    created = since - timedelta(seconds=waited)
    workload["metadata"]["creationTimestamp"] = f"{created:%Y-%m-%dT%H:%M:%SZ}"


def _cohorts(form: Form, parts: list[Object]) -> int:
    """Add the cohorts, ``c0-0`` the root; return how many there are on the last level."""
    width = 1
    for level in range(form.depth):
        width = min(form.queues, _BRANCHES**level)
        for number in range(width):
            parent = f"c{level - 1}-{number // _BRANCHES}" if level else ""
            parts += cohort(f"c{level}-{number}", parent)
    return width


def _request(form: Form, used: list[dict[str, int]]) -> dict[str, int]:
    """Return what so many workloads hold on average, at most a tenth of everything."""
    share = min(0.1, form.victims / form.workloads)
    return {
        resource: round(share * sum(amounts[resource] for amounts in used)) // unit * unit + unit
        for resource, unit in UNITS.items()
    }


def _quotas(
    form: Form, chance: random.Random, used: list[dict[str, int]], request: dict[str, int]
) -> list[dict[str, int]]:
    """Return quotas that add up to what is used, the first as much larger as is asked for.

    Of cores half as much again is free everywhere: they are not contested.
    """
    leaves = min(form.queues, _BRANCHES ** (form.depth - 1))
    factors = []
    for number in range(1, form.queues):
        borrows = chance.random() < _BORROWERS[bool(number % leaves % 2) or leaves == 1]
        factors.append(chance.uniform(0.4, 0.9) if borrows else chance.uniform(1.1, 1.6))
    quotas: list[dict[str, int]] = [{} for _ in used]
    for resource, unit in UNITS.items():
        amounts = [each[resource] for each in used]
        spare = 3 * sum(amounts) // 2 if resource == CPU else sum(amounts)
        quotas[0][resource] = amounts[0] + request[resource]
        left = spare - quotas[0][resource]
        wanted = list(
            accumulate(round(amount * f) for amount, f in zip(amounts[1:], factors, strict=True))
        )
        upto = [0, *(left // unit * amount // wanted[-1] * unit for amount in wanted)]
        for quota, (before, after) in zip(quotas[1:], pairwise(upto), strict=True):
            quota[resource] = after - before
    return quotas
