"""Random trees: the procedure finds a place exactly where there is one, and a right one.

The enumeration tries every way to put pods on leaves, and knows nothing of levels but what a
request says: docs/semantics/kueue-topology.md §7.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import pytest

from planner.quota.kueue.snapshot import take_snapshot
from planner.quota.kueue.topology import FlavorTree, Occupancy, Taken
from planner.reference.kueue.topology.ask import Ask
from planner.reference.kueue.topology.find import Placement, Placer
from planner.state.kueue_topology import HOST
from planner.state.kueue_workload import TopologyRequest
from planner.state.pods import PodSpec
from tests.cluster import FLAVOR, Object, configuration
from tests.reference.topology.racks import flavor, node, state_of, topology

LEVELS = ("block", "rack", HOST)
SEEDS = range(400)
Leaves = Mapping[tuple[str, ...], Mapping[str, int]]


@dataclass(frozen=True)
class Case:
    """A random tree, what is left on its leaves, and a request; ``leader`` has one pod."""

    placer: Placer
    tree: FlavorTree
    workers: Ask
    leader: Ask | None

    @property
    def asks(self) -> list[Ask]:
        """The podsets in the order of the spec."""
        return [self.workers] if self.leader is None else [self.workers, self.leader]

    @property
    def left(self) -> Leaves:
        """What is left on every leaf, by its level values."""
        rows = self.placer.occupancy.left[FLAVOR]
        return {
            values: {name: rows[leaf][column] for name, column in self.tree.column_of.items()}
            for leaf, values in enumerate(self.tree.values[-1])
        }


def case_of(seed: int, *, balanced: bool = False) -> Case:
    """Make a case; ``balanced`` turns on the gate of that placement."""
    random = Random(seed)  # noqa: S311 - trees, not secrets
    depth = random.randint(1, 3)
    levels = LEVELS[-depth:]
    nodes: list[Object] = []
    for number in range(random.randint(1, 5)):
        labels = {"block": f"b{random.randint(0, 1)}", "rack": f"r{random.randint(0, 2)}"}
        cpu, pods = random.randint(0, 3), random.randint(2, 4)
        nodes += node(f"n{number}", labels=labels, gpu=random.randint(0, 3), cpu=cpu, pods=pods)
    gates = configuration(featureGates={"TASBalancedPlacement": balanced})
    state = state_of(topology(*levels), flavor(), nodes, gates)
    topologies = take_snapshot(state, placing=True).topologies
    tree = topologies.trees[FLAVOR]
    asked = _request(random, levels)
    leader = None
    if random.random() < 0.3:
        asked["podSetGroupName"] = "g"
        request = TopologyRequest.model_validate(asked)
        leader = Ask("leader", 1, FLAVOR, {"cpu": 1000}, PodSpec(), request)
    count = random.randint(1 if leader else 0, 6)
    amounts = {"gpu": 1} if random.random() < 0.7 else {"gpu": 1, "cpu": 1000}
    request = TopologyRequest.model_validate(asked)
    workers = Ask("workers", count, FLAVOR, amounts, PodSpec(), request)
    return Case(Placer(topologies, Occupancy(topologies.trees)), tree, workers, leader)


def _request(random: Random, levels: Sequence[str]) -> Object:
    """Return a request that the API would take."""
    level = random.randrange(len(levels))
    asked: Object = random.choice(
        [{"required": levels[level]}, {"preferred": levels[level]}, {"unconstrained": True}]
    )
    if random.random() < 0.5:
        first = random.randrange(0 if "unconstrained" in asked else level, len(levels))
        if "unconstrained" in asked and first < len(levels) - 1:
            first = len(levels) - 1 if random.random() < 0.5 else first
        rows = [{"topology": levels[first], "size": random.choice([2, 2, 3, 4])}]
        if first < len(levels) - 1 and rows[0]["size"] == 4:
            rows.append({"topology": levels[-1], "size": random.choice([1, 2])})
        asked["podsetSliceRequiredTopologyConstraints"] = rows
    return asked


def ways(case: Case) -> Iterator[tuple[dict[tuple[str, ...], int], tuple[str, ...] | None]]:
    """Yield every way to put the pods on leaves, with the leaf of the leader."""
    leaves = list(case.left)
    for leader in leaves if case.leader else [None]:
        most = [_fits(case, leaf, leader == leaf) for leaf in leaves]
        if any(one is None for one in most):
            continue
        for counts in product(*(range((one or 0) + 1) for one in most)):
            given = dict(zip(leaves, counts, strict=True))
            if is_right(case, given, leader):
                yield given, leader


def _fits(case: Case, leaf: tuple[str, ...], leads: bool) -> int | None:  # noqa: FBT001 - a fact
    """Return how many workers a leaf takes; ``None`` where the leader does not fit on it."""
    left = Counter(case.left[leaf])
    if leads and case.leader:
        left.subtract(case.leader.amounts)
        if any(left[name] < 0 for name in case.leader.amounts):
            return None
    amounts = case.workers.amounts
    return max(0, min(left[name] // amount for name, amount in amounts.items()))


def is_right(
    case: Case, given: Mapping[tuple[str, ...], int], leader: tuple[str, ...] | None
) -> bool:
    """Say whether pods on leaves are as many as asked for, and stand as they should."""
    request, levels = case.workers.request, case.tree.levels
    assert request is not None
    rows = [(levels.index(one.topology) + 1, one.size) for one in request.constraints]
    size = rows[0][1] if rows else 1
    if sum(given.values()) != case.workers.count // size * size:
        return False
    for depth, each in rows:
        sums: Counter[tuple[str, ...]] = Counter()
        for values, count in given.items():
            sums[values[:depth]] += count
        if any(count % each for count in sums.values()):
            return False
    if request.required is None:
        return True
    depth = levels.index(request.required) + 1
    used = {values[:depth] for values, count in given.items() if count}
    return len(used | ({leader[:depth]} if leader else set())) <= 1


def by_values(case: Case, placement: Placement) -> dict[tuple[str, ...], int]:
    """Return a placement by the level values of its leaves."""
    leaves = case.tree.values[-1]
    return {leaves[case.tree.leaf_of[leaf]]: count for leaf, count in placement.leaves}


@pytest.mark.parametrize("balanced", [False, True])
def test_a_place_is_found_exactly_where_there_is_one(*, balanced: bool) -> None:
    outcomes: Counter[tuple[bool, bool]] = Counter()
    for seed in SEEDS:
        case = case_of(seed, balanced=balanced)
        if balanced and case.workers.count < 4:  # of no slice Kueue crashes
            continue
        found = case.placer.find(case.asks)
        expected = next(ways(case), None)
        assert found.fits == (expected is not None), seed
        assert case.placer.fits(case.asks) == found.fits, seed
        outcomes[found.fits, case.leader is not None] += 1
        if not found.fits:
            continue
        workers = dict.fromkeys(case.left, 0) | by_values(case, found.placements["workers"])
        leads = by_values(case, found.placements["leader"]) if case.leader else {}
        assert list(leads.values()) == ([1] if case.leader else [])
        leader = next(iter(leads), None)
        most = {leaf: _fits(case, leaf, leader == leaf) for leaf in case.left}
        assert all(workers[leaf] <= (most[leaf] or 0) for leaf in workers), seed
        assert is_right(case, workers, leader), seed
    assert len(outcomes) == 4  # with and without a leader, both ways
    assert min(outcomes.values()) > 10


def test_what_is_remembered_of_leaves_is_as_if_counted_anew() -> None:
    """Pods come and go; the counts follow leaf by leaf, and so does what may fit at all."""
    for seed in SEEDS:
        case, random = case_of(seed), Random(seed)  # noqa: S311 - trees, not secrets
        for _ in range(6):
            leaf = random.choice([*case.tree.leaf_of])
            some = [Taken(FLAVOR, leaf, {"gpu": random.randint(0, 2), "pods": 1})]
            change = random.choice([case.placer.occupancy.take, case.placer.occupancy.give_back])
            change(some)
            anew = replace(case, placer=Placer(case.placer.topologies, case.placer.occupancy))
            assert case.placer.fits(case.asks) == anew.placer.fits(case.asks), seed
            assert case.placer.find(case.asks) == anew.placer.find(case.asks), seed
