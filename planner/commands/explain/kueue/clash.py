"""Why nothing: the laws of Kueue that leave no plan, what is short, which change would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from planner.commands.explain.inquiry import Edit, Trial, first, in_words, minimal
from planner.commands.explain.kueue.record import Shortfall
from planner.commands.explain.record import Change, LawInWords
from planner.commands.whatif.edit import edit
from planner.laws import Law, Register, in_drop_order
from planner.laws import kueue as laws
from planner.models.kueue.build import assemble
from planner.models.kueue.formulation import Columns, build_classes
from planner.models.kueue.laws import attempts, eligible, restricted_while_borrowing
from planner.objective.profiles import Profile
from planner.problem.kueue import Problem
from planner.quantity import NANO, UNLIMITED, format_units, is_milli
from planner.solver.deadline import Deadline
from planner.solver.engine import Outcome, run
from planner.solver.kueue.describe import victims_in_words
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settled, solve_planning
from planner.solver.kueue.start import start
from planner.solver.levels import find_any
from planner.solver.start import Given
from planner.state.queues import Preemption, ResourceQuota

WORDS: Final[Register[Callable[[Problem], str]]] = Register()
"""What a law says of a problem, with its numbers, by the law's id."""


def laws_of(problem: Problem) -> tuple[Law, ...]:
    """Return the laws that can be dropped, in the order in which that is tried."""
    placed = () if problem.places is None else in_drop_order("topology")
    return (*in_drop_order(problem.rules), *placed)


def feasible(problem: Problem, kept: set[str], deadline: Deadline) -> Outcome:
    """Say whether any victim set keeps to the laws whose ids are given, and to no others.

    Shares are compared in integers, where Kueue rounds: at equal shares this may call a set
    possible that Kueue refuses.
    """
    without = {law.id for law in laws_of(problem)} - kept
    allowed = eligible(problem, without)
    restricted = restricted_while_borrowing(problem)
    # No costs tell classes apart: any set will do here.
    columns = Columns(problem, build_classes(problem, allowed, restricted, []), restricted)
    both = laws.KQ_ATTEMPT.id in without and problem.fair is None
    permitted = (True, False) if both else attempts(problem, allowed)
    formulation = assemble(problem, columns, permitted, without)
    return run(formulation.builder, None, deadline).outcome


def minimal_clash(problem: Problem, deadline: Deadline) -> tuple[set[str], bool]:
    """Return the ids of a minimal clashing set, and whether it is proved to be one.

    Empty where all laws together do permit a set: only rounding of shares is then in the way.
    """
    return minimal(laws_of(problem), lambda kept: feasible(problem, kept, deadline))


def clash_in_words(problem: Problem, ids: set[str]) -> tuple[LawInWords, ...]:
    """Return clashing laws in the order of their ids, with what each says here."""
    return in_words(laws_of(problem), ids, WORDS, problem)


def shortfalls(planning: Planning) -> tuple[Shortfall, ...]:
    """Return every flavor-resource that is short.

    Where no flavor could be assigned, these are all flavors of the queue for the resources that
    the workload asks for, with the most that the queue could ever use of them.
    """
    if planning.decision.assignment.mode == "NoFit":
        return _of_no_flavor(planning)
    problem = planning.problem
    found = []
    for fr in problem.requested:
        available = max(0, problem.available[fr])
        short = problem.request[fr] - problem.available[fr]
        if problem.request[fr] > available:
            held = sum(problem.holding[planning.eligible, fr].tolist())
            index = planning.snapshot.fr(*problem.frs[fr])
            most = planning.snapshot.tree.potential(planning.preemptor.queue, index)
            found.append(
                _shortfall(problem.frs[fr], problem.request[fr], available, short, held, most)
            )
    return tuple(found)


def _of_no_flavor(planning: Planning) -> tuple[Shortfall, ...]:
    snapshot = planning.snapshot
    queue = planning.preemptor.queue
    asked: dict[str, int] = {}
    for request in planning.preemptor.pod_sets:
        for resource, amount in request.totals.items():
            asked[resource] = asked.get(resource, 0) + amount
    found = []
    for group in snapshot.queues[queue].spec.resource_groups:
        for flavor in group.flavors:
            for resource in group.covered_resources:
                index = snapshot.fr_or_none(flavor.name, resource)
                if index is None or not asked.get(resource):
                    continue
                available = max(0, snapshot.usage.available(queue, index))
                short = asked[resource] - snapshot.usage.available(queue, index)
                if short > 0:
                    most = snapshot.tree.potential(queue, index)
                    fr = snapshot.tree.frs[index]
                    found.append(_shortfall(fr, asked[resource], available, short, None, most))
    return tuple(found)


def _shortfall(  # noqa: PLR0913, PLR0917 - one number each
    fr: tuple[str, str], requested: int, available: int, short: int, held: int | None, most: int
) -> Shortfall:
    flavor, resource = fr
    text = (
        f"{format_units(requested, resource)} {resource} asked in flavor {flavor}, "
        f"{format_units(available, resource)} available, {format_units(short, resource)} short; "
    )
    if most < requested:
        text += f"the queue can never use more than {format_units(most, resource)} there"
    elif held is None:
        text += "Kueue looks for no victims there"
    else:
        text += f"candidates hold {format_units(held, resource)}"
    return Shortfall(
        flavor=flavor,
        resource=resource,
        requested=requested,
        available=available,
        short=short,
        held_by_candidates=held or 0,
        most=most,
        text=text,
    )


@WORDS.of(laws.KQ_FITS, laws.FS_FITS)
def _fits(problem: Problem) -> str:
    short = [
        f"{format_units(problem.request[fr] - problem.available[fr], problem.frs[fr].resource)} "
        f"{problem.frs[fr]}"
        for fr in problem.requested
        if problem.request[fr] > max(0, problem.available[fr])
    ]
    return f"{' and '.join(short)} must be freed"


@WORDS.of(laws.KT_ROOM)
def _room(problem: Problem) -> str:
    rooms = () if problem.places is None else problem.places.rooms
    return f"the nodes must have room for {' and '.join(room.name for room in rooms)}"


def _protected(problem: Problem, law: str) -> int:
    """Count the workloads that one law alone keeps from being candidates."""
    return int((eligible(problem, {law}) & ~eligible(problem)).sum())


def _policy(field: str, value: str, count: int) -> str:
    return f"{field} is {value}, which protects {_workloads(count)}"


def _workloads(count: int) -> str:
    return f"{count} workload{'' if count == 1 else 's'}"


def _fair_or(problem: Problem, fair: Law, classical: Law) -> str:
    return (classical if problem.fair is None else fair).id


@WORDS.of(laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE)
def _within(problem: Problem) -> str:
    law = _fair_or(problem, laws.FS_WITHIN_CLUSTER_QUEUE, laws.KQ_WITHIN_CLUSTER_QUEUE)
    value = problem.policy.within_cluster_queue
    mine = problem.preemptor_priority
    text = _policy("withinClusterQueue", value, _protected(problem, law))
    return text if value == "Never" else f"{text} (the preemptor has priority {mine})"


@WORDS.of(laws.KQ_RECLAIM, laws.FS_RECLAIM)
def _reclaim(problem: Problem) -> str:
    law = _fair_or(problem, laws.FS_RECLAIM, laws.KQ_RECLAIM)
    value = problem.policy.reclaim_within_cohort
    mine = problem.preemptor_priority
    text = _policy("reclaimWithinCohort", value, _protected(problem, law))
    return text if value == "Never" else f"{text} (the preemptor has priority {mine})"


@WORDS.of(laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED)
def _holds(problem: Problem) -> str:
    count = int((~problem.names_contested).sum())
    return f"{_workloads(count)} hold nothing of what is short"


@WORDS.of(laws.KQ_BORROW_WITHIN_COHORT)
def _borrow(problem: Problem) -> str:
    count = int((restricted_while_borrowing(problem) & eligible(problem)).sum())
    borrow = problem.policy.borrow_within_cohort
    limit = borrow.max_priority_threshold
    most = "" if limit is None else f" up to maxPriorityThreshold {limit}"
    return _policy("borrowWithinCohort", borrow.policy + most, count)


@WORDS.of(laws.KQ_WITHOUT_BORROWING)
def _without_borrowing(problem: Problem) -> str:
    return f"ClusterQueue {problem.names[problem.own_queue]} must stay within its nominal quota"


@WORDS.of(laws.KQ_ATTEMPT)
def _attempt(problem: Problem) -> str:
    made = attempts(problem, eligible(problem))
    tried = " and ".join("with borrowing" if one else "without borrowing" for one in made)
    return f"Kueue tries {tried} only"


@WORDS.of(laws.KQ_OVER_QUOTA, laws.FS_BORROWING)
def _over_quota(problem: Problem) -> str:
    count = _protected(problem, _fair_or(problem, laws.FS_BORROWING, laws.KQ_OVER_QUOTA))
    text = "other queues and cohorts give only what is over their quota"
    return f"{text}; {_workloads(count)} are in one that is not" if count else text


@WORDS.of(laws.FS_BORROWS_CONTESTED)
def _borrows_contested(problem: Problem) -> str:
    count = _protected(problem, laws.FS_BORROWS_CONTESTED.id)
    return f"{_workloads(count)} are in queues that borrow nothing of what is short"


@WORDS.of(laws.FS_SHARES)
def _shares(problem: Problem) -> str:
    strategies = ", then ".join(problem.fair.strategies) if problem.fair else ""
    own = problem.names[problem.own_queue]
    return (
        f"with the request, the side of ClusterQueue {own} would be the more unfair ({strategies})"
    )


HIGHEST_PRIORITY: Final = 2**31 - 1

GATES: Final = (
    "FairSharingPreemptWithinNominal",
    "PartialAdmission",
    "PrioritySortingWithinCohort",
)
"""Feature gates that decide on candidates, shares or what is asked for."""


@dataclass(frozen=True, slots=True)
class KueueTrial(Trial):
    """A pending workload on changed states.

    ``planning`` is the workload as it is, ``given`` names it and what the user fixed.
    """

    planning: Planning
    given: Given
    costs: Mapping[str, int] | None
    profile: Profile
    deadline: Deadline

    def planned(self, change: str) -> Planning:
        """Return the workload as it is once an edit is made."""
        return start(edit(self.planning.state, [change]), self.given, self.costs)

    def is_possible(self, change: str) -> bool:
        """Say whether the workload can start once an edit is made, with or without victims."""
        planning = self.planned(change)
        answer = settled(planning)
        if answer is not None:
            return answer[0] == "optimal"
        bare = replace(self.profile, levels=(), caps=())
        search = prepare(planning, bare, self.deadline, planning.greedy_plan()).search
        return search.incumbent is not None or find_any(search, search.active) == "optimal"

    def proved(self, one: Edit) -> Change | None:
        """Solve the changed state; ``None`` if that finds no plan in time."""
        plan = solve_planning(self.planned(one.text), self.profile, self.deadline)
        return one.change(plan, f"evicting {victims_in_words(len(plan.victims))}")


def smallest_changes(trial: KueueTrial) -> tuple[tuple[Change, ...], bool]:
    """Return every single change that works, and whether all were tried.

    Of a number it is the smallest step up; of a policy every value that works is given, the
    others of the field having been tried as well. For an inactive queue nothing is tried.
    """
    if trial.planning.subject.cluster_queue in trial.planning.snapshot.inactive:
        return (), False
    searches = (_priorities, _policies, _quotas, _gates)
    return trial.all_proved(one for search in searches for one in search(trial))


def _priorities(trial: KueueTrial) -> Iterator[Edit]:
    """Yield the smallest higher priority that works.

    What the rules ask of the priority changes only where it reaches or passes another one.
    """
    preemptor = trial.planning.preemptor
    base = preemptor.workload.spec.priority or 0
    gaps = {w.priority - preemptor.priority for w in trial.planning.problem.workloads}
    for step in sorted(gaps | {gap + 1 for gap in gaps}):
        if step <= 0 or base + step > HIGHEST_PRIORITY:
            continue
        path = f"workload/{preemptor.key}.priority"
        one = Edit(path, str(base), str(base + step), f"+{step}")
        if trial.makes_plan(one.text):
            yield one
            return


def _policies(trial: KueueTrial) -> Iterator[Edit]:
    """Yield every other value of the policies that works."""
    queue = trial.planning.subject.cluster_queue
    for field, before, after in _other_values(trial.planning.problem.policy):
        one = Edit(f"clusterqueue/{queue}.preemption.{field}", before, after)
        if trial.makes_plan(one.text):
            yield one


def _other_values(now: Preemption) -> Iterator[tuple[str, str, str]]:
    for within in ("LowerPriority", "LowerOrNewerEqualPriority"):
        if within != now.within_cluster_queue:
            yield "withinClusterQueue", now.within_cluster_queue, within
    for reclaim in ("LowerPriority", "Any"):
        if reclaim != now.reclaim_within_cohort:
            yield "reclaimWithinCohort", now.reclaim_within_cohort, reclaim
    borrow = now.borrow_within_cohort
    if borrow.policy == "Never":
        yield "borrowWithinCohort.policy", "Never", "LowerPriority"
    elif borrow.max_priority_threshold is not None:
        limit = str(borrow.max_priority_threshold)
        yield "borrowWithinCohort.maxPriorityThreshold", limit, "none"


def _gates(trial: KueueTrial) -> Iterator[Edit]:
    """Yield every feature gate that works the other way round."""
    for gate in GATES:
        on = trial.planning.snapshot.configuration.gate(gate)
        before, after = ("true", "false") if on else ("false", "true")
        one = Edit(f"configuration.featureGates.{gate}", before, after)
        if trial.makes_plan(one.text):
            yield one


def _quotas(trial: KueueTrial) -> Iterator[Edit]:
    """Yield the smallest higher limit or quota of each flavor-resource that works."""
    queue = trial.planning.subject.cluster_queue
    for flavor, quota, asked in _asked(trial):
        for name, nano in (
            ("borrowingLimit", quota.borrowing_limit),
            ("nominal", quota.nominal_quota),
        ):
            if nano is not None:
                path = f"clusterqueue/{queue}.quota.{flavor}/{quota.name}.{name}"
                one = _Number(trial, path, flavor, quota.name, nano).smallest(asked)
                if one is not None:
                    yield one


def _asked(trial: KueueTrial) -> Iterator[tuple[str, ResourceQuota, int]]:
    """Yield the quotas of the queue for what the workload asks, and how much that is."""
    planning = trial.planning
    asked: dict[str, int] = {}
    for request in planning.preemptor.pod_sets:
        for resource, amount in request.totals.items():
            asked[resource] = asked.get(resource, 0) + amount
    for group in planning.snapshot.queues[planning.preemptor.queue].spec.resource_groups:
        for flavor in group.flavors:
            for quota in flavor.resources:
                if asked.get(quota.name):
                    yield flavor.name, quota, asked[quota.name]


@dataclass(frozen=True, slots=True)
class _Number:
    """One number of the preemptor's queue in nano-units, to be raised by whole units."""

    trial: KueueTrial
    path: str
    flavor: str
    resource: str
    nano: int

    def smallest(self, asked: int) -> Edit | None:
        """Return the smallest step up that works while one unit less does not.

        Without fair sharing, what the rules compare changes only at multiples of what all
        amounts have in common, so those are searched first.
        """
        planning = self.trial.planning
        fr = planning.snapshot.fr_or_none(self.flavor, self.resource)
        if fr is None:
            return None
        grain = _grain(planning, fr, asked) if planning.problem.fair is None else 1
        # More quota than all that is used and asked for together changes nothing.
        queue, used = planning.preemptor.queue, planning.snapshot.usage.amount
        root = planning.snapshot.tree.path(queue)[-1]
        most = -(-(asked + used[root][fr] + used[queue][fr]) // grain)
        coarse = first(lambda k: self._works(k * grain), most)
        if coarse is None or self.trial.deadline.passed:
            return None
        # "Over its quota" is strict: one unit beyond a multiple may do what the next multiple does.
        just_above = (coarse - 1) * grain + 1
        return self._edit(just_above if self._works(just_above) else coarse * grain)

    def _works(self, units: int) -> bool:
        return self.trial.makes_plan(self._edit(units).text)

    def _edit(self, units: int) -> Edit:
        step = 10**6 if is_milli(self.resource) else NANO
        before, after = (
            format_units(nano // step, self.resource) if nano % step == 0 else f"{nano}n"
            for nano in (self.nano, self.nano + units * step)
        )
        return Edit(self.path, before, after, f"+{format_units(units, self.resource)}")


def _grain(planning: Planning, fr: int, asked: int) -> int:
    """Return the greatest common divisor of all amounts of a flavor-resource."""
    snapshot = planning.snapshot
    grain = asked
    for node, entry in enumerate(snapshot.tree.nodes):
        quota = entry.quotas.get(fr)
        for amount in quota or ():
            if amount is not None and amount != UNLIMITED:
                grain = gcd(grain, amount)
        for workload in snapshot.admitted.get(node, ()):
            grain = gcd(grain, workload.usage.get(fr, 0))
    return max(1, grain)
