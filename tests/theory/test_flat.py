"""Another way to the optimum: dynamic programmes for flat cohorts."""

import pytest

import planner
from planner.plan.kueue import Plan
from tests.cluster import PENDING, preempt
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.theory.flat import FlatCase, Held, random_case

SMALL = range(1500 if TEST_ALL else 16)
LARGE = range(12) if TEST_ALL else (0,)


def solved(case: FlatCase, objective: str, time_limit: float | None = None) -> Plan:
    state = case.state()
    costs = {f"ns/{one.name}": one.cost for one in case.held}
    flavors = preempt(state)
    return planner.solve(
        state, PENDING, objective, costs, assignment=flavors, time_limit=time_limit
    )


def least_of(case: FlatCase) -> dict[tuple[str, str], int | None]:
    """Return the least value of the term of two objectives."""
    fewest, cheapest = case.least(lambda _: 1), case.least(lambda one: one.cost)
    return {("min-count", "victims"): fewest, ("min-cost", "cost"): cheapest}


def test_small_cases() -> None:
    answers = 0
    for seed in SMALL:
        case = random_case(seed, 2 + seed % 30)
        for (objective, term), least in least_of(case).items():
            plan = solved(case, objective)
            assert plan.status == ("infeasible" if least is None else "optimal"), seed
            if least is not None:
                assert plan.terms[term] == least, seed
                answers += 1
    assert answers > len(SMALL) // 2


@pytest.mark.parametrize("seed", LARGE)
def test_large_cases(seed: int) -> None:
    """Among many of equal cost the choice of one may take longer; the value is proved first."""
    case = random_case(seed, 2_500, share=60)
    for (objective, term), least in least_of(case).items():
        plan = solved(case, objective, time_limit=FOR_EVER_S)
        if least is None:
            assert plan.status == "infeasible"
        else:
            assert plan.certificate is not None
            level = plan.certificate.levels[0]
            assert (level.term, level.value, level.bound) == (term, least, least)


def case_of(nominal: list[int], held: list[Held], request: int) -> FlatCase:
    return FlatCase(
        nominal,
        held,
        request,
        priority=10,
        within="LowerPriority",
        reclaim="Any",
        borrow="LowerPriority",
        threshold=None,
        limit=None,
    )


def test_only_the_last_victim_may_end_below_the_quota() -> None:
    """Queue 1 is 3 over its quota: 2 and then 4 may go, 4 and then 2 may not, 2 + 2 + 4 neither."""
    held = [Held(name, 1, gpus, 0, 1) for name, gpus in (("a", 4), ("b", 2), ("c", 2), ("d", 1))]
    nominal = [12, 6]
    assert case_of(nominal, held, 12).least(lambda _: 1) == 1  # 4, of which 3 are needed
    assert case_of(nominal, held, 14).least(lambda _: 1) == 2  # 2 + 4: 5 are needed
    assert case_of([16, 6], held, 19).least(lambda _: 1) == 2  # 6 are needed
    assert case_of([16, 6], held, 20).least(lambda _: 1) is None  # 7: 2 + 1 + 4, but 3 is too much
