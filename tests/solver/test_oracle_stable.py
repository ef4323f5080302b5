"""Stable plans against a second implementation: Kueue's own next choice, for every legal set.

The objective ``stable``, and ``--stable`` with any other: status, levels, canonical victims, and
whom each victim would preempt. Classical preemption, numbers of any size. ``PLANNER_FUZZ=N`` draws
N states, and asks mostly about those with a legal set that is not stable;
``PLANNER_FUZZ_FROM=SEED`` draws others than the first.
"""

import os
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

import planner
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from tests.cluster import cohort, pending, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.oracle.assignment import asked
from tests.oracle.cluster import Cluster
from tests.oracle.objectives import LEVELS, Enumeration
from tests.oracle.random_queueing import QueueingState, queueing_state
from tests.oracle.random_states import NOW, PENDING
from tests.oracle.stability import RELAPSES, STABLE, Stability

STATES = int(os.environ.get("PLANNER_FUZZ") or (6000 if TEST_ALL else 25))
FIRST = int(os.environ.get("PLANNER_FUZZ_FROM") or 0)
CHUNK = 50
CHUNKS = [range(start, start + CHUNK) for start in range(FIRST, FIRST + STATES, CHUNK)]
NAMES = [f"seeds-{chunk.start}-to-{chunk.stop - 1}" for chunk in CHUNKS]
OBJECTIVES = list(LEVELS)
SELDOM = 7
"""Of states without an unstable set, the planner is asked one in so many."""


def differences(seed: int, seen: Counter[str]) -> Iterator[str]:
    """Say in what planner and oracle differ."""
    state = queueing_state(seed, most=7, classical=True)
    question = asked(Cluster(state.objects, NOW), PENDING)
    known = None
    if question is not None:
        known = Stability(state.objects, PENDING, question, state.given.costs)
    calm, every = (len(known.stable().known), len(known.all.known)) if known else (0, 0)
    if calm == every and seed % SELDOM:
        return
    seen["asked"] += 1
    seen["some stable"] += 0 < calm < every
    seen["none stable"] += 0 == calm < every
    for objective in ("stable", OBJECTIVES[seed % len(OBJECTIVES)]):
        try:
            plan = answer(state, objective)
        except Exception as error:  # noqa: BLE001 - no state may be refused, either
            yield f"{objective}: {error!r}"
            continue
        if known is None:
            if plan.status != "infeasible":
                yield f"{objective}: {plan.status} without flavors"
            continue
        sets = known.all if objective == "stable" else known.stable()
        seen["unproved"] += plan.status == "feasible"
        yield from (f"{objective}: {said}" for said in compare(plan, sets, objective))
        if objective == "stable" and plan.victims:
            yield from (f"check: {said}" for said in checked(state, plan, known, seen))
        yield from (f"{objective}: {said}" for said in complaints(plan, known))


def answer(state: QueueingState, objective: str) -> Plan:
    """Ask the planner, for a stable plan only unless stability is the objective."""
    return planner.solve(
        read_kueue_objects(state.objects, where=f"seed {state.given.seed}", now=NOW),
        PENDING,
        objective=objective,
        costs=state.given.costs if objective == "min-cost" else None,
        stable=objective != "stable",
    )


def compare(plan: Plan, sets: Enumeration, objective: str) -> Iterator[str]:
    """Say in what a plan differs from the best of some sets."""
    legal = sets.legal
    greedy = legal.mask(frozenset(plan.greedy.keys)) if plan.greedy else 0
    order = STABLE if objective == "stable" else None
    best = sets.best(objective, greedy or None, order)
    if best is None:
        if plan.status != "infeasible":
            yield f"{plan.status} with {plan.keys}, and no set will do"
        return
    expected = legal.keys(best.victims)
    if plan.status not in {"optimal", "feasible"} or plan.certificate is None:
        yield f"{plan.status}, and {expected} will do"
        return
    levels = tuple(
        (level.term, level.value)
        for level in plan.certificate.levels
        if order or level.term != RELAPSES
    )
    nothing_to_do = not best.victims and not levels and not plan.keys
    if levels != best.levels and not nothing_to_do:
        yield f"levels {levels} with {plan.keys}, best is {best.levels} with {expected}"
    elif list(plan.keys) != expected:
        yield f"victims {list(plan.keys)}, canonical are {expected}"


def checked(
    state: QueueingState, plan: Plan, known: Stability, seen: Counter[str]
) -> Iterator[str]:
    """Say if the checker refuses a plan, or accepts another one that is not the best."""
    read = read_kueue_objects(state.objects, where=f"seed {state.given.seed}", now=NOW)
    assert plan.certificate is not None
    if not planner.check(read, plan, stable=plan.stable).accepted:
        yield "refused"
    trees = plan.certificate.trees
    seen["replayed"] += any(tree.claim.endswith("unstable replayed") for tree in trees)
    # The best without `unstable`, with its values and all the trees that there are.
    other = planner.solve(read, PENDING, objective="least-disruption", stability=True)
    assert other.certificate is not None
    levels = []
    for level in plan.certificate.levels:
        value = sum(other.terms[term] for term in level.term.split("+"))
        levels.append(level.model_copy(update={"value": value, "bound": value}))
    update = {"levels": tuple(levels), "trees": (*other.certificate.trees, *trees)}
    certificate = other.certificate.model_copy(update=update)
    forged = other.model_copy(update={"objective": "stable", "certificate": certificate})
    if any(compare(forged, known.all, "stable")):
        seen["forged"] += 1
        if planner.check(read, forged).accepted:
            yield f"accepted with {forged.keys}"


def complaints(plan: Plan, known: Stability) -> Iterator[str]:
    """Say what is wrong in what a plan and Kueue's own say of their victims."""
    for each in filter(None, (plan, plan.greedy)):
        if each.stability is not None:
            found = {one.victim: one.targets for one in each.stability}
            expected = known.cascade_replay(each.keys)
            if found != expected:
                yield f"after {each.keys} {found}, by the pages {expected}"


@pytest.mark.parametrize("chunk", CHUNKS, ids=NAMES)
def test_every_answer_is_the_best_of_the_stable_sets(chunk: range) -> None:
    seen: Counter[str] = Counter()
    found = [f"seed {seed}: {said}" for seed in chunk for said in differences(seed, seen)]
    assert not found, "\n".join(found)
    assert seen["unproved"] <= 1, seen
    assert seen["some stable"] >= CHUNK // 20, seen
    assert min(seen["replayed"], seen["forged"]) > 0, seen


@pytest.mark.parametrize("seed", [45, 147, 210, 318, 445])
def test_a_cap_that_no_stable_plan_keeps(seed: int) -> None:
    """Whether a cap is beyond reach is asked of the stable plans: others may keep it."""
    state = queueing_state(seed, most=7, classical=seed % 2 == 0)
    plan = answer(state, "no-regret")
    assert plan.certificate is not None
    assert plan.certificate.dropped
    read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
    assert planner.check(read, plan, stable=True).accepted
    trees = [tree for tree in plan.certificate.trees if not tree.claim.startswith("cap of")]
    certificate = plan.certificate.model_copy(update={"trees": tuple(trees)})
    forged = plan.model_copy(update={"certificate": certificate})
    assert not planner.check(read, forged, stable=True).accepted


def test_long_numbers_are_proved() -> None:
    """Seed 6311 as it was once: two engines cannot prove the best stable plan."""
    unit = 1 << 53
    bold = partial(queue, cohort="org", within="LowerPriority", borrow="LowerPriority")
    state = state_of(
        cohort("org", nominal={"memory": 6 * unit - 3}),
        bold("a", {"memory": 5 * unit + 1}, reclaim="Any", lending={"memory": 4 * unit}),
        bold("b", {"memory": 0}, reclaim="LowerPriority"),
        running("job-0", "a", {"memory": 2 * unit}, 2),
        running("job-1", "b", {"memory": 5 * unit}, 0),
        running("job-2", "b", {"memory": unit - 1}, 1),
        running("job-3", "b", {"memory": unit - 1}, 1),
        running("job-4", "a", {"memory": 2 * unit}, 1),
        pending("a", {"memory": 6 * unit - 1}),
    )
    costs = {f"ns/job-{number}": cost for number, cost in enumerate((1, 2, 3, 2, 7))}
    plan = planner.solve(state, "ns/pending", "min-cost", costs, stable=True)
    assert plan.status == "optimal"
    assert planner.check(state, plan, costs=costs, stable=True).accepted
