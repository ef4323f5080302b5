"""The fewest workloads that must go, against Kueue's own placement on every set of them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

import pytest

from planner.commands.explain.kueue.smallest import Movable, least_evictions, smallest_set
from planner.quota.kueue.snapshot import take_snapshot
from planner.quota.kueue.topology import Occupancy
from planner.reference.kueue.topology.ask import Aim, Ask, aim_of
from planner.reference.kueue.topology.find import Placer
from planner.reference.kueue.topology.slots import Wanted
from planner.solver.deadline import Deadline
from planner.state.kueue_workload import TopologyRequest
from planner.state.pods import PodSpec
from tests.cluster import FLAVOR, pending, problem_of, queue
from tests.cluster import state_of as cluster_of
from tests.reference.topology.racks import RACK, flavor, node, state_of, topology
from tests.reference.topology.test_against_enumeration import Case, case_of

PROBLEM = problem_of(cluster_of(queue("a", 1), pending("a", 1)))[0]
"""Of it nothing counts but that it has nodes put in."""

Held = Mapping[str, Mapping[int, Mapping[str, int]]]
"""By workload and leaf: what is taken of each resource."""


def held_in(case: Case, random: Random) -> Held:
    """Draw up to six workloads on the leaves, each on one or two of them."""
    found = {}
    for number in range(random.randint(0, 6)):
        leaves = random.sample(
            range(len(case.tree.nodes)), min(random.randint(1, 2), len(case.tree.nodes))
        )
        found[f"w{number}"] = {
            leaf: {"gpu": random.randint(0, 2), "cpu": 1000 * random.randint(0, 1), "pods": 1}
            for leaf in leaves
        }
    return found


def left_with(case: Case, held: Held, apart: Sequence[str] = ()) -> list[list[int]]:
    """Return what is left on the leaves while all run but some."""
    rows = [list(row) for row in case.tree.free]
    for name, leaves in held.items():
        for leaf, amounts in leaves.items() if name not in apart else ():
            for resource, amount in amounts.items():
                if resource in case.tree.column_of:
                    rows[leaf][case.tree.column_of[resource]] -= amount
    return rows


def fits(case: Case, rows: list[list[int]], leaves: range) -> bool:
    """Say whether Kueue finds a place if no other leaves have anything."""
    nothing = [0] * len(case.tree.column_of)
    occupancy = Occupancy({FLAVOR: case.tree})
    occupancy.left[FLAVOR] = [
        row if leaf in leaves else list(nothing) for leaf, row in enumerate(rows)
    ]
    return Placer(case.placer.topologies, occupancy).find(case.asks).fits


def movables(case: Case, held: Held, leaves: range) -> list[Movable]:
    """Return the workloads as the search takes them."""
    columns = case.tree.column_of
    return [
        Movable(
            name,
            {
                leaf - leaves.start: {one: n for one, n in amounts.items() if one in columns}
                for leaf, amounts in on.items()
                if leaf in leaves
            },
        )
        for name, on in held.items()
    ]


@pytest.mark.parametrize("seed", range(200))
def test_no_smaller_set_is_enough(seed: int) -> None:
    case = case_of(seed)
    if not case.tree.nodes or not case.workers.count:
        return
    held = held_in(case, Random(seed))  # noqa: S311 - workloads, not secrets
    aim = aim_of(case.workers, case.tree)
    assert isinstance(aim, Aim)
    whole = Wanted.for_group(case.tree, aim, (case.workers, case.leader), ())
    domains = [(whole, range(len(case.tree.nodes)))]
    if whole.is_required:
        domains = [whole.below(aim.level, rank) for rank in range(len(case.tree.values[aim.level]))]
    for wanted, leaves in domains:
        rows = left_with(case, held)[leaves.start : leaves.stop]
        running = movables(case, held, leaves)
        found = smallest_set(PROBLEM, wanted, rows, running, Deadline())
        enough = [
            names
            for size in range(len(held) + 1)
            for names in combinations(held, size)
            if fits(case, left_with(case, held, names), leaves)
        ]
        assert found.proved
        if not enough:
            assert found.victims is None
            continue
        assert found.victims is not None
        assert len(found.victims) == len(enough[0])
        assert fits(case, left_with(case, held, found.victims), leaves)
        least = least_evictions(wanted, rows, running)
        assert least is not None
        assert least <= len(enough[0])


def test_who_runs_out_of_time_says_so() -> None:
    """Two slots of 2 GPUs: a and b free 3 each, of which one slot comes; c frees 4, and is two."""
    state = state_of(topology(), flavor(), *(node(name, "r", gpu=4) for name in ("n1", "n2", "n3")))
    tree = take_snapshot(state, placing=True).topologies.trees[FLAVOR]
    ask = Ask("main", 2, FLAVOR, {"gpu": 2}, PodSpec(), TopologyRequest(required=RACK))
    aim = aim_of(ask, tree)
    assert isinstance(aim, Aim)
    wanted, gpu = Wanted.for_group(tree, aim, (ask, None), ()), tree.column_of["gpu"]
    rows = [[0 if column == gpu else one for column, one in enumerate(row)] for row in tree.free]
    running = [Movable(key, {n: {"gpu": 3 + n // 2}}) for n, key in enumerate("abc")]
    deadlines = Deadline(), Deadline.after(0)
    found = [smallest_set(PROBLEM, wanted, rows, running, one) for one in deadlines]
    assert [(one.victims, one.proved) for one in found] == [(("c",), True), (("a", "b"), False)]
