"""How long plans take where pods need places on nodes: racks required or preferred, and slices."""

import random
from functools import cache
from typing import Any

import pytest

import planner
from planner.state.kueue import State
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

SIZES = (64, 512)
HOSTS, GPUS = 16, 8
ASKED: dict[str, tuple[int, int, Object]] = {
    "rack": (12, 8, {"required": RACK}),
    "preferred": (24, 8, {"preferred": RACK}),
    "slices": (32, 4, {"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 8}),
}
"""Pods, GPUs of each, and what is asked of the topology."""


@cache
def racks(hosts: int, asked: str) -> State:
    """Return full racks of hosts with eight GPUs, where workloads are on up to three hosts."""
    chance = random.Random(hosts)  # noqa: S311 - test data
    left = dict.fromkeys((f"n{number:04}" for number in range(hosts)), GPUS)
    nodes = [
        part
        for number, name in enumerate(left)
        for part in node(name, f"r{number // HOSTS:03}", gpu=GPUS)
    ]
    running: list[Object] = []
    for number, name in enumerate(left):
        while left[name]:
            near = [host for host in left if left[host]][:3]
            gpus = min(chance.choice([1, 2, 4, 8]), left[name])
            on = {host: 1 for host in near if left[host] >= gpus and chance.random() < 0.7}
            on[name] = 1
            for host in on:
                left[host] -= gpus
            priority, minute = chance.choice([0, 1, 2]), chance.randint(0, 49)
            word = f"w{number}-{left[name]}"
            running += runs(word, {"gpu": gpus}, on, priority=priority, minute=minute)
    count, gpus, request = ASKED[asked]
    wanted = waits(pods("main", count, {"gpu": gpus}, request))
    return state_of(topology(), flavor(), nodes, running, room(hosts * GPUS + count * gpus), wanted)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("hosts", SIZES)
def test_places(benchmark: Any, hosts: int, asked: str) -> None:
    state = racks(hosts, asked)
    plan = benchmark.pedantic(
        planner.solve, args=(state, PENDING), kwargs={"time_limit": 60}, rounds=1
    )
    benchmark.extra_info["status"] = plan.status
    assert plan.victims
    assert planner.verify(state, plan).accepted
