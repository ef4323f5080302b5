"""The changes offered are the smallest that work, tried one by one."""

from collections.abc import Iterable

import pytest

import planner
from planner.commands.explain.inquiry import Explainer
from planner.commands.explain.kueue.clash import MOST_OTHERS, KueueExplainer
from planner.commands.explain.kueue.record import Clash
from planner.commands.whatif.edit import edit
from planner.objective.profiles import PROFILES
from planner.state.kueue import State
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    configuration,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
)
from tests.told import told

MIN_COUNT = PROFILES["min-count"]


def clash_of(state: State) -> Clash:
    explained = planner.explain(state, PENDING, objective=MIN_COUNT)
    assert explained.question == "why-nothing"
    assert explained.status == "infeasible"
    assert explained.clash is not None
    assert explained.clash.proved
    assert explained.clash.tried_all
    return explained.clash


def works(state: State, text: str) -> bool:
    return planner.solve(edit(state, [text]), PENDING, objective="min-count").status == "optimal"


STATES: dict[str, Iterable[Object]] = {
    "priority": [
        *queue("a", 4, within="LowerPriority"),
        *running("one", "a", 2, 14),
        *running("two", "a", 2, 12),
        *pending("a", 3, 10),
    ],
    "equal": [
        *queue("a", 4, within="LowerOrNewerEqualPriority"),
        *running("one", "a", 4, 14, created=40),
        *pending("a", 3, 10),
    ],
    "borrowing": [
        *cohort("org"),
        *queue("a", 2, "org", borrowing=1),
        *queue("b", 8, "org"),
        *running("mine", "a", 2, 20),
        *pending("a", 4),
    ],
    "policy": [
        *cohort("org"),
        *queue("a", 4, "org"),
        *queue("b", 0, "org"),
        *running("theirs", "b", 4),
        *pending("a", 3),
    ],
    "threshold": [
        *cohort("org"),
        *queue("a", 0, "org", reclaim="Any", borrow="LowerPriority", threshold=2),
        *queue("b", 4, "org", lending=4),
        *queue("c", 0, "org"),
        *running("theirs", "c", 4, 5),
        *pending("a", 3),
    ],
    "fair": [
        *fair_sharing(within_nominal=False),
        *cohort("org"),
        *queue("a", 3, "org", reclaim="Any"),
        *queue("b", 3, "org"),
        *queue("c", 2, "org"),
        *running("mine", "a", 4, 30),
        *running("theirs", "b", 4),
        *pending("a", 2),
    ],
}


@pytest.mark.parametrize("name", STATES)
def test_each_change_works_and_none_smaller_does(name: str) -> None:
    state = state_of(STATES[name])
    changes = clash_of(state).changes
    assert changes
    for change in changes:
        assert works(state, change.edit), change.edit
        plan = planner.solve(edit(state, [change.edit]), PENDING, objective="min-count")
        assert plan.keys == change.victims
        if change.step and not change.path.endswith("weight"):  # test_weights.py
            assert change.step == f"+{int(change.after) - int(change.before)}"
            for less in range(int(change.before) + 1, int(change.after)):
                assert not works(state, f"{change.path}={less}"), less


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        # Past 12 two may go, which leaves 1 short; past 14 either, and both are needed.
        (
            "priority",
            {"workload/ns/pending.priority=15", "clusterqueue/a.quota.default/gpu.nominal=7"},
        ),
        # Equal is enough: the workload that runs queued ten minutes later.
        (
            "equal",
            {"workload/ns/pending.priority=14", "clusterqueue/a.quota.default/gpu.nominal=7"},
        ),
        # 2 + 4 = 6 of the 2 of its own and 4 borrowed; or of 5 of its own and 1 borrowed.
        (
            "borrowing",
            {
                "clusterqueue/a.quota.default/gpu.borrowingLimit=4",
                "clusterqueue/a.quota.default/gpu.nominal=5",
                "clusterqueue/a.preemption.withinClusterQueue=none",
            },
        ),
        (
            "policy",
            {
                "clusterqueue/a.preemption.reclaimWithinCohort=LowerPriority",
                "clusterqueue/a.preemption.reclaimWithinCohort=Any",
                "clusterqueue/a.quota.default/gpu.nominal=7",
            },
        ),
    ],
)
def test_changes_by_hand(name: str, edits: set[str]) -> None:
    found = {change.edit for change in clash_of(state_of(STATES[name])).changes}
    assert found == {text for text in edits if not text.endswith("none")}


def test_flavors_that_are_given_have_other_modes_in_a_changed_state() -> None:
    """With more quota the workload fits in the flavor, which the plan says is not so now."""
    state = state_of(STATES["priority"])
    given = planner.solve(state, PENDING).assignment
    assert given.mode == "Preempt"
    for flavors in (given, given.model_dump(by_alias=True)):
        found = planner.explain(state, PENDING, objective=MIN_COUNT, assignment=flavors)
        assert found.clash == clash_of(state)


def test_a_small_raise_is_found_where_a_large_one_takes_the_candidates_away() -> None:
    # With 2 of its own, a is short of memory, and b is over its quota of that: its workload goes,
    # and frees the GPU too. With 3 only the GPU is short, of which b uses no more than its quota,
    # and c has the higher priority.
    state = state_of(
        cohort("org"),
        queue("a", {"gpu": 1, "memory": 1}, "org", borrowing=0, reclaim="LowerPriority"),
        queue("b", {"gpu": 1, "memory": 1}, "org"),
        queue("c", {"gpu": 0, "memory": 0}, "org"),
        running("both", "b", {"gpu": 1, "memory": 2}),
        running("gpu", "c", {"gpu": 1}, 20),
        pending("a", {"gpu": 1, "memory": 2}),
    )
    path = "clusterqueue/a.quota.default/memory.nominal"
    assert [works(state, f"{path}={n}") for n in range(2, 10)] == [True, *[False] * 7]
    assert [change.edit for change in clash_of(state).changes] == [f"{path}=2"]


def test_two_policies_at_once_are_no_single_change() -> None:
    state = state_of(
        cohort("org"),
        queue("a", 4, "org"),
        queue("b", 0, "org"),
        running("mine", "a", 2),
        running("theirs", "b", 2),
        pending("a", 4),
    )
    clash = clash_of(state)
    # Either policy alone leaves 2 of the 4 where they are: each clashes with KQ-01 by itself.
    assert {law.law for law in clash.laws} in ({"KQ-01", "KQ-04"}, {"KQ-01", "KQ-05"})
    assert not any(".preemption." in change.path for change in clash.changes)


def test_inactive_queue_is_not_mended_by_numbers() -> None:
    state = state_of(queue("a", 2, stop="Hold"), pending("a", 3))
    explained = planner.explain(state, PENDING, objective=MIN_COUNT)
    told(explained.answer)
    assert explained.clash is not None
    assert not explained.clash.changes
    assert not explained.clash.tried_all


def test_no_flavor_is_mended_by_quota() -> None:
    """3 of 2 could never be; with 3, the workload of 2 that runs has to go."""
    state = state_of(queue("a", 2, within="LowerPriority"), running("x", "a", 2), pending("a", 3))
    clash = clash_of(state)
    assert not clash.laws
    (short,) = clash.shortfalls
    assert (short.requested, short.available, short.most) == (3, 0, 2)
    (change,) = clash.changes
    assert change.edit == "clusterqueue/a.quota.default/gpu.nominal=3"
    assert change.victims == ("ns/x",)


@pytest.mark.parametrize("release", ["0.15.0", "0.15.5", "0.16.2"])
def test_gates_that_a_release_does_not_know_are_not_tried(release: str) -> None:
    """FairSharingPreemptWithinNominal is known from 0.15.6 and 0.16.3 on.

    Either way the policy is what is in the way: b uses 4 more than its quota, and gives them back.
    """
    state = state_of(
        configuration(fairSharing={}),
        queue("a", 4, "org"),
        queue("b", 0, "org"),
        running("theirs", "b", 4),
        pending("a", 3),
        release=release,
    )
    edits = [change.edit for change in clash_of(state).changes]
    assert "clusterqueue/a.preemption.reclaimWithinCohort=Any" in edits


@pytest.mark.parametrize(
    ("parts", "edit_", "victims"),
    [
        # a may use 1 of its own, and 1 of the 4 of b: with one more lent it has its 3.
        (
            [*queue("a", 1, "org"), *queue("b", 4, "org", lending=1), *pending("a", 3)],
            "clusterqueue/b.quota.default/gpu.lendingLimit=2",
            0,
        ),
        # A Cohort lends its own quota, too.
        (
            [
                *cohort("org"),
                *cohort("rich", "org", nominal=4, lending=0),
                *queue("a", 1, "org"),
                *queue("b", 0, "rich"),
                *pending("a", 3),
            ],
            "cohort/rich.quota.default/gpu.lendingLimit=2",
            0,
        ),
        # All below mid have 1 themselves, and may borrow 1 together.
        (
            [
                *cohort("org", nominal=4),
                *cohort("mid", "org", nominal=0, borrowing=1),
                *queue("a", 1, "mid"),
                *pending("a", 3),
            ],
            "cohort/mid.quota.default/gpu.borrowingLimit=2",
            0,
        ),
        ([*queue("a", 4, stop="Hold"), *pending("a", 3)], "clusterqueue/a.stopPolicy=None", 0),
        # Whoever runs in a stopped queue is no candidate.
        (
            [
                *queue("a", 4, "org", reclaim="Any"),
                *queue("b", 0, "org", stop="HoldAndDrain"),
                *running("theirs", "b", 4),
                *pending("a", 3),
            ],
            "clusterqueue/b.stopPolicy=None",
            1,
        ),
    ],
    ids=["lending", "lending Cohort", "Cohort above", "own stop", "stop of another"],
)
def test_what_others_lend_or_stop_is_tried(parts: list[Object], edit_: str, victims: int) -> None:
    state = state_of(parts)
    explained = planner.explain(state, PENDING, objective=MIN_COUNT)
    assert explained.clash is not None
    found = {one.edit: one for one in explained.clash.changes}
    assert len(found[edit_].victims) == victims
    for one in found.values():
        assert works(state, one.edit)
        if one.step:
            assert not works(state, f"{one.path}={int(one.after) - 1}")


@pytest.mark.parametrize("also", [0, 1], ids=["one helps", "none helps"])
def test_of_many_who_lend_the_few_that_keep_most_are_tried(
    also: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only b keeps the 2 that a lacks, the others keep 1 each; and of 5 that a lacks nobody does.

    That no single change would do is not said, as not all were tried.
    """
    others = [queue(f"other-{n:02}", 1, "org", lending=0) for n in range(MOST_OTHERS + 1)]
    state = state_of(
        *others, queue("a", 1, "org"), queue("b", 4, "org", lending=0), pending("a", 3 + 3 * also)
    )
    tried, makes_plan = set[str](), Explainer.makes_plan

    def noted(self: KueueExplainer, change: str) -> bool:
        tried.add(change.partition("=")[0])
        return makes_plan(self, change)

    monkeypatch.setattr(Explainer, "makes_plan", noted)
    explained = planner.explain(state, PENDING, objective=MIN_COUNT)
    assert explained.clash is not None
    assert sum(path.endswith(".lendingLimit") for path in tried) == MOST_OTHERS
    edits = [change.edit for change in explained.clash.changes]
    assert ("clusterqueue/b.quota.default/gpu.lendingLimit=2" in edits) == (not also)
    assert not explained.clash.tried_all
    assert "No single change" not in explained.answer
