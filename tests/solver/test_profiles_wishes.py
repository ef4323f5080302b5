"""Protected run time and budgets bind every answer: compared with all recorded legal sets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import islice

import pytest

import planner
from planner.objective.profiles import PROFILES, Profile
from planner.objective.wishes import Wishes
from planner.state import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.conftest import ROOT
from tests.solver.truth import Truth, Victims, truths, value_of

FILES = [
    ("small-classical-flat", False),
    ("small-classical-hier", False),
    ("small-fair-flat", True),
]


def facts(truth: Truth) -> dict[str, tuple[int, str, bool]]:
    """Return per candidate its run time, its queue, and whether it is being evicted already."""
    problem, snapshot, *_ = truth.setting()
    found = {}
    for workload, node, evicted in zip(
        problem.workloads, problem.queue, problem.evicted, strict=True
    ):
        ready = workload.workload.condition("PodsReady")
        start = ready.last_transition_time if ready and ready.is_true else None
        run = snapshot.now - (start or workload.reserved_at)
        found[workload.key] = (int(run.total_seconds()), problem.names[int(node)], bool(evicted))
    return found


def drawn(truth: Truth) -> tuple[Wishes, Callable[[Victims], bool]]:
    """Draw wishes, and say which victim sets keep to them, in words of our own."""
    chance = random.Random(truth.id)  # noqa: S311 - test data
    known = facts(truth)
    mine = {key: known[key] for key in truth.keys}
    queues = sorted({name for _, name, _ in mine.values()})
    window = chance.choice([0, *(run for run, *_ in mine.values())])
    total = chance.randint(0, 3)
    picked = chance.choice(queues)
    most = chance.randint(0, 1)

    def keeps(victims: Victims) -> bool:
        going = [mine[key] for key in victims if not mine[key][2]]
        by_queue = Counter(name for _, name, _ in going)
        return (
            all(run >= window for run, *_ in going)
            and len(going) <= total
            and by_queue[picked] <= most
        )

    return Wishes({"all": window}, {"all": total, f"queue/{picked}": most}), keeps


@pytest.mark.parametrize(("name", "fair"), FILES)
@pytest.mark.parametrize("base", ["no-regret", "min-lost-work"])
def test_optimum_is_the_best_legal_set_that_keeps_the_wishes(
    name: str, base: str, *, fair: bool
) -> None:
    outcomes: Counter[str] = Counter()
    for truth in islice((t for t in truths(name, 3, fair=fair) if t.legal and t.keys), 60):
        wishes, keeps = drawn(truth)
        profile = Profile("mine", "", PROFILES[base].levels, PROFILES[base].caps, wishes)
        plan = truth.solve(profile)
        outcomes[plan.status] += 1
        allowed = [victims for victims in truth.legal if keeps(victims)]
        if not allowed:
            assert plan.status == "infeasible", truth.id
            assert "the rules permit a plan, but none keeps the wishes of mine" in plan.explanation
            continue
        assert plan.status == "optimal", truth.id
        assert plan.greedy is not None
        truth.legal = allowed
        assert frozenset(plan.keys) == truth.measured().canonical(profile, plan.greedy), truth.id
    assert outcomes["optimal"] >= 3
    assert outcomes["infeasible"] >= 3


def cluster() -> State:
    """Three gpus run in two queues below one cohort, none is free, and one is wanted."""
    return state_of(
        cohort("org"),
        queue("a", 3, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 0, "org"),
        running("old", "b", 1, 1, minute=10),
        running("young", "b", 1, 0, minute=55),
        running("mine", "a", 1, 1, minute=20),
        pending("a", 1),
    )


@pytest.mark.parametrize(
    ("wishes", "victim"),
    [
        (Wishes(), "ns/young"),
        (Wishes(min_runtime_s={"all": 300}), "ns/young"),
        (Wishes(min_runtime_s={"all": 301}), "ns/mine"),
        (Wishes(min_runtime_s={"cohort/org": 301}), "ns/mine"),
        (Wishes(min_runtime_s={"queue/b": 301, "all": 5}), "ns/mine"),
        (Wishes(min_runtime_s={"queue/a": 2401, "namespace/ns": 301}), "ns/old"),
        (Wishes(budget={"queue/b": 0}), "ns/mine"),
        (Wishes(budget={"queue/a": 0, "cohort/org": 1, "namespace/other": 0}), "ns/young"),
        (Wishes(budget={"cohort/org": 0}), None),
        (Wishes(budget={"namespace/ns": 0}), None),
    ],
)
def test_groups(wishes: Wishes, victim: str | None) -> None:
    profile = Profile("mine", "", (("D0",), ("D1",), ("D4",)), wishes=wishes)
    plan = planner.solve(cluster(), objective=profile)
    assert plan.keys == ((victim,) if victim else ())
    assert plan.status == ("optimal" if victim else "infeasible")


def test_wishes_in_words() -> None:
    wishes = Wishes({"all": 60, "queue/a": 90}, {"all": 2, "cohort/org": 1}, {("D4", "D5"): 7})
    assert wishes.in_words() == (
        "no eviction before 60 s of run time; no eviction in queue a before 90 s of run time; "
        "evictions: at most 2; evictions in cohort org: at most 1; D4+D5: at most 7"
    )


def test_where_the_rules_leave_nothing_the_wishes_are_not_blamed() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    profile = Profile("mine", "", (("D2",),), wishes=Wishes(budget={"all": 0}))
    plan = planner.solve(state, objective=profile)
    assert plan.status == "infeasible"
    assert "wishes" not in plan.explanation


def test_yunikorn_keeps_them_too() -> None:
    state = planner.read(ROOT / "instances" / "yunikorn" / "quickstart")
    levels = PROFILES["least-disruption"].levels
    free = planner.solve(state, objective=Profile("mine", "", levels))
    assert free.victims
    (queue_of, *_) = sorted({victim.queue for victim in free.victims})  # type: ignore[union-attr]
    for group in (f"queue/{queue_of}", "queue/root"):
        profile = Profile("mine", "", levels, wishes=Wishes(budget={group: 0}))
        plan = planner.solve(state, objective=profile)
        if plan.status == "infeasible":
            assert "none keeps the wishes of mine: evictions in queue " in plan.explanation
        else:
            assert queue_of not in {victim.queue for victim in plan.victims}  # type: ignore[union-attr]
            assert value_of(plan.terms, ("D2",)) >= value_of(free.terms, ("D2",))
    assert plan.status == "infeasible"
