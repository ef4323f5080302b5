"""Whole stories: a cluster that rests, one in which jobs come and go, and a planner that is killed.

An ordinary run has a sample of the made-up ones.
"""

import copy
from random import Random

from planner.operations.steer.kueue.loop import released
from planner.operations.steer.record import Act, Steered
from tests.conftest import TEST_ALL
from tests.operations.steer.world import World, gated, population, settled, workload

QUIET = range(60 if TEST_ALL else 3)
CHURN = range(200 if TEST_ALL else 2)
KILLS = range(100 if TEST_ALL else 2)


def made(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - made-up jobs


def churned(seed: int) -> World:
    """Return a world in which jobs end and arrive for a while."""
    random = made(seed)

    def churn(world: World) -> None:
        holders = [key for key in world.keys if world.holds(key)]
        if holders and random.random() < 0.25:
            world.finish(random.choice(holders))
        if world.now_s < 30 and random.random() < 0.25:
            queue, amount = random.choice(["q0", "q1"]), random.randint(1, 4)
            new = workload(f"new-{len(world.items)}", queue, amount, random.randint(0, 6))
            world.arrive(gated(new))

    return settled(population(random, random.randint(1, 3)), churn=churn, until_s=45)


def test_it_is_what_was_planned_where_all_is_quiet() -> None:
    steered: list[Steered] = []
    for seed in QUIET:
        world = settled(population(made(seed)), until_s=20)
        world.steer()
        for one in world.steered():
            assert (one.came, one.admitted) == ("exact", True), seed
            wanted = one.planned if one.steered else one.own
            assert world.first_decisions()[one.preemptor] == set(wanted), seed
        assert world.boosts() == {}
        steered += world.steered()
    assert any(one.boosts for one in steered)
    assert any(not one.boosts for one in steered)


def test_first_decisions_are_exact_where_jobs_come_and_go() -> None:
    """Or a part of the plan, as others of it had ended; never anybody else."""
    exact = 0
    for seed in CHURN:
        world = churned(seed)
        world.steer()
        plans: dict[str, Act] = {}
        opened: list[tuple[Act, Act | None]] = []
        for line in world.lines:
            if isinstance(line, Act) and line.act == "plan":
                plans[line.preemptor] = line
            elif isinstance(line, Act) and line.act == "open":
                opened.append((line, plans.get(line.preemptor)))
        for key in world.first_decisions():
            # Nobody preempts before its gate is open, but who ran from the start, without a gate.
            assert not world.is_gated(key) or any(one.preemptor == key for one, _ in opened), seed
        for line, plan in opened:
            evicted = world.decision_after(line)
            if evicted is not None and plan is not None and "just the planned" in line.why:
                planned = set(plan.victims)
                assert evicted <= planned, (seed, line.preemptor)
                assert planned - evicted <= world.gone, (seed, line.preemptor)
                exact += evicted == planned
    assert exact >= len(CHURN) // 2


def test_killed_at_any_change_it_leaves_nothing_behind() -> None:
    """The next run takes back what the last one left, and so does a release."""
    kills = 0
    for seed in KILLS:
        for at in range(1, 40, 1 if TEST_ALL else 3):
            world = settled(population(made(seed), 2), until_s=12, kill_at=at)
            world.steer()
            if len(world.written) < at:
                break  # it was over before
            kills += 1
            world.kill_at, world.until_s = 0, 35
            if at % 2:
                world.steer()
                served = [key for key in world.closed() if world.replay(key).victims]
                assert (world.boosts(), served) == ({}, []), (seed, at)
            else:
                assert released(world.take, world.hands)[1] == ()
                assert (world.boosts(), world.closed()) == ({}, []), (seed, at)
    assert kills > len(KILLS)


def test_without_a_planner_kueue_chooses_once_the_gates_are_away() -> None:
    for seed in QUIET:
        items = population(made(seed))
        free = copy.deepcopy(items)
        for one in free:
            one.get("spec", {}).pop("preemptionGates", None)
        by_itself, behind = settled(free), settled(items)
        assert behind.decisions == []
        released(behind.take, behind.hands)
        behind.kueue()
        assert behind.decisions == by_itself.decisions
