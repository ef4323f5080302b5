"""The set of victim sets a model admits: enumerated, never only "feasible if solved"."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from ortools.sat.python import cp_model

from planner.models.kueue.candidates import attempts, eligible, restricted_while_borrowing
from planner.models.kueue.columns import build_columns
from planner.models.kueue.formulation import Formulation, assemble
from planner.problem import Problem

VictimSets = dict[bool, set[frozenset[str]]]
"""Per attempt (whether it may borrow), the admitted victim sets."""


class _Collector(cp_model.CpSolverSolutionCallback):
    def __init__(self, formulation: Formulation) -> None:
        super().__init__()
        self.formulation = formulation
        self.found: set[tuple[bool, tuple[int, ...]]] = set()

    def on_solution_callback(self) -> None:
        solution = self.response_proto.solution
        taken = tuple(solution[variable] for variable in self.formulation.take)
        self.found.add((bool(solution[self.formulation.borrowing]), taken))


def admitted(
    problem: Problem,
    without: Collection[str] = (),
    both_attempts: bool = False,  # noqa: FBT001, FBT002 - drops law KQ-08 for a test
) -> VictimSets:
    """Enumerate what the model admits, per attempt; laws in ``without`` are left out."""
    allowed = eligible(problem, without)
    every_workload_apart = [np.arange(len(problem.workloads), dtype=np.int64)]
    restricted = restricted_while_borrowing(problem)
    columns = build_columns(problem, allowed, restricted, every_workload_apart)
    permitted = (True, False) if both_attempts else attempts(problem, allowed)
    formulation = assemble(problem, columns, permitted, without)
    collector = _Collector(formulation)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = False
    solver.parameters.enumerate_all_solutions = True
    solver.solve(formulation.builder.model, collector)
    keys = [problem.workloads[members[0]].key for members in columns.members]
    sets: VictimSets = {attempt: set() for attempt in permitted}
    for attempt, taken in collector.found:
        sets[attempt].add(frozenset(key for key, count in zip(keys, taken, strict=True) if count))
    return sets
