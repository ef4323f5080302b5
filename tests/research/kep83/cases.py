"""One decision by KEP-83's rules, and the victim sets that model and checker permit for it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.models.kueue.formulation import Columns, build_classes
from planner.quota.kueue.assignment import Assignment, read_assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.research.kep83.model import assemble, eligible
from planner.research.kep83.options import Kep83
from planner.research.kep83.problem import Kep83Problem, build_kep83
from planner.research.kep83.verifier import CHECKS, Kep83Case, Kep83Setting, match
from planner.state.kueue import State
from planner.verifier.kueue.case import setting_of
from tests.brute_force import question_of
from tests.cluster import PENDING, preempt
from tests.exact import solutions
from tests.research.kep83.brute_force import Kep83Simulation
from tests.subsets import subsets

VictimSets = set[frozenset[str]]


@dataclass(frozen=True)
class Decision:
    """A preemptor with its flavors assigned in a state, under some options.

    ``waited`` is for how many seconds it waits already, and ``cost`` what evicting each workload
    costs: both are in the state, and said once more for the brute force.
    """

    state: State
    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment
    options: Kep83 = field(default=Kep83())
    waited: int = 0
    cost: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def problem(self) -> Kep83Problem:
        """What the model sees of it."""
        return build_kep83(self.snapshot, self.preemptor, self.assignment, self.options, self.cost)

    @cached_property
    def setting(self) -> Kep83Setting:
        """What the checker sees of it."""
        setting = setting_of(self.snapshot, self.preemptor, self.assignment)
        return match(setting, self.options.text)[0]

    @cached_property
    def simulation(self) -> Kep83Simulation:
        """The brute force on it."""
        question = question_of(self.snapshot, self.preemptor, self.assignment)
        return Kep83Simulation(question, self.options, self.waited, self.cost)

    @cached_property
    def holders(self) -> tuple[Admitted, ...]:
        """Everything that holds quota anywhere."""
        return tuple(one for group in self.snapshot.admitted.values() for one in group)


def decision_of(state: State, fits: Collection[str] = (), **options: object) -> Decision:
    """Return the decision for ``ns/pending``; resources need preemption unless one fits."""
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    flavors = preempt(state)
    for resource in fits:
        flavors["main"][resource]["mode"] = "Fit"
    assignment = read_assignment(flavors, preemptor)
    return Decision(state, snapshot, preemptor, assignment, Kep83.model_validate(options))


def permitted(decision: Decision, without: Collection[str] = ()) -> VictimSets:
    """Return what model and checker permit, which must be the same, but for the empty set.

    Laws whose id is in ``without`` are dropped from both.
    """
    found = by_model(decision, without)
    assert found == by_checker(decision, without)
    return found


def by_model(decision: Decision, without: Collection[str] = ()) -> VictimSets:
    """Enumerate the victim sets that the model admits, a variable for every workload."""
    problem = decision.problem
    base = problem.base
    nobody = np.zeros(len(base.workloads), dtype=np.bool_)
    apart = [np.arange(len(base.workloads), dtype=np.int64)]
    classes = build_classes(base, eligible(problem, without), nobody, apart)
    formulation = assemble(problem, Columns(base, classes, nobody), without)
    return {
        frozenset(
            base.workloads[members[0]].key
            for members, count in zip(classes.members, taken, strict=True)
            if count
        )
        for taken in solutions(formulation.builder, formulation.take)
    } - {frozenset()}


def by_checker(decision: Decision, without: Collection[str] = ()) -> VictimSets:
    """Ask the checker about every set of workloads that hold quota anywhere."""
    return {
        frozenset(victim.key for victim in victims)
        for victims in subsets(decision.holders, 1)
        if not broken(decision, victims, without)
    }


def broken(
    decision: Decision, victims: Collection[Admitted], without: Collection[str] = ()
) -> list[str]:
    """Return the ids of the laws that victims break, with the reasons that the rules give."""
    setting = decision.setting
    reasons = tuple(map(setting.reason, victims))
    case = Kep83Case(setting, decision.options.borrows, tuple(victims), reasons)
    return [law for law, check in CHECKS.items() if law not in without and not check(case).holds]
