"""Plans of pods that need places: what is true is accepted, and another victim is not.

What Kueue itself does is worked out anew: also where pods may be placed at will, and Kueue would
give up at once.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

import planner
from planner.commands.check.facts import GREEDY
from planner.commands.check.plan import Check
from planner.objective.profiles import PROFILES
from planner.plan.kueue import Plan
from planner.scheduler import Placement
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object
from tests.laws.test_kt_02_placement import FIRST, SECOND
from tests.reference.topology.racks import (
    RACK,
    best_fit,
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)

SEEDS = range(60)
NO_TREE = "there is no tree"


def given_up(*waiting: Object) -> list[Object]:
    """Return two racks where Kueue's placement fails even without any of its pods.

    Empty, n2 is the smaller rack that is enough for the first two pods, and has no place left for
    the others. At will v2 alone is in the way.
    """
    return [
        *topology(),
        *flavor(),
        *node("n1", "ra", cpu=4, gpu=0),
        *node("n2", "rb", cpu=3, gpu=3),
        *runs("v1", {"cpu": 2}, {"n1": 1}, minute=10),
        *runs("v2", {"cpu": 3}, {"n2": 1}, minute=20),
        *room({"cpu": 100_000, "gpu": 100}),
        *waits(*waiting),
    ]


def checked(state: State, plan: Plan) -> Check:
    """Check a plan after it went through a file, by who it says places its pods."""
    read = Plan.model_validate_json(plan.model_dump_json(by_alias=True))
    return planner.check(state, read, placement=plan.placement or "kueue")


def solved(state: State, placement: Placement) -> Plan:
    """Return the plan with the fewest victims, and its trees."""
    plan = planner.solve(state, PENDING, "min-count", placement=placement, certify=True)
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.parametrize(
    ("parts", "keys"),
    [(given_up(FIRST, SECOND), ["ns/v2"]), (best_fit(cores=24), ["ns/large"])],
)
def test_kueue_gives_up_what_may_be_placed_at_will(
    parts: Sequence[Object], keys: list[str]
) -> None:
    state = state_of(parts)
    assert solved(state, "kueue").status == "infeasible"
    plan = solved(state, "any")
    assert plan.greedy is not None
    assert (list(plan.keys), plan.greedy.keys) == (keys, ())
    assert plan.greedy.explanation.endswith("so it never looks for victims")
    found = checked(state, plan)
    assert all(one.holds for one in found.verdicts)
    theirs = plan.greedy.model_copy(update={"victims": plan.victims})
    forged = checked(state, plan.model_copy(update={"greedy": theirs}))
    assert GREEDY.id in {one.law for one in forged.verdicts if not one.holds}


def random_state(seed: int) -> State:
    """Return racks of a few nodes, some of which have GPUs, with some who run on them."""
    random = Random(seed)  # noqa: S311 - states, not secrets
    parts = [*topology(), *flavor()]
    sizes = {}
    for number in range(random.randint(2, 4)):
        name, rack = f"n{number}", f"r{random.randint(0, 1)}"
        sizes[name] = random.randint(2, 5)
        parts += node(name, rack, cpu=sizes[name], gpu=random.choice([0, 2, 3]))
    for number in range(random.randint(2, 5)):
        on = random.choice([name for name in sizes if sizes[name]] or ["n0"])
        cpu = random.randint(1, max(1, sizes[on]))
        sizes[on] = max(0, sizes[on] - cpu)
        minute, priority = random.randint(0, 40), random.choice([0, 0, 1, 9])
        parts += runs(f"w{number}", {"cpu": cpu}, {on: 1}, minute=minute, priority=priority)
    wanted = []
    for number in range(random.choice([1, 2, 2])):
        asked: Object = random.choice(
            [{"required": RACK}, {"required": HOST}, {"preferred": RACK}, {"unconstrained": True}]
        )
        amounts = {"cpu": 1, "gpu": 1} if random.random() < 0.4 else {"cpu": random.randint(1, 2)}
        wanted.append(pods(f"p{number}", random.randint(1, 3), amounts, asked))
    return state_of(parts, room({"cpu": 1_000, "gpu": 100}), waits(*wanted))


def other_sets(planning: Planning, plan: Plan) -> list[list[int]]:
    """Return the victims of a plan with one of them replaced by each other who runs."""
    chosen = [planning.keys.index(key) for key in plan.keys]
    rest = [position for position in range(len(planning.keys)) if position not in chosen]
    return [[*chosen[:-1], other] for other in rest]


@pytest.mark.parametrize("placement", ["kueue", "any"])
def test_true_plans_are_accepted_and_other_victims_are_not(placement: Placement) -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        state = random_state(seed)
        plan = solved(state, placement)
        found = checked(state, plan)
        assert all(one.holds for one in found.verdicts), (seed, found.verdicts)
        # Of several podsets no tree tells whether there is room at will: that is said, no more.
        untold = placement == "any" and len(plan.assignment.pod_sets) > 1
        assert found.accepted or (
            untold and {one.detail for one in found.claims if not one.certified} == {NO_TREE}
        ), (seed, found.claims)
        seen[plan.status] += 1
        seen["given up"] += bool(plan.victims) and plan.greedy is not None and not plan.greedy.keys
        if not plan.victims:
            continue
        planning = start(state, Given(PENDING, placement=placement))
        assert isinstance(planning, Planning)
        planning.set_objective(PROFILES["min-count"])
        for others in other_sets(planning, plan):
            changes = {"victims": planning.describe_in_order(others)}
            assert not checked(state, plan.model_copy(update=changes)).accepted, seed
            seen["forged"] += 1
    assert seen["forged"] > 20
    assert seen["optimal"] > 20
    assert seen["given up"] or placement == "kueue"
