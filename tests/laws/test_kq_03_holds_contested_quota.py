"""KQ-03: a victim holds contested quota, of whatever amount, in an active queue of the tree."""

import pytest

from planner.state.kueue import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.laws.cases import ELSEWHERE, HOLDS_CONTESTED, RESOURCES
from tests.laws.judges import OWN, RECLAIM, Case, broken, court_of, detail, judge
from tests.verifier.cases import broken as laws_of
from tests.verifier.cases import plan_of, victim_of


@pytest.mark.parametrize("case", HOLDS_CONTESTED, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-03", case)


def test_a_problem_holds_the_active_queues_of_one_tree() -> None:
    problem = court_of("KQ-03", ELSEWHERE).problem
    assert [workload.key for workload in problem.workloads] == ["ns/b1"]


def everything() -> State:
    """Make a queue of 4 that is full, and one workload of each kind that is no victim."""
    (finished,) = running("finished", "a", {"gpu": 4})
    finished["status"]["conditions"].append({"type": "Finished", "status": "True"})
    (waiting,) = pending("a", {"gpu": 2})
    waiting["metadata"] |= {"name": "waiting", "uid": "uid-waiting"}
    return state_of(
        cohort("org"),
        queue("a", RESOURCES, "org", within="LowerPriority", reclaim="Any"),
        queue("stopped", {"gpu": 0}, "org", stop="Hold"),
        queue("alone", {"gpu": 0}),
        running("needed", "a", {"gpu": 4}),
        running("zero", "a", {"gpu": 0}),
        running("cores", "a", {"cpu": 1}),
        running("elsewhere", "alone", {"gpu": 2}),
        running("held", "stopped", {"gpu": 2}),
        [finished, waiting],
        pending("a", {"gpu": 2}),
    )


def test_own_workloads_with_the_contested_flavor_are_permitted() -> None:
    state = everything()
    assert not broken(state, ("needed", OWN))
    assert not broken(state, ("needed", OWN), ("zero", OWN))


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("cores", OWN, "ns/cores holds nothing of what is contested"),
        (
            "elsewhere",
            RECLAIM,
            (
                "ns/elsewhere holds its quota in ClusterQueue alone, which shares no cohort "
                "with ClusterQueue a"
            ),
        ),
        ("pending", OWN, "ns/pending is the preemptor itself"),
        ("waiting", OWN, "ns/waiting is not among the workloads that hold quota"),
        ("finished", OWN, "ns/finished is not among the workloads that hold quota"),
        ("unheard-of", OWN, "ns/unheard-of is not among the workloads that hold quota"),
        ("needed", OWN, "ns/needed is named 2 times"),
    ],
)
def test_others_are_forbidden(name: str, reason: str, said: str) -> None:
    state = everything()
    assert broken(state, ("needed", OWN), (name, reason)) == ["KQ-03"]
    assert detail("KQ-03", state, ("needed", OWN), (name, reason)) == said


def test_a_workload_of_an_inactive_queue_is_forbidden() -> None:
    """The queue is over quota, so its stopPolicy alone protects the workload."""
    assert "stopPolicy" in detail("KQ-03", everything(), ("needed", OWN), ("held", RECLAIM))


def test_a_victim_frees_its_quota_once_however_often_it_is_named() -> None:
    state = state_of(
        queue("a", 4, within="LowerPriority"),
        running("small", "a", 2),
        running("big", "a", 2, 99),
        pending("a", 4),
    )
    assert broken(state, ("small", OWN), ("small", OWN)) == ["KQ-01", "KQ-03"]


def test_the_wrong_queue_is_forbidden() -> None:
    state = everything()
    forged = victim_of(state, "needed", OWN).model_copy(update={"cluster_queue": "alone"})
    assert laws_of(state, plan_of(state, forged)) == ["KQ-03"]
