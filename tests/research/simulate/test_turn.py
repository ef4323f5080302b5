"""Random clusters: who comes in which cycle, as the replay says it and as a simulation does it."""

import random
from collections import Counter
from typing import Any

import pytest

import planner
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.cycle.turn import next_turn
from planner.reference.kueue.decision import decide
from planner.research.simulate.simulate import simulate
from planner.state.kueue import State
from planner.state.queues import Preemption
from tests.cluster import Object, fair_sharing, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.reference.cycles import strict, waits
from tests.reference.test_turn import names, tree

STATES = 600 if TEST_ALL else 40


def drawn(seed: int) -> State:
    """Return a random tree of two to four queues in which some run and several wait."""
    chance = random.Random(f"turn/{seed}")  # noqa: S311 - test data
    deep = chance.random() < 0.4
    parts: list[list[Object]] = [tree(deep=deep)]
    if chance.random() < 0.4:
        parts.append(fair_sharing())
    queues = "abcd"[: chance.randint(2, 4)]
    for number, name in enumerate(queues):
        kind = strict if chance.random() < 0.4 else queue
        policies: dict[str, Any] = {
            "within": chance.choice(("Never", "LowerPriority")),
            "reclaim": chance.choice(("Never", "LowerPriority", "Any")),
        }
        pool = names(deep=deep)[number % 2]
        limit = chance.choice((None, None, 1, 3))
        parts.append(kind(name, chance.randint(0, 4), pool, borrowing=limit, **policies))
    for number in range(chance.randint(0, 4)):
        where, amount, priority = chance.choice(queues), chance.randint(1, 3), chance.randint(0, 3)
        parts.append(running(f"runs-{number}", where, amount, priority, minute=number))
    for number in range(chance.randint(2, 4)):
        where, amount, priority = chance.choice(queues), chance.randint(1, 5), chance.randint(0, 4)
        parts.append(waits(f"waits-{number}", where, amount, priority, minute=20 + number))
    return state_of(*parts)


@pytest.mark.parametrize("chunk", range(4))
def test_kueue_comes_to_a_workload_just_where_a_simulation_does(chunk: int) -> None:
    """As long as nothing else changes: in the first cycle in which anybody gets anything."""
    seen: Counter[str] = Counter()
    for seed in range(chunk * STATES, (chunk + 1) * STATES):
        state = drawn(seed)
        timeline = simulate(state).timeline
        first = [one for one in timeline if one.cycle == timeline[0].cycle]
        got = {one.by or one.workload for one in first if one.kind in {"admitted", "preempted"}}
        for key in state.pending:
            snapshot = take_snapshot(state)
            preemptor = find_preemptor(state, snapshot, key)
            decision = decide(snapshot, preemptor)
            if not decision.search.targets and decision.assignment.mode != "Fit":
                assert key not in got, (seed, key)
                continue
            found = why_held_back(state, snapshot, preemptor, decision)
            assert (found is None) == (key in got), (seed, key, found, first)
            seen[found.why if found else "comes"] += 1
            if found is None:
                turn = next_turn(state, snapshot, preemptor, decision)
                victims = {one.workload for one in first if one.by == key}
                alone = {one.workload.key for one in decision.search.targets}
                assert victims == (alone if turn is None else {*turn.targets}), (seed, key)
    assert min(seen["comes"], seen["notHead"], seen["notFirst"]) > STATES // 20, seen


def test_one_by_one_nobody_evicted_is_what_a_simulation_admits() -> None:
    """Random trees in which nobody may be preempted: the same workloads, in the same order."""
    served = 0
    for seed in range(60 if TEST_ALL else 20):
        state = drawn(seed)
        queues = tuple(
            one.model_copy(
                update={"spec": one.spec.model_copy(update={"preemption": Preemption.blank()})}
            )
            for one in state.cluster_queues
        )
        state = state.model_copy(update={"cluster_queues": queues})
        turns = planner.solve_joint(state, objective="min-count").greedy.turns
        timeline = simulate(state).timeline
        admitted = [turn.preemptor for turn in turns if turn.admitted]
        assert admitted == [one.workload for one in timeline if one.kind == "admitted"], seed
        served += len(admitted)
    assert served > (40 if TEST_ALL else 12)
