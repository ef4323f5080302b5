"""One state has one answer: in every process, with every hash seed, beside any other work.

Sets of names are in another order in a process with another hash seed. Each process here answers
the same questions about Kueue, all by itself or with others of its kind.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import starmap
from pathlib import Path
from typing import Any, Final

import pytest

import planner
from tests.cluster import PENDING, fair_sharing, preempt
from tests.conftest import FOR_EVER_S, QUICKSTART, TEST_ALL, YUNIKORN
from tests.hash_seeds import printed
from tests.solver.test_core import crowd

QUESTIONS: Final = [
    (3, 10 if TEST_ALL else 6, False, "no-regret"),
    (9, 10 if TEST_ALL else 6, False, "fewest-tenants"),
    (11, 5, True, "min-cost") if TEST_ALL else (3, 4, True, "min-cost"),
]
"""A seed for a crowd, how many each queue has, whether it shares fairly, and an objective."""

PROCESSES: Final = [("0", 1), ("1", 2), ("4711", 3)]
"""A hash seed for a process, and how many it has at work; in ordinary runs the first and last."""


def answer(seed: int, each: int, fair: bool, profile: str) -> dict[str, Any]:  # noqa: FBT001
    """Return a plan, but for how long it took."""
    state = crowd(seed, each, fair_sharing() if fair else ())
    plan = planner.solve(state, PENDING, objective=profile, assignment=preempt(state))
    value: dict[str, Any] = plan.model_dump(mode="json")
    del value["certificate"]["wall_time_s"]
    return value


def answers(workers: int) -> None:
    """Print all answers, found by so many worker processes."""
    with ProcessPoolExecutor(workers) as pool:
        json.dump(list(pool.map(answer, *zip(*QUESTIONS, strict=True))), sys.stdout)


def said(seed: str, workers: int) -> list[dict[str, Any]]:
    done = printed(f"from {__name__} import answers; answers({workers})", seed)
    found: list[dict[str, Any]] = json.loads(done)
    return found


def test_the_same_answers_from_every_process() -> None:
    first, *others = starmap(said, PROCESSES if TEST_ALL else PROCESSES[::2])
    assert others
    assert all(other == first for other in others)
    assert {plan["status"] for plan in first} == {"optimal"}
    assert all(plan["victims"] for plan in first)


@pytest.mark.parametrize("source", [QUICKSTART, YUNIKORN], ids=["Kueue", "YuniKorn"])
def test_threads_do_not_disturb_one_another(source: Path) -> None:
    """All ask about one state: whatever is remembered of it, or of all states, is shared."""

    def said(state: planner.AnyState) -> tuple[Any, ...]:
        plan = planner.solve(state, time_limit=FOR_EVER_S)
        value = plan.model_dump(mode="json")
        del value["certificate"]["wall_time_s"]
        accepted = planner.verify(state, plan).accepted
        why = planner.explain(state, time_limit=FOR_EVER_S).victims
        return value, accepted, why, planner.greedy(state)

    state = planner.read(source)
    alone, interval = said(state), sys.getswitchinterval()
    again = planner.read(source)  # nothing is remembered of it
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(said, [again] * 4))
    finally:
        sys.setswitchinterval(interval)
    assert answers == [alone] * 4
