"""Whether a preemptor needed a victim that it has evicted already: asked of the state before.

That state is made from the dump: the preemptor waits, its victims and those of later preemptions
are back, and who came later is gone. What victims held is in no dump once they are evicted: they
are put back where only one flavor can have been theirs. Who has finished since is in no dump
either. How long victims had run is not known, so that sets are compared by their size.

Source: docs/semantics/kueue-features.md §10 (E26).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Final

from planner.commands.explain.answer import alternative
from planner.commands.explain.kueue.inquiry import KueueInquiry, excluded_by
from planner.commands.explain.kueue.past import Necessity
from planner.errors import InputError
from planner.objective.profiles import PROFILES
from planner.plan.base import name_some
from planner.quantity import plural
from planner.quota.kueue.assignment import Assignment, FlavorChoice, PodSetFlavors
from planner.quota.kueue.preemptor import as_preemptor
from planner.reference.kueue.aftermath import admit
from planner.reference.kueue.assignment import FlavorAssigner, joined
from planner.reference.kueue.eligibility import InvalidSelectorError
from planner.quota.kueue.placement import may_be_placed
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given
from planner.state.kueue import State
from planner.state.kueue_workload import PREEMPTED, Workload, WorkloadStatus, preemptor_uid
from planner.state.kueue_workloads import Changes

MOST_NAMED: Final = 5
"""The most victims of another set that are named."""
SIZE: Final = PROFILES["min-count"]


class _NotKnown(Exception):  # noqa: N818 - says what happened
    """The dump does not tell what the state before was; the text says what it lacks."""


def was_needed(inquiry: KueueInquiry, preemptor: str, at: datetime) -> Necessity:
    """Say whether a preemptor needed the workload of an inquiry to go at a time, and why."""
    try:
        state = _before(inquiry.planning, preemptor, at)
        before = KueueInquiry(state, Given(preemptor), SIZE, None, inquiry.deadline)
        return _judged(before, inquiry.planning.preemptor.key)
    except _NotKnown as unknown:
        return None, str(unknown)
    except InputError as error:
        return None, f"the state before cannot be planned for: {error}"


def _judged(before: KueueInquiry, key: str) -> Necessity:
    """Say whether the preemptor of the state before could have spared a workload.

    Raises ``_NotKnown`` if that state is not what it was, or time is up.
    """
    plan, position = before.plan, before.positions.get(key)
    if plan.status == "optimal" and not plan.victims:
        raise _NotKnown(
            f"by this dump {plan.preemptor} fits with {key} still there: others have left since"
        )
    law = None if position is None else excluded_by(before.planning, position)
    if position is None or law is not None:
        why = "" if law is None else f" ({law.law} {law.text})"
        raise _NotKnown(f"by this dump {key} is no candidate{why}: something has changed since")
    if plan.status == "infeasible":
        raise _NotKnown(f"by this dump nothing makes room for {plan.preemptor}: {plan.explanation}")
    other = alternative(before, position, "sparing")
    if "unknown" in {plan.status, other.status} or plan.status == "feasible":
        raise _NotKnown("that was not found out in time")
    if other.status == "infeasible":
        return True, f"no set of victims that the rules permit {plan.preemptor} is without {key}"
    named, spared = name_some(other.victims, MOST_NAMED), plural(len(other.victims), "workload")
    has = "has it" if key in plan.keys else "is without it"
    text = (
        f"{named} could have gone without {key}, {spared}; the smallest set that the rules permit, "
        f"of {len(plan.victims)}, {has} (how long each had run is in no dump)"
    )
    if key not in before.greedy.keys:
        text += "; by this dump Kueue would have spared it, too: something has changed since"
    return False, text


def _before(planning: Planning, preemptor: str, at: datetime) -> State:
    """Return the state in which a preemptor waits, and all who were evicted since then are back.

    Raises ``_NotKnown`` if the dump does not tell what they held.
    """
    state, snapshot = planning.state, planning.snapshot
    waiting = state.workloads.find(preemptor)
    if waiting is None:
        raise _NotKnown(f"{preemptor} is not in the dump")
    holders = list(chain.from_iterable(snapshot.admitted.values()))
    later = {one.key for one in holders if one.reserved_s > at.timestamp()} - {preemptor}
    leaving = [one.workload for one in holders if one.evicted and one.key not in later]
    changed = [waiting.model_copy(update={"status": WorkloadStatus.blank()})]
    changed += [_kept(one) for one in leaving if one.key != preemptor]
    others = (one for one in _evicted_since(state, waiting.uid, at) if one.key != preemptor)
    changed += [_back(planning, one) for one in others]
    return state.apply(Changes(changed=changed, gone=sorted(later)))


def _evicted_since(state: State, uid: str, at: datetime) -> Iterator[Workload]:
    """Yield who waits after a preemption by a workload of this UID, or since a time."""
    for one in state.workloads.pending():
        evicted = one.condition("Evicted")
        if evicted is None or not evicted.is_true or evicted.reason != PREEMPTED:
            continue
        moment = evicted.last_transition_time
        since = moment is not None and moment >= at
        if since or preemptor_uid(evicted.message) == uid:
            yield one


def _kept(workload: Workload) -> Workload:
    """Return a workload that holds quota and is being evicted as it was before that."""
    ours = {"Evicted", "Preempted"}
    kept = tuple(one for one in workload.status.conditions if one.type not in ours)
    status = workload.status.model_copy(update={"conditions": kept})
    return workload.model_copy(update={"status": status})


def _back(planning: Planning, workload: Workload) -> Workload:
    """Return an evicted workload as it ran, where the dump leaves no choice."""
    key, snapshot = workload.key, planning.snapshot
    if any(pods.min_count is not None for pods in workload.spec.pod_sets):
        raise _NotKnown(f"with how many pods {key} ran is in no dump (minCount)")
    if planning.snapshot.topologies.looked_at or may_be_placed(planning.state, key):
        raise _NotKnown(f"on which nodes the pods of {key} were is in no dump")
    waiting = as_preemptor(planning.state, snapshot, workload)
    assigner = FlavorAssigner(snapshot, snapshot.usage, waiting)
    found: dict[str, dict[str, FlavorChoice]] = {one.name: {} for one in waiting.pod_sets}
    for group in assigner.groups():
        for resource in joined(group):
            covering = assigner.covering(resource)
            if covering is None:
                continue
            try:
                flavors = [
                    one.name
                    for one in covering.flavors
                    if assigner.eligible(group, one.name, covering)
                ]
            except InvalidSelectorError as error:
                raise _NotKnown(
                    f"the node affinity of {key} cannot be evaluated: {error}"
                ) from None
            if len(flavors) != 1:
                which = f"any of {', '.join(flavors)}" if flavors else "none of its queue's flavors"
                raise _NotKnown(f"{key} may have run in {which}: no dump says in which")
            for request in group:
                if resource in request.totals:
                    found[request.name][resource] = FlavorChoice(flavor=flavors[0], mode="Fit")
    pod_sets = tuple(PodSetFlavors(name=name, flavors=some) for name, some in found.items())
    assignment = Assignment(mode="Fit", pod_sets=pod_sets)
    return admit(snapshot, waiting, assignment).workload
