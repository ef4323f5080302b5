"""What questions share of one another changes no row."""

from collections.abc import Iterator
from dataclasses import replace

from planner.plan.proof import Narrowing
from planner.proof.box import Box
from planner.proof.question import Question, Shared
from tests.conftest import TEST_ALL
from tests.proof.test_touched import asked, claims_of, questions
from tests.solver.test_quota_tree import scattered

STATES = 200 if TEST_ALL else 20


def posed() -> Iterator[Question]:
    """Yield the questions of the levels of the plans of random states."""
    for seed in range(STATES):
        state = scattered(seed)
        found = asked(state)
        if found is None or found[1].certificate is None:
            continue
        values = {level.term: level.value for level in found[1].certificate.levels}
        levels = questions(claims_of(state, found[0]), found[1])
        yield from (question for term, question in levels if values[term])


def test_what_questions_share_changes_no_row() -> None:
    """A box that an earlier question narrowed alike has the rows that a question alone gives it."""
    compared = 0
    for question in posed():
        alone = replace(question, shared=Shared())
        for name in question.rows(question.root):
            step = Narrowing(narrow={name: 1})
            (shared,) = question.parts(question.root, step)
            (own,) = alone.parts(alone.root, step)
            assert plain(question, shared) == plain(alone, own)
            compared += 1
    assert compared > 300


def plain(question: Question, box: Box) -> dict[str, object]:
    """Return the rows and the ends of a box, to compare."""
    rows = question.rows(box).items()
    stated = {n: (r.classes.tolist(), r.amounts.tolist(), r.least, dict(r.extra)) for n, r in rows}
    return {**stated, "ends": (box.least.tolist(), box.most.tolist())}
