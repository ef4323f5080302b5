"""A law that is new is a record and a function in each piece: nothing else has to know of it.

The law of these tests is made up: no scheduler has it, so the replay of YuniKorn's algorithm
breaks it, and its record says why no step keeps it.
"""

from typing import Final

import numpy as np
import pytest

import planner
from planner.laws import RULE_SETS, Law
from planner.models.yunikorn.candidates import EXCLUSIONS
from planner.plan import Verdict
from planner.plan.yunikorn import YuniKornPlan
from planner.problem.array import BoolArray
from planner.problem.yunikorn import YuniKornProblem
from planner.state.yunikorn import YuniKornState
from planner.verifier.wording import judge
from planner.verifier.yunikorn import verify_yunikorn_plan
from planner.verifier.yunikorn.case import YuniKornCase
from planner.verifier.yunikorn.laws import CHECKS
from tests.cli.running import call
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

TWO: Final = {"gpu": 2}
SPARED: Final = "root.spared"
SPARES_A_QUEUE: Final = Law(
    "XX-01",
    "spares_a_queue",
    "no victim is in the queue that is spared",
    f"No victim is in queue {SPARED}.",
    "nowhere",
    rule_sets=("yunikorn-design", "yunikorn-written", "yunikorn-code"),
    drop=11,
    no_reference="no scheduler has it",
)


def excludes_a_queue(problem: YuniKornProblem) -> BoolArray:
    """XX-01: forbid the allocations of one queue."""
    forbidden = [facts.path == SPARED for facts in problem.queues]
    return np.array(forbidden, dtype=np.bool_)[problem.queue]


def spares_a_queue(case: YuniKornCase) -> Verdict:
    """XX-01: no victim is in the queue that is spared."""
    inside = [f"{one.key} is in {SPARED}" for one in case.victims if one.queue.path == SPARED]
    return judge(SPARES_A_QUEUE, inside, f"none is in {SPARED}")


@pytest.fixture
def new_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the law one of YuniKorn's."""
    for rules in SPARES_A_QUEUE.rule_sets:
        monkeypatch.setitem(RULE_SETS, rules, (*RULE_SETS[rules], SPARES_A_QUEUE))
    monkeypatch.setitem(EXCLUSIONS, SPARES_A_QUEUE.id, excludes_a_queue)
    monkeypatch.setitem(CHECKS, SPARES_A_QUEUE.id, spares_a_queue)


def full(*queues: str) -> YuniKornState:
    """Return a full node, on which the core takes the allocation of the last queue first."""
    value = cluster_value(
        [*map(queue, dict.fromkeys(["low", "spared", *queues])), queue("high", guaranteed=TWO)],
        [node("n1", {"gpu": 2 * len(queues)})],
        [
            *(
                application(f"app-{name}", f"root.{name}", allocation(name, TWO, age=9 - newer))
                for newer, name in enumerate(queues)
            ),
            application("asks", "root.high", asks=(ask("ask", TWO),)),
        ],
        preemption={"enabled": True},
    )
    return state_of(value)


def solve(state: YuniKornState) -> YuniKornPlan:
    plan = planner.solve(state, "ask", "min-count")
    assert isinstance(plan, YuniKornPlan)
    return plan


@pytest.mark.usefixtures("new_law")
def test_a_plan_keeps_it_and_says_so() -> None:
    plan = solve(full("low", "spared"))
    assert (plan.status, plan.keys) == ("optimal", ("low",))
    assert plan.certificate is not None
    assert plan.certificate.verdicts[-1] == Verdict(
        law="XX-01", title=SPARES_A_QUEUE.title, holds=True, detail=f"none is in {SPARED}"
    )
    assert plan.greedy is not None
    assert plan.greedy.keys == ("spared",)
    assert plan.greedy.outside_rules == (f"XX-01 {SPARES_A_QUEUE.title}: spared is in {SPARED}",)


def test_a_plan_made_without_it_breaks_it(request: pytest.FixtureRequest) -> None:
    state = full("low", "spared")
    plan = solve(state)
    assert plan.keys == ("spared",)
    assert verify_yunikorn_plan(state, plan).accepted
    request.getfixturevalue("new_law")
    found = verify_yunikorn_plan(state, plan)
    assert not found.accepted
    assert [verdict.law for verdict in found.verdicts if not verdict.holds] == ["XX-01"]


@pytest.mark.usefixtures("new_law")
def test_an_explanation_names_it() -> None:
    state = full("spared")
    assert solve(state).status == "infeasible"
    clash = planner.explain(state, "ask").clash
    assert clash is not None
    assert [law.law for law in clash.laws] == ["XX-01", "YK-08"]
    assert clash.laws[0].text == SPARES_A_QUEUE.title


@pytest.mark.usefixtures("new_law")
def test_the_list_of_laws_has_it() -> None:
    lines = call("laws", "--format", "plain").stdout.splitlines()
    (found,) = [line for line in lines if line.split()[:2] == ["law", "XX-01"]]
    assert f'title="{SPARES_A_QUEUE.title}"' in found
