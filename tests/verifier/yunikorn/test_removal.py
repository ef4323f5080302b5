"""A legal order is found exactly where there is one: small clusters, every order tried."""

import random
from itertools import permutations

from planner.quota.yunikorn.cluster import find_ask, prepare
from planner.quota.yunikorn.queue import Snapshot
from planner.verifier.yunikorn.case import Victim, remove_all, replay
from tests.told import told
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    gpus,
    node,
    queue,
)
from tests.yunikorn.building import state_of as state_of_value

CLUSTERS = 300
MOST_VICTIMS = 5


def some_cluster(chance: random.Random) -> Json:
    """Build four leaves below two parents, with guaranteed here and there, in two types."""

    def amounts(most: int) -> Json:
        types = chance.sample(["gpu", "disk"], chance.randint(0, 2))
        return {t: chance.randint(1, most) for t in types}

    parents = [
        queue(
            name,
            *(queue(f"{name}{i}", guaranteed=amounts(4)) for i in (1, 2)),
            guaranteed=amounts(6),
        )
        for name in "pq"
    ]
    apps = [application("asks", "root.p.p1", asks=(ask("ask", {"gpu": 1, "disk": 1}),))]
    for number in range(MOST_VICTIMS):
        path = chance.choice(["p.p2", "q.q1", "q.q2"])
        amount = {"gpu": chance.randint(0, 3), "disk": chance.randint(0, 3)}
        apps.append(application(f"app-{number}", f"root.{path}", allocation(f"a{number}", amount)))
    return cluster_value(parents, [node("n1", {"gpu": 99, "disk": 99})], apps)


def snapshot_and_victims(value: Json) -> tuple[Snapshot, list[Victim]]:
    cluster = prepare(state_of_value(value))
    victims = [
        Victim(held, cluster.tree.leaf_of(app), app.application_id)
        for app in cluster.partition.applications
        for held in app.allocations
    ]
    asking = find_ask(cluster, "ask")
    return Snapshot(asking.leaf, asking.ask.resource), victims


def is_legal(snapshot: Snapshot, order: tuple[Victim, ...]) -> bool:
    """Remove one after the other by the definition, without the code under test."""
    state = snapshot.fresh()
    for victim in order:
        left = state.remaining(victim.queue)
        if left is not None and all(left.get(t, 0) >= 0 for t in ("gpu", "disk")):
            return False
        state.remove(victim.queue, victim.resource)
    return True


def test_every_order() -> None:
    chance = random.Random(5)  # noqa: S311 - clusters to try, not secrets
    found = {True: 0, False: 0}
    only_another_order = 0
    for number in range(CLUSTERS):
        snapshot, victims = snapshot_and_victims(some_cluster(chance))
        legal = {order for order in permutations(victims) if is_legal(snapshot, order)}
        removal = remove_all(snapshot, victims)
        assert bool(removal.obstacle) == (not legal), number
        assert removal.order in legal or not legal, number
        found[bool(legal)] += 1
        only_another_order += bool(legal) and tuple(victims) not in legal
        for order in permutations(victims[:3]):
            assert (not replay(snapshot, order).obstacle) == is_legal(snapshot, order)
    assert min(found.values()) > CLUSTERS // 10, found
    assert only_another_order > CLUSTERS // 100


def test_no_victims_have_an_order() -> None:
    snapshot, _ = snapshot_and_victims(some_cluster(random.Random(5)))  # noqa: S311 - as above
    assert remove_all(snapshot, []) == replay(snapshot, [])
    assert not remove_all(snapshot, []).obstacle


def test_who_goes_last_must_hold_enough() -> None:
    """Queue p has 1 guaranteed. Before the last one goes it uses what that one holds: 1 or 2."""
    value = cluster_value(
        [
            queue("p", queue("p1", guaranteed={"gpu": 1}), queue("p2"), guaranteed={"gpu": 1}),
            queue("high", guaranteed={"gpu": 9}),
        ],
        [node("n1", {"gpu": 9})],
        [
            application("1", "root.p.p1", allocation("x", {"gpu": 2})),
            application("2", "root.p.p2", *gpus(y=1, z=1)),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
        ],
    )
    snapshot, victims = snapshot_and_victims(value)
    by_key = {victim.key: victim for victim in victims}
    assert not remove_all(snapshot, victims).obstacle
    for order in permutations("xyz"):
        legal = not replay(snapshot, [by_key[key] for key in order]).obstacle
        assert legal == (order[-1] == "x"), order
    refused = replay(snapshot, [by_key[key] for key in "xyz"]).obstacle
    told(refused)
