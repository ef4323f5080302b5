"""What an engine to compare with is, and what it finds; CP-SAT as it comes is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ortools.sat.python import cp_model

from planner.solver.deadline import Deadline

Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine says: a value per variable of the model, rounded; and a proven bound."""

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0


class Engine(Protocol):
    """Something that minimises the objective of a CP-SAT model."""

    def minimise(
        self, model: cp_model.CpModel, deadline: Deadline, hint: Sequence[int] = ()
    ) -> Found:
        """Minimise; ``hint`` has values for the first variables."""
        ...


@dataclass(frozen=True, slots=True)
class PlainCpSat:
    """CP-SAT with its own defaults, presolve included; only the number of workers is given."""

    workers: int = 1

    def minimise(
        self, model: cp_model.CpModel, deadline: Deadline, hint: Sequence[int] = ()
    ) -> Found:
        """Minimise the whole model at once."""
        model.proto.clear_solution_hint()
        model.proto.solution_hint.vars.extend(list(range(len(hint))))
        model.proto.solution_hint.values.extend(list(hint))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self.workers
        solver.parameters.random_seed = 0
        left = deadline.left()
        if left is not None:
            solver.parameters.max_time_in_seconds = left
        status = solver.solve(model)
        assert status != cp_model.MODEL_INVALID, model.validate()
        if status in {cp_model.INFEASIBLE, cp_model.UNKNOWN}:
            return Found("infeasible" if status == cp_model.INFEASIBLE else "unknown")
        response = solver.response_proto
        bound = response.inner_objective_lower_bound
        outcome: Outcome = "optimal" if status == cp_model.OPTIMAL else "feasible"
        return Found(outcome, list(response.solution), bound)
