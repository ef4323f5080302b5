"""Slices of elastic workloads in the replay: docs/semantics/kueue-features.md §2, rule by rule."""

from typing import Any

import pytest

from planner.errors import UnsupportedError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.run import run_cycle
from planner.reference.kueue.decision import Decision, decide
from tests.cluster import (
    KUEUE,
    PENDING,
    Object,
    cohort,
    configuration,
    queue,
    quotas,
    running,
    state_of,
)
from tests.elastic import Pods, new, old
from tests.reference.cycles import waits, with_spec

GATE = "ElasticJobsViaWorkloadSlices"


def decided(*parts: list[Object]) -> Decision:
    state = state_of(*parts)
    snapshot = take_snapshot(state)
    return decide(snapshot, find_preemptor(state, snapshot, PENDING))


def targets(decision: Decision) -> list[tuple[str, str]]:
    return [(one.workload.key, one.reason) for one in decision.targets]


def two_flavors(name: str, nominal: int, **more: Any) -> list[Object]:
    """Return a ClusterQueue with the flavors ``a`` and ``b``, in this order, and both flavors."""
    parts = queue(name, nominal, **more)
    (group,) = quotas(nominal)
    rows = group["flavors"][0]["resources"]
    group["flavors"] = [{"name": flavor, "resources": rows} for flavor in ("a", "b")]
    flavors = [
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": flavor}}
        for flavor in ("a", "b")
    ]
    return [*with_spec(parts, resourceGroups=[group]), *flavors]


def test_only_the_additional_pods_are_asked_for() -> None:
    """Rule 2.1: four of eight run, two more fit beside another two: six would not."""
    others = [*queue("q", 8), *running("other", "q", 2)]
    found = decided(others, old("old", "q", Pods(4)), new("q", Pods(6)))
    assert found.assignment.mode == "Fit"
    assert targets(found) == [("ns/old", "")]
    without = decided(others, old("old", "q", Pods(4)), new("q", Pods(6), replaces=None))
    assert without.assignment.mode == "Preempt"
    assert targets(without) == []


def test_the_slice_goes_first_and_without_a_reason() -> None:
    """Rule 2.4: then the ordinary targets, of which one is enough for the two pods more."""
    found = decided(
        queue("q", 6, within="LowerPriority"),
        old("old", "q", Pods(4), priority=5),
        running("one", "q", 1),
        running("other", "q", 1, minute=1),
        new("q", Pods(5), priority=5),
    )
    assert targets(found) == [("ns/old", ""), ("ns/other", "InClusterQueue")]
    assert [one.workload.key for one in found.search.targets] == ["ns/other"]


def test_without_ordinary_targets_there_are_none() -> None:
    """Rule 2.4: a Preempt that finds nobody does not name the slice either."""
    found = decided(queue("q", 4), old("old", "q", Pods(4)), new("q", Pods(9)))
    assert found.assignment.mode == "NoFit"
    assert found.targets == ()
    within = queue("q", 5, within="LowerPriority")
    found = decided(within, old("old", "q", Pods(4)), running("x", "q", 1, 9), new("q", Pods(5)))
    assert found.assignment.mode == "Preempt"
    assert found.targets == ()


@pytest.mark.parametrize(
    ("elsewhere", "replaces"),
    [
        (old("old", "r", Pods(4)), "ns/old"),
        (old("old", "q", Pods(4), namespace="other"), "other/old"),
        ([], "ns/old"),
        (old("old", "q", Pods(4)), "ns/nobody"),
    ],
)
def test_who_is_no_slice_of_it(elsewhere: list[Object], replaces: str) -> None:
    """Another ClusterQueue, another namespace, nobody: then it asks for everything."""
    found = decided(queue("q", 8), queue("r", 8), elsewhere, new("q", Pods(6), replaces=replaces))
    assert found.assigned.usage == {0: 6}
    assert found.replaced is None


def test_the_gate() -> None:
    parts = [queue("q", 8), old("old", "q", Pods(4)), new("q", Pods(6))]
    assert decided(*parts).assigned.usage == {0: 2}
    off = configuration(featureGates={GATE: False})
    assert decided(*parts, off).assigned.usage == {0: 6}


def test_flavors_are_those_of_the_slice() -> None:
    """Rule 2.2: flavor ``a`` comes first and is free, but the slice runs in ``b``."""
    there = [two_flavors("q", 6), old("old", "q", Pods(4, flavor="b"))]
    found = decided(*there, new("q", Pods(6)))
    assert found.assignment.pod_sets[0].flavors["gpu"].flavor == "b"
    other = decided(*there, new("q", Pods(2), replaces=None))
    assert other.assignment.pod_sets[0].flavors["gpu"].flavor == "a"
    stuck = decided(*there, new("q", Pods(7)))
    assert stuck.assignment.mode == "Preempt"
    assert stuck.assignment.pod_sets[0].flavors["gpu"].flavor == "b"
    assert "since the original workload is assigned: b" in stuck.assigned.message


def test_a_resource_without_a_flavor_matches_none() -> None:
    """Rule 2.2: the old pods ask for no memory, so no flavor is right for it."""
    both = queue("q", {"gpu": 8, "memory": 8})
    found = decided(both, old("old", "q", Pods(2)), new("q", Pods(2, {"gpu": 1, "memory": 1})))
    assert found.assignment.mode == "NoFit"
    assert found.assigned.reason == "NoMatchingFlavor"


def test_larger_pods_are_tested_by_totals_and_searched_for_by_count() -> None:
    """Rule 2.3: two pods of 3 instead of two of 1 need 4 more; the search looks for nothing at all.

    It succeeds after its first removal, which frees 1.
    """
    found = decided(
        queue("q", 6, within="LowerPriority"),
        old("old", "q", Pods(2), priority=5),
        *(running(f"w{n}", "q", 1, minute=n) for n in range(4)),
        new("q", Pods(2, 3), priority=5),
    )
    assert found.assigned.usage == {0: 4}
    assert [one.workload.key for one in found.search.targets] == ["ns/w3"]


def test_fewer_pods_always_fit() -> None:
    """Rule 2.3: also where the queue is far above its quota."""
    found = decided(queue("q", 1), old("old", "q", Pods(6)), new("q", Pods(1)))
    assert found.assignment.mode == "Fit"
    assert found.assigned.usage == {0: -5}


def test_podsets_go_by_place() -> None:
    """Rule 2.1: the second podset gives back what the first then may take."""
    found = decided(queue("q", 6), old("old", "q", Pods(2), Pods(4)), new("q", Pods(5), Pods(1)))
    assert [one.flavors["gpu"].mode for one in found.assignment.pod_sets] == ["Preempt", "Fit"]
    turned = decided(queue("q", 6), old("old", "q", Pods(4), Pods(2)), new("q", Pods(1), Pods(5)))
    assert turned.assignment.mode == "Fit"


def test_more_podsets_than_the_slice_has() -> None:
    """Rule 2.9: Kueue crashes on that."""
    with pytest.raises(UnsupportedError, match="replaces ns/old, which holds 1 podsets only"):
        decided(queue("q", 6), old("old", "q", Pods(2)), new("q", Pods(2), Pods(1)))


def test_reclaimable_pods_of_the_slice_make_the_delta_larger() -> None:
    """Rule 2.10: one of four is done, so that six more are asked for beyond three."""
    slice_ = old("old", "q", Pods(4))
    slice_[0]["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
    found = decided(queue("q", 9), slice_, new("q", Pods(9)))
    assert found.assigned.usage == {0: 6}


def test_the_slice_as_an_ordinary_candidate() -> None:
    """Rule 2.5: it has a lower priority, so the search takes it, and it is named twice."""
    parts = [
        queue("q", 4, within="LowerPriority"),
        old("old", "q", Pods(3)),
        running("one", "q", 1, 9),
        new("q", Pods(4), priority=5),
    ]
    assert targets(decided(*parts)) == [("ns/old", ""), ("ns/old", "InClusterQueue")]
    cycle = run_cycle(state_of(*parts))
    assert [one.workload.key for one in cycle.evicted] == ["ns/old"]


def test_a_name_is_spared_even_where_it_is_no_slice() -> None:
    """Kueue takes the name out of its targets, whoever that is: nobody is evicted here."""
    parts = [
        cohort("all"),
        queue("q", 4, "all", reclaim="Any"),
        queue("r", 0, "all"),
        running("old", "r", 4),
        new("q", Pods(4), priority=5),
    ]
    assert targets(decided(*parts)) == [("ns/old", "InCohortReclamation")]
    cycle = run_cycle(state_of(*parts))
    assert [entry.outcome for entry in cycle.entries] == ["preempting"]
    assert cycle.evicted == ()


def test_a_slice_is_finished_when_the_new_one_is_admitted() -> None:
    """Rule 2.4: and not while it still has to preempt."""
    parts = [queue("q", 6, within="LowerPriority"), old("old", "q", Pods(4), priority=5)]
    cycle = run_cycle(state_of(*parts, new("q", Pods(6), priority=5)))
    assert [entry.outcome for entry in cycle.entries] == ["admitted"]
    assert [one.key for one in cycle.finished] == ["ns/old"]
    assert cycle.evicted == ()
    more = [running("x", "q", 2), new("q", Pods(6), priority=5)]
    cycle = run_cycle(state_of(*parts, *more))
    assert [entry.outcome for entry in cycle.entries] == ["preempting"]
    assert cycle.finished == ()
    assert [one.workload.key for one in cycle.evicted] == ["ns/x"]


def test_the_fits_test_takes_the_whole_slice_out() -> None:
    """Rule 2.7: another took the last two, and still the slice gets two more: eight of six."""
    parts = [
        cohort("all"),
        queue("first", 0, "all"),
        queue("q", 6, "all"),
        old("old", "q", Pods(4)),
        waits("early", "first", 2, 9),
        new("q", Pods(6)),
    ]
    cycle = run_cycle(state_of(*parts, [*queue("spare", 0, "all")]))
    found = {entry.preemptor.key: entry.outcome for entry in cycle.entries}
    assert found == {"ns/early": "admitted", "ns/pending": "admitted"}
    ordinary = run_cycle(state_of(*parts[:3], waits("early", "first", 2, 9), waits("b", "q", 6)))
    assert {entry.outcome for entry in ordinary.entries} == {"admitted", "skipped"}
