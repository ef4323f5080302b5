"""Rows of a queue that stays over its quota to the end (KQ-07) admit what the law does, no more."""

from itertools import product

import pytest

from planner.objective.profiles import PROFILES
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from tests.cluster import PENDING, pending, queue, running, state_of

HELD = 1, 1, 2, 4
ROWS = "excess ", "last ", "one last "


@pytest.mark.parametrize("nominal", [4, 5, 6, 7])
def test_rows_with_the_size_of_the_last_victim(nominal: int) -> None:
    """Queue b holds 8, more than its ``nominal``; a wants back all that b borrows."""
    lent = sum(HELD) - nominal
    state = state_of(
        queue("a", lent, "c", reclaim="Any"),
        queue("b", nominal, "c"),
        *(running(f"w{n}", "b", size) for n, size in enumerate(HELD)),
        pending("a", lent),
    )
    planning = start(state, Given(PENDING))
    assert isinstance(planning, Planning)
    question = planning.claims(planning.set_objective(PROFILES["no-regret"]), ()).infeasible()
    classes, root = question.rules.classes, question.root
    size = [sum(planning.problem.workloads[k].usage.values()) for k in classes.first.tolist()]
    rows = [row for name, row in question.rows(root).items() if name.startswith(ROWS)]
    last = sorted({name for row in rows for name in row.extra})
    assert len(rows) == 2 + len({*HELD})
    for counts in product(*(range(most + 1) for most in root.most.tolist())):
        gone = [one for one, count in zip(size, counts, strict=True) for _ in range(count)]
        # All but the last, which had best be the largest, leave the queue over its quota.
        legal = sum(HELD) - (sum(gone) - max(gone, default=0)) > nominal
        admitted = any(
            all(
                sum(int(n) * counts[k] for k, n in zip(row.classes, row.amounts, strict=True))
                + row.extra.get(chosen, 0)
                >= row.least
                for row in rows
            )
            for chosen in ("", *last)
        )
        assert admitted == legal, gone
