"""``--rules kep83`` against a second implementation, on random states with numbers of any size.

Options, milestones and the time that the preemptor has waited are drawn anew for every state, and
most states have fair sharing or borrowing policies that these rules must not look at.
``PLANNER_FUZZ=N`` looks at N states, ``PLANNER_FUZZ_FROM=SEED`` at others than the first.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest

import planner
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from tests.conftest import TEST_ALL
from tests.oracle.cluster import Cluster, key_of
from tests.oracle.objectives import LEVELS, Enumeration
from tests.oracle.question import Question, ask
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.oracle.random_workloads import OURS
from tests.research.kep83.oracle import BORROWING, Kep83, Options, assigned
from tests.solver.oracle_difference import compare, flavors_of
from tests.solver.ways import solve

STATES = int(os.environ.get("PLANNER_FUZZ") or (4000 if TEST_ALL else 110))
FIRST = int(os.environ.get("PLANNER_FUZZ_FROM") or 0)
ASKED = len(LEVELS) if TEST_ALL or "PLANNER_FUZZ" in os.environ else 3
"""Objectives that a state is asked; in ordinary runs its neighbours are asked the others."""

CHUNK = 25
CHUNKS = [range(start, start + CHUNK) for start in range(FIRST, FIRST + STATES, CHUNK)]
NAMES = [f"seeds-{chunk.start}-to-{chunk.stop - 1}" for chunk in CHUNKS]
POLICIES = ("Never", "ReclaimFromLowerPriority", "ReclaimAny", "ReclaimFromAny")
CRITERIA = (
    *("ByLowestPriority", "ByLowestRuntime", "ByLongestRuntime"),
    "ByLowestDisruptionCost",
)
SINCE = ("2026-03-01T11:59:30Z", "2026-03-01T11:59:29Z", "2026-03-01T11:00:00Z")


def drawn(seed: int) -> tuple[RandomState, Options]:
    """Return a state with milestones, whose preemptor may have waited, and options."""
    chance = random.Random(f"kep83/{seed}")  # noqa: S311 - test data
    state = random_state(seed)
    for item in state.objects:
        if item["kind"] == "Workload" and chance.random() < 0.5:
            points = ",".join(_milestones(chance))
            item["metadata"].setdefault("annotations", {})[f"{OURS}milestones"] = points
        if item["kind"] == "Workload" and key_of(item) == PENDING:
            item["status"] = {
                "conditions": [
                    {"type": kind, "status": "False", "lastTransitionTime": chance.choice(SINCE)}
                    for kind in ("QuotaReserved", "Admitted")
                    if chance.random() < 0.5
                ]
            }
    options = Options(
        chance.choice((None, None, *POLICIES, BORROWING, BORROWING)),
        chance.choice((None, None, "Never", "LowerPriority")),
        tuple(chance.sample(CRITERIA, chance.randint(0, len(CRITERIA)))),
        chance.choice((0, 0, 0, 0, 30, 31)),
    )
    return state, options


def _milestones(chance: random.Random) -> Iterator[str]:
    for start in sorted({0, *chance.sample((1, 3600, 5000, 7200, 20_000, 10**6), 2)}):
        yield f"{start}s:{chance.choice((0, 0, 1, 7, 7, 10**9))}"


def questions(state: RandomState, options: Options, plan: Plan) -> Iterator[Question | str]:
    """Yield the question under the plan's flavors; before it, in what flavors differ."""
    cluster = Cluster(state.objects, NOW)
    own = flavors_of(plan)
    if state.assignment is None:
        flavors = {
            row["name"]: {"flavor": flavor["name"], "mode": "Fit"}
            for item in cluster.of_kind("ClusterQueue")[:1]
            for group in item["spec"]["resourceGroups"]
            for flavor in group["flavors"]
            for row in flavor["resources"]
        }
        expected = assigned(ask(cluster, PENDING, {"main": flavors}), options, flavors)
        if (plan.assignment.mode == "NoFit") != (expected is None) or (
            expected is not None and own != {"main": expected}
        ):
            yield f"flavors {own}, by the pages {expected}"
    if plan.assignment.mode != "NoFit":
        yield ask(cluster, PENDING, own)


def enumerated(
    state: RandomState, options: Options, plan: Plan, seen: Counter[str]
) -> tuple[list[str], Enumeration | None]:
    """Enumerate the legal sets under the plan's flavors; say what is not as the pages have it."""
    wrong: list[str] = []
    sets = None
    workloads = (each for each in state.objects if each["kind"] == "Workload")
    item = next(each for each in workloads if key_of(each) == PENDING)
    for question in questions(state, options, plan):
        if isinstance(question, str):
            wrong.append(question)
            continue
        rules = Kep83(question, options, item)
        # Weights came later than the proposal, with fair sharing.
        sets = Enumeration(rules.legal(), state.costs, weighted=False)
        expected = rules.algorithm()
        if plan.greedy and list(plan.greedy.keys) != expected:
            wrong.append(f"the algorithm removes {plan.greedy.keys}, by the pages {expected}")
        seen["several"] += len(sets.known) > 1
        seen["preempting"] += bool(expected)
    return wrong, sets


def differences(seed: int, seen: Counter[str]) -> Iterator[str]:
    """Say in what planner and oracle differ."""
    state, options = drawn(seed)
    read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
    objectives = [list(LEVELS)[(seed + 5 * turn) % len(LEVELS)] for turn in range(ASKED)]
    sets: Enumeration | None = None
    for turn, objective in enumerate(objectives):
        costs = state.costs if objective == "min-cost" else None
        try:
            plan = solve(*(read, PENDING, objective, costs), state.assignment, rules=options.text)
        except Exception as error:  # noqa: BLE001 - no state may be refused, either
            yield f"{objective}: {error!r}"
            continue
        seen[plan.status] += 1
        if not turn:
            wrong, sets = enumerated(state, options, plan, seen)
            yield from wrong
        yield from (f"{objective}: {said}" for said in compare(plan, sets, objective))


@pytest.mark.parametrize("chunk", CHUNKS, ids=NAMES)
def test_every_objective_gives_what_enumeration_gives(chunk: range) -> None:
    seen: Counter[str] = Counter()
    found = []
    for seed in chunk:
        _, options = drawn(seed)
        found += [f"seed {seed}: {options.text}: {said}" for said in differences(seed, seen)]
    assert not found, "\n".join(found)
    assert min(seen[kind] for kind in ("optimal", "infeasible", "several", "preempting")), seen


def test_plans_for_fair_shares_are_checked_without_the_weights_that_came_later() -> None:
    checked = 0
    for seed in range(60):
        state, options = drawn(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        if not read.configuration.fair_sharing_on:
            continue
        plan = solve(read, PENDING, "fair", None, state.assignment, rules=options.text)
        if plan.status == "optimal" and plan.victims:
            assert planner.check(
                read, plan, assignment=state.assignment, rules=options.text
            ).accepted, seed
            checked += 1
    assert checked > 3
