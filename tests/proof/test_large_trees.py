"""Trees of anybody's, larger than any that is needed: one clear refusal, after little work."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest

import planner
from planner.plan.kueue import Plan
from planner.plan.proof import CountSplit, Step, Tree
from planner.proof import question
from planner.proof.box import Box
from planner.proof.question import Question
from planner.state.kueue import State
from tests.cluster import pending, queue, running, state_of
from tests.told import told


@pytest.fixture(scope="module")
def state() -> State:
    """Twelve workloads of as many sizes: twelve classes, and 4,000 sets of several of them."""
    held = [running(f"w{i}", "a", 8 + i, minute=i) for i in range(12)]
    return state_of(queue("a", 200, within="LowerPriority"), *held, pending("a", 90))


@pytest.fixture(scope="module")
def plan(state: State) -> Plan:
    return planner.solve(state, objective="min-count")


def with_steps(plan: Plan, steps: Sequence[Step]) -> Plan:
    """Return a plan whose first level has these steps for its tree."""
    assert plan.certificate is not None
    tree = Tree(claim=plan.certificate.levels[0].term, steps=tuple(steps))
    others = [each for each in plan.certificate.trees if each.claim != tree.claim]
    certificate = plan.certificate.model_copy(update={"trees": (tree, *others)})
    return plan.model_copy(update={"certificate": certificate})


def said(state: State, plan: Plan, time_limit: float | None = None) -> str:
    """Return what a check says of the first level, which is not certified."""
    check = planner.check(state, plan, time_limit=time_limit)
    assert not check.accepted
    assert all(verdict.holds for verdict in check.verdicts)
    assert not check.claims[0].certified
    return check.claims[0].detail


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of sums of every box that is split."""
    found: list[int] = []
    of_step = Question.parts

    def counted(self: Question, box: Box, step: CountSplit) -> Sequence[Box]:
        found.append(len(box.sums))
        return of_step(self, box, step)

    monkeypatch.setattr(Question, "parts", counted)
    return found


def different() -> Iterator[CountSplit]:
    """Yield splits of sums of different classes."""
    for size in range(2, 8):
        yield from (CountSplit(of=of, most=12) for of in combinations(range(12), size))


def test_a_box_knows_no_more_sums_than_it_has_classes_and_quantities(
    state: State, plan: Plan, parts: list[int]
) -> None:
    told(said(state, with_steps(plan, [*different()])))
    assert len(parts) < 100


@pytest.mark.parametrize("of", [(0,), (0, 1)])
def test_splits_that_leave_nothing_out_do_not_go_on_for_ever(
    state: State, plan: Plan, parts: list[int], of: tuple[int, ...]
) -> None:
    again = [CountSplit(of=of, most=12)] * 100_000
    told(said(state, with_steps(plan, again)))
    assert len(parts) < 500


def test_parts_that_wait_do_not_hold_any_amount(
    state: State, plan: Plan, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question, "MOST_HELD", 200)
    again = [CountSplit(of=(0,), most=12)] * 100_000
    told(said(state, with_steps(plan, again)))
    assert len(parts) < 100


def test_a_check_ends_with_its_time_limit(state: State, plan: Plan) -> None:
    assert planner.check(state, plan).accepted
    told(said(state, plan, time_limit=0))
