"""What the release of Kueue means for one decision: what it leaves open, and whether it matters.

Source: docs/semantics/kueue-releases.md §1 and §2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from planner.errors import PlannerError, UnsupportedError
from planner.plan.kueue import Plan
from planner.quota.kueue.overflow import misread, overflowing
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.request import ambiguous_resources
from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.decision import decide
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.state.kueue import State
from planner.state.kueue_release import newest_first

MOST: Final = 300
"""With more workloads that hold quota, releases are not tried out."""

_Answer = tuple[object, ...]


def under_release(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Snapshot:
    """Return the snapshot with notes on what the release of Kueue leaves open for a workload.

    Raises
    ------
    UnsupportedError
        If amounts are so large that this release would wrap around.
    """
    refuse_overflow(snapshot, preemptor)
    name = snapshot.configuration.release.name
    notes = [
        f"{preemptor.key} asks for {made}, and transformations make more of it: Kueue {name} "
        "counts either both or the first, at random; here it is the first"
        for made in sorted(ambiguous_resources(preemptor.workload, snapshot.configuration))
    ]
    notes += _not_modelled(state, snapshot, preemptor)
    if snapshot.tree.arithmetic.wraps:
        notes += misread(state, snapshot)
    return replace(snapshot, notes=(*snapshot.notes, *notes)) if notes else snapshot


def refuse_overflow(snapshot: Snapshot, preemptor: Preemptor) -> None:
    """Refuse amounts that are so large that the release of Kueue would wrap around.

    Raises
    ------
    UnsupportedError
        If there are any.
    """
    resource = overflowing(snapshot, preemptor)
    if resource:
        name = snapshot.configuration.release.name
        raise UnsupportedError(
            preemptor.key,
            f"amounts of {resource} are so large, or less than nothing, that Kueue {name} wraps "
            "around: what it decides can be replayed, and no optimum is given",
        )


def _not_modelled(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Iterator[str]:
    """Say what a release does otherwise that is not modelled, where a state shows it."""
    rules, name = snapshot.configuration.rules, snapshot.configuration.release.name
    holding = (
        one
        for one in state.workloads.gone()
        if one.status.admission and one.is_true("QuotaReserved")
    )
    kept = None if rules.frees_finished else next(holding, None)
    if kept is not None:
        yield (
            f"{kept.key} is finished or deactivated and has not given its quota back: Kueue {name} "
            "still counts it, which is not modelled"
        )
    pods = [one.pod_set.template.spec for one in preemptor.pod_sets]
    if not rules.reads_pod_level and any(pod.resources is not None for pod in pods):
        yield (
            f"{preemptor.key} has requests for whole pods, which Kueue {name} may read otherwise: "
            "that is not modelled"
        )


def with_release(planning: Planning, plan: Plan, deadline: Deadline) -> Plan:
    """Return a plan that says which releases decide otherwise, if the dump tells none.

    Looked for in small states only, and while there is time.
    """
    snapshot = planning.snapshot
    small = sum(map(len, snapshot.admitted.values())) <= MOST
    if snapshot.configuration.release_known_by != "assumed" or not small or deadline.passed:
        return plan
    notes = tuple(_other_answers(planning.state, snapshot, planning.preemptor))
    return plan.model_copy(update={"notes": (*plan.notes, *notes)}) if notes else plan


def _other_answers(state: State, snapshot: Snapshot, preemptor: Preemptor) -> Iterator[str]:
    if snapshot.topologies.looked_at:
        snapshot = build_snapshot(state, snapshot.now)  # of other releases quota alone is known
    own = _answer(snapshot, preemptor)
    newest, *others = newest_first()
    for release in others:
        if release.rules == newest.rules:
            continue  # it differs in whole cycles only
        configuration = state.configuration.under(release, "assumed")
        changed = state.model_copy(update={"configuration": configuration})
        try:
            other = build_snapshot(changed, snapshot.now)
            found = _answer(other, find_preemptor(changed, other, preemptor.key))
        # That a release refuses the state is another answer, too.
        except PlannerError:
            found = ()
        # One is enough: what has to be said is that it matters.
        if found != own:
            yield (
                f"the release of Kueue is not known, and matters: {release.name} would decide "
                "otherwise than the newest, whose rules are used; --kueue-release says which it is"
            )
            return


def _answer(snapshot: Snapshot, preemptor: Preemptor) -> _Answer:
    """Return what is decided, in words that are the same in every snapshot."""
    found = decide(snapshot, preemptor)
    return found.assignment, [(one.workload.key, one.reason) for one in found.search.targets]
