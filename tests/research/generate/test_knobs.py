"""Every knob does what it says, and knobs that cannot be are refused."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner.errors import InputError
from planner.objective.annotation import PREFIX
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import take_snapshot
from planner.research.generate import generate, knobs_of
from planner.research.generate.kueue.layout import KueueKnobs
from planner.research.generate.yunikorn import YuniKornKnobs
from planner.state import AnyState
from planner.state.kueue import State, Workload
from planner.state.yunikorn import QueueConfig, YuniKornState
from tests.conftest import examples
from tests.kueue_state import reserved_at
from tests.research.generate.consistency import complaints, yunikorn_complaints
from tests.research.generated import generated
from tests.told import told

Measure = Callable[[State], float]
YuniKornMeasure = Callable[[YuniKornState], float]
GPU = "nvidia.com/gpu"


def share(state: State, holds: Callable[[Workload], object]) -> float:
    """Return the share of what runs for which something holds."""
    running = [one for one in state.workloads if one.holds_quota]
    return sum(bool(holds(one)) for one in running) / len(running)


def used(state: State) -> float:
    """Return how much of the GPUs is used, as a part of the quota."""
    snapshot = take_snapshot(state)
    gpu, root = snapshot.fr("h100", GPU), snapshot.tree.top_down[0]
    return snapshot.usage.amount[root][gpu] / snapshot.tree.subtree[root][gpu]


def borrowing(state: State) -> int:
    """Count the queues that use more GPUs than is their quota."""
    snapshot = take_snapshot(state)
    gpu = snapshot.fr("h100", GPU)
    return sum(
        snapshot.usage.amount[n][gpu] > snapshot.tree.subtree[n][gpu] for n in snapshot.queues
    )


def asked(state: State) -> int:
    """Return the GPUs of the pending workload."""
    (pods,) = next(one for one in state.workloads if one.is_pending).spec.pod_sets
    requests = pods.template.spec.containers[0].resources.requests
    return pods.count * requests[GPU] // 10**9


def beyond(state: State) -> int:
    """Return by how much the preemptor exceeds the quota of its queue."""
    snapshot = take_snapshot(state)
    gpu, node = snapshot.fr("h100", GPU), snapshot.node_of[state.cluster_queues[0].name]
    return snapshot.usage.amount[node][gpu] + asked(state) - snapshot.tree.subtree[node][gpu]


def distinct(state: State) -> int:
    """Count the shapes of what runs."""
    return len({tuple(sorted(w.usage.items())) for h in _held(state) for w in h})


def _held(state: State) -> list[list[Admitted]]:
    return [list(held) for held in take_snapshot(state).admitted.values()]


def oldest(state: State) -> int:
    """Return the run time of the oldest in hours."""
    return max(one.running_s for held in _held(state) for one in held) // 3600


def policy(name: str, value: str) -> Measure:
    return lambda state: getattr(state.cluster_queues[0].spec.preemption, name) == value


KUEUE: dict[str, tuple[object, Measure]] = {
    "topology": (True, lambda s: len(s.nodes)),
    "queues": (9, lambda s: len(s.cluster_queues)),
    "cohorts": (3, lambda s: len(s.cohorts)),
    "depth": (3, lambda s: len({c.spec.parent_name for c in s.cohorts})),
    "workloads": (150, lambda s: len(s.workloads)),
    "pending": (5, lambda s: sum(one.is_pending for one in s.workloads)),
    "flavors": (3, lambda s: len(s.resource_flavors)),
    "shapes": ("distinct", distinct),
    "gangs": (100, lambda s: share(s, lambda one: one.spec.pod_sets[0].count > 1)),
    "priorities": (8, lambda s: len({one.spec.priority for one in s.workloads})),
    "victims": (9, asked),
    "fits": (True, lambda s: not any(one.contested for one in planner.greedy(s).demand)),
    "beyond": (80, beyond),
    "fill": (130, used),
    "borrowers": (100, borrowing),
    "pool": (30, lambda s: sum(bool(c.spec.resource_groups) for c in s.cohorts)),
    "fair": (True, lambda s: s.configuration.fair_sharing_on),
    "weights": (100, lambda s: len({cq.spec.fair_sharing.weight for cq in s.cluster_queues})),
    "within": ("Never", policy("within_cluster_queue", "Never")),
    "reclaim": ("LowerPriority", policy("reclaim_within_cohort", "LowerPriority")),
    "age": (1000, oldest),
    "checkpoints": (
        100, lambda s: share(s, lambda one: f"{PREFIX}last-checkpoint" in one.metadata.annotations)
    ),
    "last_tier": (
        50, lambda s: share(s, lambda one: f"{PREFIX}tier" in one.metadata.annotations)
    ),
    "evicted": (50, lambda s: share(s, lambda one: one.is_true("Evicted"))),
    "hard": (100, lambda s: len(planner.greedy(s).victims)),
    "limits": (
        100,
        lambda s: sum(
            quota.lending_limit is not None
            for cq in s.cluster_queues
            for quota in cq.spec.resource_groups[0].flavors[0].resources
        ),
    ),
}  # fmt: skip
"""Another value of each knob, and what is then greater."""


def kueue(**knobs: object) -> State:
    state = generated("flat", 1, **knobs)
    fill = knobs.get("fill", 100)
    assert complaints(state, overfull=isinstance(fill, int) and fill > 100) == []
    return state


@cache
def usual() -> State:
    return kueue()


@pytest.mark.parametrize("knob", KUEUE)
def test_knob_of_kueue(knob: str) -> None:
    value, measure = KUEUE[knob]
    assert measure(kueue(**{knob: value})) > measure(usual())


def test_knobs_that_need_others() -> None:
    assert len(kueue(depth=3, queues=20, branches=4).cohorts) > len(
        kueue(depth=3, queues=20, branches=2).cohorts
    )
    assert kueue(fair=True).configuration.strategies == (
        "LessThanOrEqualToFinalShare",
        "LessThanInitialShare",
    )
    assert kueue(fair=True, strategies="initial-share").configuration.strategies == (
        "LessThanInitialShare",
    )
    spec = kueue(borrow="Never").cluster_queues[0].spec
    assert spec.preemption.borrow_within_cohort.policy == "Never"


def test_a_knob_leaves_the_rest_alone() -> None:
    """Studies compare the same cluster under other knobs: what is not asked for stays."""
    plain, saved = kueue(checkpoints=0), kueue(checkpoints=100, evicted=100, last_tier=100)
    assert plain.cluster_queues == saved.cluster_queues
    for one, other in zip(plain.workloads, saved.workloads, strict=True):
        assert one.metadata.model_copy(update={"annotations": {}}) == other.metadata.model_copy(
            update={"annotations": {}}
        )
        assert one.spec == other.spec
        assert one.status.admission == other.status.admission
        assert reserved_at(one) == reserved_at(other)
    fair = kueue(fair=True, strategies="final-share", reclaim="LowerPriority")
    assert fair.workloads == kueue().workloads


def leaves(queue: QueueConfig) -> list[QueueConfig]:
    """Return the queues without others below them."""
    return [leaf for one in queue.queues for leaf in leaves(one)] if queue.queues else [queue]


def queues(state: YuniKornState) -> list[QueueConfig]:
    """Return all leaf queues."""
    return leaves(state.partitions[0].root)


def depth(queue: QueueConfig) -> int:
    """Count the levels below a queue."""
    return 1 + max(map(depth, queue.queues)) if queue.queues else 0


def parents(queue: QueueConfig) -> int:
    """Count the parent queues below a queue."""
    return sum(1 + parents(one) for one in queue.queues if one.queues)


def fences(queue: QueueConfig) -> int:
    """Count the fences below a queue, itself one of them."""
    return (queue.properties.get("preemption.policy") == "fence") + sum(map(fences, queue.queues))


def allocations(state: YuniKornState) -> list[tuple[int, int, bool, int]]:
    """Return cores, priority, opt-out and age in hours of what runs."""
    return [
        (
            one.resource["vcore"],
            one.priority,
            one.opted_out,
            (state.now - one.request_time) // (3600 * 10**9),
        )
        for app in state.partitions[0].applications
        for one in app.allocations
    ]


def cores_asked(state: YuniKornState) -> int:
    """Return what the ask asks for, in milli-cores."""
    ((_, ask),) = state.partitions[0].asks
    return ask.resource["vcore"]


def beyond_guaranteed(state: YuniKornState) -> int:
    """Count the leaf queues that use more than guaranteed."""
    held: dict[str, int] = {}
    for app in state.partitions[0].applications:
        name = app.queue_name.rpartition(".")[2]
        held[name] = held.get(name, 0) + sum(one.resource["vcore"] for one in app.allocations)
    return sum(
        held.get(leaf.name, 0) > leaf.resources.guaranteed["vcore"] for leaf in queues(state)
    )


YUNIKORN: dict[str, tuple[object, YuniKornMeasure]] = {
    "queues": (9, lambda s: len(queues(s))),
    "depth": (4, lambda s: depth(s.partitions[0].root)),
    "branches": (3, lambda s: parents(s.partitions[0].root)),
    "nodes": (12, lambda s: len(s.partitions[0].nodes)),
    "cores": (64, lambda s: s.partitions[0].nodes[0].capacity["vcore"]),
    "shapes": ("distinct", lambda s: len({one[0] for one in allocations(s)})),
    "priorities": (8, lambda s: len({one[1] for one in allocations(s)})),
    "victims": (6, cores_asked),
    "fill": (70, lambda s: -sum(one[0] for one in allocations(s))),
    "count_pods": (False, lambda s: -len(s.partitions[0].nodes[0].capacity)),
    "over": (100, beyond_guaranteed),
    "maxima": (100, lambda s: sum(bool(leaf.resources.max) for leaf in queues(s))),
    "fences": (100, lambda s: fences(s.partitions[0].root)),
    "offsets": (100, lambda s: sum("priority.offset" in leaf.properties for leaf in queues(s))),
    "opted_out": (80, lambda s: sum(one[2] for one in allocations(s))),
    "age": (1000, lambda s: max(one[3] for one in allocations(s))),
    "hard": (100, lambda s: sum(one[0] == 1000 and one[3] < 1 for one in allocations(s))),
}


def yunikorn(**knobs: object) -> YuniKornState:
    state = generate("yunikorn", 1, **knobs)
    assert isinstance(state, YuniKornState)
    assert yunikorn_complaints(state) == []
    return state


@pytest.mark.parametrize("knob", YUNIKORN)
def test_knob_of_yunikorn(knob: str) -> None:
    value, measure = YUNIKORN[knob]
    assert measure(yunikorn(**{knob: value})) > measure(yunikorn())


def test_an_ask_that_fits() -> None:
    state = yunikorn(fits=True, fill=70)
    free = max(node.available["vcore"] for node in state.partitions[0].nodes if node.available)
    assert cores_asked(state) <= free


def test_every_knob_is_tried() -> None:
    others = {"branches", "strategies", "borrow", "hosts", "fragmentation"}
    assert {field.name for field in fields(KueueKnobs)} == {*KUEUE, *others}
    assert {field.name for field in fields(YuniKornKnobs)} == {*YUNIKORN, "fits"}


@pytest.mark.parametrize("record", [KueueKnobs, YuniKornKnobs])
def test_limits_are_kept(record: type[KueueKnobs | YuniKornKnobs]) -> None:
    for entry in knobs_of(record):
        wrong: list[object] = ["nonesuch", 3.5]
        if entry.kind is int:
            wrong += [entry.knob.least - 1, entry.knob.most + 1, True]
        for value in wrong:
            with pytest.raises(InputError, match=entry.name):
                record(**{entry.name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("preset", "knobs"),
    [
        ("flat", {"cohorts": 7}),
        ("flat", {"depth": 6, "branches": 5}),
        ("flat", {"depth": 0, "limits": 10}),
        ("flat", {"flavors": 5, "workloads": 3}),
        ("flat", {"fits": True, "beyond": 10}),
        ("flat", {"hard": 10, "evicted": 10}),
        ("flat", {"hard": 10, "reclaim": "Never"}),
        ("no-cohort", {"hard": 10, "within": "Never"}),
        ("small", {"workloads": 2, "pool": 50, "fill": 50}),
        ("flat", {"fences": 10}),
        ("yunikorn", {"flavors": 2}),
        ("yunikorn", {"hard": 10, "fill": 90}),
        ("yunikorn", {"hard": 10, "victims": 20}),
        ("nonesuch", {}),
    ],
)
def test_knobs_that_cannot_be(preset: str, knobs: Mapping[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        generate(preset, 0, **knobs)
    told(caught.value)


def test_a_seed_is_a_number() -> None:
    text: Any = "1"
    with pytest.raises(InputError) as caught:
        generate("flat", text)
    told(caught.value)


LARGEST = {
    "queues": 9,
    "cohorts": 4,
    "depth": 4,
    "branches": 3,
    "workloads": 50,
    "pending": 3,
    "victims": 12,
    "nodes": 6,
    "cores": 48,
    "age": 200,
}
"""Small enough to draw many."""


@st.composite
def knobs(draw: st.DrawFn, record: type[KueueKnobs | YuniKornKnobs]) -> dict[str, Any]:
    """Draw some knobs, each within its limits, and leave the others."""
    chosen = draw(st.sets(st.sampled_from(list(knobs_of(record))), max_size=8))
    drawn: dict[str, Any] = {}
    for entry in sorted(chosen):
        if isinstance(entry.kind, tuple):
            drawn[entry.name] = draw(st.sampled_from(entry.kind))
        elif entry.kind is bool:
            drawn[entry.name] = draw(st.booleans())
        else:
            most = min(entry.knob.most, LARGEST.get(entry.name, entry.knob.most))
            drawn[entry.name] = draw(st.integers(entry.knob.least, most))
    return drawn


def made_or_refused(preset: str, seed: int, knobs: dict[str, Any]) -> AnyState | InputError:
    """Return a state, or why there cannot be one."""
    try:
        return generate(preset, seed, **knobs)
    except InputError as error:
        return error


@given(knobs=knobs(KueueKnobs), seed=st.integers(0, 100))
@examples(30)
def test_kueue(knobs: dict[str, Any], seed: int) -> None:
    state = made_or_refused("small", seed, knobs)
    if isinstance(state, InputError):
        assert hasattr(KueueKnobs(), state.where)
        assert state.found
        return
    assert isinstance(state, State)
    assert complaints(state, overfull=knobs.get("fill", 100) > 100) == []
    first = state.pending[0]
    demand = planner.greedy(state, first).demand
    short = any(one.shortfall > 0 for one in demand)
    assert short != knobs.get("fits", False)


@given(knobs=knobs(YuniKornKnobs), seed=st.integers(0, 100))
@examples(20)
def test_yunikorn(knobs: dict[str, Any], seed: int) -> None:
    state = made_or_refused("yunikorn-small", seed, knobs)
    if isinstance(state, InputError):
        assert hasattr(YuniKornKnobs(), state.where)
        assert state.found
        return
    assert isinstance(state, YuniKornState)
    assert yunikorn_complaints(state) == []
    ((_, ask),) = state.partitions[0].asks
    rooms = [node.available or {} for node in state.partitions[0].nodes]
    fits = any(room["vcore"] >= ask.resource["vcore"] for room in rooms)
    assert fits == knobs.get("fits", False)
