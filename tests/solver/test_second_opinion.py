"""What CP-SAT calls infeasible without presolve is asked again with it.

The model below has a solution (everything 0, one witness true), yet ortools 9.15.6755 calls it
infeasible when presolve is off: three equal rows in bytes, each under a literal of its own, of
which one has to be true.
"""

from __future__ import annotations

from planner.models.shared.builder import Builder, Linear
from planner.solver.engine import Deadline, run

GIB = 2**31
"""Of the size of memory in bytes; at 2**28 the answer is right."""


def rows_in_bytes(builder: Builder) -> Linear:
    """Return ``last - removed``, in bytes."""
    removed, last = builder.new(0, 8 * GIB), builder.new_bool()
    return Linear({removed: -1, last: GIB})


def test_a_false_infeasible_is_found_out() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    literals = [builder.new_bool() for _ in range(3)]
    for literal in literals:
        builder.add(over >= 1 - 5 * GIB, when=[literal])
    builder.any_of(literals)
    assert run(builder, None, Deadline()).outcome == "optimal"


def test_equal_conditions_have_one_witness() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    witnesses = builder.witnesses([(over, 5), ((over + 2), 7), (over, 6)])
    assert len(witnesses) == 2
    enforced = [list(row.enforcement_literal) for row in builder.proto.constraints]
    assert [each for each in enforced if each] == [[witness] for witness in witnesses]


def test_what_is_infeasible_stays_so() -> None:
    builder = Builder()
    over = rows_in_bytes(builder)
    builder.add(over >= GIB)
    builder.add(over <= GIB - 1)
    assert run(builder, None, Deadline()).outcome == "infeasible"
