"""Weights that would make a plan exist, against every order of removals by the definition."""

from itertools import chain
from random import Random

import planner
from planner.commands.explain.kueue.record import Explanation
from planner.quantity import format_quantity, parse_quantity
from planner.quota.kueue.assignment import read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import State
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    fair_sharing,
    pending,
    preempt,
    queue,
    running,
    state_of,
)
from tests.commands.explain.kueue import relaxed
from tests.conftest import TEST_ALL

LAWS = [f"FS-0{number}" for number in range(1, 8)]
MILLI = 10**6


def made(seed: int, weight: str | None = None, above: str | None = None) -> State:
    """Draw a cluster of four queues in two cohorts, with the weights of ``a`` and of ``left``."""
    random = Random(seed)  # noqa: S311 - clusters, not secrets
    strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    weights = [random.choice(["1", "500m", "2"]) for _ in range(5)]
    parts: list[list[Object]] = [
        fair_sharing(*strategies[: random.randint(1, 2)], within_nominal=False),
        cohort("root", nominal=random.randint(0, 4)),
        cohort("left", "root", weight=above or weights[4]),
        cohort("right", "root"),
        queue("a", random.randint(0, 2), "left", reclaim="Any", weight=weight or weights[0]),
    ]
    for name, parent, own in zip("bcd", ("left", "right", "right"), weights[1:4], strict=True):
        parts.append(queue(name, random.randint(0, 3), parent, weight=own))
    parts += [
        running(f"w{number}", random.choice("abccd"), random.randint(1, 4), 9)
        for number in range(random.randint(2, 4))
    ]
    return state_of(chain.from_iterable(parts), pending("a", random.randint(2, 4)))


def has_plan(state: State) -> bool:
    """Say whether an order of removals that the laws of fair sharing accept makes room."""
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    assignment = read_assignment(preempt(state), preemptor)
    return relaxed.has_plan(snapshot, preemptor, assignment, LAWS, fair=True)


def test_smallest_weights_by_the_definition() -> None:
    """What is offered works, a thousandth less does not; without an offer not even 1000 more."""
    found = set[tuple[str, bool]]()
    for seed in range(60 if TEST_ALL else 30):
        state = made(seed)
        explained = planner.explain(state, PENDING, objective="min-count")
        assert isinstance(explained, Explanation)
        if explained.clash is None or not explained.clash.laws:
            continue
        assert not has_plan(state)
        offers = {one.path: one for one in explained.clash.changes}
        (own,) = (one for one in state.cluster_queues if one.name == "a")
        (left,) = (one for one in state.cohorts if one.name == "left")
        for name, path, now in (
            ("weight", "clusterqueue/a", own.spec.fair_sharing.weight),
            ("above", "cohort/left", left.spec.fair_sharing.weight),
        ):
            offer = offers.get(f"{path}.fairSharing.weight")
            found.add((name, offer is not None))
            if offer is None:
                assert not has_plan(made(seed, **{name: format_quantity(now + 1000 * 10**9)}))
                continue
            after = parse_quantity(offer.after)
            assert after is not None
            assert offer.before == format_quantity(now)
            assert offer.step == f"+{format_quantity(after - now)}"
            assert has_plan(made(seed, **{name: offer.after})), seed
            assert not has_plan(made(seed, **{name: format_quantity(after - MILLI)})), seed
    assert found == {("weight", True), ("weight", False), ("above", True), ("above", False)}
