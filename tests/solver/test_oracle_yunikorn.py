"""``--laws written`` against the written laws, read from the document alone and enumerated."""

import random

import pytest

from tests.conftest import TEST_ALL
from tests.oracle.yunikorn import legal_sets, read
from tests.solver.ways import solve
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = "gpu"
STATES = 2000 if TEST_ALL else 18
CHUNK = 50


def flow_case() -> Json:
    """Flow case 1 of the document: an ask that ends above its queue's guaranteed is served."""
    queues = [queue("needy", guaranteed={GPU: 5}), queue("greedy", guaranteed={GPU: 5})]
    held = [allocation(f"greedy-{index}", {GPU: 1}, 100 - index) for index in range(10)]
    mine = [allocation(f"needy-{index}", {GPU: 1}, 200 - index) for index in range(2)]
    return cluster_value(
        [queue("p", *queues)],
        [node("n1", {GPU: 12})],
        [
            application("needy", "root.p.needy", *mine, asks=(ask("ask", {GPU: 4}),)),
            application("greedy", "root.p.greedy", *held),
        ],
    )


def random_value(seed: int, unit: int = 1) -> Json:
    """Build a full cluster of one resource with three queues; amounts are counted in units."""
    chance = random.Random(f"laws/{seed}")  # noqa: S311 - test data

    def some(least: int, most: int) -> int:
        """Draw some units, now and then one more or less where a unit is large."""
        return chance.randint(least, most) * unit + (chance.randint(-1, 1) if unit > 1 else 0)

    names = ("needy", "low", "high")
    queues = [
        queue(name, **({"guaranteed": {GPU: amount}} if amount else {}))
        for name in names
        for amount in [chance.choice((0, 2, 3, 5)) * unit if name != "needy" else some(1, 8)]
    ]
    held: dict[str, list[Json]] = {name: [] for name in names}
    nodes = []
    for place in range(chance.randint(1, 2)):
        total = 0
        for index in range(chance.randint(3, 6)):
            name, size = chance.choice((*names, "low", "high")), some(1, 3)
            extra = {"x": {"allowPreemptSelf": False}} if chance.random() < 0.2 else {}
            total += size
            held[name].append(
                allocation(
                    f"{name}-{place}-{index}",
                    {GPU: size},
                    chance.randint(1, 5000),
                    f"n{place}",
                    priority=str(chance.randint(0, 2)),
                    **extra,
                )
            )
        nodes.append(node(f"n{place}", {GPU: total}))
    wanted = ask("ask", {GPU: some(1, 5)}, priority=str(chance.randint(1, 2)))
    applications = [
        application(name, f"root.p.{name}", *held[name], asks=(wanted,) * (name == "needy"))
        for name in names
    ]
    return cluster_value([queue("p", *queues)], nodes, applications)


def difference(value: Json) -> str:
    """Say in what the planner differs from the written laws."""
    legal = legal_sets(read(value, GPU, "ask"))
    plan = solve(state_of(value), "ask", "min-count", rules="written")
    if not legal:
        return "" if plan.status == "infeasible" else f"{plan.keys}, and no set is legal"
    least = min(map(len, legal))
    if plan.status != "optimal":
        best = sorted(next(each for each in legal if len(each) == least))
        return f"{plan.status}, and {best} satisfies all seven laws"
    if frozenset(plan.keys) not in legal:
        return f"{plan.keys} breaks a law"
    return "" if len(plan.keys) == least else f"{len(plan.keys)} victims, {least} would do"


def test_four_pods_are_legal_where_the_ask_ends_above_the_guaranteed() -> None:
    """Law 4 asks that the queue is under its guaranteed, not that the ask fits in what is left."""
    assert len(min(legal_sets(read(flow_case(), GPU, "ask")), key=len)) == 4
    assert not difference(flow_case())


@pytest.mark.parametrize("start", range(0, STATES, CHUNK))
def test_written_laws_on_random_clusters(start: int) -> None:
    found = {seed: difference(random_value(seed)) for seed in range(start, start + CHUNK)}
    wrong = [f"seed {seed}: {said}" for seed, said in found.items() if said]
    assert not wrong, "\n".join([f"{len(wrong)} of {CHUNK}:", *wrong])
