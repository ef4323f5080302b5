"""States of traces: consistent, as the description says, and always the same."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from planner.dump.kueue import Policies
from planner.errors import InputError
from planner.reader import Ignored, read_objects
from planner.research.import_ import Philly
from planner.research.import_.kueue import import_states
from planner.research.import_.kueue_knobs import Knobs
from planner.research.import_.sample import Outline, read_outline
from planner.research.import_.traces import EPOCH, GPU
from planner.state import parse_time
from planner.state.kueue import State
from tests.conftest import some
from tests.research.import_.files import (
    PHILLY,
    PHILLY_HEADER,
    PODS,
    PODS_HEADER,
    Object,
    amounts,
    held,
    of_kind,
    openb,
    pending_of,
    quotas,
    states,
    write,
)
from tests.told import told

LAST_CHECKPOINT = "preemption-planner.io/last-checkpoint"
RESTART = "preemption-planner.io/restart-seconds"

KINDS: dict[str, dict[str, Any]] = {
    "usual": {},
    "two levels": {"levels": 2, "fair": True},
    "half used": {"utilisation": 0.5, "preemptors": 3},
    "limits everywhere": {"borrowing_limited": 1.0, "lending_limited": 1.0},
    "large factors": {"factor": (1.2, 3.0)},
    "drawn": {"sampling": "drawn", "workloads": 60},
}


@cache
def of(kind: str) -> Sequence[Object]:
    """Return a few states of a kind, which nobody changes."""
    return made(**KINDS[kind])


def made(**knobs: Any) -> list[Object]:
    """Return a few states of each trace."""
    return [
        *states(Philly(), PHILLY, 12, **knobs),
        *states(openb(queues=6), PODS, 6, **{"workloads": 80, **knobs}),
        *states(openb(queue_by="class"), PODS, 6, **{"workloads": 80, **knobs}),
    ]


def used_by_queue(state: Object) -> dict[str, Counter[tuple[str, str]]]:
    """Return what each ClusterQueue uses."""
    used: dict[str, Counter[tuple[str, str]]] = {}
    for workload, total in held(state):
        queue = workload["status"]["admission"]["clusterQueue"]
        used.setdefault(queue, Counter()).update(total)
    return used


@pytest.mark.parametrize("kind", KINDS)
def test_quotas_hold_what_is_used(kind: str) -> None:
    """No queue is beyond its borrowing limit, nor all together beyond what they lend.

    Worked out from the objects alone: a queue keeps what it does not lend for itself, and the
    cohort has the rest; docs/semantics/kueue.md §3.
    """
    for state in of(kind):
        used = used_by_queue(state)
        shared: Counter[tuple[str, str]] = Counter()
        taken: Counter[tuple[str, str]] = Counter()
        for queue in of_kind(state, "ClusterQueue"):
            for place, quota in quotas(queue).items():
                usage = used.get(queue["metadata"]["name"], Counter())[place]
                lent = quota.get("lendingLimit", quota["nominalQuota"])
                assert 0 <= lent <= quota["nominalQuota"]
                if "borrowingLimit" in quota:
                    assert usage <= quota["nominalQuota"] + quota["borrowingLimit"]
                shared[place] += lent
                taken[place] += max(0, usage - (quota["nominalQuota"] - lent))
        assert shared.keys() == taken.keys()
        assert all(taken[place] <= shared[place] for place in shared)


@pytest.mark.parametrize("utilisation", [1.0, 0.8])
def test_nominal_quotas_are_the_cluster(utilisation: float) -> None:
    """The GPUs are what is used by the utilisation; beside them stands at least what is used."""
    for state in made(utilisation=utilisation):
        nominal: Counter[tuple[str, str]] = Counter()
        for queue in of_kind(state, "ClusterQueue"):
            nominal.update({p: quota["nominalQuota"] for p, quota in quotas(queue).items()})
        total: Counter[tuple[str, str]] = Counter()
        for used in used_by_queue(state).values():
            total.update(used)
        for (flavor, resource), amount in total.items():
            if resource == GPU:
                assert nominal[flavor, GPU] == -int(-amount // utilisation)
            else:
                assert nominal[flavor, resource] * utilisation >= amount


def test_some_queues_borrow_and_some_lend() -> None:
    for state in of("usual"):
        used = used_by_queue(state)
        unused = [
            quota["nominalQuota"] - used.get(queue["metadata"]["name"], Counter())[place]
            for queue in of_kind(state, "ClusterQueue")
            for place, quota in quotas(queue).items()
            if place[1] == GPU
        ]
        assert min(unused) < 0 < max(unused)


def test_quota_by_hand(tmp_path: Path) -> None:
    """With a factor of 1/2 for all: a uses 8 and has done all the work, b uses 4 of 12 GPUs.

    Half of what each uses is 4 and 2; the other 6 go to a by its GPU-seconds, but for the share
    of b: 6 · 400/(8000 + 400) = 0.29, which is none.
    """
    rows = ("2017-10-09 07:01:55,1000,8,a", "2017-10-09 07:01:55,100,4,b")
    path = write(tmp_path, PHILLY_HEADER, *rows)
    outline = Outline(work=Counter({("a", "default"): 8000, ("b", "default"): 400}))
    knobs = Knobs(factor=(0.5, 0.5), borrowing_limited=1.0, lending_limited=1.0, gangs=(2, 3))
    (state,) = import_states(Philly(), path, outline, [1507532516], knobs)
    found = {
        queue["metadata"]["name"]: quotas(queue)["default", GPU]
        for queue in of_kind({"items": state.objects}, "ClusterQueue")
    }
    assert found == {
        "a": {"nominalQuota": 10, "borrowingLimit": 5, "lendingLimit": 5},
        "b": {"nominalQuota": 2, "borrowingLimit": 2, "lendingLimit": 1},
    }
    (gang,) = pending_of({"items": state.objects})
    assert gang["metadata"]["namespace"] == "a"  # which leaves 2 unused: only the 2 fit
    assert gang["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] == {
        "requests": {GPU: "2"}
    }


@pytest.mark.parametrize("kind", KINDS)
def test_everything_in_a_state_is_read(kind: str) -> None:
    for value in some(of(kind), 3):
        ignored = Ignored()
        state = read_objects(value, where="trace", ignored=ignored)
        assert isinstance(state, State)
        assert not ignored.fields
        assert not ignored.kinds
        assert state.now == max(
            parse_time(g["metadata"]["creationTimestamp"]) for g in pending_of(value)
        )
        assert len(pending_of(value)) == KINDS[kind].get("preemptors", 1)
        assert (state.configuration.fair_sharing is not None) == KINDS[kind].get("fair", False)


def test_the_same_again_and_something_else_by_another_seed() -> None:
    assert made() == of("usual")
    first = next(states(Philly(), PHILLY, 1, seed=1))
    assert first != next(states(Philly(seed=1), PHILLY, 1, seed=2))


def test_a_state_does_not_depend_on_how_many_there_are() -> None:
    few = list(states(Philly(), PHILLY, 3, preemptors=1))
    many = list(states(Philly(), PHILLY, 12, preemptors=2))
    for one, more in zip(few, many, strict=False):
        assert [item for item in more["items"] if item not in one["items"]] == pending_of(more)[1:]


def test_gangs_fit_what_their_queue_owns_and_does_not_use() -> None:
    """Otherwise they are of the smallest size, where the most is unused."""
    sizes: Counter[tuple[int, bool]] = Counter()
    for state in made(preemptors=4, preemptor_priorities=(7,), gangs=(1, 2, 4)):
        used = used_by_queue(state)
        free = {
            queue["metadata"]["name"]: {
                place: quota["nominalQuota"] - used.get(queue["metadata"]["name"], Counter())[place]
                for place, quota in quotas(queue).items()
            }
            for queue in of_kind(state, "ClusterQueue")
        }
        most = max(row[place] for row in free.values() for place in row if place[1] == GPU)
        for gang in pending_of(state):
            (pods,) = gang["spec"]["podSets"]
            each = amounts(pods["template"]["spec"]["containers"][0]["resources"]["requests"])
            unused = free[gang["metadata"]["namespace"]]
            fits = any(
                all(unused[flavor, name] >= pods["count"] * each[name] for name in each)
                for flavor in {flavor for flavor, _ in unused}
            )
            sizes[pods["count"] * each[GPU], fits] += 1
            assert gang["spec"]["priority"] == 7
            assert fits or most == max(unused[place] for place in unused if place[1] == GPU)
    assert {size for size, fits in sizes if fits} == {1, 2, 4}
    assert {size for size, fits in sizes if not fits} <= {1}


def test_large_jobs_are_pods_of_eight(tmp_path: Path) -> None:
    rows = (f"2017-10-09 07:01:55,1000,{gpus},a" for gpus in (8, 12, 32))
    path = write(tmp_path, PHILLY_HEADER, *rows)
    outline = Outline(work=Counter({("a", "default"): 1}))
    (made_of_it,) = import_states(Philly(), path, outline, [1507532516], Knobs())
    state = {"items": made_of_it.objects}
    podsets = {
        workload["metadata"]["name"]: [
            (
                pods["name"],
                pods["count"],
                pods["template"]["spec"]["containers"][0]["resources"]["requests"][GPU],
            )
            for pods in workload["spec"]["podSets"]
        ]
        for workload, _ in held(state)
    }
    assert podsets == {
        "job-2": [("main", 1, "8")],
        "job-3": [("main", 1, "8"), ("rest", 1, "4")],
        "job-4": [("main", 4, "8")],
    }


def test_checkpoints() -> None:
    """Of the jobs that have run for an hour, 40% write: four deviations of so many."""
    old = writing = 0
    for state in states(Philly(), PHILLY, 60):
        now = parse_time(pending_of(state)[0]["metadata"]["creationTimestamp"])
        for workload, _ in held(state):
            since = parse_time(workload["metadata"]["creationTimestamp"])
            notes = workload["metadata"].get("annotations", {})
            if (now - since).total_seconds() >= 3600:
                old += 1
                writing += LAST_CHECKPOINT in notes
            assert notes.keys() in (set(), {LAST_CHECKPOINT, RESTART})
            if notes:
                age = now - parse_time(notes[LAST_CHECKPOINT])
                assert 0 <= age.total_seconds() < 3600
                assert since <= parse_time(notes[LAST_CHECKPOINT])
                assert 60 + 30 <= int(notes[RESTART]) < 60 + 120
    assert old > 1000
    assert abs(writing / old - 0.4) < 4 * (0.4 * 0.6 / old) ** 0.5


def test_two_levels_are_thirds_by_work() -> None:
    """Five virtual clusters: two large, two medium, one small."""
    (state,) = islice(states(Philly(), PHILLY, 1, levels=2), 1)
    parents = {c["metadata"]["name"]: c["spec"].get("parentName") for c in of_kind(state, "Cohort")}
    assert parents == {"cluster": None, "large": "cluster", "medium": "cluster", "small": "cluster"}
    cohorts = Counter(q["spec"]["cohortName"] for q in of_kind(state, "ClusterQueue"))
    assert cohorts == {"large": 2, "medium": 2, "small": 1}


def test_policies_are_those_of_all_queues() -> None:
    policies = Policies("Never", "LowerPriority", "LowerPriority", 50)
    (state,) = states(Philly(), PHILLY, 1, policies=policies)
    assert {repr(queue["spec"]["preemption"]) for queue in of_kind(state, "ClusterQueue")} == {
        repr(
            {
                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 50},
                "reclaimWithinCohort": "LowerPriority",
                "withinClusterQueue": "Never",
            }
        )
    }


def test_pods_select_the_nodes_of_their_flavor() -> None:
    for state in states(openb(), PODS, 3):
        labels = {
            f["metadata"]["name"]: f["spec"]["nodeLabels"] for f in of_kind(state, "ResourceFlavor")
        }
        for workload, total in held(state):
            (flavor,) = {flavor for flavor, _ in total}
            (pods,) = workload["spec"]["podSets"]
            assert pods["template"]["spec"]["nodeSelector"] == labels[flavor]


def test_a_moment_at_which_nobody_runs_has_no_state() -> None:
    outline = Outline(work=Counter({("a11ce0", "default"): 1}))
    (state,) = import_states(Philly(), str(PHILLY), outline, [0], Knobs())
    assert state.objects == []


def test_a_name_that_is_used_twice(tmp_path: Path) -> None:
    path = write(tmp_path, PODS_HEADER, "a,1,1,1,,LS,9,1", "a,1,1,1,,LS,9,1")
    with pytest.raises(InputError) as caught:
        list(states(openb(), path, 1))
    told(caught.value)


@pytest.mark.parametrize(
    ("rows", "knobs"),
    [
        (("preemptor-1,1,1,1,,LS,9,1",), {}),
        (("a,1,1,1,,LS,9,1", "a,1,1,1,,LS,9,3"), {"sampling": "running", "follow_s": 5}),
    ],
)
def test_a_name_of_who_waits_or_comes_later(
    tmp_path: Path, rows: tuple[str, ...], knobs: dict[str, Any]
) -> None:
    path, trace = write(tmp_path, PODS_HEADER, *rows), openb(queues=1)
    outline = read_outline(trace, path, arrivals=1, seed=0)
    instant = int(min(outline.arrivals)) if "follow_s" not in knobs else EPOCH + 2
    with pytest.raises(InputError) as caught:
        list(import_states(trace, path, outline, [instant], Knobs(**knobs)))
    told(caught.value)


def test_times_are_of_the_trace() -> None:
    """The small trace of Philly's form covers ten days of March 2025."""
    for state in states(Philly(), PHILLY, 5):
        now = parse_time(pending_of(state)[0]["metadata"]["creationTimestamp"])
        assert datetime(2025, 3, 3, tzinfo=UTC) < now < datetime(2025, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("knobs", "where"),
    [
        ({"workloads": 0}, "workloads"),
        ({"factor": (2.0, 1.0)}, "factor"),
        ({"factor": (0.0, float("inf"))}, "factor"),
        ({"utilisation": 0.0}, "utilisation"),
        ({"checkpointing": 1.1}, "borrowing_limited, lending_limited, checkpointing"),
        ({"levels": 3}, "levels"),
        ({"gangs": ()}, "gangs"),
        ({"gangs": (0, 8)}, "gangs"),
        ({"preemptor_priorities": ()}, "preemptor_priorities"),
        ({"preemptors": 0}, "preemptors"),
    ],
)
def test_knobs_out_of_range(knobs: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        Knobs(**knobs)
    told(caught.value)
    assert caught.value.where == where


def test_priorities_without_a_weight() -> None:
    with pytest.raises(InputError) as caught:
        Philly(priorities={1: 0.0})
    told(caught.value)
