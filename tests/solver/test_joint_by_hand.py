"""Joint plans on small clusters, reasoned by hand; the refusals of the library."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import planner
from planner.commands.joint.kueue import question as joint_question
from planner.commands.joint.kueue import solve as joint_solve
from planner.commands.joint.kueue.sequence import OneByOne
from planner.errors import InputError, LookupFailed, UnsupportedError
from planner.objective.profile_file import find_profile
from planner.plan.kueue import JointPlan
from tests.cluster import Object, configuration, fair_sharing
from tests.cluster import queue as cluster_queue
from tests.cluster import running as holds
from tests.cluster import state_of as small
from tests.flavored import flavor, group, podset, queue, running, state_of
from tests.flavored import waiting as one_waiting
from tests.reference.cycles import strict, waits
from tests.solver.joint_clusters import lent, lent_and_asked_for, second_first, waiting
from tests.solver.joint_truth import is_best
from tests.told import told

FIRST, SECOND = "ns/first", "ns/second"
NAMED = [FIRST, SECOND]


def steps_of(plan: JointPlan) -> list[tuple[str, set[str]]]:
    """Return who is served, and for each the victims."""
    return [(step.preemptor, {v.workload for v in step.victims}) for step in plan.steps]


def test_what_was_evicted_for_nothing_is_named() -> None:
    """Each asks for 3; together the large one and one small one are enough.

    One by one both small ones go for first; second finds 1 left over, and the large one goes for
    it. Then 8 - 6 = 2 are free, so one small one would fit again.
    """
    state = state_of(*lent_and_asked_for(3))
    plan = planner.solve_joint(state, NAMED)
    assert is_best(plan)
    assert set(plan.admitted) == {*NAMED}
    assert len(plan.victims) == 2
    assert {victim.workload for victim in plan.victims} < {*plan.greedy.victims}
    assert "ns/large" in {victim.workload for victim in plan.victims}
    turns = [(turn.preemptor, set(turn.victims)) for turn in plan.greedy.turns]
    assert turns == [(FIRST, {"ns/small-1", "ns/small-2"}), (SECOND, {"ns/large"})]
    assert len(plan.greedy.fit_again) == 1
    assert plan.fit_again == ()
    assert plan.greedy.terms["workloads"] == 3


def test_the_first_in_precedence_is_served_second_where_only_that_admits_it() -> None:
    """First may preempt nobody. Second may take the large one, which leaves room for both.

    Kueue parks first, and comes back to it once the large one is gone.
    """
    plan = planner.solve_joint(second_first())
    assert is_best(plan)
    assert steps_of(plan) == [(SECOND, {"ns/large"}), (FIRST, set())]
    assert [(one.workload, one.admitted, one.greedy) for one in plan.pending] == [
        (FIRST, True, True),
        (SECOND, True, True),
    ]


def turns_of(*parts: Iterable[Object]) -> list[tuple[str, bool, set[str]]]:
    """Return who is served one by one, in Kueue's cycles: whether, and whom it evicts."""
    turns = planner.solve_joint(small(*parts)).greedy.turns
    return [(turn.preemptor, turn.admitted, {*turn.victims}) for turn in turns]


def test_one_by_one_the_head_of_a_strict_queue_stays_the_head() -> None:
    """Vip asks for more than there is; what is behind it fits."""
    waiting = [waits("vip", "a", 9, 50), waits("fits", "a", 2)]
    served = [("ns/fits", True, set[str]()), ("ns/vip", False, set[str]())]
    assert turns_of(cluster_queue("a", 4), *waiting) == served
    never = [("ns/vip", False, set[str]()), ("ns/fits", False, set[str]())]
    assert turns_of(strict("a", 4), *waiting) == never


def test_one_by_one_who_finds_nobody_keeps_its_room() -> None:
    """Only where it is StrictFIFO, and may not take it back from anybody."""
    waiting = [waits("first", "b", 3, 9), waits("one", "a", 1), holds("low", "a", 1)]
    for kind, reclaim, admitted in (
        (strict, "Never", False),
        (strict, "Any", True),
        (cluster_queue, "Never", True),
    ):
        queues = kind("b", 3, "all", reclaim=reclaim), cluster_queue("a", 0, "all")
        served = {key: done for key, done, _ in turns_of(*queues, *waiting)}
        assert served == {"ns/first": reclaim == "Any", "ns/one": admitted and reclaim != "Any"}


def test_one_by_one_shares_decide_under_fair_sharing() -> None:
    """Queue a uses more of what c lends than b: its priority does not help."""
    parts = [cluster_queue(name, 6 if name == "c" else 0, "all") for name in "abc"]
    more = [holds("used", "a", 2), waits("one", "a", 3, 100), waits("first", "b", 3)]
    first, one = ("ns/first", True, set[str]()), ("ns/one", True, set[str]())
    assert turns_of(*parts, *more) == [one, (*first[:1], False, set())]
    assert turns_of(fair_sharing(), *parts, *more) == [first, (*one[:1], False, set())]


def test_nobody_can_be_admitted() -> None:
    state = state_of(
        flavor("f"),
        queue("a", group(f=4)),
        running("on", "a", "f", 4, 5),
        waiting("first", "a", 3, 10),
        waiting("second", "a", 9, 9),
    )
    plan = planner.solve_joint(state)
    assert plan.status == "infeasible"
    assert not plan.steps
    assert not plan.terms
    said = {one.workload: one.explanation for one in plan.pending}
    told(said[FIRST])
    told(said[SECOND])


def test_what_is_in_nobodys_way_is_named_where_no_eviction_helps() -> None:
    """A stopped queue has flavors that would do; of two workloads each has its own reason."""
    stopped = [*cluster_queue("stopped", 8, stop="Hold"), *waits("first", "stopped", 4)]
    plan = planner.solve_joint(small(stopped))
    assert plan.status == "infeasible"
    why = "ClusterQueue stopped is inactive: its stopPolicy is Hold"
    assert plan.pending[0].explanation == f"not admitted: {why}"
    assert plan.explanation.endswith(why)
    large = [*cluster_queue("b", 2), *waits("second", "b", 4)]
    both = planner.solve_joint(small(stopped, large))
    assert both.pending[1].explanation.startswith('not admitted: podset "main" of ns/second fits')
    assert why in both.explanation
    assert "can never use more than 2" in both.explanation


def test_whom_kueue_does_not_even_look_at_is_named() -> None:
    """Nobody lifts the gate of second, whoever is before it; the plan serves it all the same."""
    first, second = waits("first", "a", 1, 20), waits("second", "a", 1, 10)
    second[0]["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": "x"}
    plan = planner.solve_joint(small(cluster_queue("a", 4), first, second))
    assert set(plan.admitted) == {FIRST, SECOND}
    assert [turn.admitted for turn in plan.greedy.turns] == [True, False]
    noted = [one for one in plan.notes if "Kueue does not even look at" in one]
    assert len(noted) == 1
    assert SECOND in noted[0]
    assert noted == [
        one for one in planner.solve(small(cluster_queue("a", 4), second)).notes if one in noted
    ]


def test_who_reserves_the_room_of_one_that_the_plan_admits_at_once_is_named() -> None:
    """First asks for 3 of the 4 that its queue owns, of which 2 are free, and may evict nobody.

    It reserves these 2 in every cycle, as both queues are StrictFIFO. Second would need 1 of them.
    """
    parts = [
        strict("a", 4, "all", within="LowerPriority"),
        strict("b", 2, "all"),
        holds("on", "a", 1, 90),
        holds("lent", "b", 3, 90),
    ]
    state = small(*parts, waits("first", "a", 3, 50), waits("second", "b", 1))
    plan = planner.solve_joint(state)
    assert (set(plan.admitted), plan.victims) == ({SECOND}, ())
    assert not any(turn.admitted for turn in plan.greedy.turns)
    noted = [one for one in plan.notes if SECOND in one]
    assert len(noted) == 1
    assert FIRST in noted[0]
    assert "reserves the room" in noted[0]


def test_all_are_named_who_are_before_one_that_the_plan_admits_at_once() -> None:
    """Of 3 free first takes 1, here, too. Third needs 4, may evict nobody, and reserves 2."""
    parts = [
        strict("a", 1, "all"),
        strict("b", 1, "all"),
        strict("c", 6, "all", within="LowerPriority"),
        holds("on", "c", 2, 90),
        holds("lent", "b", 3, 90),
    ]
    more = [waits("first", "a", 1, 50), waits("third", "c", 4, 40), waits("second", "b", 1)]
    plan = planner.solve_joint(small(*parts, *more))
    assert set(plan.admitted) == {FIRST, SECOND}
    assert plan.victims == ()
    noted = [one for one in plan.notes if SECOND in one]
    assert len(noted) == 1
    assert FIRST in noted[0]
    assert "ns/third" in noted[0]


def test_a_closed_gate_of_one_that_would_preempt_is_named() -> None:
    """Once first is admitted, second has to evict low, which its gate keeps it from."""
    gated = waits("second", "a", 2, 10)
    gated[0]["spec"]["preemptionGates"] = [{"name": "g"}]
    parts = [cluster_queue("a", 5, within="LowerPriority"), holds("low", "a", 3, 0)]
    parts += [waits("first", "a", 1, 20), gated]
    on = configuration(featureGates={"MultiKueueOrchestratedPreemption": True})
    plan = planner.solve_joint(small(on, *parts))
    assert steps_of(plan) == [(FIRST, set()), (SECOND, {"ns/low"})]
    (noted,) = plan.notes
    assert noted.startswith(f"Kueue evicts nobody for {SECOND}: it has a closed preemption gate")
    assert not planner.solve_joint(small(*parts)).notes


def test_that_pods_are_waited_for_is_said_of_whom_the_plan_admits() -> None:
    """Who evicts is not kept from it, and those that the plan admits before it will be ready."""
    waits_for_pods = configuration(waitForPodsReady={"blockAdmission": True})
    parts = [cluster_queue("a", 4, within="LowerPriority"), holds("low", "a", 2, 0)]
    parts += [waits("first", "a", 1, 20), waits("second", "a", 2, 10)]
    starting = holds("starting", "a", 1, 50)
    state = small(waits_for_pods, *parts, starting)
    plan = planner.solve_joint(state)
    assert steps_of(plan) == [(FIRST, set()), (SECOND, {"ns/low"})]
    (noted,) = [one for one in plan.notes if "waitForPodsReady" in one]
    assert noted in planner.solve(state, FIRST).notes
    for one in (*parts[1], *starting):
        ready = {"type": "PodsReady", "status": "True"}
        one["status"]["conditions"].append(ready)
    assert not planner.solve_joint(small(waits_for_pods, *parts, starting)).notes


def test_what_the_release_cannot_count_is_said_of_joint_plans_too() -> None:
    """Kueue 0.15.8 takes 10^19 for 0, once for both workloads."""
    parts = [cluster_queue("a", 10**19, "all"), cluster_queue("b", 4, "all")]
    state = small(*parts, waits("first", "b", 1), waits("second", "b", 1), release="0.15.8")
    noted = [one for one in planner.solve_joint(state).notes if "cannot count so far" in one]
    assert noted == [one for one in planner.solve(state, FIRST).notes if one in noted]
    assert len(noted) == 1


def test_trees_apart_are_planned_for_together() -> None:
    lone = queue("lone", group(f=4), within="LowerPriority")
    parts = (lone, running("old", "lone", "f", 4, 1), waiting("second", "lone", 4, 20))
    state = state_of(*lent(waiting("first", "a", 4, 10), *parts))
    plan = planner.solve_joint(state, objective="min-count")
    assert is_best(plan)
    assert {frozenset(gone) for _, gone in steps_of(plan)} == {
        frozenset({"ns/old"}),
        frozenset({"ns/large"}),
    }
    assert plan.pending[0].workload == SECOND


def test_wishes_bind_all_steps_together(tmp_path: Path) -> None:
    """At most one eviction: the large one. Without the large one, three of them cannot do."""
    path = tmp_path / "one.toml"
    path.write_text('levels = ["workloads"]\n[budget]\ntotal = 1\n')
    state = state_of(*lent_and_asked_for(2))
    plan = planner.solve_joint(state, NAMED, find_profile(str(path)))
    assert [victim.workload for victim in plan.victims] == ["ns/large"]


def test_costs_of_the_user_count() -> None:
    state = state_of(*lent_and_asked_for(2))
    costs = {"ns/large": 5, "ns/small-1": 1, "ns/small-2": 1}
    plan = planner.solve_joint(state, NAMED, "min-cost", costs)
    assert {victim.workload for victim in plan.victims} == {"ns/small-1", "ns/small-2"}
    assert plan.terms["cost"] == sum(victim.costs["cost"] for victim in plan.victims) == 2


def test_with_one_workload_it_is_the_single_plan() -> None:
    state = state_of(*lent(waiting("first", "a", 3, 10)))
    for objective in ("no-regret", "min-lost-work", "fewest-tenants"):
        alone = planner.solve(state, FIRST, objective)
        together = planner.solve_joint(state, [FIRST], objective)
        assert [v.workload for v in together.victims] == list(alone.keys)
        assert together.terms == alone.terms


def test_beyond_the_orders_considered_nothing_bounds_what_other_orders_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    plan = planner.solve_joint(state_of(*lent_and_asked_for(2)), NAMED, "min-count")
    assert (plan.status, len(plan.victims)) == ("feasible", 1)
    told(plan.explanation)
    level = plan.certificate.levels[0]
    assert (level.value, level.bound, level.claimed) == (1, 0, None)


def test_beyond_the_orders_considered_nobody_has_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    two = waiting("first", "a", 1, 10), waiting("second", "a", 1, 9)
    plan = planner.solve_joint(state_of(flavor("f"), queue("a", group(f=2)), *two), NAMED)
    assert (plan.status, plan.admitted, plan.victims) == ("optimal", (FIRST, SECOND), ())


def test_where_another_order_is_needed_nothing_is_said_to_be_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    plan = planner.solve_joint(second_first())
    assert plan.status == "feasible"
    assert plan.admitted == (SECOND,)
    told(plan.pending[0].explanation)


def test_too_many_are_served_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each at its best takes a small one of 2 GPUs, where the large one alone would do for both."""
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    monkeypatch.setattr(joint_solve, "STEPS", 1)
    plan = planner.solve_joint(state_of(*lent_and_asked_for(2)), NAMED, "min-count")
    assert (plan.status, plan.admitted) == ("feasible", (FIRST, SECOND))
    assert {victim.workload for victim in plan.victims} == {"ns/small-1", "ns/small-2"}
    told(plan.explanation)
    said = [(one.value, one.bound, one.claimed) for one in plan.certificate.levels]
    assert said[:2] == [(2, 0, None), (2, 0, None)]


def test_no_time_leaves_what_serving_one_by_one_gives() -> None:
    state = state_of(*lent_and_asked_for(3))
    plan = planner.solve_joint(state, NAMED, time_limit=0)
    assert plan.status == "feasible"
    assert {victim.workload for victim in plan.victims} == {*plan.greedy.victims}


def test_each_is_served_at_its_best_where_neither_kueue_nor_the_search_finds_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a tree that is so large that the time for the search is up."""
    state = state_of(*lent(waiting("first", "a", 3, 10)))
    monkeypatch.setattr(joint_solve, "find_any", lambda _: "unknown")
    monkeypatch.setattr(joint_question, "serve_in_cycles", lambda _, left, __: OneByOne((), left))
    plan = planner.solve_joint(state, [FIRST])
    assert plan.admitted == (FIRST,)
    assert [one.workload for one in plan.victims] == list(planner.solve(state, FIRST).keys)


def test_who_has_no_queue_is_not_among_all() -> None:
    state = state_of(*lent(waiting("first", "a", 2, 10), waiting("lost", "nowhere", 2, 9)))
    plan = planner.solve_joint(state)
    assert is_best(plan)
    assert plan.admitted == (FIRST,)
    assert plan.skipped == ()
    assert any("does not even look at ns/lost" in note for note in plan.notes)
    with pytest.raises(LookupFailed, match="nowhere"):
        planner.solve_joint(state, [FIRST, "ns/lost"])


def test_refusals() -> None:
    state = state_of(*lent(waiting("first", "a", 2, 10)))
    with pytest.raises(InputError, match="named twice"):
        planner.solve_joint(state, [FIRST, FIRST])
    with pytest.raises(InputError) as caught:
        planner.solve_joint(state, FIRST)
    told(caught.value)
    with pytest.raises(InputError) as caught:
        planner.solve_joint(state, [])
    told(caught.value)
    with pytest.raises(LookupFailed) as caught:
        planner.solve_joint(state, ["ns/nobody"])
    told(caught.value)
    with pytest.raises(UnsupportedError, match="unstable"):
        planner.solve_joint(state, [FIRST], "stable")
    with pytest.raises(InputError) as caught:
        planner.solve_joint(state_of(*lent()))
    told(caught.value)


@pytest.mark.parametrize("pending", [NAMED, None])
def test_too_many_are_refused(pending: list[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_question, "MOST", 1)
    state = state_of(*lent_and_asked_for(2))
    with pytest.raises(UnsupportedError, match="at most 1"):
        planner.solve_joint(state, pending)


def test_fewer_pods_are_not_decided() -> None:
    pods = {**podset(1), "count": 4, "minCount": 2}
    state = state_of(*lent(one_waiting("first", "a", pods, priority=10)))
    with pytest.raises(UnsupportedError, match="fewer pods"):
        planner.solve_joint(state, [FIRST])
