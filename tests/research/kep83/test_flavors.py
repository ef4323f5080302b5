"""The two walks over the flavors, by hand: first for what is available, then within the min."""

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


def test_an_inactive_queue_is_never_looked_at() -> None:
    inactive, local = queue("a", group(spot=2), within="LowerPriority")
    inactive["spec"]["stopPolicy"] = "Hold"
    runner = running("a1", "a", "spot", 2)
    state = state_of(*BOTH, [inactive, local], runner, pending("a", podset(2)))
    assert decide(state) == (Assignment(mode="NoFit"), [])


def test_a_resource_that_no_group_covers() -> None:
    state = state_of(*BOTH, queue("a", group(spot=2)), pending("a", podset(1, also={CPU: 1})))
    assert decide(state)[0].mode == "NoFit"
