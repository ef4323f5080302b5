"""Protected run time and budgets bind every answer: compared with all recorded legal sets."""

import random
from collections import Counter
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime
from itertools import islice

import pytest

import planner
from planner.errors import LookupFailed, SchemaError, UnsupportedError
from planner.objective.annotation import PREFIX
from planner.objective.profiles import PROFILES, Profile
from planner.objective.wishes import Wishes
from planner.state.kueue import State
from tests.cluster import KUEUE, cohort, pending, queue, running, state_of
from tests.conftest import TEST_ALL, YUNIKORN
from tests.solver.truth import Truth, Victims, truths, value_of
from tests.solver.ways import solve
from tests.told import told

FILES = [
    ("small-classical-flat", False),
    ("small-classical-hier", False),
    ("small-fair-flat", True),
]
MOST, FEWER = (36, 24) if TEST_ALL else (10, 7)
"""Lines of a file that are asked about."""


def facts(truth: Truth) -> dict[str, tuple[int, str, bool]]:
    """Return per candidate its run time, its queue, and whether it goes anyway."""
    problem, snapshot, *_ = truth.setting()
    found = {}
    for workload, node, leaving in zip(
        problem.workloads, problem.queue, problem.leaving, strict=True
    ):
        ready = workload.workload.condition("PodsReady")
        start = ready.last_transition_time if ready and ready.is_true else None
        run = snapshot.now - (start or datetime.fromtimestamp(workload.reserved_s, UTC))
        found[workload.key] = (int(run.total_seconds()), problem.names[int(node)], bool(leaving))
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
    for truth in islice((t for t in truths(name, 3, fair=fair) if t.legal and t.keys), MOST):
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
        among = copy(truth)
        among.legal = allowed
        assert frozenset(plan.keys) == among.measured().canonical(profile, plan.greedy), truth.id
    assert min(outcomes["optimal"], outcomes["infeasible"]) >= 2


def cluster() -> State:
    """Three gpus run in two queues below one cohort, none is free, and one is wanted.

    Run times are 3000, 300 and 2400 s; one asks for 301 s. A namespace has no workloads.
    """
    return state_of(
        cohort("org"),
        queue("a", 3, "org", within="LowerPriority", reclaim="Any"),
        queue("b", 0, "org"),
        running("old", "b", 1, 1, minute=10),
        running("young", "b", 1, 0, minute=55, annotations={PREFIX + "min-runtime-seconds": "301"}),
        running("mine", "a", 1, 1, minute=20),
        pending("a", 1),
        [
            {
                "apiVersion": KUEUE,
                "kind": "LocalQueue",
                "metadata": {"namespace": "idle", "name": "b"},
                "spec": {"clusterQueue": "b"},
            }
        ],
    )


@pytest.mark.parametrize(
    ("soft", "victim", "early"),
    [
        ({}, "ns/mine", 0),  # young lacks the second that it asks for; of the others mine lost less
        ({"all": 2401}, "ns/old", 0),
        ({"all": 3100}, "ns/old", 100),
        ({"all": 60, "queue/b": 4000}, "ns/mine", 0),
        ({"queue/b": 4000, "queue/a": 3500}, "ns/old", 1000),
        ({"cohort/org": 3500, "namespace/idle": 10**6}, "ns/old", 500),
    ],
)
def test_soft_windows_forbid_nothing_and_are_kept_where_possible(
    soft: dict[str, int], victim: str, early: int
) -> None:
    profile = Profile(
        "mine", "", (("cut_short",), ("lost_work",)), wishes=Wishes(soft_runtime_s=soft)
    )
    plan = solve(cluster(), objective=profile)
    assert (plan.status, plan.keys, plan.terms["cut_short"]) == ("optimal", (victim,), early)
    assert plan.greedy is not None
    lacking = {"all": 300, "queue/b": 300, "cohort/org": 300}  # Kueue's own is young
    assert plan.greedy.keys == ("ns/young",)
    assert plan.greedy.terms["cut_short"] == max(
        1, *(soft.get(group, 0) - run for group, run in lacking.items())
    )


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_soft_windows_are_kept_best_of_all_legal_sets(name: str, *, fair: bool) -> None:
    short = 0
    for truth in islice(
        (t for t in truths(name, 3, fair=fair) if t.legal and t.keys), 2 * MOST // 3
    ):
        chance = random.Random(truth.id)  # noqa: S311 - test data
        known = facts(truth)
        picked = chance.choice(sorted({known[key][1] for key in truth.keys}))
        runs = sorted(known[key][0] for key in truth.keys)
        windows = {"all": chance.choice(runs), f"queue/{picked}": chance.choice(runs) + 60}
        measured = truth.measured()
        for victims, terms in measured.terms.items():
            lacking = [
                max(0, windows["all"] - run, (windows[f"queue/{picked}"] - run) * (where == picked))
                for run, where, going in map(known.__getitem__, victims)
                if not going
            ]
            measured.terms[victims] = {**terms, "cut_short": sum(lacking)}
        levels = (("cut_short",), ("workloads",), ("lost_work",))
        profile = Profile("mine", "", levels, wishes=Wishes(soft_runtime_s=windows))
        plan = truth.solve(profile)
        assert plan.status == "optimal", truth.id
        assert plan.greedy is not None
        assert frozenset(plan.keys) == measured.canonical(profile, plan.greedy), truth.id
        assert plan.terms["cut_short"] == measured.terms[frozenset(plan.keys)]["cut_short"]
        short += plan.terms["cut_short"] > 0
    assert short


def test_soft_windows_that_nothing_counts_are_refused() -> None:
    profile = Profile(
        "mine", "", (("workloads",),), (("cut_short",),), Wishes(soft_runtime_s={"all": 9})
    )
    with pytest.raises(SchemaError) as caught:
        solve(cluster(), objective=profile)
    told(caught.value)
    told(caught.value.expected)


@pytest.mark.parametrize(
    ("wishes", "expected", "hint"),
    [
        (Wishes({"queue/aa": 9}), "one of: a, b", 'did you mean "a"?'),
        (Wishes({}, {"cohort/orgs": 9}), "one of: org", 'did you mean "org"?'),
        (Wishes(soft_runtime_s={"namespace/ml": 9}), "one of: idle, ns", ""),
        (Wishes({}, {"all": 1, "cohort/a": 9}), "one of: org", ""),
    ],
)
def test_a_group_that_the_state_does_not_know_is_refused(
    wishes: Wishes, expected: str, hint: str
) -> None:
    profile = Profile("mine", "", (("cut_short",),), wishes=wishes)
    with pytest.raises(LookupFailed) as caught:
        solve(cluster(), objective=profile)
    assert caught.value.where == "objective mine"
    told(caught.value.found)
    assert (caught.value.expected, caught.value.hint) == (expected, hint)


def test_a_misspelt_group_is_refused_where_nothing_needs_to_go() -> None:
    state = state_of(queue("a", 1), pending("a", 1))
    profile = Profile("mine", "", (("workloads",),), wishes=Wishes(budget={"cohort/x": 1}))
    with pytest.raises(LookupFailed) as caught:
        solve(state, objective=profile)
    told(caught.value)


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
        (Wishes(budget={"queue/a": 0, "cohort/org": 1, "namespace/idle": 0}), "ns/young"),
        (Wishes(annotated=True), "ns/mine"),
        (Wishes(min_runtime_s={"queue/a": 2401}, annotated=True), "ns/old"),
        (Wishes(budget={"cohort/org": 0}), None),
        (Wishes(budget={"namespace/ns": 0}), None),
    ],
)
def test_groups(wishes: Wishes, victim: str | None) -> None:
    profile = Profile(
        "mine", "", (("last_resort",), ("highest_priority",), ("lost_work",)), wishes=wishes
    )
    plan = solve(cluster(), objective=profile)
    assert plan.keys == ((victim,) if victim else ())
    assert plan.status == ("optimal" if victim else "infeasible")


def test_wishes_in_words() -> None:
    wishes = Wishes(
        {"all": 60, "queue/a": 90},
        {"all": 2, "cohort/org": 1},
        {("lost_work", "restart_cost"): 7},
        {"all": 9},
        annotated=True,
    )
    told(wishes.in_words())


def test_where_the_rules_leave_nothing_the_wishes_are_not_blamed() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    profile = Profile("mine", "", (("workloads",),), wishes=Wishes(budget={"all": 0}))
    plan = solve(state, objective=profile)
    assert plan.status == "infeasible"
    assert "wishes" not in plan.explanation


def test_yunikorn_keeps_them_too() -> None:
    state = planner.read(YUNIKORN)
    levels = PROFILES["least-disruption"].levels
    free = solve(state, objective=Profile("mine", "", levels))
    assert free.victims
    (queue_of, *_) = sorted({victim.queue for victim in free.victims})
    for group in (f"queue/{queue_of}", "queue/root"):
        profile = Profile("mine", "", levels, wishes=Wishes(budget={group: 0}))
        plan = solve(state, objective=profile)
        if plan.status == "infeasible":
            told(plan.explanation)
        else:
            assert queue_of not in {victim.queue for victim in plan.victims}
            assert value_of(plan.terms, ("workloads",)) >= value_of(free.terms, ("workloads",))
    assert plan.status == "infeasible"


def test_yunikorn_protects_softly_and_knows_its_groups() -> None:
    state = planner.read(YUNIKORN)
    levels = (("cut_short",), *PROFILES["least-disruption"].levels)
    free = solve(state, objective=Profile("mine", "", levels))
    assert free.terms["cut_short"] == 0  # a dump does not tell what pods ask for
    ages = {victim.allocation: victim.age_s for victim in free.victims}
    window = max(ages.values()) + 60
    soft = Wishes(soft_runtime_s={"queue/root": window})
    plan = solve(state, objective=Profile("mine", "", levels, wishes=soft))
    lacking = [max(0, window - victim.age_s) for victim in plan.victims]
    assert plan.terms["cut_short"] == sum(lacking) <= sum(window - age for age in ages.values())
    assert [victim.costs["cut_short"] for victim in plan.victims] == lacking
    for group in ("queue/roots", "cohort/root", "namespace/nowhere"):
        profile = Profile("mine", "", levels, wishes=Wishes(budget={group: 0}))
        with pytest.raises(LookupFailed) as caught:
            solve(state, objective=profile)
        told(caught.value)
    asked = Profile("mine", "", levels, wishes=Wishes(annotated=True))
    with pytest.raises(UnsupportedError) as refused:
        solve(state, objective=asked)
    told(refused.value)
