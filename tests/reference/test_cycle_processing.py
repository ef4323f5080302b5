"""Scheduling cycles: in which order, at random or not, and what an entry finds and takes.

docs/semantics/kueue.md §6.4, §7.3 and §7.4. Where the order is asked about, everybody fits, so that
only the order shows.
"""

from typing import Any

import pytest

import planner
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.chance import EQUAL_COHORTS
from planner.reference.kueue.decision import Decision, decide, outcomes
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    configuration,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
)
from tests.reference.cycles import ran, waits


def gates(**switches: bool) -> list[Object]:
    """Return a Configuration with some feature gates set."""
    return configuration(featureGates=switches)


def order(*parts: list[Object], fair: bool = False, **gates: bool) -> list[str]:
    """Return the names of the heads in the order of processing."""
    switches: dict[str, Any] = {"featureGates": gates}
    if fair:
        switches["fairSharing"] = {}
    cycle = ran(configuration(**switches), *parts)
    assert {entry.outcome for entry in cycle.entries} == {"admitted"}
    return [entry.preemptor.workload.metadata.name for entry in cycle.entries]


@pytest.mark.parametrize(
    ("gate", "expected"), [(True, ["owner", "guest"]), (False, ["guest", "owner"])]
)
def test_who_does_not_borrow_what_it_asks_for_comes_first(
    gate: bool,  # noqa: FBT001
    expected: list[str],
) -> None:
    """The owner's queue borrows 4 of 8 CPUs, but asks for a GPU of its own; the guest borrows one.

    Its share is 4/8; that of the guest 1/9: there are 8 GPUs in the cohort and one in the queue.
    """
    pool = cohort("all", nominal={"gpu": 8, "cpu": 8})
    owns = queue("a", {"gpu": 1, "cpu": 0}, "all")
    parts = pool, owns, queue("b", {"gpu": 0}, "all"), running("r", "a", {"cpu": 4})
    heads = waits("owner", "a", {"gpu": 1}, minute=2), waits("guest", "b", {"gpu": 1}, minute=1)
    gates = {"FairSharingPrioritizeNonBorrowing": gate}
    assert order(*parts, *heads, fair=True, **gates) == expected


def parts(*, first: int = 2, second: int = 2) -> list[list[Object]]:
    """Return a tree of three cohorts: the own one, and two that borrow of the root's 4.

    The pending workload asks for 1, which any workload of the two others makes room for.
    """
    names = [name for name, amount in (("x", first), ("y", second)) for _ in range(amount)]
    return [
        fair_sharing(),
        cohort("root", nominal=4),
        *(cohort(name, "root") for name in ("own", "left", "right")),
        queue("a", 0, "own", reclaim="Any"),
        queue("x", 0, "left"),
        queue("y", 0, "right"),
        *(running(f"{name}{number}", name, 1) for number, name in enumerate(names)),
        pending("a", 1),
    ]


def found(some: list[list[Object]]) -> tuple[Decision, set[tuple[str, ...]]]:
    """Return the decision that is shown, and the victims of all that Kueue may come to."""
    state = state_of(*some)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    every = outcomes(snapshot, preemptor)
    names = {tuple(target.workload.key[3:4] for target in one.targets) for one in every}
    return decide(snapshot, preemptor), names


def test_either_of_two_equal_cohorts_may_lose() -> None:
    decision, victims = found(parts())
    assert decision.undetermined == (EQUAL_COHORTS,)
    assert [target.workload.key[3:4] for target in decision.targets] == ["y"]  # the last one
    assert victims == {("x",), ("y",)}


def test_a_plan_says_so() -> None:
    plan = planner.solve(state_of(*parts()))
    assert any(EQUAL_COHORTS in note for note in plan.notes)


def test_the_larger_share_leaves_nothing_to_chance() -> None:
    decision, victims = found(parts(first=3, second=1))
    assert (decision.undetermined, victims) == ((), {("x",)})
