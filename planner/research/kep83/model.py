"""KEP-83's rules as CP-SAT formulations, on the variables and usage of Kueue's formulations.

Laws that exclude single workloads are masks over (W,), True where the law forbids the workload.
No mask depends on which other workloads are victims, so excluded workloads get no variable. The
laws that tie victims together are one function each, over a formulation; K83-01 is the same
constraint as Kueue's KQ-01 and is taken from there. A problem becomes a model: variables, then a
flat list of laws. All ids and sources are in planner/research/kep83/laws.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from planner.laws import Register
from planner.models.kueue.formulation import Columns, Formulation
from planner.models.kueue.laws import borrows_contested_quota, fits, keep_nominal
from planner.models.shared.classes import in_force
from planner.problem.array import BoolArray
from planner.research.kep83 import laws
from planner.research.kep83.problem import Kep83Problem

EXCLUSIONS: Final[Register[Callable[[Kep83Problem], BoolArray]]] = Register()
"""By law id: the function that returns which workloads the law forbids by itself, (W,)."""


@EXCLUSIONS.of(laws.K83_HOLDS_CONTESTED)
def holds_contested_quota(problem: Kep83Problem) -> BoolArray:
    """K83-03: forbid workloads that name no flavor-resource whose assigned mode is Preempt.

    Only workloads of active queues in the preemptor's tree are in the problem at all.

    Source: KEP-83, Preemption, step 2.
    """
    return ~problem.base.names_contested


@EXCLUSIONS.of(laws.K83_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(problem: Kep83Problem) -> BoolArray:
    """K83-04: forbid workloads of the own queue with priority >= the preemptor's; under Never, all.

    Source: KEP-83, Preemption, step 2.2.
    """
    base = problem.base
    if problem.queue == "Never":
        return base.from_own_queue
    return base.from_own_queue & (base.priority >= base.preemptor_priority)


@EXCLUSIONS.of(laws.K83_WITHIN_COHORT)
def within_cohort(problem: Kep83Problem) -> BoolArray:
    """K83-05: forbid workloads of other queues that ``withinCohort`` does not permit.

    Never forbids all of them. ReclaimFromLowerPriority and LowerPriority forbid workloads with
    priority >= the preemptor's. ReclaimFromAny forbids none.

    Source: KEP-83, ClusterQueue API changes; Preemption, step 2.1.
    """
    base = problem.base
    match problem.cohort:
        case "Never":
            return ~base.from_own_queue
        case "ReclaimFromAny":
            return np.zeros(len(base.workloads), dtype=np.bool_)
        case "ReclaimFromLowerPriority" | "LowerPriority":
            return ~base.from_own_queue & (base.priority >= base.preemptor_priority)


@EXCLUSIONS.of(laws.K83_BORROWS)
def borrows_involved_flavors(problem: Kep83Problem) -> BoolArray:
    """K83-06: forbid workloads of other queues that borrow nothing involved to begin with.

    Source: KEP-83, Preemption, step 2.1.
    """
    # The usage before any removal: the KEP tests it only once.
    return borrows_contested_quota(problem.base)


@EXCLUSIONS.of(laws.K83_WAITED)
def waited(problem: Kep83Problem) -> BoolArray:
    """K83-08: forbid everything while the preemptor has not waited long enough.

    Source: KEP-83, Extra knobs in ClusterQueue preemption policy.
    """
    return np.full(len(problem.base.workloads), not problem.waited, dtype=np.bool_)


def eligible(problem: Kep83Problem, without: Collection[str] = ()) -> BoolArray:
    """Return the workloads no law excludes: (W,); laws whose id is in ``without`` are dropped."""
    allowed = np.ones(len(problem.base.workloads), dtype=np.bool_)
    for forbids in in_force(EXCLUSIONS, laws.LAWS, without):
        allowed &= ~forbids(problem)
    return allowed


def reasons(problem: Kep83Problem) -> list[str]:
    """Return the reason code of each workload as a victim: (W,); the codes are Kueue's of today."""
    other = "InCohortReclaimWhileBorrowing" if problem.borrows else "InCohortReclamation"
    return ["InClusterQueue" if mine else other for mine in problem.base.from_own_queue.tolist()]


STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law is stated over a formulation, by the law's id."""

STATED.of(laws.K83_FITS)(fits)


@STATED.of(laws.K83_WITHOUT_BORROWING)
def without_borrowing(formulation: Formulation) -> None:
    """K83-02: without borrowing, usage + request <= min of the queue where preemption is needed.

    For every involved fr with a request: ``usage(q, fr) + REQ[fr] <= nominal(q, fr)``. In
    other fr the queue may borrow: flavors were assigned there from what is available.

    Source: KEP-83, Detecting Workloads that might benefit from preemption.
    """
    problem = formulation.problem
    asked = {fr: problem.request[fr] for fr in problem.contested if problem.request[fr]}
    keep_nominal(formulation, asked)


@STATED.of(laws.K83_AT_MIN)
def at_min_until_last_victim(formulation: Formulation) -> None:
    """K83-07: the last victim of another queue finds it at its min or above in some involved fr.

    With w(c) the usage of a queue c with its last victim put back:

        touched(c)  =>  w(c, fr) >= nominal(c, fr)   for some involved fr.

    Usage only falls while victims are evicted, so this permits an order of all victims. Cohorts
    between the queues are not tested.

    Source: KEP-83, Preemption, step 4; docs/design/theory.md §2.2 for the last victim.
    """
    problem = formulation.problem
    for queue in dict.fromkeys(formulation.columns.queue.tolist()):
        if queue != problem.own_queue:
            formulation.require_over_quota(queue, problem.contested, beyond=0)


def assemble(problem: Kep83Problem, columns: Columns, without: Collection[str] = ()) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    There is one attempt; an option says whether it borrows.
    """
    formulation = Formulation.begun(problem.base, columns, [problem.borrows])
    for state in in_force(STATED, laws.LAWS, without):
        state(formulation)
    return formulation
