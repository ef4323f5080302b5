"""The algorithm of KEP-83 on examples worked out by hand, step by step as its text has them."""

import pytest

import planner
from planner.objective.annotation import PREFIX
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.research.kep83.options import Kep83
from planner.research.kep83.reference import decide_kep83
from planner.state.kueue import State
from tests.cluster import PENDING, cohort, pending, queue, running, state_of


def decide(state: State, **options: object) -> tuple[Assignment, list[str]]:
    """Return the flavors and the victims, by name and in the order of removal."""
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    found = decide_kep83(snapshot, preemptor, Kep83.model_validate(options))
    names = [target.workload.key.removeprefix("ns/") for target in found.search.targets]
    return found.assignment, names


def victims(state: State, **options: object) -> list[str]:
    """Return the victims, by name and in the order of removal."""
    return decide(state, **options)[1]


def one_of_many(**annotations: str) -> State:
    """All 9 of the cohort are in use, 1 by each; queue a wants 1 more of its 5.

    Named after what they are: in which queue, of which priority, running since which minute.
    """
    return state_of(
        cohort("org"),
        queue("a", 5, "org", within="LowerPriority", reclaim="LowerPriority"),
        queue("b", 4, "org"),
        *(
            running(
                f"{holder}-p{priority}-m{minute}",
                holder,
                1,
                priority,
                minute=minute,
                annotations={f"{PREFIX}milestones": text} if text else {},
            )
            for holder, priority, minute in (
                *(("a", 0, 9), ("a", 1, 1)),
                *(("b", 2, 0), ("b", 2, 7), ("b", 1, 3), ("b", 1, 5), ("b", 1, 4)),
                *(("b", 3, 1), ("b", 3, 2)),
            )
            for text in (annotations.get(f"p{priority}m{minute}"),)
        ),
        pending("a", 1),
    )


def test_order_of_candidates() -> None:
    """Step 3: other queues first, then lower priority, then the shortest running time."""
    assert victims(one_of_many()) == ["b-p1-m5"]
    assert victims(one_of_many(), order=["ByLowestPriority", "ByLongestRuntime"]) == ["b-p1-m3"]


def test_workload_sorting_in_any_order() -> None:
    """Alternatives: the criteria are evaluated in order; an empty list is the default one."""
    state = one_of_many()
    assert victims(state, order=["ByLowestRuntime"]) == ["b-p2-m7"]
    assert victims(state, order=["ByLongestRuntime"]) == ["b-p2-m0"]
    assert victims(state, order=["ByLowestRuntime", "ByLowestPriority"]) == ["b-p2-m7"]
    assert victims(state, order=[]) == ["b-p1-m5"]


def test_disruption_costs() -> None:
    """Alternatives: by the milestones of a workload, on the line between two points.

    At 13:00 b-p1-m5 runs for 55 minutes: a third of the way from 30 at 0:50 to 0 at 1:05, 20.
    b-p3-m1 costs 19 whatever its run time, everybody else 50.
    """
    dear = {f"p{priority}m{minute}": "0s:50" for priority in (1, 2, 3) for minute in range(8)}
    cheap = one_of_many(**{**dear, "p1m5": "0s:0,50m:30,65m:0", "p3m1": "0s:19"})
    by_cost = Kep83(order=("ByLowestDisruptionCost",)).text
    assert planner.greedy(cheap, PENDING, rules=by_cost).keys == ("ns/b-p3-m1",)
    dearer = one_of_many(**{**dear, "p1m5": "0s:0,50m:30,65m:0", "p3m1": "0s:21"})
    assert planner.greedy(dearer, PENDING, rules=by_cost).keys == ("ns/b-p1-m5",)


def test_own_queue_comes_last() -> None:
    """Only where nobody else may go, the lowest priority of the own queue does."""
    assert victims(one_of_many(), cohort="Never") == ["a-p0-m9"]
    assert victims(one_of_many(), cohort="Never", queue="Never") == []
    state = state_of(
        queue("a", 2, within="LowerPriority"),
        running("newer", "a", 1, 1, minute=9),
        running("older", "a", 1, 1, minute=2),
        pending("a", 1),
    )
    assert victims(state) == ["newer"]


@pytest.mark.parametrize(
    ("quotas", "held", "asks", "gone"),
    [
        pytest.param(
            (4, 2), {"one": 1, "two": 1, "four": 4, "last": 0}, 4, ["four"],
            id="by priority 1 and 2 go before 4; with the 4 gone neither is needed",
        ),
        pytest.param(
            (6, 0), {"one": 1, "three": 3, "two": 2}, 5, ["three", "two"],
            id="1, 3 and 2 go for 5; in reverse 2 is needed, 3 too, but 1 is not",
        ),
        pytest.param(
            (5, 0), {"early": 1, "late": 1, "three": 3}, 4, ["early", "three"],
            id="1, 1 and 3 go for 4; in reverse 3 is needed, the later 1 is not, so the earlier is",
        ),
    ],
)  # fmt: skip
def test_removing_stops_when_it_fits_and_what_is_not_needed_is_added_back(
    quotas: tuple[int, int], held: dict[str, int], asks: int, gone: list[str]
) -> None:
    """Steps 4 and 5, from the last removed on: who runs in b has priority 1, 2, 3 and so on."""
    mine, other = quotas
    state = state_of(
        queue("a", mine, "org", reclaim="Any"),
        queue("b", other, "org"),
        *(running(name, "b", held[name], place) for place, name in enumerate(held, start=1)),
        pending("a", asks),
    )
    assert victims(state) == gone


def three_queues(third: int, from_c: int) -> State:
    """Queue a takes back its 4; b has 4 and runs 2, 2 and so many, c has none and runs some."""
    return state_of(
        queue("a", 4, "org", reclaim="Any"),
        queue("b", 4, "org"),
        queue("c", 0, "org"),
        running("b1", "b", 2, 0, minute=9),
        running("b2", "b", 2, 0, minute=8),
        running("b3", "b", third, 0, minute=7),
        running("c1", "c", from_c, 5),
        pending("a", 4),
    )


def test_a_queue_below_its_min_is_skipped() -> None:
    """Queue b uses 5 of 4: the first leaves 3, below its min, so that queue c has to give."""
    assert victims(three_queues(1, 3)) == ["b1", "c1"]


def test_a_queue_at_its_min_is_not_skipped() -> None:
    """Queue b uses 6 of 4: the first leaves exactly 4, so the second goes before c is looked at.

    Adding back from the last: b2 and c1 are needed no more than b1. 4 of 8 must be freed.
    """
    state = three_queues(2, 2)
    assert victims(state) == ["b1", "b2"]
    # Kueue of today stops at the min, and takes c1 instead.
    today = planner.greedy(state, PENDING)
    assert today.keys == ("ns/b1", "ns/c1")


def test_first_walk_borrows_second_does_not() -> None:
    """Step 0 takes what is available, borrowed or not; step 1 asks for the min of the queue."""

    def asked(amount: int) -> tuple[str, list[str]]:
        state = state_of(
            queue("a", 2, "org", within="LowerPriority"),
            queue("b", 4, "org"),
            running("a1", "a", 2),
            running("b1", "b", 1),
            pending("a", amount),
        )
        assignment, names = decide(state)
        return assignment.mode, names

    assert asked(3) == ("Fit", [])  # 3 are free in the cohort
    assert asked(4) == ("NoFit", [])  # more than the min of 2, so nothing may be preempted


def test_preempting_does_not_borrow_though_the_cohort_has_room() -> None:
    """1 is free in the cohort, 2 are wanted: a1 must go, since queue a may not exceed its 2."""
    state = state_of(
        queue("a", 2, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 4, "org"),
        running("a1", "a", 2),
        running("b1", "b", 3, minute=5),
        pending("a", 2),
    )
    assignment, names = decide(state)
    assert (assignment.mode, names) == ("Preempt", ["a1"])


def test_borrowing_while_preempting() -> None:
    """Alternatives: queue a wants 3 of its 2; b uses 2 of 1 and lends, if its priority is lower."""

    def asked(priority: int) -> tuple[str, list[str]]:
        state = state_of(
            queue("a", 2, "org"),
            queue("b", 1, "org"),
            running("b1", "b", 2, 5),
            pending("a", 3, priority),
        )
        assert decide(state)[0].mode == "NoFit"
        assignment, names = decide(state, cohort="LowerPriority")
        return assignment.mode, names

    assert asked(6) == ("Preempt", ["b1"])
    assert asked(5) == ("Preempt", [])


def test_resources_of_one_group_get_one_flavor_within_min() -> None:
    """Of cards 1 is free beyond the min of queue a: what fits by borrowing needs preemption too."""
    state = state_of(
        queue("a", {"gpu": 2, "cards": 1}, "org", within="LowerPriority", reclaim="Any"),
        queue("b", {"gpu": 0, "cards": 2}, "org"),
        running("b1", "b", {"gpu": 2, "cards": 0}),
        running("a1", "a", {"gpu": 0, "cards": 1}),
        pending("a", {"gpu": 2, "cards": 1}),
    )
    assignment, names = decide(state)
    (pods,) = assignment.pod_sets
    assert {name: choice.mode for name, choice in pods.flavors.items()} == {
        "gpu": "Preempt",
        "cards": "Preempt",
    }
    assert names == ["b1", "a1"]


def test_a_workload_that_has_to_wait_preempts_nobody() -> None:
    assert victims(one_of_many(), wait=1) == []


def test_an_inactive_queue_is_never_looked_at() -> None:
    state = state_of(
        queue("a", 2, within="LowerPriority", stop="Hold"), running("a1", "a", 2), pending("a", 2)
    )
    assert decide(state) == (Assignment(mode="NoFit"), [])
