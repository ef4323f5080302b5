"""A pending workload, its plan, and the searches that questions about it are put to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from planner.assignment import Assignment, flavor_resources, read_assignment
from planner.errors import LookupFailed
from planner.objective.profiles import Profile
from planner.plan import Plan
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import take_snapshot
from planner.solver.engine import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import Prepared, prepare, settled, solve_planning
from planner.solver.levels import NAMED
from planner.state import State


@dataclass(frozen=True, slots=True)
class Case:
    """What a plan is asked for: a pending workload, an objective, and what the user fixed."""

    pending: str
    profile: Profile
    costs: Mapping[str, int] | None = None
    assignment: Assignment | None = None
    now: datetime | None = None

    def planning(self, state: State) -> Planning:
        """Return the workload as a state has it, with Kueue's decision for it."""
        given = self.assignment
        snapshot = take_snapshot(state, self.now, flavor_resources(given) if given else ())
        preemptor = find_preemptor(state, snapshot, self.pending)
        fixed = None if given is None else read_assignment(given, preemptor)
        return Planning(state, snapshot, preemptor, self.costs, fixed)


class Inquiry:
    """One pending workload with its optimal plan, to be asked about."""

    def __init__(self, state: State, case: Case, deadline: Deadline) -> None:
        self.state = state
        self.case = case
        self.deadline = deadline
        self.planning = case.planning(state)
        self.plan: Plan = solve_planning(self.planning, case.profile, deadline)
        self.greedy: Plan = self.plan.greedy or self.planning.greedy_plan()

    @property
    def searched(self) -> bool:
        """Whether there was anything to search: otherwise nothing has to go, or nothing can."""
        return settled(self.planning) is None

    def position(self, workload: str) -> int | None:
        """Return where a workload stands in the problem, ``None`` if it is not in it."""
        return next(
            (i for i, one in enumerate(self.planning.problem.workloads) if one.key == workload),
            None,
        )

    def key(self, position: int) -> str:
        """Return the workload at a position as ``namespace/name``."""
        return self.planning.problem.workloads[position].key

    def prepared(self, apart: Collection[int] = (), *, capped: bool = True) -> Prepared:
        """Return a search in which some workloads have classes of their own."""
        profile = self.case.profile if capped else replace(self.case.profile, caps=())
        return prepare(self.planning, profile, self.deadline, self.greedy, apart)

    def among_optima(self) -> Prepared:
        """Return a search whose answers are the optimal plans, with none found yet."""
        prepared = self.prepared()
        search = prepared.search
        for measure in (*self.case.profile.levels, NAMED):
            search.limit(measure, sum(self.plan.terms[term] for term in measure))
        search.incumbent = None
        return prepared


def find_running(state: State, key: str) -> None:
    """Refuse a workload that is not in the dump.

    Raises
    ------
    LookupFailed
        If it is not.
    """
    if any(workload.key == key for workload in state.workloads):
        return
    holding = [workload.key for workload in state.workloads if workload.holds_quota]
    shown = ", ".join(holding[:10]) or "there are none"
    raise LookupFailed(
        state.source, f"there is no workload {key}", f"one of those that hold quota: {shown}"
    )
