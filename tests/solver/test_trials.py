"""What a program says of parts of its box, going on from its last optimum."""

import numpy as np
from msgspec.structs import replace
from scipy.optimize import linprog

from planner.plan.proof import CountSplit, Narrowing
from planner.proof.box import Box
from planner.proof.claims import BETTER
from planner.solver.proving.program import GUIDE, Program
from planner.solver.proving.rows import BoxRows
from planner.solver.proving.split import splits
from tests.proof.test_rounding import asked

NEAR = 1e-8
SEEDS = range(60)


def by_highs(program: Program, part: Box) -> float:
    """Return the optimum for a part by another solver, which begins anew."""
    height, classes, box = len(program.rows), program.open, program.look.box
    width = program.merged + program.scale.size
    matrix = np.zeros((height, width + height + 1))
    matrix[program.row_of, program.columns] = program.values
    matrix[:, width:-1] = np.eye(height)
    matrix[program.guides, -1] = -program.most
    weight = GUIDE * program.most.max(initial=0.0)
    low, high = np.zeros(matrix.shape[1]), np.full(matrix.shape[1], np.inf)
    low[program.merged : width], high[program.merged : width] = program.ends.T / program.scale
    high[: program.merged], high[-1] = 0, 1
    np.add.at(low, program.kinds, part.least[classes])
    np.add.at(high, program.kinds, part.most[classes])
    rows, least = [*-matrix], [*-program.least]
    for row in part.sums.values():
        added, needed = np.zeros(matrix.shape[1]), row.least
        for k, amount in zip(row.classes.tolist(), row.amounts.tolist(), strict=True):
            if k in classes:
                column = program.kinds[classes.tolist().index(k)]
                added[column] += amount / (program.kinds == column).sum()
            else:
                needed -= amount * int(box.least[k])
        rows, least = [*rows, -added], [*least, -needed]
    costs = np.concatenate([np.zeros(width), np.ones(height), [-weight]])
    bounds = [*zip(low.tolist(), high.tolist(), strict=True)]
    found = linprog(costs, A_ub=np.array(rows), b_ub=np.array(least), bounds=bounds)
    return np.inf if found.fun is None else float(found.fun) + weight


def test_a_part_misses_as_much_as_another_solver_says() -> None:
    """By the rows of the whole box and its own; then the program is as it was before."""
    raised = sums = 0
    for question, _ in (one for seed in SEEDS for one in asked(seed)):
        box, program = question.root, Program(BoxRows(question, question.root))
        found = program.solve(BETTER) if program.rows and not box.is_single else None
        proposed = [] if found is None else splits(question, box, found)
        steps = [step for step in proposed if isinstance(step, CountSplit)]
        for part in (part for step in steps for part in question.parts(box, step)):
            trial = program.tried(part, BETTER)
            assert trial is not None
            expected = by_highs(program, part)
            assert trial.least == expected or abs(trial.least - expected) < NEAR
            raised += found is not None and trial.least > found.least
            sums += bool(part.sums)
        again = program.tried(box, BETTER) if steps else found
        assert again is None or found is None or abs(again.least - found.least) < NEAR
    assert raised > len(SEEDS) // 3
    assert sums


def test_what_a_narrowed_box_knows_tells_as_much_as_all_rows() -> None:
    """Rows about queues that lose nobody there are left out: no sum of rows needs them."""
    for question, _ in (one for seed in SEEDS for one in asked(seed)):
        root, rows = question.root, question.rows(question.root)
        boxes = [root, *(root.without(row.classes) for row in rows.values())]
        steps = [Narrowing(narrow={name: 1}) for name in rows]
        for part in (question.parts(box, step)[0] for box in boxes for step in steps):
            if part.is_empty or part.is_single:
                continue
            known, anew = (BoxRows(question, box) for box in (part, replace(part, known={})))
            if known.closing_row() is not None:  # no program has rows that nobody can help
                continue
            missed = [Program(look).solve("") for look in (known, anew)]
            assert missed[0] is not None
            assert missed[1] is not None
            # More where whole numbers round a row up.
            assert missed[0].missed > missed[1].missed - NEAR
