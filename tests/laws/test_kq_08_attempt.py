"""KQ-08: only the attempts that Kueue would make are made, in its order."""

import pytest

import planner
from planner.plan import Verdict
from planner.plan.kueue import Plan
from planner.report.kueue.plan import lines
from planner.state.kueue import State
from tests.cluster import Object, cohort, pending, queue, running, state_of
from tests.conftest import FOR_EVER_S
from tests.laws.judges import OWN, RECLAIM, Case, broken, judge, sets
from tests.told import told
from tests.verifier.cases import all_assigned, plan_of, verdicts


def contest(borrow: str, mine: int, theirs: int = 4) -> list[Object]:
    """Return a queue that uses ``mine`` of its 4, and one that borrows."""
    return [
        *cohort("org"),
        *queue("a", 4, "org", within="LowerPriority", reclaim="Any", borrow=borrow),
        *queue("b", 2, "org"),
        *running("mine", "a", mine),
        *(running("theirs", "b", theirs) if theirs else []),
        *pending("a", 3),
    ]


def full(mine: int, borrow: str = "Never", reclaim: str = "LowerPriority") -> list[Object]:
    """Return 12 in all, of which the own queue uses ``mine`` of its 4."""
    return [
        *cohort("org", nominal=4),
        *queue("a", 4, "org", within="LowerPriority", reclaim=reclaim, borrow=borrow),
        *queue("b", 4, "org"),
        *running("own", "a", mine),
        *running("theirs", "b", 12 - mine),
        *pending("a", 2),
    ]


CASES = [
    Case("no candidate elsewhere", contest("LowerPriority", 2, theirs=0), attempts=(True,)),
    Case(
        # Others are out of reach there: no attempt without borrowing is made.
        "forbidden, and not under nominal",
        contest("Never", 4),
        attempts=(True,),
        borrowing=False,
        permits=sets("mine theirs"),
    ),
    Case(
        # Of 6 the others keep 4, so 1 of the 3 is missing whoever goes.
        "in the attempt that is made they are not permitted",
        contest("Never", 4),
        legal=sets(),
    ),
    Case("forbidden, nobody with advantage", contest("Never", 2), attempts=(False, True)),
    Case("permitted", contest("LowerPriority", 2), attempts=(True, False)),
    Case("under nominal, nobody with advantage", full(3), attempts=(False, True)),
    Case("under nominal, somebody with advantage", full(2), attempts=(True, False)),
    Case("at nominal, and forbidden", full(4), attempts=(True,)),
    Case("above nominal, and permitted", full(5, "LowerPriority"), attempts=(True, False)),
    Case(
        "nobody elsewhere is reclaimed",
        full(3, reclaim="Never"),
        attempts=(True,),
        permits=sets("own"),
    ),
    Case(
        "a workload of a queue within its quota is no candidate",
        [
            *cohort("org"),
            *queue("a", 4, "org", within="LowerPriority", reclaim="LowerPriority"),
            *queue("b", 4, "org"),
            *running("own", "a", 3),
            *running("theirs", "b", 4),
            *pending("a", 2),
        ],
        attempts=(True,),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-08", case)
    made = {b for b in (True, False) if verdict(case.state, borrowing=b).holds}
    assert case.attempts is None or made == set(case.attempts)


def verdict(state: State, *, borrowing: bool) -> Verdict:
    """Return what the verifier says of an attempt, whatever the victims."""
    return verdicts(state, plan_of(state, ("own", OWN), borrowing=borrowing))["KQ-08"]


def test_the_order_depends_on_hierarchical_advantage() -> None:
    """Either order is legal; only the words differ."""
    for mine, order in (
        (2, "with borrowing, then without borrowing"),
        (3, "without borrowing, then with borrowing"),
    ):
        assert verdict(state_of(full(mine)), borrowing=True).detail == f"Kueue tries {order}"
    state = state_of(full(4))
    assert broken(state, ("own", OWN), borrowing=False) == ["KQ-08"]
    told(verdict(state, borrowing=False).detail)


def test_nothing_evicted_needs_no_attempt() -> None:
    state = state_of(queue("a", 4), pending("a", 4))
    assert not broken(state, borrowing=None, assignment=all_assigned(state, "Fit"))


@pytest.mark.parametrize("name", ["own", "unheard-of"])
def test_victims_without_an_attempt_are_forbidden(name: str) -> None:
    assert "KQ-08" in broken(state_of(full(4)), (name, OWN), borrowing=None)


def test_fair_sharing_has_no_such_attempts() -> None:
    state = state_of(full(2))
    configuration = state.configuration.model_validate({"kind": "Configuration", "fairSharing": {}})
    fair = state.model_copy(update={"configuration": configuration})
    plan = plan_of(state, ("theirs", RECLAIM), borrowing=False)
    assert not broken(state, ("theirs", RECLAIM), borrowing=False)
    assert [law for law, one in verdicts(fair, plan).items() if not one.holds] == ["KQ-08"]


def test_an_attempt_that_permits_borrowing_does_not_say_that_anybody_borrows() -> None:
    """Nobody of another queue is a candidate: Kueue permits borrowing, and 3 of 4 are used."""
    parts = queue("a", 4, within="LowerPriority"), running("mine", "a", 4), pending("a", 3)
    plan = planner.solve(state_of(*parts), time_limit=FOR_EVER_S)
    assert isinstance(plan, Plan)
    assert (plan.borrowing, plan.keys) == (True, ("ns/mine",))
    (used,) = next(one.uses for one in plan.tree if one.name == "a")
    assert used.after < used.nominal
    assert plan.about.attempt == "borrowing permitted"
    assert "borrowing        permitted" in [*lines(plan)]
