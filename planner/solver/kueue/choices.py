"""The assignments of flavors that there are to choose from, for one pending workload."""

from __future__ import annotations

from dataclasses import dataclass

from planner.assignment import Assignment, contested, whole_request
from planner.models.kueue.candidates import eligible
from planner.problem.array import BoolArray
from planner.problem.kueue import build_problem
from planner.reference.kueue.permitted import Permitted, permitted_assignments
from planner.solver.kueue.planning import Planning

_Asked = tuple[frozenset[tuple[int, int]], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Choices:
    """The permitted assignments: Kueue's own if it is complete, and the others in order."""

    permitted: Permitted
    own: tuple[Assignment, ...]
    others: tuple[Assignment, ...]

    @property
    def distinct(self) -> int:
        """How many there are that differ in what they ask for or contest."""
        return len(self.own) + len(self.others)


def choices_of(planning: Planning) -> Choices:
    """Return the assignments for a preemptor, at the pod counts of Kueue's own if that is complete.

    Of several that ask for the same and contest the same only the first is listed.
    """
    assignment = planning.decision.assignment
    pod_sets = planning.preemptor.pod_sets
    complete = assignment.mode != "NoFit" and len(assignment.pod_sets) == len(pod_sets)
    counts = None
    if complete:
        pairs = zip(assignment.pod_sets, pod_sets, strict=True)
        counts = [base.count if pods.count is None else pods.count for pods, base in pairs]
    permitted = permitted_assignments(planning.snapshot, planning.preemptor, counts)
    own = (assignment,) if complete else ()
    differing: dict[_Asked, Assignment] = {}
    for each in (*own, *permitted.assignments):
        differing.setdefault(_asked(planning, each), each)
    return Choices(permitted, own, tuple(differing.values())[len(own) :])


def _asked(planning: Planning, assignment: Assignment) -> _Asked:
    """Return what an assignment asks for and contests: all that the laws look at."""
    snapshot = planning.snapshot
    request = whole_request(assignment, planning.preemptor, snapshot)
    return frozenset(request.items()), contested(assignment, snapshot)


def candidates_under(planning: Planning, choices: Choices) -> BoolArray:
    """Return who is a candidate if all is contested that some assignment contests: (W,)."""
    assignments = (*choices.own, *choices.others)
    if not assignments:
        return planning.eligible
    pod_sets = tuple(pods for assignment in assignments for pods in assignment.pod_sets)
    everything = Assignment(mode="Preempt", pod_sets=pod_sets)
    return eligible(build_problem(planning.snapshot, planning.preemptor, everything))
