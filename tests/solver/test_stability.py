"""Whether victims would preempt again: against edited dumps, and in clusters worked out by hand."""

import pytest

import planner
from planner.plan.kueue import Cascade, Plan
from planner.reader.kueue import read_kueue_objects
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.stability import cascades_of
from planner.solver.kueue.start import start
from planner.solver.start import Given
from tests import recorded
from tests.cluster import (
    NOW,
    PENDING,
    Object,
    configuration,
    dump_of,
    pending,
    queue,
    running,
    state_of,
)
from tests.conftest import TEST_ALL
from tests.solver.ping_pong import Dump, cascade_replay

FILES = (
    *("small-classical-flat", "small-classical-hier", "small-fair-flat", "small-fair-hier"),
    *("small-flavors", "small-edge", "classical-hier", "fair-hier", "flavors", "edge"),
)
EVERY = 2 if TEST_ALL else 48


def test_equal_to_editing_the_dump() -> None:
    """For Kueue's own plans in recorded instances, where others would be preempted in turn."""
    compared = unstable = 0
    for name in FILES:
        for line in recorded.lines(name, EVERY):
            if "pending" not in line or not recorded.asks_the_state(line):
                continue
            planning = start(
                recorded.state_of(line), Given(line["pending"], line.get("assignment"))
            )
            plan = planning.greedy_plan()
            if not plan.victims:
                continue
            expected = cascade_replay(line["state"], plan)
            found = cascades_of(planning, plan)
            assert {one.victim: one.targets for one in found} == expected, line["id"]
            assert all(one.preemptor == (plan.preemptor in one.targets) for one in found)
            compared += 1
            unstable += bool(expected)
    assert compared >= 60
    assert unstable >= 3


def plan_in(dump: Dump) -> tuple[Planning, Plan]:
    planning = start(read_kueue_objects(dump, where="test", now=NOW), Given(PENDING))
    return planning, planning.greedy_plan()


def test_victim_reclaims_from_the_preemptor() -> None:
    """``b`` gives up 1 and then 5 of its 6, of which 4 are its own: it may have the 1 back.

    The preemptor borrows all 6 then, so ``small`` reclaims from it; ``big`` is larger than the
    quota of ``b``, and may not borrow.
    """
    dump = dump_of(
        queue("a", 0, "org", reclaim="LowerPriority", borrow="LowerPriority"),
        queue("b", 4, "org", reclaim="Any"),
        queue("c", 2, "org"),
        running("small", "b", 1, minute=2),
        running("big", "b", 5, minute=1),
        pending("a", 6),
    )
    planning, plan = plan_in(dump)
    assert set(plan.keys) == {"ns/small", "ns/big"}
    expected = Cascade(victim="ns/small", targets=(PENDING,), preemptor=True)
    assert cascades_of(planning, plan) == (expected,)
    assert cascade_replay(dump, plan) == {"ns/small": (PENDING,)}


def third_party(
    *, reclaim: str = "Any", evicted: str = "", priority: int = 5
) -> list[list[Object]]:
    """``a`` wants all its 6; ``b`` runs 1 and 5 with 4 of its own, ``c`` borrows 4 of priority 5.

    Taking ``small``, then ``big`` frees the 6; taking ``big`` and ``loan`` would free 9.
    """
    return [
        queue("a", 6, "org", reclaim="LowerPriority"),
        queue("b", 4, "org", reclaim=reclaim),
        queue("c", 0, "org"),
        running("small", "b", 1, minute=2, evicted=evicted == "small"),
        running("big", "b", 5, minute=1),
        running("loan", "c", 4, priority, minute=3, evicted=evicted == "loan"),
        pending("a", 6),
    ]


def test_victim_reclaims_from_a_third_party() -> None:
    """Kueue takes the two of ``b``; ``small`` is within the quota of ``b`` then, ``big`` never."""
    planning, plan = plan_in(dump_of(*third_party()))
    assert set(plan.keys) == {"ns/small", "ns/big"}
    expected = Cascade(victim="ns/small", targets=("ns/loan",), preemptor=False)
    assert cascades_of(planning, plan) == (expected,)


def test_policy_decides_whether_it_may() -> None:
    planning, plan = plan_in(dump_of(*third_party(reclaim="LowerPriority")))
    assert set(plan.keys) == {"ns/small", "ns/big"}
    assert cascades_of(planning, plan) == ()


def test_what_was_going_anyway_is_not_asked() -> None:
    planning, plan = plan_in(dump_of(*third_party(evicted="small")))
    assert set(plan.keys) == {"ns/small", "ns/big"}
    assert cascades_of(planning, plan) == ()


def test_evicting_what_goes_anyway_is_no_new_eviction() -> None:
    """The loan is of a higher priority than the preemptor, which therefore cannot take it."""
    for evicted, count in (("", 1), ("loan", 0)):
        planning, plan = plan_in(dump_of(*third_party(evicted=evicted, priority=50)))
        assert set(plan.keys) == {"ns/small", "ns/big"}
        assert len(cascades_of(planning, plan)) == count


@pytest.mark.parametrize("sorting", [True, False])
def test_place_in_the_queue_after_the_eviction(*, sorting: bool) -> None:
    """``peer`` is of equal priority and newer than the victim, which was created first.

    Without PrioritySortingWithinCohort the victim of a borrower queues at the time it was
    preempted, and so behind its peer.
    """
    dump = dump_of(
        queue("a", 0, "org", reclaim="LowerPriority", borrow="LowerPriority"),
        queue("b", 0, "org", within="LowerOrNewerEqualPriority", borrow="LowerPriority"),
        queue("c", 8, "org"),
        running("peer", "b", 4, created=20, minute=20),
        running("victim", "b", 4, created=1, minute=30),
        pending("a", 4),
        configuration(featureGates={"PrioritySortingWithinCohort": sorting}),
    )
    planning, plan = plan_in(dump)
    assert [(one.workload, one.reason) for one in plan.victims] == [
        ("ns/victim", "InCohortReclaimWhileBorrowing")
    ]
    expected = {"ns/victim": ("ns/peer",)} if sorting else {}
    assert {one.victim: one.targets for one in cascades_of(planning, plan)} == expected
    assert cascade_replay(dump, plan) == expected


def test_a_plan_says_it_when_asked() -> None:
    state = state_of(*third_party())
    silent = planner.solve(state, PENDING)
    assert silent.stability is None
    assert "unstable" not in silent.terms
    plan = planner.solve(state, PENDING, stability=True)
    assert plan.stability == (Cascade(victim="ns/small", targets=("ns/loan",), preemptor=False),)
    assert plan.greedy is not None
    assert plan.greedy.stability == plan.stability
    assert plan.terms["unstable"] == plan.greedy.terms["unstable"] == 1
    place = list(silent.terms).index("candidate_order")
    assert list(plan.terms) == [
        *list(silent.terms)[:place],
        "unstable",
        *list(silent.terms)[place:],
    ]
    rest = plan.model_dump(exclude={"stability", "terms", "greedy", "certificate"})
    assert rest == silent.model_dump(exclude={"stability", "terms", "greedy", "certificate"})


def test_nothing_is_said_where_there_is_no_plan() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    plan = planner.solve(state, PENDING, stability=True)
    assert (plan.status, plan.stability) == ("infeasible", None)
