"""The smallest single changes that would make a plan exist, each found by solving again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from planner.commands.explain.change import Edit, Trial, first
from planner.commands.explain.record import Change
from planner.commands.whatif.edit import edit
from planner.objective.profiles import Profile
from planner.quantity import NANO, UNLIMITED, format_units, is_milli
from planner.solver.deadline import Deadline
from planner.solver.kueue.describe import victims_in_words
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settled, solve_planning
from planner.solver.kueue.start import start
from planner.solver.levels import find_any
from planner.solver.start import Given
from planner.state.queues import Preemption, ResourceQuota

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
        most = -(-(asked + _in_use(planning, fr)) // grain)
        coarse = first(lambda k: self._works(k * grain), most)
        if coarse is None or self.trial.deadline.passed:
            return None
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


def _in_use(planning: Planning, fr: int) -> int:
    """Return what the whole tree of the preemptor uses of a flavor-resource."""
    tree, usage = planning.snapshot.tree, planning.snapshot.usage
    return (
        usage.amount[tree.path(planning.preemptor.queue)[-1]][fr]
        + usage.amount[planning.preemptor.queue][fr]
    )


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
