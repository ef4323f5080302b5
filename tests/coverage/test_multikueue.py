"""A queue whose pods MultiKueue places elsewhere: what a dump does not tell of its topology."""

from typing import Any

import pytest

import planner
from planner.state.kueue import State
from tests.cluster import PENDING, configuration, queue, running
from tests.kueue_state import read_objects
from tests.reference.topology import racks

Object = dict[str, Any]
NOW = "2026-05-01T13:00:00Z"


CHECKED: Object = {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}}
MULTI: Object = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "AdmissionCheck",
    "metadata": {"name": "check"},
    "spec": {"controllerName": "kueue.x-k8s.io/multikueue"},
    "status": {"conditions": [{"type": "Active", "status": "True"}]},
}
LEVELS = racks.topology()


def multi(  # noqa: PLR0913 - the words of the small language
    *topologies: Object,
    asked: Object | None = None,
    flavors: tuple[str, ...] = ("default",),
    requests: Object | None = None,
    gates: Object | None = None,
    waits_in: str = "a",
    cohort: str = "pool",
) -> State:
    """Return two queues, of which MultiKueue serves a; b has the flavor without a topology.

    In a a workload of 1 GPU runs; the pending one asks for ``requests``, or for 1 GPU.
    """
    (served, local), other = queue("a", 1, "pool"), queue("b", 1, cohort)
    other[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "plain"
    quota = [{"name": "gpu", "nominalQuota": 1}]
    group = {
        "coveredResources": ["gpu"],
        "flavors": [{"name": name, "resources": quota} for name in flavors],
    }
    served["spec"] |= CHECKED | {"resourceGroups": [group]}
    wanted = {"gpu": 1} if requests is None else requests
    parts = [
        *racks.flavor(),
        *racks.flavor("plain", ""),
        *topologies,
        *(served, local, MULTI),
        *other,
        *running("one", "a", 1, flavor=flavors[0]),
        *racks.waits(racks.pods("main", 1, wanted, asked), queue_name=waits_in),
        *configuration(featureGates=gates or {}),
    ]
    return read_objects({"kind": "List", "apiVersion": "v1", "items": parts}, where="t", now=NOW)


def found(state: State) -> list[tuple[str, str]]:
    """Return which features an answer leaves out, and how it knows."""
    plan = planner.solve(state, PENDING)
    assert (plan.status == "conditional") == bool(plan.coverage)
    return [(one.feature, one.kind) for one in plan.coverage]


MISSING = [("topology", "unmodelled"), ("queues", "assumed")]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (multi(*LEVELS), []),
        (multi(), MISSING),
        (multi(flavors=("plain",)), []),
        (multi(gates={"TopologyAwareScheduling": False}), []),
        (multi(*racks.topology(name="another")), MISSING),
    ],
)
def test_a_topology_that_multikueue_does_not_ask_for(
    state: State, expected: list[tuple[str, str]]
) -> None:
    """The queue is active, and yet left out of the snapshot, as its TAS usage is not synced.

    Kueue ff69552e pkg/cache/scheduler ``isTASViolated`` and ``skipInactiveCQReason``.
    """
    assert found(state) == expected


def test_who_runs_in_such_a_queue_may_be_no_candidate_of_others() -> None:
    """Another queue of the cohort is in doubt, too; one of another cohort is not."""
    for cohort, doubts in (("pool", [("queues", "assumed")]), ("another", [])):
        assert found(multi(flavors=("default",), waits_in="b", cohort=cohort)) == doubts


@pytest.mark.parametrize(
    ("state", "suits"),
    [
        # A podset that asks for no place may have the flavor without a topology only.
        (multi(*LEVELS, flavors=("default", "plain")), False),
        # All flavors have one: then it is placed, too.
        (multi(*LEVELS), True),
        (multi(*LEVELS, asked={"required": racks.RACK}), True),
        (multi(*LEVELS, asked={"unconstrained": True}), True),
        (multi(*LEVELS, asked={"unconstrained": False}), False),
        (multi(*LEVELS, asked={"required": "block"}), False),
        (multi(*LEVELS, asked={"required": racks.RACK}, flavors=("plain",)), False),
        # A podset without a flavor: Kueue admits nothing.
        (multi(*LEVELS, requests={}), False),
    ],
)
def test_multikueue_does_not_make_every_flavor_suit(state: State, suits: bool) -> None:  # noqa: FBT001
    """Kueue ff69552e flavorassigner ``checkPodSetAndFlavorMatchForTAS`` knows no MultiKueue.

    docs/semantics/kueue-topology.md §3.1 and §3.3.
    """
    assert found(state) == ([] if suits else [("topology", "unmodelled")])
