"""Plans for asks of YuniKorn built by hand, the siblings of those in factory.py."""

from datetime import UTC, datetime

from planner.laws import RULE_SETS
from planner.plan import Certificate, Level, Verdict
from planner.plan.yunikorn import NodeRoom, QueueUse, ResourceAmount, YuniKornPlan, YuniKornVictim

NOW = datetime(2026, 3, 8, 21, 6, tzinfo=UTC)
GPU = "nvidia.com/gpu"
GIB = 2**30
BREAKS = "YK-02 no queue is left below its guaranteed: root.research.sweeps has 2 of 4"


def make_allocation(
    name: str, *, gpus: int = 2, age_s: int = 720, **changes: object
) -> YuniKornVictim:
    """Return a victim of a sweep on gpu-03 that holds 2 GPUs, or what changes say."""
    facts: dict[str, object] = {
        "allocation": f"{name}-key",
        "pod": f"research/{name}",
        "application": f"spark-{name}",
        "queue": "root.research.sweeps",
        "node": "gpu-03",
        "priority": 10,
        "adjusted_priority": 10,
        "originator": False,
        "opted_out": False,
        "position": 1,
        "age_s": age_s,
        "usage": (
            ResourceAmount(resource="memory", units=32 * GIB, quantity="32Gi"),
            ResourceAmount(resource=GPU, units=gpus, quantity=str(gpus)),
            ResourceAmount(resource="vcore", units=1500, quantity="1500m"),
        ),
        "costs": {
            "last_resort": 0,
            "workloads": 1,
            "priority_weight": 2,
            "lost_work": gpus * age_s,
            "restart_cost": gpus * 60,
            "cost": 1,
        },
    }
    return YuniKornVictim.model_validate({**facts, **changes})


def make_yunikorn(**changes: object) -> YuniKornPlan:
    """Return a proved plan with two victims, beside the core's own with three on another node."""
    victims = (
        make_allocation("sweep-17", position=2),
        make_allocation(
            "etl-driver",
            queue="root.batch",
            priority=20,
            adjusted_priority=15,
            originator=True,
            position=7,
            age_s=7500,
        ),
    )
    facts: dict[str, object] = {
        **_common(),
        "algorithm": "optimum",
        "status": "optimal",
        "explanation": "Preempting 2 allocations on gpu-03 makes room; proved best.",
        "node": "gpu-03",
        "room": make_room(),
        "victims": victims,
        "last_tier": True,
        "queues": make_uses(),
        "terms": _terms(victims),
        "certificate": make_yunikorn_certificate(),
        "greedy": make_core_plan(),
    }
    return YuniKornPlan.model_validate({**facts, **changes})


def make_core_plan(**changes: object) -> YuniKornPlan:
    """Return the core's own plan: three victims on gpu-02, which leave a queue too little."""
    victims = tuple(
        make_allocation(name, node="gpu-02", position=position, gpus=gpus)
        for position, (name, gpus) in enumerate(
            (("sweep-21", 2), ("sweep-20", 1), ("sweep-19", 1)), start=1
        )
    )
    facts: dict[str, object] = {
        **_common(),
        "algorithm": "yunikorn",
        "status": "feasible",
        "explanation": "",
        "node": "gpu-02",
        "room": make_room(),
        "victims": victims,
        "queues": make_uses(),
        "terms": _terms(victims),
        "outside_rules": (BREAKS,),
    }
    return YuniKornPlan.model_validate({**facts, **changes})


def make_no_yunikorn(**changes: object) -> YuniKornPlan:
    """Return the answer that nothing can be preempted for the ask."""
    nobody: dict[str, object] = {"node": None, "room": (), "victims": (), "queues": (), "terms": {}}
    greedy = make_core_plan(status="infeasible", outside_rules=(), **nobody)
    facts: dict[str, object] = {
        "status": "infeasible",
        "explanation": "No legal victim set: the ask does not fit into what is left of the "
        "guaranteed of root.prod.serving.",
        "last_tier": False,
        "certificate": make_yunikorn_certificate(levels=(), verdicts=()),
        "greedy": greedy,
    }
    return make_yunikorn(**{**facts, **nobody, **changes})


def make_room(**changes: object) -> tuple[NodeRoom, ...]:
    """Return what gpu-03 has for an ask of 4 GPUs, 2.5 cores and 48Gi; all may be changed."""
    facts = (
        {"resource": "memory", "asked": 48 * GIB, "available": 100 * GIB, "after": 164 * GIB},
        {"resource": GPU, "asked": 4, "available": 0, "after": 4},
        {"resource": "vcore", "asked": 2500, "available": 500, "after": 3500},
    )
    return tuple(NodeRoom.model_validate({**fact, **changes}) for fact in facts)


def make_use(queue: str, before: int, after: int, **changes: object) -> QueueUse:
    """Return the GPUs of a queue that has 8 guaranteed and no maximum."""
    facts: dict[str, object] = {"resource": GPU, "guaranteed": 8, "max": None}
    return QueueUse.model_validate(
        {**facts, "queue": queue, "before": before, "after": after, **changes}
    )


def make_uses() -> tuple[QueueUse, ...]:
    """Return the asking queue, one that stays over its guaranteed, and one without any."""
    return (
        make_use("root.prod.serving", 2, 6, max=16),
        make_use("root.prod.serving", 1500, 4000, resource="vcore", guaranteed=None),
        make_use("root.research.sweeps", 12, 10),
        make_use("root.batch", 2, 0, guaranteed=None),
    )


def make_yunikorn_certificate(**changes: object) -> Certificate:
    """Return a certificate in which every level is closed and every law holds."""
    levels = (
        ("last_resort", "last-resort victims", "workloads", 1),
        ("highest_priority", "highest victim priority", "rank", 2),
        ("workloads", "workloads evicted", "workloads", 2),
        ("lost_work+restart_cost", "lost work and restart cost", "accelerator-seconds", 16680),
    )
    facts: dict[str, object] = {
        "digest": "3f786850e387550fdab836ed7e6dc881de23001b6f5b1cc0d2a4f2b0fef4b8a9",
        "levels": tuple(
            Level(term=term, title=title, unit=unit, value=value, bound=value, proof="certified")
            for term, title, unit, value in levels
        ),
        "verdicts": tuple(
            Verdict(law=law.id, title=law.title, holds=True, detail="")
            for law in RULE_SETS["yunikorn-design"]
        ),
        "removal_order": ("sweep-17-key", "etl-driver-key"),
        "solver": "CP-SAT 9.15.6755",
        "seed": 0,
        "wall_time_s": 0.412,
    }
    return Certificate.model_validate({**facts, **changes})


def _common() -> dict[str, object]:
    return {
        "rules": "yunikorn-design",
        "objective": "no-regret",
        "partition": "default",
        "preemptor": "7d1f6a0e-5b1c-4c53-9a5e-0d6a3c9e8b11",
        "pod": "prod/ranker-0",
        "application": "ranker",
        "queue": "root.prod.serving",
        "priority": 100,
        "now": NOW,
    }


def _terms(victims: tuple[YuniKornVictim, ...]) -> dict[str, int]:
    sums = {
        term: sum(victim.costs.get(term, 0) for victim in victims)
        for term in ("workloads", "priority_weight", "lost_work", "restart_cost", "cost")
    }
    return {
        "last_resort": sum(victim.originator or victim.opted_out for victim in victims),
        "highest_priority": 2,
        **sums,
        "queues": len({victim.queue for victim in victims}),
    }
