"""The solve of a planned workload to its proven optimum."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import numpy as np
from msgspec.structs import replace

from planner.errors import InternalError
from planner.garbage import without_garbage_collection
from planner.models.kueue.formulation import build_classes
from planner.models.shared.classes import alone_in_class
from planner.objective.profiles import Measure, Profile
from planner.plan import Conclusion, Status
from planner.plan.kueue import Plan
from planner.quantity import plural
from planner.quota.kueue.placement import LEFT_OUT
from planner.solver.answer import (
    Capped,
    cap,
    certify,
    refuse_worse,
    why_no_plan,
    without_solver,
)
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.levels import Settling, say_proved
from planner.solver.search import Search, bind


def prepare(
    planning: Planning,
    profile: Profile,
    deadline: Deadline,
    greedy: Plan,
    apart: Collection[int] = (),
) -> Search:
    """Set up the search for a planned workload that needs one, with the caps of its profile.

    ``apart`` are positions of workloads that get a class of their own, so that a question can
    be asked about each of them.
    """
    search = set_up(planning, profile, deadline, greedy, apart)
    cap(search, profile, greedy)
    return search


def set_up(
    planning: Planning,
    profile: Profile,
    deadline: Deadline,
    greedy: Plan,
    apart: Collection[int] = (),
) -> Search:
    """Set up a search without caps; ``greedy`` is where it may start from.

    Raises `UnsupportedError` if a term of the profile cannot be known from the state.
    """
    search = _search(planning, profile, deadline, apart)
    if greedy.victims and not greedy.outside_rules:
        counts = search.classes.counts(planning.greedy_positions())
        if counts is None:
            message = "the model has no candidate for one of Kueue's own victims"
            raise InternalError(message)
        search.incumbent = counts
    bind(search, profile)
    return search


def _search(
    planning: Planning,
    profile: Profile,
    deadline: Deadline,
    apart: Collection[int] = (),
    left: AbstractSet[int] | None = None,
) -> Search:
    """Return a search over the classes of a profile; of victims that are ``left``, if given."""
    # Whom the only attempt spares is never a victim, and is in no class.
    eligible = planning.eligible & ~(planning.restricted & planning.only_borrows)
    if left is not None:
        eligible &= np.isin(np.arange(eligible.size), [*left])
    costs = planning.table.telling_apart(profile.terms)
    costs += alone_in_class(len(planning.problem.workloads), apart)
    classes = build_classes(planning.problem, eligible, planning.restricted, costs)
    return Search(planning, classes, deadline, list(range(len(classes))))


def solve_planning(
    planning: Planning, profile: Profile, deadline: Deadline, capped: Capped | None = None
) -> Plan:
    """Return the best legal plan under a profile, verified, with its certificate.

    ``capped`` are the caps to keep, where others than those of Kueue's own plan under these
    flavors: then that plan is nothing to compare with.

    Raises `InputError` if the state cannot tell what the profile counts or names; `InternalError`
    if a plan fails its verification, or the optimum is worse than Kueue's own plan.
    """
    started = time.monotonic()
    with without_garbage_collection():
        profile = planning.set_objective(profile)
        greedy = planning.greedy_plan()
        answer_at_once = settled(planning)
        if answer_at_once is not None:
            at_once = without_solver(planning, profile, greedy, *answer_at_once)
            if planning.case.placement is not None and at_once.status == "optimal":
                at_once = with_places(planning, at_once, ())
            return at_once
        search = set_up(planning, profile, deadline, greedy)
        comparable = capped is None and greedy.victims and not greedy.outside_rules
        if capped is None:
            claiming = partial(planning.claims, profile)
            capped = cap(search, profile, greedy, claiming, planning.certify)
        else:
            for measure, most in capped.kept:
                search.limit(measure, most)
                if (search.known_value(measure) or 0) > most:
                    search.incumbent = None
    proved = settling_of(planning, profile, search, capped).settle()
    with without_garbage_collection():
        if planning.undecided:
            proved = replace(proved, claimed=False)
        certificate = certify(planning.state.digest, proved, started, capped)
        if proved.victims is None:
            why = why_no_plan(planning, profile, search, proved)
            nothing = Conclusion(*why, profile.name, certificate=certificate, greedy=greedy)
            return planning.by_its_rules(planning.plan(nothing))
        positions = planning.in_candidate_order(proved.victims)
        terms = planning.table.evaluate(positions)
        if comparable:
            refuse_worse(profile, terms, greedy.terms)
        evicting = f"evicting {plural(len(positions), 'workload')} makes room"
        room = evicting if positions else "nobody has to go: there is room"
        found = Conclusion(
            "optimal" if proved.outcome == "optimal" else "feasible",
            f"{room}; {say_proved(proved, search.deadline)}{capped.words}",
            profile.name,
            terms,
            certificate,
            greedy,
        )
        attempt = planning.attempt_of(positions) if positions else None
        plan = planning.plan(found, planning.describe_in_order(positions), borrowing=attempt)
        if planning.case.placement is not None:
            plan = with_places(planning, plan, positions)
        return planning.accepted(plan)


def settling_of(planning: Planning, profile: Profile, search: Search, capped: Capped) -> Settling:
    """Return what settles the levels of a search whose caps are bound."""

    def fresh(measures: Sequence[Measure], left: AbstractSet[int] | None) -> Search:
        # What wishes bound stays among the levels and caps, which tell workloads apart.
        few = replace(profile, levels=(*measures, *profile.wishes.most))
        found = _search(planning, few, search.deadline, left=left)
        bind(found, few)
        return found

    claims = planning.claims(profile, capped.kept)
    given = claims, search, profile.levels, fresh, planning.certify
    return Settling(*given, undecided=capped.undecided)


def settled(planning: Planning) -> tuple[Status, str] | None:
    """Return the answer where no search is needed: it fits as it is, or Kueue seeks no victims."""
    assignment = planning.case.assignment
    if assignment.mode == "NoFit":
        return "infeasible", planning.why_no_flavor()
    if len(assignment.pod_sets) < len(planning.case.preemptor.pod_sets):
        return "infeasible", (
            "a podset asks for nothing but zero amounts of resources the queue does not cover; "
            "Kueue stops assigning flavors there and cannot go on"
        )
    # Whatever Kueue itself does: it tests fitting only after a removal (docs/semantics/kueue.md
    # §5.6).
    if planning.fits_at_once:
        return "optimal", "it fits as it is: no eviction needed"
    # The defect of §4.1, point 6: a podset counts as Fit for having no reasons, though a resource
    # of it lacks room.
    if assignment.mode == "Fit":
        return "infeasible", planning.NEVER_LOOKED
    return None


def with_places(planning: Planning, plan: Plan, positions: Sequence[int]) -> Plan:
    """Return a plan that says where Kueue puts the pods."""
    floor, configuration = planning.setting.floor, planning.case.snapshot.configuration
    if not floor.groups or any(configuration.gate(gate) for gate in LEFT_OUT):
        return plan.model_copy(update={"places": ()})
    placed = floor.placed([planning.problem.workloads[position] for position in positions])
    if isinstance(placed, str):
        return plan  # KT-02 refuses it
    return plan.model_copy(update={"places": tuple(floor.said(placed))})
