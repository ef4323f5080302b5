"""Terms of an ask of YuniKorn, on a small partition computed by hand."""

import pytest

from planner.solver.start import Given
from planner.solver.yunikorn.start import start
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = "nvidia.com/gpu"
VALUE = cluster_value(
    [
        queue("mine", guaranteed={GPU: 4}),
        queue("rich", guaranteed={GPU: 2, "vcore": 64_000}),
        queue("poor"),
    ],
    [node("n1", {GPU: 8, "vcore": 64_000})],
    [
        application(
            "rich-app",
            "root.rich",
            allocation("r1", {GPU: 1}),
            allocation("r2", {GPU: 2}),
            allocation("r3", {GPU: 2, "vcore": 16_000}),
        ),
        application("poor-app", "root.poor", allocation("p1", {GPU: 3, "vcore": 32_000})),
        application("mine-app", "root.mine", asks=(ask("ask", {GPU: 2}),)),
    ],
)


@pytest.mark.parametrize(
    ("victims", "most"),
    [
        # rich uses 5 gpus and is guaranteed 2; its 16 cores are within its guaranteed 64.
        (("r1",), 334),  # 1 of 3
        (("r2",), 667),  # 2 of 3
        (("r1", "r2"), 1000),
        (("r3",), 834),  # 2.5 of 3
        # poor has no guaranteed: it uses 3 gpus and 32 cores, 4 accelerators, above it.
        (("p1",), 1000),
        (("r1", "p1"), 1000),
        ((), 0),
    ],
)
def test_a_queue_borrows_what_it_uses_above_its_own_guaranteed(
    victims: tuple[str, ...], most: int
) -> None:
    planning = start(state_of(VALUE), Given("ask"))
    keys = [one.allocation_key for one in planning.problem.allocations]
    assert planning.table.evaluate([keys.index(key) for key in victims])["unfairness"] == most
