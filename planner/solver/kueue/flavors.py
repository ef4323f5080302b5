"""Flavors chosen for least disruption: the best plan over all assignments that the rules permit.

Kueue's own assignment is solved first, then every other, each from what Kueue would do there.
Answers are compared by the levels of the objective and the number of names; of equals the first
wins: Kueue's own assignment, then the others in the order of flavors in the ClusterQueue.

What differs between assignments is made comparable. Ranks are counted among the workloads that are
candidates when everything is contested that some permitted assignment contests. Caps are Kueue's
own values, under its own flavors. What is over-freed (``excess_freed``) is measured against the
need in the flavors chosen, and places in the candidate order (``candidate_order``) are those of
Kueue's order under these flavors. Pod counts are those of Kueue's own assignment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import chain
from typing import Final

from msgspec import Struct

from planner.case.kueue import Case
from planner.errors import InternalError
from planner.models.kueue.laws import eligible
from planner.objective.profiles import (
    Measure,
    Profile,
    value_in,
    with_names,
)
from planner.plan import Certificate
from planner.plan.kueue import FlavorChoices, KueueFlavors, Plan
from planner.problem.array import BoolArray
from planner.problem.kueue import build_problem
from planner.proof.claims import Limits
from planner.quantity import plural
from planner.quota.kueue.assignment import Assignment, contested, whole_request
from planner.reference.kueue.assignment import borrow_level
from planner.reference.kueue.cycle.processing import usage_without
from planner.reference.kueue.permitted import Permitted, permitted_assignments
from planner.solver.answer import NO_CAPS, Capped, keep_caps, refuse_worse
from planner.solver.deadline import Deadline
from planner.solver.finder import find_within
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import set_up, settled, solve_planning
from planner.solver.search import Outcome


def solve_flavors(planning: Planning, profile: Profile, deadline: Deadline) -> Plan:
    """Return the best legal plan over all permitted flavors, verified, with its certificate.

    ``planning`` is for Kueue's own flavors. They get half of the time, so that time is left for
    other flavors. The plan is optimal only if every permitted assignment was solved or is proved
    to be no better.

    Raises `InputError` if the state cannot tell what the profile counts or names; `InternalError`
    if a plan fails its verification, or the optimum is worse than Kueue's own plan.
    """
    started = time.monotonic()
    choices = choices_of(planning.case)
    ranked = candidates_under(planning, choices)
    own = planning.with_flavors(planning.case.assignment, ranked)
    alone = solve_planning(own, profile, deadline.half() if choices.others else deadline)
    race = _Race(own, choices, ranked, own.set_objective(profile), deadline, alone)
    race.examine_all()
    if race.best is None or race.winner is None:
        explanation = race.alone.explanation
        if race.choices.others:
            explanation = f"with Kueue's own flavors: {explanation}; " + (
                f"nor is there a plan with any other of {_how_many(race)}"
                if race.settled
                else f"nothing found in {race.examined} of {_how_many(race)} examined"
            )
        return race.alone.model_copy(
            update={
                "status": "infeasible" if race.settled else "unknown",
                "explanation": explanation,
                "flavors": _contrast(race),
            }
        )
    return race.winner.accepted(_winning_plan(race, race.best, race.winner, started))


@dataclass(slots=True)
class _Race:
    """The best plan so far, and what is known of the assignments that were examined.

    ``alone`` is the best plan under Kueue's own flavors. ``capped`` are the caps of the profile
    that some answer keeps, and those that none does. ``claimed`` says that no examined assignment
    can have a better plan, by the solver's word; ``proved`` that trees show it.
    """

    own: Planning
    choices: Choices
    ranked: BoolArray
    profile: Profile
    deadline: Deadline
    alone: Plan
    best: Plan | None = None
    winner: Planning | None = None
    examined: int = 0
    claimed: bool = True
    proved: bool = True
    capped: Capped = NO_CAPS

    @property
    def greedy(self) -> Plan:
        """Kueue's own plan, on the common scale."""
        return self.alone.greedy or self.alone

    @property
    def unbeatable(self) -> bool:
        """Whether the best plan costs nothing on any level."""
        return self.best is not None and not any(self._values(self.best))

    @property
    def settled(self) -> bool:
        """Whether it is proved that no permitted assignment has a better plan."""
        return self.is_claimed and (self.unbeatable or self.proved)

    @property
    def is_claimed(self) -> bool:
        """Whether the solver finds that no permitted assignment has a better plan."""
        everything = self.choices.permitted.complete and self.examined == self.choices.distinct
        return not self.capped.undecided and (self.unbeatable or (self.claimed and everything))

    def examine_all(self) -> None:
        """Examine the assignments, Kueue's own first, until nothing can be better."""
        # If so, `alone`, which was solved under these caps, is an answer of the race; else Kueue's
        # own flavors are examined anew.
        if not self._caps_are_those_of_greedy():
            self.capped = keep_caps(self.profile, self.greedy.terms, self._some_keep)
            for _ in self.choices.own:
                self._examine(self.own)
        elif self.choices.own:
            self._count(self.own, self.alone)
        for fits in (True, False):  # what fits with nobody evicted ends the race
            for assignment in self.choices.others:
                if self.unbeatable or self.deadline.passed:
                    break
                if (assignment.mode == "Fit") == fits:
                    self._examine(self._under(assignment))
        if self.best is None and self.alone.victims:
            # Only if time was too short to agree on caps: this plan is legal all the same.
            self.best, self.winner, self.claimed = self.alone, self.own, False

    def _under(self, assignment: Assignment) -> Planning:
        return self.own.with_flavors(assignment, self.ranked)

    def _caps_are_those_of_greedy(self) -> bool:
        """Take Kueue's own values as caps; say whether its own answer keeps them all.

        It does unless it breaks the rules or the wishes. Then perhaps no answer under Kueue's own
        flavors keeps a cap, but an answer under other flavors does.
        """
        greedy, profile = self.greedy, self.profile
        if not greedy.victims or not profile.caps:
            return True
        if greedy.outside_rules:
            return False
        kept = ((measure, value_in(greedy.terms, measure)) for measure in profile.caps)
        self.capped = Capped(tuple(kept))
        return profile.wishes.are_kept(self.own.table, self.own.greedy_positions())

    def _some_keep(self, kept: Limits, measure: Measure, most: int) -> Outcome:
        """Look for an answer under any flavors that keeps one cap more."""
        caps = [*kept, (measure, most)]
        # Where not all assignments were listed, that none of the listed will do proves nothing.
        outcomes: set[Outcome] = {"infeasible" if self.choices.permitted.complete else "unknown"}
        own = [self.own for _ in self.choices.own]
        for planning in chain(own, map(self._under, self.choices.others)):
            if self.deadline.passed:
                return "unknown"
            planning.set_objective(self.profile)
            at_once = settled(planning)
            if at_once is None:
                search = set_up(planning, self.profile, self.deadline, planning.greedy_plan())
                outcome: Outcome = "optimal"
                for each in caps:
                    outcome = outcome if outcome != "optimal" else find_within(search, *each)
                outcomes.add(outcome)
            elif at_once[0] == "optimal":
                return "optimal"
            if "optimal" in outcomes:
                return "optimal"
        return "unknown" if "unknown" in outcomes else "infeasible"

    def _examine(self, planning: Planning) -> None:
        """Replace the best plan by one under these flavors if that is better."""
        caps = Capped(self.capped.kept)
        self._count(planning, solve_planning(planning, self.profile, self.deadline, caps))

    def _count(self, planning: Planning, plan: Plan) -> None:
        """Count an assignment as examined, with its best plan, if it has one."""
        self.examined += 1
        is_proved = plan.status in {"optimal", "infeasible"}
        said = is_proved or (plan.certificate is not None and plan.certificate.claimed)
        self.proved, self.claimed = self.proved and is_proved, self.claimed and said
        found = plan.status in {"optimal", "feasible"}
        if found and (self.best is None or self._values(plan) < self._values(self.best)):
            self.best, self.winner = plan, planning

    def _values(self, plan: Plan) -> list[int]:
        """Return the values of a plan, level by level."""
        return [value_in(plan.terms, measure) for measure in with_names(self.profile.levels)]


def _winning_plan(race: _Race, best: Plan, winner: Planning, started: float) -> Plan:
    """Return the best plan, with what is proved of it over all flavors."""
    assignment, case = best.assignment, winner.case
    if race.greedy.victims and not race.greedy.outside_rules and best.victims:
        refuse_worse(race.profile, best.terms, race.greedy.terms)
    if winner is not race.own:
        # As Kueue works the level out where it finds targets: with the targets gone
        # (docs/semantics/kueue.md §4.7).
        snapshot, preemptor, queue = case.snapshot, case.preemptor, case.preemptor.queue
        gone = (case.problem.workloads[at] for at in winner.positions(best.keys))
        usage = usage_without(snapshot.usage, gone)
        request = whole_request(best.assignment, preemptor, snapshot)
        levels = (borrow_level(usage, queue, fr, n)[0] for fr, n in request.items())
        level = max(levels, default=0)
        assignment = assignment.model_copy(update={"borrowing": level})
    return best.model_copy(
        update={
            "status": "optimal" if race.settled else "feasible",
            "explanation": _explain(race, best, other=winner is not race.own),
            "assignment": assignment,
            "greedy": race.greedy,
            "certificate": _certificate(race, best, started),
            "flavors": _contrast(race),
        }
    )


def _explain(race: _Race, best: Plan, *, other: bool) -> str:
    whose = "other flavors than" if other else "the flavors of"
    if not best.victims:
        return f"it fits as it is, in {whose} Kueue's own choice: no eviction needed"
    if race.settled and race.choices.distinct == 1:
        proof = "proved best; the rules permit no other flavors"
    elif race.settled:
        proof = f"proved best of {_how_many(race)}"
    elif race.is_claimed:
        proof = (
            f"not proved best of {_how_many(race)}; the solver finds nothing better, which is its "
            "word alone"
        )
    else:
        proof = f"not proved best: {race.examined} of {_how_many(race)} examined"
    evicting = f"evicting {plural(len(best.victims), 'workload')} makes room in {whose} Kueue's own"
    return f"{evicting} choice; {proof}{race.capped.words}"


def _how_many(race: _Race) -> str:
    """Return how many assignments there are in words; those that ask for the same count once."""
    more = "" if race.choices.permitted.complete else "more than "
    return f"{more}{plural(race.choices.distinct, 'permitted assignment')} of flavors"


def _certificate(race: _Race, best: Plan, started: float) -> Certificate:
    """Return the winner's certificate: its bounds hold over all flavors if all were examined.

    What tells a tree in words holds for the flavors chosen, and says so.
    """
    certificate = best.certificate
    if certificate is None:
        message = f"the plan for {best.preemptor} has no certificate"
        raise InternalError(message)
    several = race.choices.distinct > 1
    levels = []
    for one in certificate.levels:
        update: dict[str, object] = {
            "says": f"{IN_CHOSEN}{one.says}" if one.says and several else one.says
        }
        if one.value and not race.settled:
            # The levels were proved under the flavors chosen only: under others less may be
            # possible.
            claimed = one.value if race.is_claimed else one.claimed
            update = {"bound": 0, "proof": None, "claimed": claimed, "says": ""}
        levels.append(one.model_copy(update=update))
    # The tree shows that no equal set comes first under these flavors, and not under others.
    found = {"levels": tuple(levels), "ties": None if several else certificate.ties}
    seconds = round(time.monotonic() - started, 6)
    return certificate.model_copy(update={**found, "wall_time_s": seconds})


def _contrast(race: _Race) -> FlavorChoices:
    permitted, alone = race.choices.permitted, race.alone
    return FlavorChoices(
        permitted=permitted.count,
        distinct=race.choices.distinct,
        examined=race.examined,
        complete=permitted.complete,
        kueue=KueueFlavors(
            assignment=race.own.case.assignment,
            status=alone.status,
            explanation=alone.explanation,
            victims=alone.keys,
            terms=alone.terms if alone.status in {"optimal", "feasible"} else {},
        ),
    )


class Choices(Struct, frozen=True):
    """The permitted assignments: Kueue's own if it is complete, and the others in order."""

    permitted: Permitted
    own: tuple[Assignment, ...]
    others: tuple[Assignment, ...]

    @property
    def distinct(self) -> int:
        """How many assignments there are that differ in what they ask for or contest."""
        return len(self.own) + len(self.others)


def choices_of(case: Case) -> Choices:
    """Return the assignments for a preemptor, at the pod counts of Kueue's own if that is complete.

    Of assignments that ask for the same and contest the same only the first is listed.
    """
    assignment, snapshot, preemptor = case.assignment, case.snapshot, case.preemptor
    pod_sets = preemptor.pod_sets
    complete = assignment.mode != "NoFit" and len(assignment.pod_sets) == len(pod_sets)
    counts = None
    if complete:
        pairs = zip(assignment.pod_sets, pod_sets, strict=True)
        counts = [base.count if pods.count is None else pods.count for pods, base in pairs]
    permitted = permitted_assignments(snapshot, preemptor, counts)
    own = (assignment,) if complete else ()
    differing: dict[object, Assignment] = {}
    for each in (*own, *permitted.assignments):
        request = whole_request(each, preemptor, snapshot)
        # What an assignment asks for and contests is all that the laws look at.
        asked = frozenset(request.items()), contested(each, snapshot)
        differing.setdefault(asked, each)
    return Choices(permitted, own, tuple(differing.values())[len(own) :])


def candidates_under(planning: Planning, choices: Choices) -> BoolArray:
    """Return who is a candidate if all is contested that any assignment contests: (W,)."""
    assignments = (*choices.own, *choices.others)
    if not assignments:
        return planning.eligible
    pod_sets = tuple(pods for assignment in assignments for pods in assignment.pod_sets)
    # Nobody gets this assignment: it contests at once whatever any of the others contests.
    everything = Assignment(mode="Preempt", pod_sets=pod_sets)
    return eligible(build_problem(planning.case.snapshot, planning.case.preemptor, everything))


IN_CHOSEN: Final = "in the flavors chosen, "
"""How the words for a tree begin that does not hold of other flavors."""
