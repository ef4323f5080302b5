"""Plans for small YuniKorn clusters, written in a few words.

``broken`` says which laws a plan breaks. A test of a law asserts that exactly this law is broken
in the forbidden case and none in the permitted one: it fails if the check is dropped, and if it
is too strict.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from planner.plan import Verdict
from planner.plan.yunikorn import YuniKornPlan, YuniKornVictim
from planner.quota.yunikorn.cluster import Cluster, prepare
from planner.state.yunikorn import Allocation, Application, YuniKornState
from planner.verifier.yunikorn import verify_yunikorn_plan
from tests.yunikorn.building import (
    NOW,
    SECOND,
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = {"gpu": 1}
DESIGN = "yunikorn-design"
CODE = "yunikorn-code"
REQUIRED = "yunikorn-required-node"


def one_node_value(
    *queues: Json,
    running: dict[str, list[Json]],
    path: str = "root.high",
    size: int = 9,
    wanted: Json | None = None,
    of_cluster: Json | None = None,
    **of_ask: Any,
) -> Json:
    """Build a cluster with node n1 of some GPUs; ``running`` has the allocations of each queue.

    The ask ``ask`` of queue ``path`` wants one GPU, or what is ``wanted``. Of other resources the
    node has as much as of GPUs.
    """
    apps = [application(f"in-{holder}", holder, *held) for holder, held in running.items()]
    waiting = ask("ask", wanted or GPU, **of_ask)
    capacity = {
        t: size for allocations in running.values() for a in allocations for t in a["resource"]
    }
    return cluster_value(
        list(queues),
        [node("n1", {"gpu": size} | capacity)],
        [*apps, application("asks", path, asks=(waiting,))],
        **of_cluster or {},
    )


def one_node(*queues: Json, **more: Any) -> YuniKornState:
    """Return the state of such a cluster."""
    return state_of(one_node_value(*queues, **more))


def full_node(*held: Json, **of_ask: Any) -> YuniKornState:
    """Let queue low run these and one ordinary allocation ``plain``, of a GPU each."""
    running = [allocation("plain", GPU), *held]
    return one_node(
        queue("low"),
        guaranteed("high", 9),
        running={"root.low": running},
        size=len(running),
        **of_ask,
    )


def two_nodes(n1: Json, n2: Json, wanted: int = 1, **more: Any) -> YuniKornState:
    """Run a and b, of one GPU each, on n1 and c, of one GPU, on n2; the ask has priority 1."""
    held = [allocation("a", GPU), allocation("b", GPU), allocation("c", GPU, on="n2")]
    stale = ask("stale", GPU, 7203)
    other = ask("other", GPU, 7202)
    waiting = ask("ask", {"gpu": wanted}, priority="1", **more.pop("of_ask", {}))
    return state_of(
        cluster_value(
            [queue("low"), guaranteed("high", 9)],
            [node("n1", {"gpu": 2}) | n1, node("n2", {"gpu": 1}) | n2],
            [
                application("runs", "root.low", *held, asks=(stale, other)),
                application("asks", "root.high", asks=(waiting,)),
            ],
            **more,
        )
    )


def guaranteed(name: str, gpus: int, *below: Json, **more: Any) -> Json:
    """Build a queue with guaranteed GPUs."""
    return queue(name, *below, guaranteed={"gpu": gpus}, **more)


def holders(cluster: Cluster) -> dict[str, tuple[Application, Allocation]]:
    """Return every allocation with its application, by key."""
    return {
        allocation.allocation_key: (application, allocation)
        for application in cluster.partition.applications
        for allocation in application.allocations
    }


def victim_of(cluster: Cluster, key: str, **fields: Any) -> YuniKornVictim:
    """Describe a victim as the state does, if it knows it; the costs are left out."""
    owner, held = holders(cluster).get(key, (None, None))
    made: Json = {
        "allocation": key,
        "application": owner.application_id if owner else "nobody",
        "queue": owner.queue_name if owner else "nowhere",
        "node": held.node_id if held else "nowhere",
        "priority": held.priority if held else 0,
        "adjusted_priority": held.priority if held else 0,
        "originator": bool(held and held.originator),
        "opted_out": bool(held and held.opted_out),
        "position": 1,
        "age_s": (cluster.now - held.allocation_time) // SECOND if held else 0,
        "usage": (),
        "costs": {},
    }
    return YuniKornVictim(**{**made, **fields})


def plan_of(
    state: YuniKornState, node_id: str | None, *taken: str | YuniKornVictim, **fields: Any
) -> YuniKornPlan:
    """Make a plan for the ask ``ask`` of application ``asks`` that takes victims, given by key."""
    cluster = prepare(state)
    owner = next(
        app
        for app in cluster.partition.applications
        for a in app.requests
        if a.allocation_key == "ask"
    )
    required = next(a for a in owner.requests if a.allocation_key == "ask").required_node
    made: Json = {
        "rules": REQUIRED if required else DESIGN,
        "algorithm": "optimum",
        "objective": "min-count",
        "status": "feasible",
        "explanation": "",
        "partition": cluster.partition.name,
        "preemptor": "ask",
        "application": owner.application_id,
        "queue": owner.queue_name,
        "priority": cluster.asks["ask"].priority,
        "now": datetime.fromtimestamp(NOW // SECOND, UTC),
        "node": node_id,
        "victims": tuple(
            item if isinstance(item, YuniKornVictim) else victim_of(cluster, item) for item in taken
        ),
    }
    return YuniKornPlan(**{**made, **fields})


def verdicts(state: YuniKornState, plan: YuniKornPlan) -> dict[str, Verdict]:
    """Return the verdict of every law."""
    return {verdict.law: verdict for verdict in verify_yunikorn_plan(state, plan).verdicts}


def broken(state: YuniKornState, plan: YuniKornPlan) -> Sequence[str]:
    """Return the ids of the laws a plan breaks."""
    return [law for law, verdict in verdicts(state, plan).items() if not verdict.holds]
