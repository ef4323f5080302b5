"""Plans of pods that need places: what is true is accepted, and another victim is not."""

from collections import Counter
from random import Random

import planner
from planner.commands.check.plan import Check
from planner.objective.profiles import PROFILES
from planner.plan.kueue import Plan
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object
from tests.reference.topology.racks import (
    RACK,
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


def checked(state: State, plan: Plan) -> Check:
    """Check a plan after it went through a file."""
    return planner.check(state, Plan.model_validate_json(plan.model_dump_json(by_alias=True)))


def solved(state: State) -> Plan:
    """Return the plan with the fewest victims, and its trees."""
    plan = planner.solve(state, PENDING, "min-count", certify=True)
    assert isinstance(plan, Plan)
    return plan


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


def test_true_plans_are_accepted_and_other_victims_are_not() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        state = random_state(seed)
        plan = solved(state)
        found = checked(state, plan)
        assert all(one.holds for one in found.verdicts), (seed, found.verdicts)
        assert found.accepted, (seed, found.claims)
        seen[plan.status] += 1
        if not plan.victims:
            continue
        planning = start(state, Given(PENDING))
        assert isinstance(planning, Planning)
        planning.set_objective(PROFILES["min-count"])
        for others in other_sets(planning, plan):
            changes = {"victims": planning.describe_in_order(others)}
            assert not checked(state, plan.model_copy(update=changes)).accepted, seed
            seen["forged"] += 1
    assert seen["forged"] > 20
    assert seen["optimal"] > 20
