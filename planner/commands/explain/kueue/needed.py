"""Whether a preemptor needed a victim that it has evicted already: asked of the state before.

That state is made from the dump: the preemptor waits, its victims and those of later preemptions
are back, and who came later is gone. In which flavors victims ran is in no dump once they are
evicted: all are tried, and those count in which Kueue itself takes the victim. Who has finished
since is in no dump either. How long victims had run is not known, so that sets are compared by
their size.

Source: docs/semantics/kueue-features.md §10 (E26).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, product
from math import prod
from typing import Final

from planner.case.kueue import Case
from planner.commands.explain.answer import alternative
from planner.commands.explain.kueue.inquiry import KueueInquiry, excluded_by
from planner.commands.explain.kueue.past import Necessity
from planner.errors import InputError
from planner.objective.profiles import PROFILES
from planner.plan.base import name_some
from planner.quantity import plural
from planner.quota.kueue.assignment import Assignment, FlavorChoice, PodSetFlavors
from planner.quota.kueue.placement import may_be_placed
from planner.quota.kueue.preemptor import as_preemptor
from planner.quota.kueue.request import PodSetRequest
from planner.quota.kueue.selector import InvalidSelectorError
from planner.reference.kueue.aftermath import admit
from planner.reference.kueue.assignment import FlavorAssigner, joined
from planner.solver.start import Given
from planner.state.kueue import State
from planner.state.kueue_workload import PREEMPTED, Workload, WorkloadStatus, preemptor_uid
from planner.state.kueue_workloads import Changes
from planner.state.queues import ResourceGroup

MOST_NAMED: Final = 5
"""The most victims of another set that are named."""
MOST_WAYS: Final = 16
"""The most ways in which evicted workloads may have run that are tried."""
SIZE: Final = PROFILES["min-count"]


class _NotKnown(Exception):  # noqa: N818 - says what happened
    """The dump does not tell what the state before was; the text says what it lacks."""


def was_needed(inquiry: KueueInquiry, preemptor: str, at: datetime) -> Necessity:
    """Say whether a preemptor needed the workload of an inquiry to go at a time, and why."""
    key, found = inquiry.planning.preemptor_key, list[tuple[bool, str]]()
    try:
        states = _before(inquiry.planning.case, preemptor, at)
        for state in states:
            before = KueueInquiry(state, Given(preemptor), SIZE, inquiry.deadline)
            found += _judged(before, key, alone=len(states) == 1)
    except _NotKnown as unknown:
        return None, str(unknown)
    except InputError as error:
        return None, f"the state before cannot be planned for: {error}"
    if not found:
        return None, f"by this dump Kueue itself would not take {key}: something has changed since"
    if len({needed for needed, _ in found}) > 1:
        return None, "in which flavors those who were evicted ran is in no dump, and decides that"
    needed, why = found[0]
    return needed, why if len(states) == 1 else f"{why}, in whichever flavors they ran"


def _judged(before: KueueInquiry, key: str, *, alone: bool) -> Iterator[tuple[bool, str]]:
    """Yield whether the preemptor of a state before could have spared a workload.

    A state that is not ``alone`` is one of several that may have been: nothing is said of one in
    which Kueue itself would not have taken the workload. Raises ``_NotKnown`` if the only one is
    not what it was, or time is up.
    """
    if not alone and key not in before.greedy.keys:
        return
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
        yield True, f"no set of victims that the rules permit {plan.preemptor} is without {key}"
        return
    named, spared = name_some(other.victims, MOST_NAMED), plural(len(other.victims), "workload")
    has = "has it" if key in plan.keys else "is without it"
    text = (
        f"{named} could have gone without {key}, {spared}; the smallest set that the rules permit, "
        f"of {len(plan.victims)}, {has} (how long each had run is in no dump)"
    )
    if key not in before.greedy.keys:
        text += "; by this dump Kueue would have spared it, too: something has changed since"
    yield False, text


def _before(case: Case, preemptor: str, at: datetime) -> Sequence[State]:
    """Return the states that may have been, in which a preemptor waits, and its victims are back.

    Raises ``_NotKnown`` if the dump does not tell what these held, or there are too many ways.
    """
    state, snapshot = case.state, case.snapshot
    waiting = state.workloads.find(preemptor)
    if waiting is None:
        raise _NotKnown(f"{preemptor} is not in the dump")
    holders = list(chain.from_iterable(snapshot.admitted.values()))
    later = {one.key for one in holders if one.reserved_s > at.timestamp()} - {preemptor}
    leaving = [one.workload for one in holders if one.evicted and one.key not in later]
    changed = [waiting.model_copy(update={"status": WorkloadStatus.blank()})]
    changed += [_kept(one) for one in leaving if one.key != preemptor]
    others = [one for one in _evicted_since(state, waiting.uid, at) if one.key != preemptor]
    ways = [_ways(case, one) for one in others]
    if prod(map(len, ways)) > MOST_WAYS:
        raise _NotKnown(
            "those who were evicted may have run in many flavors: no dump says in which"
        )
    return [
        state.apply(Changes(changed=[*changed, *back], gone=sorted(later)))
        for back in product(*ways)
    ]


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


def _ways(case: Case, workload: Workload) -> Sequence[Workload]:
    """Return an evicted workload as it may have run: once for each flavor that it may have had.

    Raises ``_NotKnown`` if the dump does not tell what it held.
    """
    key, snapshot = workload.key, case.snapshot
    if any(pods.min_count is not None for pods in workload.spec.pod_sets):
        raise _NotKnown(f"with how many pods {key} ran is in no dump (minCount)")
    if snapshot.topologies.looked_at or may_be_placed(case.state, key):
        raise _NotKnown(f"on which nodes the pods of {key} were is in no dump")
    waiting = as_preemptor(case.state, snapshot, workload)
    assigner = FlavorAssigner(snapshot, snapshot.usage, waiting)
    # Resources of one resource group have one flavor in all podsets that are handled together.
    choices: dict[tuple[int, int], tuple[list[str], list[tuple[str, str]]]] = {}
    for place, group in enumerate(assigner.groups()):
        for resource in joined(group):
            covering = assigner.covering(resource)
            if covering is None:
                continue
            flavors, shared = choices.setdefault((place, id(covering)), ([], []))
            flavors[:] = _flavors(assigner, group, covering)
            shared += [(one.name, resource) for one in group if resource in one.totals]
    ways = []
    for chosen in product(*(flavors for flavors, _ in choices.values())):
        found: dict[str, dict[str, FlavorChoice]] = {one.name: {} for one in waiting.pod_sets}
        for flavor, (_, shared) in zip(chosen, choices.values(), strict=True):
            for name, resource in shared:
                found[name][resource] = FlavorChoice(flavor=flavor, mode="Fit")
        pod_sets = tuple(PodSetFlavors(name=name, flavors=some) for name, some in found.items())
        ways.append(admit(snapshot, waiting, Assignment(mode="Fit", pod_sets=pod_sets)).workload)
    if not ways:
        raise _NotKnown(f"{key} may have none of the flavors that its queue has now")
    return ways


def _flavors(
    assigner: FlavorAssigner, group: Sequence[PodSetRequest], covering: ResourceGroup
) -> Iterator[str]:
    """Yield the flavors of a resource group on whose nodes podsets may run."""
    for flavor in covering.flavors:
        # A selector that cannot be evaluated never had a flavor.
        with suppress(InvalidSelectorError):
            if assigner.eligible(group, flavor.name, covering):
                yield flavor.name
