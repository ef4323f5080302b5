"""Joint plans against a second implementation: all orders of serving, and in each step all sets.

Who is admitted, what serving one by one gives (classical), and the least of every level but
``excess_freed``, which is measured against what today's flavors are short of. ``PLANNER_FUZZ=N``
looks at N states, ``PLANNER_FUZZ_FROM=SEED`` at others than the first.
"""

import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import takewhile

import pytest

import planner
from planner.plan.kueue import JointPlan
from planner.reader.kueue import read_kueue_objects
from tests.cluster import cohort, dump_of, fair_sharing, pending, queue, running
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.oracle.joint import Joint, Names
from tests.oracle.objectives import COUNT, LEVELS, value
from tests.oracle.random_queueing import QueueingState, queueing_state
from tests.oracle.random_states import NOW
from tests.oracle.terms import Terms
from tests.solver.joint_truth import is_best

THOROUGH = TEST_ALL or "PLANNER_FUZZ" in os.environ
STATES = int(os.environ.get("PLANNER_FUZZ") or (1500 if TEST_ALL else 20))
FIRST = int(os.environ.get("PLANNER_FUZZ_FROM") or 0)
CHUNK = 20
CHUNKS = [range(start, start + CHUNK) for start in range(FIRST, FIRST + STATES, CHUNK)]
NAMES = [f"seeds-{chunk.start}-to-{chunk.stop - 1}" for chunk in CHUNKS]
OBJECTIVES = [name for name in LEVELS if name not in {"no-regret", "kueue-like"}]
"""Those without caps."""


def differences(seed: int, seen: Counter[str]) -> Iterator[str]:
    """Say in what planner and oracle differ."""
    state = queueing_state(seed, 2 + seed % 2, 5)
    joint = Joint(state.objects, state.pending)
    if not joint.complete:
        seen["too large"] += 1
        return
    objective = OBJECTIVES[(seed + seed // len(OBJECTIVES)) % len(OBJECTIVES)]
    try:
        plan = answer(state, objective)
    except Exception as error:  # noqa: BLE001 - no state may be refused, either
        yield f"{objective}: {error!r}"
        return
    seen["best" if is_best(plan) else plan.status] += 1
    yield from (f"{objective}: {said}" for said in compare(joint, plan, state, seen))


def answer(state: QueueingState, objective: str) -> JointPlan:
    """Ask the planner."""
    read = read_kueue_objects(state.objects, where=f"seed {state.given.seed}", now=NOW)
    costs = state.given.costs if objective == "min-cost" else None
    return planner.solve_joint(read, state.pending, objective, costs)


def compare(
    joint: Joint, plan: JointPlan, state: QueueingState, seen: Counter[str]
) -> Iterator[str]:
    """Say in what a plan differs from the best of all that can be reached."""
    turns = [(turn.preemptor, turn.admitted, frozenset(turn.victims)) for turn in plan.greedy.turns]
    one_by_one = None if joint.cluster.fair else joint.one_by_one()
    seen["one queue"] += one_by_one is not None
    if one_by_one is not None and turns != one_by_one:
        yield f"one by one {turns}, by the pages {one_by_one}"
    best = joint.best()
    if plan.status == "infeasible" or not best:
        if best or plan.status not in {"infeasible", "unknown"}:
            yield f"{plan.status}, and {sorted(best)} can be admitted"
        return
    steps = [(s.preemptor, frozenset(v.workload for v in s.victims)) for s in plan.steps]
    if not joint.accepts(steps):
        yield f"steps {steps} are not legal"
        return
    if not is_best(plan):
        return
    if frozenset(plan.admitted) != best:
        yield f"admits {plan.admitted}, best is {sorted(best)}"
        return
    sets = joint.reached[best]
    seen["several"] += len(sets) > 1
    seen["evicting"] += frozenset() not in sets
    terms = joint.terms(state.given.costs)
    levels = list(takewhile(lambda level: level != "excess_freed", LEVELS[plan.objective].split()))
    levels += [COUNT] if levels == LEVELS[plan.objective].split() and COUNT not in levels else []
    least = min(measured(terms, levels, gone) for gone in sets)
    values = [level.value for level in plan.certificate.levels][: len(levels)]
    ours = measured(terms, levels, frozenset(victim.workload for victim in plan.victims))
    if not values == ours == least:
        yield f"levels {levels} are {values}, measured {ours}, the least is {least}"


def measured(terms: Terms, levels: list[str], gone: Names) -> list[int]:
    """Return the values of a set, level by level."""
    found = terms.of(terms.legal.mask(gone))
    return [value(found, level) for level in levels]


@pytest.mark.parametrize("chunk", CHUNKS, ids=NAMES)
def test_admitted_and_every_level_are_those_of_enumeration(chunk: range) -> None:
    seen: Counter[str] = Counter()
    found = [f"seed {seed}: {said}" for seed in chunk for said in differences(seed, seen)]
    assert not found, "\n".join(found)
    assert seen["too large"] + seen["feasible"] + seen["unknown"] <= CHUNK // 5, seen
    assert min(seen["best"], seen["several"], seen["evicting"]), seen


def stuck() -> None:
    """Plan for two workloads of bytes under fair sharing, in two seconds at most."""
    reclaiming = partial(queue, cohort="pool", within="LowerPriority", reclaim="Any")
    first, second = (
        pending("cq-0", {"memory": 68719476737}, 3),
        pending("cq-3", {"memory": 274877906946}, 2),
    )
    second[0]["metadata"] |= {"name": "second", "uid": "second"}
    dump = dump_of(
        cohort("pool", nominal={"memory": 500655731091}),
        reclaiming("cq-0", {"memory": 11776858975}, weight="0"),
        reclaiming("cq-1", {"memory": 260205090719}, weight="3"),
        queue("cq-2", {"memory": 36026062775}, "pool", weight="0", reclaim="LowerPriority"),
        reclaiming("cq-3", {"memory": 20870736170}),
        running("a", "cq-0", {"memory": 206158430211}, 4),
        running("b", "cq-0", {"memory": 206158430211}, 4),
        running("c", "cq-2", {"memory": 137438953475}),
        running("d", "cq-1", {"memory": 206158430211}, 1),
        first,
        second,
        fair_sharing(),
    )
    state = read_kueue_objects(dump, where="stuck", now=NOW)
    planner.solve_joint(state, objective="min-count", time_limit=2)


@pytest.mark.skipif(not THOROUGH, reason="takes a core for as long as it waits")
def test_a_time_limit_ends_it() -> None:
    planning = multiprocessing.get_context("spawn").Process(target=stuck)
    planning.start()
    planning.join(FOR_EVER_S)
    ended = planning.exitcode
    planning.kill()
    planning.join()
    assert ended == 0
