"""Plans of every kind, whose screens are stored: what is said of each, and what is left out."""

from collections.abc import Callable
from typing import Final

from planner.plan import AnyPlan
from planner.plan.kueue import Amount, Cascade, Plan
from planner.report.document import MAX_NAMES as MAX_SHOWN
from tests.report.factory import (
    OUTSIDE,
    make_certificate,
    make_demand,
    make_fair,
    make_greedy,
    make_infeasible,
    make_plan,
    make_victim,
)
from tests.report.test_flavors import make_chosen
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_room,
    make_use,
    make_yunikorn,
    make_yunikorn_certificate,
)


def in_cores() -> Plan:
    """Return a plan without accelerators: one core is 1/32 of one, an hour of one 32 of a core."""
    demand = [make_demand("cpu", requested=4000, shortfall=4000)]
    usage = (Amount(flavor="h200", resource="cpu", units=4000, quantity="4"),)
    victim = make_victim("a/b", costs={"lost_work": 3600}).model_copy(update={"usage": usage})
    return make_plan(demand=demand, victims=[victim], greedy=None)


def level_open() -> Plan:
    levels = make_certificate().levels
    certificate = make_certificate(levels=(*levels[:2], levels[2].model_copy(update={"bound": 1})))
    return make_plan(status="feasible", certificate=certificate)


def law_broken() -> Plan:
    verdicts = [
        verdict.model_copy(update={"holds": verdict.law != "KQ-07", "detail": "cq team-b"})
        for verdict in make_certificate().verdicts
    ]
    return make_plan(certificate=make_certificate(verdicts=verdicts))


def unstable() -> Plan:
    """Return a plan of which one victim comes back and many preempt others."""
    back = Cascade(victim="team-b/sweep-17", targets=("team-a/train-llm",), preemptor=True)
    third = Cascade(victim="team-a/notebook-3", targets=("x/one", "x/two"), preemptor=False)
    targets = tuple(f"x/w{number}" for number in range(MAX_SHOWN + 2))
    long = Cascade(victim="a/b", targets=targets, preemptor=False)
    stability = (back, third, long, *(third,) * MAX_SHOWN)
    terms = {**make_plan().terms, "unstable": len(stability)}
    return make_plan().model_copy(update={"stability": stability, "terms": terms})


def stable() -> Plan:
    terms = {**make_plan().terms, "unstable": 0}
    return make_plan().model_copy(update={"stability": (), "terms": terms})


def of_memory() -> Plan:
    demand = [make_demand("memory", 40 * 2**30, shortfall=2**30, available=39 * 2**30)]
    return make_plan(demand=demand)


def many_resources() -> Plan:
    """Return a plan that is short of three resources, whose victim has a long reason."""
    short = [make_demand(f"example.com/r{i}", flavor="on-demand") for i in range(3)]
    victim = make_victim("namespace/workload", reason="InCohortReclaimWhileBorrowing")
    return make_plan(demand=short, victims=[victim])


def long_names() -> Plan:
    name = f"{'namespace-' * 6}/{'workload-' * 12}"
    return make_plan(victims=[make_victim(name)], greedy=None)


def huge() -> Plan:
    most = 2**62
    victim = make_victim("a/b", costs={"lost_work": most}, gpus=most, priority=-(2**31))
    return make_plan(victims=[victim], demand=[make_demand(requested=most, shortfall=most)])


def hundreds() -> Plan:
    """Return a plan whose victims are told by queue, with the range of their priorities."""
    victims = [
        make_victim(f"ns/v{i:03}", cluster_queue=f"queue-{i % 3}", priority=i // 3 % 2)
        for i in range(783)
    ]
    return make_plan(victims=victims, greedy=None)


def bare() -> AnyPlan:
    """Return a plan for an ask without a pod, in another partition, by the laws as coded."""
    return make_yunikorn(
        rules="yunikorn-code",
        pod=None,
        partition="gpu",
        last_tier=False,
        victims=[make_allocation("a", pod=None)],
        queues=[make_use("root.q", 9, 8)],
    )


def several_types() -> AnyPlan:
    """Return a plan with more types than a narrow screen has room for, two of one short name."""
    more = [item for t in "abcdefgh" for item in make_room(resource=f"example.com/{t * 8}")[1:2]]
    return make_yunikorn(room=(*make_room(), *make_room(resource="amd.com/gpu")[1:2], *more))


def at_limits() -> AnyPlan:
    """Return a plan whose queues end below their guaranteed, as before, inside, and over it."""
    ends = {"a": (9, 7), "b": (2, 7), "c": (9, 9), "d": (9, 17), "e": (9, 8)}
    uses = [make_use(f"root.{name}", *two, max=16) for name, two in ends.items()]
    amounts = {"guaranteed": 192, "max": 256, "before": 100, "after": 104}
    memory = make_use("root.research.sweeps.nightly", 0, 0, resource="memory").model_copy(
        update={name: amount * 2**30 for name, amount in amounts.items()}
    )
    vcore = make_use("root.a", 1500, 500, resource="vcore")
    return make_yunikorn(queues=[uses[0], vcore, *uses[1:], memory])


PLANS: Final[dict[str, Callable[[], AnyPlan]]] = {
    "plan": make_plan,
    "infeasible": lambda: make_infeasible(tree=make_plan().tree),
    "evicting": lambda: make_plan(victims=[make_victim("team-b/gone", evicted=True)]),
    "kueue": lambda: make_greedy(rules="kueue-fair", outside_rules=(OUTSIDE, "FS-06 x: y")),
    "same": lambda: make_plan(greedy=make_greedy(victims=make_plan().victims)),
    "open": level_open,
    "unknown": lambda: make_plan(status="unknown"),
    "broken": law_broken,
    "unstable": unstable,
    "stable": stable,
    "cut-off": lambda: make_plan(certificate=make_certificate(cut_off=1)),
    "costs": lambda: make_plan(objective="min-cost", terms={**make_plan().terms, "cost": 17}),
    "cpu": in_cores,
    "memory": of_memory,
    "resources": many_resources,
    "long": long_names,
    "huge": huge,
    "hundreds": hundreds,
    "many": lambda: make_plan(
        greedy=make_greedy(victims=[make_victim(f"ns/g{i:03}") for i in range(50)])
    ),
    "flavors": make_chosen,
    "fair": make_fair,
    "fair-infeasible": lambda: make_fair(status="infeasible"),
    "yunikorn": make_yunikorn,
    "yunikorn-infeasible": lambda: make_no_yunikorn(pod=None, queues=[make_use("root.q", 9, 7)]),
    "yunikorn-core": lambda: make_core_plan(
        rules="yunikorn-required-node", room=make_room(asked=4, available=-1, after=3)
    ),
    "yunikorn-same": lambda: make_yunikorn(
        greedy=make_core_plan(victims=make_yunikorn().victims),
        certificate=make_yunikorn_certificate(cut_off=2),
    ),
    "yunikorn-one": lambda: make_yunikorn(victims=[make_allocation("sweep-17", opted_out=True)]),
    "yunikorn-bare": bare,
    "yunikorn-types": several_types,
    "yunikorn-nodes": lambda: make_yunikorn(
        victims=[make_allocation("a"), make_allocation("b", node="gpu-09")]
    ),
    "yunikorn-limits": at_limits,
    "yunikorn-room": lambda: make_yunikorn(room=make_room(asked=1, available=2, after=2)),
    "yunikorn-costs": lambda: make_yunikorn(objective="min-cost"),
    "yunikorn-hundreds": lambda: make_yunikorn(
        victims=[make_allocation(f"v{i:03}") for i in range(212)], greedy=None
    ),
}
