"""The two walks over the flavors, by hand: first for what is available, then within the min."""

import pytest

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.research.kep83.options import Kep83
from planner.research.kep83.reference import decide_kep83
from planner.state.kueue import State
from tests.flavored import PENDING, flavor, group, pending, podset, queue, running, state_of

CPU = "cpu"
BOTH = (flavor("spot"), flavor("solid"))


def decide(state: State, options: Kep83 | None = None) -> tuple[Assignment, list[str]]:
    """Return the assignment and the names of the victims."""
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    found = decide_kep83(snapshot, preemptor, options or Kep83())
    names = [target.workload.key.removeprefix("ns/") for target in found.search.targets]
    return found.assignment, names


def choices(assignment: Assignment) -> dict[str, dict[str, tuple[str, str]]]:
    """Return flavor and mode per podset and resource."""
    return {
        pods.name: {name: (one.flavor, one.mode) for name, one in pods.flavors.items()}
        for pods in assignment.pod_sets
    }


def gpu(found: tuple[Assignment, list[str]]) -> tuple[tuple[str, str], list[str]]:
    """Return flavor and mode of the GPUs of the only podset, and the victims."""
    return choices(found[0])["main"]["nvidia.com/gpu"], found[1]


def test_a_later_flavor_with_room_comes_before_preemption() -> None:
    """Spot is full, with a low priority; 2 of queue b's solid ones are free and may be borrowed."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=2, solid=0), cohort="org", within="LowerPriority"),
        queue("b", group(spot=0, solid=2), cohort="org"),
        running("a1", "a", "spot", 2),
        pending("a", podset(2)),
    )
    found = decide(state)
    assert gpu(found) == (("solid", "Fit"), [])
    assert found[0].borrowing == 1  # from the cohort right above


def test_max_is_asked_in_the_first_walk() -> None:
    """The same, but queue a may borrow only 1 solid: it preempts in spot."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=2, solid=(0, 1)), cohort="org", within="LowerPriority"),
        queue("b", group(spot=0, solid=2), cohort="org"),
        running("a1", "a", "spot", 2),
        pending("a", podset(2)),
    )
    assert gpu(decide(state)) == (("spot", "Preempt"), ["a1"])


@pytest.mark.parametrize(
    ("spot", "solid", "expected"),
    [
        (2, 2, (("spot", "Preempt"), ["a1"])),  # the first that contains the request
        (1, 2, (("solid", "Preempt"), ["a2"])),
    ],
)
def test_second_walk_takes_the_first_flavor_whose_min_is_enough(
    spot: int, solid: int, expected: tuple[tuple[str, str], list[str]]
) -> None:
    state = state_of(
        *BOTH,
        queue("a", group(spot=spot, solid=solid), within="LowerPriority"),
        running("a1", "a", "spot", spot),
        running("a2", "a", "solid", solid),
        pending("a", podset(2)),
    )
    assert gpu(decide(state)) == expected


def test_no_min_is_enough() -> None:
    state = state_of(
        *BOTH,
        queue("a", group(spot=1, solid=1), within="LowerPriority"),
        running("a1", "a", "spot", 1),
        pending("a", podset(2)),
    )
    assert decide(state) == (Assignment(mode="NoFit"), [])


def test_taints_and_labels_exclude_flavors() -> None:
    """Spot is tainted; solid has another zone than the podset selects; the third will do."""
    state = state_of(
        flavor("spot", taint="spot"),
        flavor("solid", labels={"zone": "a"}),
        flavor("other", labels={"zone": "b"}),
        queue("a", group(spot=2, solid=2, other=2), within="LowerPriority"),
        running("a3", "a", "other", 2),
        pending("a", podset(2, selects={"zone": "b"})),
    )
    assert gpu(decide(state)) == (("other", "Preempt"), ["a3"])


def test_resource_groups_are_assigned_in_different_steps() -> None:
    """CPUs are free; only what holds GPUs is a candidate."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=2), group(CPU, solid=8), within="LowerPriority"),
        running("a1", "a", "spot", 2, 1),
        running("a2", "a", "solid", 4, 0, resource=CPU),
        pending("a", podset(2, also={CPU: 4})),
    )
    assignment, names = decide(state)
    assert choices(assignment) == {
        "main": {"nvidia.com/gpu": ("spot", "Preempt"), "cpu": ("solid", "Fit")}
    }
    assert (assignment.mode, names) == ("Preempt", ["a1"])


def test_podsets_count_what_those_before_them_got() -> None:
    """2 are free in each: the first podset takes spot, so that the second has to take solid."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=2, solid=2)),
        pending("a", podset(2, "driver"), podset(2, "workers")),
    )
    assert choices(decide(state)[0]) == {
        "driver": {"nvidia.com/gpu": ("spot", "Fit")},
        "workers": {"nvidia.com/gpu": ("solid", "Fit")},
    }


def test_podsets_of_one_group_get_one_flavor() -> None:
    """Together they want 4: within the min of solid only."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=3, solid=4), within="LowerPriority"),
        running("a1", "a", "solid", 2),
        pending("a", podset(2, "driver", together="g"), podset(2, "workers", together="g")),
    )
    assignment, names = decide(state)
    assert {pods["nvidia.com/gpu"] for pods in choices(assignment).values()} == {
        ("solid", "Preempt")
    }
    assert names == ["a1"]


def test_a_resource_that_no_group_covers() -> None:
    state = state_of(*BOTH, queue("a", group(spot=2)), pending("a", podset(1, also={CPU: 1})))
    assert decide(state)[0].mode == "NoFit"


def test_while_borrowing_what_could_be_used_if_nothing_ran_is_enough() -> None:
    """With LowerPriority: 3 spot are more than the min of 2, but the cohort has 4."""
    state = state_of(
        *BOTH,
        queue("a", group(spot=2), cohort="org"),
        queue("b", group(spot=2), cohort="org"),
        running("b1", "b", "spot", 3),
        pending("a", podset(3)),
    )
    assert decide(state)[0].mode == "NoFit"
    assert gpu(decide(state, Kep83(cohort="LowerPriority"))) == (("spot", "Preempt"), ["b1"])
