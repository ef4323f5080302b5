"""States that a theorem says are hard, made from numbers.

Source: docs/explanation/complexity.md, theorems 1 and 3 and proposition 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from planner.dump import listed
from planner.dump.kueue import (
    Admission,
    Amounts,
    Object,
    PodSet,
    Policies,
    Quota,
    cluster_queue,
    local_queue,
    resource_flavor,
    workload,
)

FOUNDED: Final = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
"""When queues were made; the running workloads began in the minutes after that."""
ASKED: Final = FOUNDED + timedelta(days=1)
"""When the preemptor was submitted."""
NAMESPACE: Final = "bench"
FLAVOR: Final = "default"
GPU: Final = "nvidia.com/gpu"
HIGH: Final = 100


def crowd(small: int) -> Object:
    """Proposition 7: one large workload would do, and Kueue takes all the newer, small ones."""
    return _listed(
        _queue("q", {GPU: 2 * small}),
        [
            _running("large", "q", {GPU: small}, minute=1),
            *(_running(f"small-{i}", "q", {GPU: 1}, minute=2 + i) for i in range(small)),
            _pending("q", {GPU: small}),
        ],
    )


def same_size_sum(count: int, most: int, seed: int) -> Object:
    """Theorem 1: half of the numbers add up to a given sum; each is a workload of two resources.

    ``count`` numbers are drawn from 1 to ``most`` by ``seed``.
    """
    numbers, chosen = _drawn(count, most, seed)
    whole = max(numbers) + 1
    full = {"cpu": sum(numbers), GPU: whole * count - sum(numbers)}
    wanted = sum(numbers[i] for i in chosen)
    asked = {"cpu": wanted, GPU: whole * len(chosen) - wanted}
    return _listed(
        _queue("q", full),
        [
            *(
                _running(f"w{i}", "q", {"cpu": one, GPU: whole - one}, minute=i)
                for i, one in enumerate(numbers)
            ),
            _pending("q", asked),
        ],
    )


def last_victim(count: int, most: int, seed: int, beyond: int = 0) -> Object:
    """Theorem 3: a legal set exists iff some of the numbers add up to a given sum.

    The numbers are drawn as in `same_size_sum`, and doubled. ``beyond`` is added to the sum of half
    of them: 0, or 1 for a sum that no numbers have.
    """
    drawn, chosen = _drawn(count, most, seed)
    numbers = [2 * one for one in drawn]
    wanted = sum(numbers[i] for i in chosen) + beyond
    large = max(numbers) + 1
    side = large + sum(numbers) - wanted - 1
    never = Policies(within_cluster_queue="Never", reclaim_within_cohort="Never")
    mine = Policies(within_cluster_queue="Never", reclaim_within_cohort="LowerPriority")
    return _listed(
        [
            *_queue("q", {GPU: wanted + large}, "c", mine),
            *_queue("side", {GPU: side}, "c", never),
            *_queue("kept", {GPU: 0}, "c", never),
        ],
        [
            _running("large", "side", {GPU: large}, minute=1),
            *(_running(f"w{i}", "side", {GPU: n}, minute=2 + i) for i, n in enumerate(numbers)),
            _running("kept", "kept", {GPU: large - 1}, minute=1, priority=2 * HIGH),
            _pending("q", {GPU: wanted + large}),
        ],
    )


FAMILIES: Final[Mapping[str, Callable[..., Object]]] = {
    "crowd": crowd,
    "same-size-sum": same_size_sum,
    "last-victim": last_victim,
}
"""All families by name."""


def _drawn(count: int, most: int, seed: int) -> tuple[list[int], list[int]]:
    """Draw numbers, and the places of half of them."""
    numbers, chosen = Random(f"numbers {seed}"), Random(f"chosen {seed}")  # noqa: S311 - no secrets
    drawn = [numbers.randint(1, most) for _ in range(count)]
    return drawn, chosen.sample(range(count), count // 2)


def _listed(queues: Iterable[Object], workloads: Sequence[Object]) -> Object:
    flavor = resource_flavor(FLAVOR, created=FOUNDED)
    return listed([flavor, *queues, *workloads])


_WITHIN: Final = Policies(reclaim_within_cohort="Never")


def _queue(
    name: str, nominal: Amounts, cohort: str = "", policies: Policies = _WITHIN
) -> list[Object]:
    quotas = {FLAVOR: {resource: Quota(amount) for resource, amount in nominal.items()}}
    return [
        cluster_queue(name, cohort, quotas, policies, created=FOUNDED),
        local_queue(NAMESPACE, name, name, created=FOUNDED),
    ]


def _running(name: str, queue: str, amounts: Amounts, *, minute: int, priority: int = 0) -> Object:
    since = FOUNDED + timedelta(minutes=minute)
    held, pods = Admission(queue, dict.fromkeys(amounts, FLAVOR), since), [PodSet(1, amounts)]
    return workload(NAMESPACE, name, queue, priority, pods, created=since, admission=held)


def _pending(queue: str, amounts: Amounts) -> Object:
    return workload(NAMESPACE, "pending", queue, HIGH, [PodSet(1, amounts)], created=ASKED)
