"""The line on what a plan rests on."""

from collections.abc import Sequence

import pytest

from planner.plan import Certificate, Proof
from planner.plan.proof import ByRows, Tree
from planner.report.words import proof_in_words
from tests.report.factory import make_certificate

CP_SAT = "OR-Tools CP-SAT 9.15.6755 with presolve"
SCIP = "SCIP by MathOpt"
EVERYTHING = "7 of 7 levels and ties certified by trees of 7 steps; check with planner check"


def resting(proofs: Sequence[Proof | None], bound: int = 3, **changes: object) -> Certificate:
    """Return a certificate with a level for each of some proofs; the last has a bound."""
    known = {"term": "D2", "title": "", "unit": "", "value": 3}
    levels = [{**known, "bound": 3, "proof": proof} for proof in proofs]
    if levels:
        levels[-1]["bound"] = bound
    return make_certificate(**{"levels": levels, "trees": (), "ties": None, **changes})


def tree(steps: int) -> Tree:
    return Tree(claim="infeasible", steps=(ByRows(rows={"better": 1}),) * steps)


@pytest.mark.parametrize(
    ("certificate", "said"),
    [
        (
            make_certificate(),
            EVERYTHING,
        ),
        (
            make_certificate(trees=(), trees_omitted=5000),
            "7 of 7 levels and ties certified by trees of 5,000 steps; check with planner check",
        ),
        (
            resting(["certified", "solver"], trees=(tree(1),), engines=(CP_SAT, SCIP)),
            "of 2 levels 1 certified by trees of 1 step, 1 by CP-SAT and SCIP; ties not proved",
        ),
        (
            resting(["certified", "solver"], engines=(CP_SAT, "HiGHS"), ties="solver"),
            "of 2 levels 1 certified, 1 by CP-SAT and HiGHS; ties by CP-SAT alone",
        ),
        (
            resting([None, None], bound=1, ties="solver"),
            "of 2 levels 1 by CP-SAT alone, 1 not proved; ties by CP-SAT alone",
        ),
        (
            resting(["certified"], ties="solver", trees=(tree(2),)),
            "of 1 level 1 certified by trees of 2 steps; ties by CP-SAT alone",
        ),
        (
            make_certificate(corrected=2),
            f"{EVERYTHING}; the search for trees found 2 plans better than the solver's",
        ),
        (resting([], trees=(tree(3),)), "certified by a tree of 3 steps; check with planner check"),
        (resting([], engines=(CP_SAT, SCIP)), "by CP-SAT and SCIP"),
        (resting([]), ""),
    ],
)
def test_one_line(certificate: Certificate, said: str) -> None:
    assert proof_in_words(certificate) == said


def test_joint_plans_have_no_ties() -> None:
    assert proof_in_words(resting([None]), ties=False) == "of 1 level 1 by CP-SAT alone"
    certified = proof_in_words(make_certificate(ties=None), ties=False)
    assert certified.startswith("7 of 7 levels certified by trees of 7 steps")
