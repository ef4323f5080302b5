"""Bounds by a sum of rows: by hand, tampered with, and where amounts could leave 64 bits."""

import random
from collections.abc import Mapping

import numpy as np
import pytest

import planner
from planner.plan import AnyPlan, BoundByRows, Certificate, Reaching, Shown, WeighedRow
from planner.plan.kueue import Plan
from planner.plan.proof import ByRows, CountSplit
from planner.proof.box import Box, Row, add_up, narrowed
from planner.proof.question import bound_by_rows
from planner.state.kueue import State
from tests import kueue_state
from tests.cluster import pending, queue, running
from tests.cluster import state_of as made_of
from tests.conftest import ROOT, TEST_ALL
from tests.proof.recheck import recorded
from tests.recorded import asks_the_state, lines, state_of

GPU = "example.com/gpu in flavor a100 at queue/team"
NIC = "example.com/nic in flavor a100 at queue/team"
STEP = 4 if TEST_ALL else 60
SMALL = ("small-classical-hier", "small-fair-flat", "small-flavors", "small-edge")


@pytest.fixture(scope="module")
def state() -> State:
    """Nothing is free of 8 GPUs and 8 NICs, and 4 of each are asked for.

    GPUs and NICs are held 4 and 1, 1 and 4, and 3 and 3.
    """
    return kueue_state.read(ROOT / "instances" / "two-resources.yaml")


@pytest.fixture(scope="module")
def plan(state: State) -> Plan:
    found = planner.solve(state, objective="min-count")
    assert isinstance(found, Plan)
    return found


def certificate_of(plan: AnyPlan) -> Certificate:
    assert plan.certificate is not None
    return plan.certificate


def sum_of(plan: Plan, term: str) -> BoundByRows:
    (found,) = [each for each in certificate_of(plan).sums if each.term == term]
    return found


def with_sum(plan: Plan, **changes: object) -> Plan:
    """Return the plan with something changed in what it says of its first level."""
    first, *others = certificate_of(plan).sums
    return with_certificate(plan, sums=(first.model_copy(update=changes), *others))


def with_certificate(plan: Plan, **changes: object) -> Plan:
    certificate = certificate_of(plan).model_copy(update=changes)
    return plan.model_copy(update={"certificate": certificate})


def said_of(state: State, plan: Plan, claim: str) -> tuple[bool, bool, str]:
    """Say whether a plan is accepted, whether a claim is certified, and how."""
    check = planner.check(state, plan)
    (found,) = [each for each in check.claims if each.claim == claim]
    return check.accepted, found.certified, found.detail


def test_two_rows_show_what_none_shows_alone(plan: Plan) -> None:
    """One holds GPUs enough, another NICs enough: by either of them one victim would do.

    Of both together 8 are missing, and those who have most hold 3 + 3 of them. Each victim taken
    for 5 leaves 8 - 5 = 3 with one victim, of which there is 6 - 5 = 1 at most.
    """
    alone = {bound.term: bound.bound for bound in certificate_of(plan).bounds}
    assert alone["victims"] == 1
    assert sum_of(plan, "victims") == BoundByRows(
        term="victims",
        rows=(
            WeighedRow(row=GPU, times=1, least=4),
            WeighedRow(row=NIC, times=1, least=4),
            WeighedRow(row="better", times=5, least=-1),
        ),
        needed=3,
        reached=1,
        reaching=(Reaching(of="ml/both", count=1, amount=1),),
        bound=2,
        statement=f"a better set would have to reach 1 x 4 ({GPU}) + 1 x 4 ({NIC}) + 5 x -1 "
        "(victims <= 1) = 3, and none reaches more than 1, so victims, those already being evicted "
        "included is at least 2",
    )


def test_what_the_levels_rest_on_is_counted(plan: Plan) -> None:
    """Workloads, weight and lost work follow from one row each, as that of the level before."""
    assert certificate_of(plan).shown == Shown(one_row=3, multipliers=1)
    without = with_certificate(plan, sums=(), bounds=())
    assert certificate_of(without).shown == Shown(tree=4)


def test_it_is_accepted(state: State, plan: Plan) -> None:
    assert said_of(state, plan, "victims") == (True, True, "1 step")


@pytest.mark.parametrize("times", [(2, 1, 5), (1, 1, 6), (1, 1, 1), (0, 1, 5), (1, 1, -5)])
def test_other_multipliers_are_refused(state: State, plan: Plan, times: tuple[int, ...]) -> None:
    """With 6 it would be 2 against 0, which does as well, but other numbers stand beside."""
    rows = tuple(
        row.model_copy(update={"times": number})
        for row, number in zip(sum_of(plan, "victims").rows, times, strict=True)
    )
    closes = times == (1, 1, 6)
    said = (
        "its sum of rows is not what the rows add up to"
        if closes
        else "the rows of its sum do not contradict one another"
    )
    assert said_of(state, with_sum(plan, rows=rows), "victims") == (False, False, said)


@pytest.mark.parametrize(
    "changes",
    [
        {"needed": 4},
        {"reached": 0},
        {"reaching": ()},
        {"statement": "nothing is cheaper"},
        {"bound": 1},
    ],
)
def test_other_numbers_are_refused(state: State, plan: Plan, changes: Mapping[str, object]) -> None:
    accepted, certified, said = said_of(state, with_sum(plan, **changes), "victims")
    assert (accepted, certified) == (False, False)
    assert said == "its sum of rows is not what the rows add up to"


def test_rows_that_there_are_not_are_refused(state: State, plan: Plan) -> None:
    first, *others = sum_of(plan, "victims").rows
    rows = (first.model_copy(update={"row": "gpu at another queue"}), *others)
    assert not said_of(state, with_sum(plan, rows=rows), "victims")[1]


def test_a_bound_above_the_value_is_refused(state: State, plan: Plan) -> None:
    check = planner.check(state, with_sum(plan, bound=3))
    assert [one.law for one in check.verdicts if not one.holds] == ["CT-02"]


def test_a_sum_for_no_level_is_refused(state: State, plan: Plan) -> None:
    sums = (
        *certificate_of(plan).sums,
        sum_of(plan, "victims").model_copy(update={"term": "queues"}),
    )
    stray = with_certificate(plan, sums=sums)
    assert said_of(state, stray, "queues") == (False, False, "it is no level")


def test_only_a_leaf_of_the_whole_question_is_a_sum(
    state: State, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = recorded(monkeypatch)
    assert planner.check(state, plan).accepted
    question, (leaf,) = walked[0]
    assert bound_by_rows(question, (leaf,), ("victims",), 2) == sum_of(plan, "victims")
    split = CountSplit(of=(0,), most=0)
    assert bound_by_rows(question, (split, leaf, leaf), ("victims",), 2) is None
    assert bound_by_rows(question, (ByRows(rows={GPU: 1, "better": 5}),), ("victims",), 2) is None


@pytest.mark.parametrize("name", SMALL)
def test_sums_of_recorded_states_add_up(name: str) -> None:
    """By the numbers that stand there, and nothing else."""
    found = 0
    for line in filter(asks_the_state, lines(name, STEP)):
        plan = planner.solve(state_of(line), line["pending"], assignment=line.get("assignment"))
        if plan.certificate is None:
            continue
        values = {level.term: level.value for level in plan.certificate.levels}
        for each in plan.certificate.sums:
            found += 1
            assert each.bound == values[each.term]
            assert each.needed == sum(row.times * row.least for row in each.rows)
            assert each.reached == sum(one.count * one.amount for one in each.reaching)
            assert each.reached < each.needed
            assert all(row.times > 0 for row in each.rows)
    assert found


MANY = 8


def crowded(size: int) -> State:
    """Return a full queue whose workloads hold so much memory each; one more wants as much."""
    held = [running(f"w{i}", "a", {"memory": size}, minute=i) for i in range(MANY)]
    nominal = {"memory": MANY * size}
    return made_of(
        queue("a", nominal, within="LowerPriority"), *held, pending("a", {"memory": size})
    )


@pytest.mark.parametrize("size", [2**40, 2**58, 2**59 - 1, 2**60 - 1])
def test_sums_are_exact_however_much_the_candidates_hold(size: int) -> None:
    state = crowded(size)
    plan = planner.solve(state, objective="min-count")
    assert plan.status == "optimal"
    assert len(plan.victims) == 1
    assert plan.certificate is not None
    assert plan.certificate.levels[0].proof == "certified"
    assert planner.check(state, plan).accepted


def test_a_row_within_a_box_says_the_same_of_every_set_in_it() -> None:
    row = Row(np.arange(3), np.array([5, -7, 2**61]), 4)
    box = Box(np.array([1, 2, 3]), np.array([4, 2, 3]))
    inside = row.within(box)
    assert inside.classes.tolist() == [0]
    assert inside.least == 4 + 14 - 3 * 2**61
    for count in range(1, 5):
        whole = sum(a * x for a, x in zip((5, -7, 2**61), (count, 2, 3), strict=True))
        assert (whole >= row.least) == (5 * count >= inside.least)


@pytest.mark.parametrize("seed", range(5))
def test_sums_beyond_64_bits_are_exact(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    amounts = [chance.choice([-1, 1]) * chance.randrange(1, 2**60) for _ in range(9)]
    most = [chance.randrange(0, 2**20) for _ in amounts]
    box = Box(np.zeros(9, dtype=np.int64), np.array(most, dtype=np.int64))
    row = Row(np.arange(9), np.array(amounts, dtype=np.int64), 2**61)
    added = add_up([(row, 3)], box, {})
    reached = sum(
        3 * amount * count for amount, count in zip(amounts, most, strict=True) if amount > 0
    )
    assert (added.reached, added.spare) == (reached, reached - 3 * 2**61)


def test_a_class_of_which_a_row_counts_nothing_is_left_as_it_is() -> None:
    row = Row(np.arange(2), np.array([0, 2]), 7)
    box = Box(np.zeros(2, dtype=np.int64), np.array([5, 4]))
    part = narrowed([(row, 1)], box, {})
    assert part.least.tolist() == [0, 4]
    assert part.most.tolist() == [5, 4]
