"""HiGHS and SCIP, as engines to compare with: they solve the mixed-integer program of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Final

from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

from planner.research.rivals.mathopt import translate
from planner.solver.deadline import Deadline
from tests.second_engine.engine import Found

_TOLERANCE: Final = 1e-9
"""The least that both engines accept: rows are large integers, and literals are exact."""

_BELOW_ONE: Final = 0.99
"""All objectives are integers: a smaller gap proves the optimum."""


@dataclass(frozen=True, slots=True)
class Milp:
    """A solver of mixed-integer linear programs, through MathOpt."""

    solver: mathopt.SolverType

    def minimise(
        self, model: cp_model.CpModel, deadline: Deadline, hint: Sequence[int] = ()
    ) -> Found:
        """Minimise the program that the model is."""
        program = translate(model.proto).proto
        size = len(model.proto.variables)
        parameters = self._parameters()
        left = deadline.left()
        if left is not None:
            parameters.time_limit = timedelta(seconds=left)
        asked = mathopt.Model.from_model_proto(program)
        model_parameters = mathopt.ModelSolveParameters()
        if hint and self.solver is mathopt.SolverType.GSCIP:
            start = {asked.get_variable(v): float(value) for v, value in enumerate(hint)}
            model_parameters.solution_hints.append(mathopt.SolutionHint(variable_values=start))
        result = mathopt.solve(asked, self.solver, params=parameters, model_params=model_parameters)
        reason, of = result.termination.reason, mathopt.TerminationReason
        if reason is of.INFEASIBLE:
            return Found("infeasible")
        if not result.has_primal_feasible_solution():
            return Found("unknown")
        values = result.variable_values()
        solution = [round(values[asked.get_variable(v)]) for v in range(size)]
        bound = ceil(result.best_objective_bound() - _BELOW_ONE)
        return Found("optimal" if reason is of.OPTIMAL else "feasible", solution, bound)

    def _parameters(self) -> mathopt.SolveParameters:
        parameters = mathopt.SolveParameters(
            random_seed=0, relative_gap_tolerance=0.0, absolute_gap_tolerance=_BELOW_ONE
        )
        if self.solver is mathopt.SolverType.GSCIP:
            parameters.threads = 1
            parameters.gscip.real_params["numerics/feastol"] = _TOLERANCE
        else:
            parameters.highs.string_options["parallel"] = "off"
            for name in ("primal_feasibility_tolerance", "mip_feasibility_tolerance"):
                parameters.highs.double_options[name] = _TOLERANCE
        return parameters


ENGINES: Final[Mapping[str, Milp]] = {
    "highs": Milp(mathopt.SolverType.HIGHS),
    "scip": Milp(mathopt.SolverType.GSCIP),
}
