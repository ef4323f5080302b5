"""The smallest boosts, and the orders of candidates that priorities lead to."""

from collections.abc import Callable, Hashable
from typing import Self

import pytest

import planner
from planner.commands.boost.kueue.find import PROVED_OF, Boosts, find_boosts
from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import StateTrial, annotated
from planner.commands.whatif.edit import edit
from planner.errors import UnsupportedError
from planner.solver.deadline import Deadline
from planner.state.kueue import State, of_kueue
from tests.cluster import NOW, cohort, configuration, pending, queue, running, state_of
from tests.cluster import Object as Objects
from tests.conftest import ROOT
from tests.told import told

FOREVER = Deadline()
GATE_ON = configuration(featureGates={"PriorityBoost": True})
GATE = "configuration.featureGates.PriorityBoost=true"
BOOST = "kueue.x-k8s.io/priority-boost"
JUST_NOW = {"preemption-planner.io/last-checkpoint": "2026-05-01T12:59:59Z"}


def answered(
    state: State, objective: str = "min-lost-work", deadline: Deadline = FOREVER
) -> Boosts:
    plan = planner.solve(state, objective=objective)
    return find_boosts(state, plan, gate_on=True, deadline=deadline)


def borrowers(*parts: list[Objects], reclaim: str = "LowerPriority") -> State:
    """Give a queue that wants 4 GPUs back from another queue; ``parts`` run there."""
    return state_of(
        GATE_ON,
        cohort("all"),
        queue("lender", 8, "all", reclaim=reclaim),
        queue("borrower", 0, "all"),
        *parts,
        pending("lender", 4),
    )


def big(priority: int = 0, **annotations: str) -> list[Objects]:
    """Return the workload that should go: it has just written a checkpoint."""
    return running(
        "big", "borrower", 4, priority, minute=1, annotations={**JUST_NOW, **annotations}
    )


def test_smallest_is_said_of_boosts_that_exempt_nobody() -> None:
    """One boost that makes the spared workload exempt would do, too, where the search takes two."""
    done = [
        running(name, "borrower", 2, 8, minute=1, annotations=JUST_NOW) for name in ("one", "two")
    ]
    state = state_of(
        GATE_ON,
        cohort("all"),
        queue("lender", 8, "all", reclaim="LowerPriority"),
        queue("borrower", 0, "all"),
        *done,
        running("new", "borrower", 4, 8, minute=2),
        pending("lender", 4, 9),
    )
    answer = answered(state)
    assert answer.status == "smallest"
    assert {one.workload for one in answer.boosts} == {"ns/one", "ns/two"}
    exempt = edit(state, ["workload/ns/new.priority=9"])
    greedy = planner.solve(exempt, objective="min-lost-work").greedy
    assert greedy is not None
    assert {*greedy.keys} == {"ns/one", "ns/two"}
    assert answer.explanation.endswith(PROVED_OF)


def test_one_victim_lowered() -> None:
    """Kueue takes the newer of two equals; one step down makes the older one the first."""
    state = borrowers(big(), running("new", "borrower", 4, minute=2))
    answer = answered(state)
    assert answer.status == "smallest"
    (boost,) = answer.boosts
    assert (boost.workload, boost.role, boost.boost) == ("ns/big", "victim", -1)
    assert (boost.effective_before, boost.effective) == (0, -1)
    told(answer.commands)


def test_one_spared_raised_where_that_is_less_than_two_lowered() -> None:
    """Two of 2 should go, one of 4 is the newest: it gives way to both."""
    halves = [
        running(name, "borrower", 2, minute=1, annotations=JUST_NOW) for name in ("one", "two")
    ]
    state = borrowers(*halves, running("new", "borrower", 4, minute=2))
    answer = answered(state)
    assert answer.status == "smallest"
    assert [(one.workload, one.role, one.boost) for one in answer.boosts] == [
        ("ns/new", "spared", 1)
    ]


def test_boost_of_today_is_replaced() -> None:
    """The annotation counts today; the new value takes its place, relative to the priority."""
    state = borrowers(big(3, **{BOOST: "2"}), running("new", "borrower", 4, 5, minute=2))
    answer = answered(state)
    (boost,) = answer.boosts
    assert (boost.workload, boost.boost_before, boost.boost, boost.effective) == ("ns/big", 2, 1, 4)


def test_boosted_state_makes_kueue_do_it() -> None:
    state = borrowers(big(), running("new", "borrower", 4, minute=2))
    answer = answered(state)
    assert planner.greedy(state).keys == ("ns/new",)
    boosted = annotated(state, {one.workload: one.boost for one in answer.boosts})
    assert planner.greedy(boosted).keys == ("ns/big",)
    off = edit(boosted, ["configuration.featureGates.PriorityBoost=false"])
    assert planner.greedy(off).keys == ("ns/new",)


def test_other_queues_come_first_whatever_the_boost() -> None:
    """A candidate of the own queue comes after those of others: no boost changes that."""
    state = state_of(
        GATE_ON,
        cohort("all"),
        queue("lender", 8, "all", within="LowerPriority", reclaim="Any"),
        queue("borrower", 0, "all"),
        running("own", "lender", 4, minute=1, annotations=JUST_NOW),
        running("other", "borrower", 4, minute=2),
        pending("lender", 4),
    )
    plan = planner.solve(state, objective="min-lost-work")
    assert plan.keys == ("ns/own",)
    answer = find_boosts(state, plan, gate_on=True, deadline=FOREVER)
    assert (answer.status, answer.boosts, answer.orders) == ("impossible", (), 1)
    told(answer.explanation)
    # Not all boosts were considered: it is not said that none could.
    assert "Proved" not in planner.render(answer, "markdown")


def test_no_boost_crosses_the_preemptors_priority() -> None:
    """Between two of priority 9 below a preemptor of 10 there is only the way down."""
    state = borrowers(big(9), running("new", "borrower", 4, 9, minute=2))
    (boost,) = answered(state).boosts
    assert (boost.workload, boost.boost) == ("ns/big", -1)


@pytest.mark.parametrize(("name", "boosts"), [("best-fit", {}), ("needless", {"lab/eval": -1})])
def test_pods_are_placed_on_nodes(name: str, boosts: dict[str, int]) -> None:
    state = planner.read(ROOT / "instances" / "topology" / f"{name}.yaml")
    answer = planner.boost(state)
    assert answer.status == "smallest"
    assert {one.workload: one.boost for one in answer.boosts} == boosts
    boosted = annotated(edit(of_kueue(state), [GATE]), boosts)
    assert set(planner.greedy(boosted).keys) == set(answer.plan.keys)


User = tuple[str, str, int, int]
"""Namespace, name and past use of a LocalQueue, and the priority of what runs there."""


@pytest.mark.parametrize(
    ("users", "status", "boosts"),
    [
        # LocalQueues of one name are not compared: priorities decide.
        ([("a", "main", 50, 3), ("b", "main", 100, 3)], "smallest", {"a/w": -1}),
        ([("a", "main", 50, 3), ("b", "other", 50, 3)], "smallest", {"a/w": -1}),
        ([("a", "main", 50, 3), ("b", "other", 100, 3)], "impossible", {}),
        ([("a", "main", 50, 3), ("b", "other", 10, 0)], "smallest", {}),
        # By past use a is before b, and b before c; while c is before a, no order is determined.
        (
            [("a", "main", 50, 3), ("b", "other", 20, 3), ("c", "main", 0, 1)],
            "smallest",
            {"a/w": -3},
        ),
    ],
)
def test_past_use_comes_before_some_priorities(
    users: list[User], status: str, boosts: dict[str, int]
) -> None:
    """Of workloads that use 2 each, the first one, which costs the least, should go."""
    parts = []
    for place, (namespace, name, used, priority) in enumerate(users):
        sampled = {"consumedResources": {"gpu": used}, "lastUpdate": NOW}
        local = queue("q", 0)[1]
        local["metadata"] = {"namespace": namespace, "name": name}
        local["status"] = {"fairSharing": {"admissionFairSharingStatus": sampled}}
        (held,) = running("w", "q", 2, priority, minute=place)
        held["metadata"] |= {"namespace": namespace, "uid": namespace}
        held["spec"]["queueName"] = name
        parts.append([local, held])
    shared = queue("q", 2 * len(users), within="LowerPriority")
    shared[0]["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    sampling = {"usageHalfLifeTime": "10m", "usageSamplingInterval": "5m"}
    gates = {"PriorityBoost": True}
    on = configuration(featureGates=gates, admissionFairSharing=sampling)
    state = state_of(on, shared, *parts, pending("q", 2))
    costs = {f"{namespace}/w": 5 for namespace, *_ in users[1:]}
    plan = planner.solve(state, objective="min-cost", costs=costs)
    assert plan.keys == ("a/w",)
    answer = find_boosts(state, plan, gate_on=True, deadline=FOREVER)
    assert answer.status == status
    assert {one.workload: one.boost for one in answer.boosts} == boosts


def test_boosts_of_32_bits_meet_in_the_middle() -> None:
    """No boost puts the big one below the small ones of today, nor these above it."""
    low, high = -2_000_000_000, 1_000_000_000
    state = state_of(
        GATE_ON,
        queue("q", 4, within="LowerPriority"),
        *(running(f"small-{n}", "q", 1, low, minute=n) for n in (1, 2)),
        running("big", "q", 2, high, minute=3),
        pending("q", 2, 2_000_000_000),
    )
    answer = answered(state, "min-count")
    assert answer.plan.keys == ("ns/big",)
    assert answer.status == "smallest"
    boosts = {one.workload: one.boost for one in answer.boosts}
    # Of the small ones, the newer is put before the big one, at the lowest that this can reach.
    assert boosts == {"ns/big": -(2**31), "ns/small-2": high - 2**31 - low}
    assert planner.greedy(annotated(state, boosts)).keys == ("ns/big",)


def test_nothing_to_do() -> None:
    answer = answered(borrowers(running("big", "borrower", 8, minute=1)))
    assert (answer.status, answer.boosts, answer.commands) == ("smallest", (), ())
    told(answer.explanation)


def test_no_plan_no_boosts() -> None:
    answer = answered(borrowers(running("big", "borrower", 8, minute=1), reclaim="Never"))
    assert answer.status == "impossible"
    assert answer.plan.status == "infeasible"


class Looks(Deadline):
    """A deadline that passes after so many looks at the clock, and notes what was done between."""

    looks: int
    since: int
    most: int

    def __new__(cls, left: int) -> Self:
        """Let the deadline pass after so many looks."""
        made = super().__new__(cls)
        made.looks, made.since, made.most = left, 0, 0
        return made

    @property
    def passed(self) -> bool:
        """Whether nobody may look any more."""
        self.looks, self.since = self.looks - 1, 0
        return self.looks < 0

    def note(self) -> None:
        """Count one thing that takes the longer the larger the state is."""
        self.since += 1
        self.most = max(self.most, self.since)


def two_of_four(*others: list[Objects]) -> State:
    """Two old workloads should go, and Kueue takes the two new ones: one boost is not enough."""
    old = [running(name, "borrower", 2, minute=1, annotations=JUST_NOW) for name in ("a", "b")]
    new = [running(name, "borrower", 2, minute=2) for name in ("c", "d")]
    return borrowers(*old, *new, *others)


def test_no_time_proves_nothing() -> None:
    state = two_of_four()
    assert answered(state, deadline=Deadline.after(0.0)).status == "unknown"
    # At first nothing that works is known, then something: that one boost does not do is not.
    seen = [answered(state, deadline=Looks(left)).status for left in range(60)]
    assert sorted(set(seen), key=seen.index) == ["unknown", "found", "smallest"]
    assert sorted(seen, key=["unknown", "found", "smallest"].index) == seen
    assert answered(state).status == "smallest"


@pytest.mark.parametrize("left", [5, 20, 10_000])
def test_the_clock_is_looked_at_after_each_decision(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many candidates there are; of each choice one decision tells, and one confirms."""
    others = [running(f"other-{n:02}", "borrower", 2, 1, minute=3) for n in range(12)]
    state = two_of_four(*others)
    deadline = Looks(left)
    for owner, name in ((StateTrial, "targets"), (StateTrial, "holds"), (Search, "_values")):
        whole = getattr(owner, name)

        def noted(*given: object, whole: Callable[..., object] = whole) -> object:
            deadline.note()
            return whole(*given)

        monkeypatch.setattr(owner, name, noted)
    answered(state, deadline=deadline)
    assert 0 < deadline.most <= 3
    assert left == 10_000 or deadline.looks < 0


def test_only_those_on_the_same_nodes_are_alike() -> None:
    """Four sweeps of one size run on two nodes, the eval on a third."""
    state = of_kueue(planner.read(ROOT / "instances" / "topology" / "needless.yaml"))
    plan = planner.greedy(state)
    pool = Search(StateTrial(state, plan.preemptor, plan.assignment, frozenset()), Deadline()).pool
    alike: dict[Hashable, set[str]] = {}
    for one in pool:
        alike.setdefault(one.kind, set()).add(one.key)
    assert sorted(map(sorted, alike.values())) == [
        ["lab/eval"], ["lab/sweep-1", "lab/sweep-2"], ["lab/sweep-3", "lab/sweep-4"]
    ]  # fmt: skip


def test_what_fair_sharing_leaves_to_chance_is_named() -> None:
    """Two Cohorts of equal shares: whichever Kueue comes to first, whatever the boosts, gives."""
    state = state_of(
        configuration(fairSharing={}, featureGates={"PriorityBoost": True}),
        *(cohort("org"), cohort("x", "org"), cohort("y", "org")),
        *(queue("a", 4, "org", reclaim="Any"), queue("bx", 0, "x"), queue("by", 0, "y")),
        *(running("of-x", "bx", 2, minute=1), running("of-y", "by", 2, minute=2)),
        pending("a", 2),
    )
    answer = answered(state)
    assert answer.status == "unknown"
    told(answer.explanation)
    told(answer.explanation)


@pytest.mark.parametrize("release", ["0.15.8", "0.16.9"])
def test_releases_without_boosts_are_named(release: str) -> None:
    """The gate came with 0.17 (docs/semantics/kueue-features.md §9); nobody asked to edit one."""
    state = state_of(queue("lender", 4), pending("lender", 4), release=release)
    with pytest.raises(UnsupportedError, match=f"Kueue {release} has no priority boosts") as error:
        planner.boost(state)
    assert error.value.expected == "Kueue 0.17 or newer"


def test_the_first_release_with_boosts_has_the_gate_off() -> None:
    state = state_of(queue("lender", 4), pending("lender", 4), release="0.17.0")
    assert not planner.boost(state).gate_on
