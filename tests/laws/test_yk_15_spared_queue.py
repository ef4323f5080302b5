"""YK-15: no victim is in a queue that is called spared."""

import planner
from tests.laws.judges_yunikorn import Court
from tests.verifier.yunikorn.plans import broken, guaranteed, one_node, one_node_value, plan_of
from tests.yunikorn.building import gpus, queue

QUEUES = queue("low"), queue("spared"), guaranteed("high", 2)


def test_it_gives_nothing() -> None:
    running = {"root.spared": gpus(mine=2), "root.low": gpus(yours=1)}
    court = Court(one_node_value(*QUEUES, running=running, size=3))
    assert all("mine" not in some for sets in court.admitted().values() for some in sets)


def test_spared_queue() -> None:
    state = one_node(*QUEUES, running={"root.spared": gpus(mine=2)}, size=2)
    assert broken(state, plan_of(state, "n1", "mine")) == ["YK-15"]
    assert planner.solve(state).status == "infeasible"
