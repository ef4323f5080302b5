"""What queues and cohorts borrow, by weight and by place, worked out by hand; tenants touched."""

from collections.abc import Iterable

import pytest

from planner.models.kueue.laws import eligible
from planner.objective.kueue import term_table
from planner.term import ACCELERATOR
from tests.cluster import (
    Object,
    cohort,
    fair_sharing,
    pending,
    problem_of,
    queue,
    running,
    state_of,
)

NOTHING: list[Object] = []


def terms(  # noqa: PLR0913 - what shares depend on
    victims: Iterable[str],
    term: str,
    *,
    fair: bool = True,
    weight: str = "2",
    asking: str = "a",
    of_cohort: str = "0.5",
) -> int:
    """Measure victims in a tree of two cohorts: left lends 4 of its 10, right has 1 of its own.

    In right, b uses 4 and has 1, c uses 1 and has 0: right borrows 4 of left, of which a uses 4.
    """
    state = state_of(
        fair_sharing() if fair else NOTHING,
        cohort("org"),
        cohort("left", "org"),
        cohort("right", "org", weight=of_cohort),
        queue("a", 10, "left", within="LowerPriority", reclaim="Any"),
        queue("b", 1, "right", weight=weight, reclaim="Any"),
        queue("c", 0, "right"),
        running("a-1", "a", 4),
        running("b-1", "b", 2),
        running("b-2", "b", 2),
        running("c-1", "c", 1),
        pending(asking, 8, 10),
    )
    problem, snapshot, _ = problem_of(state)
    table = term_table(problem, snapshot, eligible(problem))
    position = {workload.key: i for i, workload in enumerate(problem.workloads)}
    return table.evaluate([position[f"ns/{name}"] for name in victims])[term]


@pytest.mark.parametrize(
    ("victims", "weight", "most"),
    [
        # b borrows 3. Of weight 2 that counts 1.5, and 2 of it are 1334 per mille.
        (("b-1",), "2", 1334),
        (("b-1",), "1", 667),
        (("b-1",), "0.5", 334),
        # c borrows 1, the cohort 4; its weight of a half makes that 8: 5 of 8 are 625.
        (("b-1", "b-2", "c-1"), "0.5", 1000),
        (("b-1", "b-2"), "0.01", 500),  # the cohort: 4 of 8
        # Who is entitled to nothing gives all that it borrows: next to no share.
        (("b-1",), "0", 250),  # the cohort: 2 of 8
        (("a-1",), "1", 4000),  # it borrows nothing, which counts one accelerator
        ((), "1", 0),
    ],
)
def test_shares_go_by_weight_and_cohorts_share_too(
    victims: tuple[str, ...], weight: str, most: int
) -> None:
    assert terms(victims, "unfairness", weight=weight) == most


def test_a_cohort_of_any_weight_borrows() -> None:
    """Of a million, 4 GPUs round to nothing: it counts as borrowing one, not as borrowing none."""
    assert terms(["b-1"], "unfairness", weight="1", of_cohort="1000000") == 2000
    assert (
        terms(["b-1"], "unfairness", weight="1", of_cohort="1") == 667
    )  # the queue's share: 2 of 3


def test_weights_count_only_under_fair_sharing() -> None:
    assert terms(["b-1"], "unfairness", fair=False, weight="2") == 667  # 2 of 3
    assert terms(["b-1"], "unfairness", fair=False, weight="0") == 667
    assert terms(["b-1", "b-2", "c-1"], "unfairness", fair=False, weight="1") == 1334  # 4 of 3 in b


def test_nothing_is_taken_from_a_cohort_that_the_preemptor_is_in() -> None:
    """Under weights of 0 the queue itself counts next to nothing, and the cohort not at all."""
    assert terms(["b-1"], "unfairness", weight="0", asking="c") == 1
    assert terms(["b-1"], "unfairness", weight="0", asking="a") == 250


def test_tenants_are_namespaces() -> None:
    parts = [item for n in range(3) for item in running(f"w{n}", "a", 1)]
    for item, namespace in zip(parts, ("red", "blue", "red"), strict=True):
        item["metadata"]["namespace"] = namespace
    state = state_of(queue("a", 4, within="LowerPriority"), parts, pending("a", 4, 10))
    problem, snapshot, _ = problem_of(state)
    table = term_table(problem, snapshot, eligible(problem))
    where = {workload.key: i for i, workload in enumerate(problem.workloads)}
    assert table.evaluate([where["red/w0"], where["red/w2"]])["namespaces"] == 1
    assert table.evaluate([where["red/w0"], where["blue/w1"]])["namespaces"] == 2
    assert table.evaluate([])["namespaces"] == 0
    assert table.size.tolist() == [ACCELERATOR] * 3
