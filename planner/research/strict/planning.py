"""One pending workload being planned by today's laws and documented precedence, ST-01 to ST-05.

The model knows nothing of precedence. The verifier judges each set that the model finds, and a set
that is refused is cut off, as are sets that doubles refuse. On small states that ends; where the
judgement reaches its bound, or time is up, the plan is feasible only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from planner.case.kueue import Case
from planner.plan.kueue import Plan
from planner.problem.array import BoolArray
from planner.research.strict.verifier import Strict, attempts_due, judge_strictly
from planner.solver.deadline import Trees
from planner.solver.kueue.planning import Planning
from planner.verifier.kueue.plan import match_plan
from planner.verifier.wording import broken

UNDECIDED: Final = "whether it keeps to documented precedence was not decided"
"""What is said of Kueue's own answer where the search over orders ended at its bound."""


class StrictPlanning(Planning):
    """Planning in which a set of victims is lawful only in an order that precedence permits.

    Trees are not grown: they know today's laws alone, and would offer sets that precedence refuses.
    """

    def __init__(self, case: Case, certify: Trees = None, ranked: BoolArray | None = None) -> None:
        del certify
        super().__init__(case, certify=False, ranked=ranked)

    @cached_property
    def attempts(self) -> Sequence[bool]:
        """The attempts whose victims precedence permits: the first that finds any."""
        # Attempts are of the classical search: fair sharing makes one only.
        if self.problem.fair is not None:
            return super().attempts
        due, decided = attempts_due(self.setting)
        self.undecided += not decided
        return due

    def judged(self, plan: Plan) -> Strict:
        """Judge the victims of a plan that today's laws accept by precedence."""
        snapshot, setting = self.case.snapshot, self.setting
        case = match_plan(self.state, plan, snapshot=snapshot, setting=setting)
        return judge_strictly(case)

    def is_lawful(self, positions: Sequence[int]) -> bool:
        """Say whether the verifier accepts victims, by today's laws and by precedence."""
        if not super().is_lawful(positions):
            return False
        victims = self.describe_in_order(positions)
        for borrowing in self.attempts:
            plan = self._naming(victims, borrowing=borrowing)
            if self._verify(plan).accepted:
                found = self.judged(plan).legal
                self.undecided += found is None
                if found:
                    return True
        return False

    def greedy_plan(self) -> Plan:
        """Return what Kueue itself would do, with what precedence says of it.

        Kueue can break its own precedence: a target that is given back at the end may have had its
        turn before those that are evicted.
        """
        plan = super().greedy_plan()
        if not plan.victims or plan.outside_rules:
            return self.by_its_rules(plan)
        found = self.judged(plan)
        said = (UNDECIDED,) if found.legal is None else broken(found.verdicts)
        return self.by_its_rules(plan.model_copy(update={"outside_rules": said}))

    def why_infeasible(self) -> str:
        """Say in words why no legal victim set exists."""
        return f"{super().why_infeasible()}; or documented precedence permits none"
