"""What an admitted workload holds, its priority, and when it queued.

Source: docs/semantics/kueue.md §2.1, §2.3, §2.4.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from planner.quantity import MAX_INT64
from planner.quota.kueue.holding import (
    NEVER,
    effective_priority,
    holding_of,
    pod_set_holdings,
    queue_order_time,
)
from planner.quota.kueue.tree import FlavorResource
from planner.state import parse_time
from planner.state.kueue import Configuration, Workload
from planner.state.kueue_release import find_release
from tests.cluster import at

DEFAULT = Configuration()


def settings(**fields: Any) -> Configuration:
    return Configuration.model_validate(fields)


def holder(
    *assigned: dict[str, Any], counts: tuple[int, ...] = (1,), reclaimable: tuple[int, ...] = ()
) -> Workload:
    """Return a workload with podsets p0, p1, ..., admitted as given."""
    return Workload.model_validate(
        {
            "metadata": {"name": "w", "namespace": "ns"},
            "spec": {"podSets": [{"name": f"p{i}", "count": n} for i, n in enumerate(counts)]},
            "status": {
                "admission": {
                    "clusterQueue": "a",
                    "podSetAssignments": [
                        {"name": f"p{i}", **fields} for i, fields in enumerate(assigned)
                    ],
                },
                "reclaimablePods": [
                    {"name": f"p{i}", "count": n} for i, n in enumerate(reclaimable)
                ],
            },
        }
    )


def usage(cpu: str, **more: Any) -> dict[str, Any]:
    return {"flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": cpu}, **more}


SPOT_CPU = FlavorResource("spot", "cpu")


def test_podsets_are_summed_and_rounded_once_each() -> None:
    workload = holder(usage("1500u"), usage("2500u"), counts=(1, 1))
    assert holding_of(workload, DEFAULT).amounts == {SPOT_CPU: 2 + 3}


def test_what_has_no_flavor_counts_nowhere_but_naming_is_enough_to_be_named() -> None:
    workload = holder({"flavors": {"gpu": "spot"}, "resourceUsage": {"cpu": "1"}}, counts=(1,))
    assert holding_of(workload, DEFAULT).amounts == {}
    assert holding_of(workload, DEFAULT).named == {FlavorResource("spot", "gpu")}


def test_a_workload_without_admission_holds_nothing() -> None:
    workload = Workload.model_validate({"metadata": {"name": "w"}})
    assert holding_of(workload, DEFAULT).amounts == {}
    assert holding_of(workload, DEFAULT).named == set()


@pytest.mark.parametrize(
    ("count", "admitted", "reclaimable", "milli"),
    [
        (3, 3, 0, 1000),
        (3, 3, 1, 666),  # 1000 div 3 is 333, times 2
        (3, 3, 3, 0),
        (3, 3, 9, 0),
        (3, None, 1, 666),  # without an admitted count, the count of the spec
        (5, 3, 2, 1000),  # 3 are left of 5, and only 3 were admitted: nothing changes
        (5, 3, 3, 666),
    ],
)
def test_reclaimed_pods_give_back_their_share_truncated(
    count: int, admitted: int | None, reclaimable: int, milli: int
) -> None:
    more = {} if admitted is None else {"count": admitted}
    workload = holder(usage("1", **more), counts=(count,), reclaimable=(reclaimable,))
    assert holding_of(workload, DEFAULT).amounts == {SPOT_CPU: milli}
    gate_off = settings(featureGates={"ReclaimablePods": False})
    assert holding_of(workload, gate_off).amounts == {SPOT_CPU: 1000}


def test_an_older_release_that_counts_fewer_pods_than_none_divides_by_none_of_no_pods() -> None:
    older = DEFAULT.under(find_release("0.17.6"), "given")
    workload = holder(usage("1", count=0), counts=(0,), reclaimable=(1,))
    assert holding_of(workload, older).amounts == {SPOT_CPU: 1000}
    assert [one.amounts for one in pod_set_holdings(workload, older)] == [{"cpu": 1000}]


def test_usage_saturates() -> None:
    workload = holder(usage("9E"), usage("9E"), counts=(1, 1))
    assert holding_of(workload, DEFAULT).amounts == {SPOT_CPU: MAX_INT64}


@pytest.mark.parametrize(
    ("boost", "priority"),
    [
        (None, 5),
        ("7", 12),
        ("+7", 12),
        ("-7", -2),
        ("007", 12),
        ("2147483647", 2147483652),
        ("-2147483648", -2147483643),
        ("2147483648", 5),  # no 32-bit integer
        ("seven", 5),
        ("1.5", 5),
        (" 7", 5),
        ("", 5),
        ("\u0667", 5),  # digits, but not decimal ones of ASCII
    ],
)
def test_the_boost_counts_only_with_its_gate(boost: str | None, priority: int) -> None:
    notes = {} if boost is None else {"kueue.x-k8s.io/priority-boost": boost}
    workload = Workload.model_validate(
        {"metadata": {"name": "w", "annotations": notes}, "spec": {"priority": 5}}
    )
    assert effective_priority(workload, DEFAULT) == 5
    assert effective_priority(workload, settings(featureGates={"PriorityBoost": True})) == priority


def test_without_a_priority_it_is_zero() -> None:
    assert effective_priority(Workload.model_validate({"metadata": {"name": "w"}}), DEFAULT) == 0


CREATED, MOVED = parse_time(at(1)), parse_time(at(40))
BY_CREATION = settings(waitForPodsReady={"requeuingStrategy": {"timestamp": "Creation"}})
BY_EVICTION = settings(waitForPodsReady={"requeuingStrategy": {"timestamp": "Eviction"}})
UNSORTED = settings(featureGates={"PrioritySortingWithinCohort": False})
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
LATER = MOVED + timedelta(milliseconds=1)


def queued(*conditions: tuple[str, str, str]) -> Workload:
    """Return a workload created at 12:01 with conditions since 12:40: type, status, reason."""
    return Workload.model_validate(
        {
            "metadata": {"name": "w", "creationTimestamp": at(1)},
            "status": {
                "conditions": [
                    {"type": t, "status": s, "reason": r, "lastTransitionTime": at(40)}
                    for t, s, r in conditions
                ]
            },
        }
    )


@pytest.mark.parametrize(
    ("conditions", "configuration", "expected"),
    [
        # 1. Not ready in time: since the eviction, unless creation is configured.
        ([("Evicted", "True", "PodsReadyTimeout")], DEFAULT, MOVED),
        ([("Evicted", "True", "PodsReadyTimeout")], BY_EVICTION, MOVED),
        ([("Evicted", "True", "PodsReadyTimeout")], BY_CREATION, CREATED),
        ([("Evicted", "False", "PodsReadyTimeout")], DEFAULT, CREATED),
        # 2. An admission check: since the eviction, whatever is configured.
        ([("Evicted", "True", "AdmissionCheck")], DEFAULT, MOVED),
        ([("Evicted", "True", "AdmissionCheck")], BY_CREATION, MOVED),
        # 3. Reclaimed while borrowing: only with the gate off, and a millisecond later.
        ([("Preempted", "True", WHILE_BORROWING)], DEFAULT, CREATED),
        ([("Preempted", "True", WHILE_BORROWING)], UNSORTED, LATER),
        ([("Preempted", "False", WHILE_BORROWING)], UNSORTED, CREATED),
        ([("Preempted", "True", "InClusterQueue")], UNSORTED, CREATED),
        # The first rule that applies counts.
        (
            [("Preempted", "True", WHILE_BORROWING), ("Evicted", "True", "AdmissionCheck")],
            UNSORTED,
            MOVED,
        ),
        # 4. Otherwise since the creation; other evictions move nothing.
        ([("Evicted", "True", "Preempted")], DEFAULT, CREATED),
        ([], DEFAULT, CREATED),
    ],
)
def test_the_four_rules_of_queue_order(
    conditions: list[tuple[str, str, str]], configuration: Configuration, expected: object
) -> None:
    assert queue_order_time(queued(*conditions), configuration) == expected


def test_without_any_time_it_queued_first() -> None:
    workload = Workload.model_validate({"metadata": {"name": "w"}})
    assert queue_order_time(workload, DEFAULT) == NEVER
