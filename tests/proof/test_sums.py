"""Trees of one sum of rows: told in words, tampered with, and where amounts could leave 64 bits."""

import random

import numpy as np
import pytest

import planner
from planner.plan import AnyPlan, Certificate, Level, Shown
from planner.plan.kueue import Plan
from planner.plan.proof import CountSplit
from planner.proof.box import Box, Row, add_up
from planner.proof.question import in_words
from planner.state.kueue import State
from tests import kueue_state
from tests.cluster import pending, queue, running
from tests.cluster import state_of as made_of
from tests.conftest import ROOT, TEST_ALL
from tests.proof.recheck import recorded
from tests.recorded import asks_the_state, lines, state_of
from tests.told import told

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


def level_of(plan: Plan, term: str) -> Level:
    (found,) = [each for each in certificate_of(plan).levels if each.term == term]
    return found


def with_first(plan: Plan, **changes: object) -> Plan:
    """Return the plan with something changed in what it says of its first level."""
    first, *others = certificate_of(plan).levels
    return with_certificate(plan, levels=(first.model_copy(update=changes), *others))


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
    (tree,) = [tree for tree in certificate_of(plan).trees if tree.claim == "victims"]
    assert tree.rows == {GPU: 1, NIC: 1, "better": 5}
    told(level_of(plan, "victims").says)


def test_one_row_is_told_by_what_it_asks_for() -> None:
    """Of 3 GPUs that are missing nobody frees more than 2."""
    only = made_of(
        queue("a", 4, within="LowerPriority"),
        *(running(f"w{i}", "a", 2, minute=i) for i in range(2)),
        pending("a", 3),
    )
    one = planner.solve(only, objective="min-count")
    assert isinstance(one, Plan)
    level = level_of(one, "victims")
    told(level.says)
    assert planner.check(only, one).accepted


def test_what_the_levels_rest_on_is_counted(plan: Plan) -> None:
    """Workloads, weight and lost work follow from one row each, as that of the level before."""
    assert certificate_of(plan).shown == Shown(one_row=3, multipliers=1)
    levels = [level.model_copy(update={"says": ""}) for level in certificate_of(plan).levels]
    assert certificate_of(with_certificate(plan, levels=levels)).shown == Shown(tree=4)


def test_it_is_accepted(state: State, plan: Plan) -> None:
    assert said_of(state, plan, "victims") == (True, True, "1 step")


@pytest.mark.parametrize("says", ["", "nothing is cheaper"])
def test_other_words_are_refused(state: State, plan: Plan, says: str) -> None:
    """A plan may say nothing of its trees; what it says has to be what they show."""
    accepted, certified, said = said_of(state, with_first(plan, says=says), "victims")
    assert (accepted, certified) == (not says, not says)
    assert said == ("1 step" if not says else "what it says is not what its tree shows")


def test_words_without_their_tree_are_refused(state: State, plan: Plan) -> None:
    trees = [tree for tree in certificate_of(plan).trees if tree.claim != "victims"]
    told(said_of(state, with_certificate(plan, trees=trees), "victims")[2])
    nothing = with_first(plan, bound=0, proof=None)
    nothing = nothing.model_copy(update={"status": "feasible"})
    assert said_of(state, nothing, "victims")[:2] == (False, False)


def test_only_a_leaf_of_the_whole_question_has_words(
    state: State, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = recorded(monkeypatch)
    assert planner.check(state, plan).accepted
    question, (leaf,) = walked[0]
    assert in_words(question, (leaf,), ("victims",), 2) == level_of(plan, "victims").says
    split = CountSplit(of=(0,), most=0)
    assert in_words(question, (split, leaf, leaf), ("victims",), 2) == ""


@pytest.mark.parametrize("name", SMALL)
def test_words_of_recorded_states_are_checked(name: str) -> None:
    """Each level that has words has them from its tree; with another number they are refused."""
    found = 0
    for line in filter(asks_the_state, lines(name, STEP)):
        state, given = state_of(line), line.get("assignment")
        plan = planner.solve(state, line["pending"], assignment=given)
        said = [one for one in plan.certificate.levels if one.says] if plan.certificate else []
        for one in said:
            found += 1
            assert one.says.endswith(f": the least possible is {one.bound} ({one.title})")
        if said:
            check = planner.check(state, plan, assignment=given)
            assert check.accepted
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
    part = add_up([(row, 1)], box, {}).narrowed(box)
    assert part.least.tolist() == [0, 4]
    assert part.most.tolist() == [5, 4]


def test_a_sum_that_misses_more_than_64_bits_leaves_no_set() -> None:
    row = Row(np.arange(2), np.array([1, 2]), 2**70)
    box = Box(np.zeros(2, dtype=np.int64), np.array([5, 4]))
    assert add_up([(row, 1)], box, {}).narrowed(box).is_empty
