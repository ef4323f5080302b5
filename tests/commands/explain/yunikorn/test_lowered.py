"""Explanations of a queue above its maximum: against all its recorded legal sets, and by hand."""

import pytest

import planner
from planner.commands.explain.yunikorn.record import YuniKornExplanation
from planner.objective.profiles import Profile
from planner.reader.yunikorn import read_yunikorn_objects
from planner.state.yunikorn import YuniKornState
from tests.told import told
from tests.yunikorn.building import above_max, state_of
from tests.yunikorn.legality import SMALL_QUOTA, candidates_of, lowered_lines

FEWEST = Profile("fewest", "the fewest victims", levels=(("victims",),))
QUEUE = "root.research"


def explained(state: YuniKornState, queue: str, victim: str | None = None) -> YuniKornExplanation:
    """Explain the plan of fewest victims for a queue."""
    answer = planner.explain(state, victim=victim, objective=FEWEST, limit=1000, quota=queue)
    assert isinstance(answer, YuniKornExplanation)
    return answer


@pytest.mark.parametrize("name", SMALL_QUOTA)
def test_the_recorded_legal_sets_say_the_same(name: str) -> None:
    several, others = 0, 0
    for line, queue, legal in lowered_lines(name, 12):
        state = read_yunikorn_objects(line, where=line["id"])
        answer, core = explained(state, queue), line["expect"]["victims"]
        least = min(map(len, legal), default=0)
        best = {one for one in legal if len(one) == least}
        assert (answer.question == "why-nothing") == (not legal), line["id"]
        if not best or answer.optima is None:
            continue
        assert {frozenset(one) for one in answer.optima.plans} == best, line["id"]
        taken = {one.allocation for one in answer.allocations if one.by_scheduler}
        assert taken == {*core} or "/" in name, line["id"]  # where the core has no order
        for one in answer.allocations:
            assert one.candidate
            assert one.allocation in candidates_of(line)
            in_all = all(one.allocation in each for each in best)
            assert one.necessary == (in_all if one.by_plan else None), line["id"]
        several += len(best) > 1
        others += not {*core} <= {*answer.victims}
    assert several
    assert others


def test_the_core_is_told_beside_the_plan() -> None:
    answer = explained(state_of(above_max()), QUEUE)
    (plan,) = (one for one in answer.allocations if one.by_plan)
    [one for one in answer.allocations if one.by_scheduler]
    assert (plan.law.law, plan.node_position, plan.candidates) == ("YK-14", None, 4)
    told(plan.law.text)
    told(answer.answer)


def test_who_may_not_go_and_why() -> None:
    value = above_max()
    held = value["applications"][0]["allocations"]
    held[1]["requiredNodeId"] = "n1"
    held[3]["resource"] = {"mem": 1}
    state = state_of(value)
    texts = [explained(state, QUEUE, one["allocationKey"]).allocations[0].law for one in held]
    assert [one.law for one in texts] == ["YK-14"] * 4
    told(texts[1].text)
    told(texts[3].text)


def test_no_set_leaves_every_queue_its_guaranteed() -> None:
    answer = explained(state_of(above_max(1)), QUEUE)
    assert answer.clash is not None
    assert [one.law for one in answer.clash.laws] == ["YK-02"]
    told(answer.clash.laws[0].text)
