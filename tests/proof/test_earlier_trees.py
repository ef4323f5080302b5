"""The tree of an earlier level, followed on a later one: what comes of it, and what it saves."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import planner
from planner.plan.proof import ByRows, CountSplit, Narrowing
from planner.proof.box import Box
from planner.proof.claims import BETTER
from planner.proof.question import Question
from planner.solver.deadline import Deadline
from planner.solver.proving import grow as growing
from planner.solver.proving.earlier import EarlierTree
from planner.solver.proving.grow import Before, Effort, Grown, grow
from planner.solver.proving.rows import BoxRows
from tests.conftest import QUICKSTART, TEST_ALL
from tests.proof.test_touched import asked, claims_of, questions
from tests.solver.test_quota_tree import scattered

STATES = 200 if TEST_ALL else 12
NEVER = Deadline.after(None)
EFFORT = Effort(steps=5_000, entries=10**9)

Levels = list[tuple[str, int, Question]]


def levels(*, beyond: int = 0) -> Iterator[tuple[int, Levels]]:
    """Yield the levels of the plans of random states: name, value, and question."""
    for seed in range(STATES):
        state = scattered(seed)
        found = asked(state)
        if found is None or found[1].certificate is None:
            continue
        values = {level.term: level.value for level in found[1].certificate.levels}
        posed = questions(claims_of(state, found[0]), found[1], beyond=beyond)
        yield seed, [(term, values[term], question) for term, question in posed if values[term]]


def earlier_tree(term: str, value: int, question: Question, grown: Grown) -> EarlierTree | None:
    assert grown.steps is not None
    return EarlierTree.of(question.rules, grown.steps, f"{term} <= {value}")


def test_whatever_is_followed_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree shows a true claim, and of a false one there is a better set, with any earlier tree.

    Trees of other states and of other levels are taken for earlier ones, too.
    """
    monkeypatch.setattr(growing, "WITHOUT_PROGRAM", 4)
    monkeypatch.setattr(growing, "SOME", 2)
    monkeypatch.setattr(growing, "FEW", 2)
    found, kept = Counter[bool](), list[EarlierTree]()
    false = dict(levels(beyond=1))
    for seed, true in levels():
        denied = {term: question for term, _, question in false[seed]}
        for term, value, question in true:
            classes = question.root.most.size
            for other in [None, *kept[-6:]]:
                if other is not None and _classes(other) > classes:
                    continue
                earlier = other if other is None else other._replace(rules=question.rules)
                grown = grow(question, NEVER, EFFORT, Before(tree=earlier))
                assert grown.steps is not None, (seed, term)
                question.check(grown.steps)
                earlier = other if other is None else other._replace(rules=denied[term].rules)
                assert grow(denied[term], NEVER, EFFORT, Before(tree=earlier)).better is not None
                found[other is not None] += 1
                one = earlier_tree(term, value, question, grown)
                kept += [] if one is None or other is not None else [one]
    assert min(found[True], found[False]) > STATES // 2


def _classes(earlier: EarlierTree) -> int:
    """Return how many classes a question has to have for an earlier tree."""
    splits = (step for step in earlier.steps if isinstance(step, CountSplit))
    return 1 + max((k for step in splits for k in step.of), default=-1)


def test_less_is_looked_at_where_a_tree_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quickstart has three trees that differ in little: two of them follow the first."""
    state, looked = planner.read(QUICKSTART), Counter[bool]()
    following = True

    def counted(*given: Any) -> object:
        looked[following] += 1
        return BoxRows(*given)

    monkeypatch.setattr("planner.solver.proving.grow.BoxRows", counted)
    followed = planner.solve(state)
    following = False
    monkeypatch.setattr(EarlierTree, "of", lambda *_: None)
    grown = planner.solve(state)
    assert looked[True] < looked[False] * 0.6
    for plan in (followed, grown):
        assert plan.certificate is not None
        assert {level.proof for level in plan.certificate.levels} == {"certified"}
        assert planner.check(state, plan).accepted
    assert followed.keys == grown.keys


def test_the_measure_in_question_has_a_bound_of_its_own_later() -> None:
    """What is better on one level is no worse on the next: its row is there, by another name."""
    for _, of_state in levels():
        for term, value, question in of_state:
            grown = grow(question, NEVER, EFFORT)
            earlier = earlier_tree(term, value, question, grown)
            assert grown.steps is not None
            used = {name for s in grown.steps if isinstance(s, ByRows) for name in s.rows}
            if earlier is None:
                continue
            renamed = {name for s in earlier.steps if isinstance(s, ByRows) for name in s.rows}
            assert renamed == {f"{term} <= {value}" if n == BETTER else n for n in used}
            assert earlier.bounds == (BETTER, f"{term} <= {value}")


def test_what_questions_share_changes_no_row() -> None:
    """A box that an earlier question narrowed alike has the rows that a question alone gives it."""
    compared = 0
    for _, of_state in levels():
        for _, _, question in of_state:
            alone = replace(question, measured={})
            for name in question.rows(question.root):
                step = Narrowing(narrow={name: 1})
                (shared,) = question.parts(question.root, step)
                (own,) = alone.parts(alone.root, step)
                assert plain(question, shared) == plain(alone, own)
                compared += 1
    assert compared > 10 * STATES


def plain(question: Question, box: Box) -> dict[str, object]:
    """Return the rows and the ends of a box, to compare."""
    rows = question.rows(box).items()
    stated = {n: (r.classes.tolist(), r.amounts.tolist(), r.least, dict(r.extra)) for n, r in rows}
    return {**stated, "ends": (box.least.tolist(), box.most.tolist())}


def test_multipliers_of_a_settled_level_name_its_row_as_later_levels_do() -> None:
    """Those of an unfinished tree, too: on the next level ``better`` is another measure's row."""
    before = Before()
    before.remember([{"cap": 2, BETTER: 3}, {"cap": 1}])
    before.remember([{"cap": 2, BETTER: 3}, {"cap": 2, "workloads <= 4": 3}])
    before.settled("workloads <= 4")
    assert before.narrowed == [{"cap": 2, "workloads <= 4": 3}, {"cap": 1}]
