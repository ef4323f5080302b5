"""The ways to serve a pending workload, whatever the usage that a step finds.

Flavors come first: all that could ever do, which are those that the rules permit while nothing
runs. For each choice of flavors any set of the flavor-resources that can be short may be short, and
the rest fits. Then comes what else a state can change: hierarchical advantage, or staying within
nominal quota under fair sharing. Which of several flavors Kueue chooses is no row of a model; its
replay judges that (rules.py).

Source: docs/semantics/kueue.md §4.3, §5.3 and §6.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from planner.errors import UnsupportedError
from planner.models.kueue.joint import Way
from planner.models.kueue.laws import restricted_while_borrowing
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import Assignment, FlavorChoice
from planner.quota.kueue.preemptor import replaced_by
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import FlavorResource, Usage
from planner.reference.kueue.aftermath import admit
from planner.reference.kueue.decision import may_shrink
from planner.reference.kueue.permitted import permitted_assignments

MOST_SHORT: Final = 6
"""Flavor-resources of one workload that may be short; every combination of them is a way."""


class Flavored(Struct, frozen=True):
    """Flavors that a pending workload may get: what it asks for and holds with them, per fr."""

    assignment: Assignment
    asked: Mapping[int, int]
    reserved: Mapping[int, int]


def flavored(snapshot: Snapshot, preemptor: Preemptor) -> tuple[Flavored, ...]:
    """Return all flavors that a pending workload could get in any state.

    Raises `UnsupportedError` if there are too many, or Kueue might admit it with fewer pods.
    """
    if may_shrink(snapshot, preemptor):
        raise UnsupportedError(
            preemptor.key,
            "may be admitted with fewer pods (minCount), which a joint plan does not decide",
            hint="leave it out, or plan for it by itself",
        )
    # What does not fit while nothing runs fits in no state that a step may find.
    idle = replace(snapshot, usage=Usage(snapshot.tree), admitted={})
    permitted = permitted_assignments(idle, preemptor)
    if not permitted.complete:
        raise UnsupportedError(preemptor.key, "there are too many flavors to choose from")
    given = ((snapshot, preemptor, assignment) for assignment in permitted.assignments)
    return tuple(Flavored(each[2], asked(*each), admit(*each).usage) for each in given)


def asked(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> dict[int, int]:
    """Return what flavor assignment compares with what is available, zeros left out: per fr.

    It is the request of all podsets, that for ``pods`` included where they get a flavor for it.

    Raises `UnsupportedError` if the workload replaces a slice.
    """
    replaced = replaced_by(snapshot, preemptor)
    if replaced is not None:
        raise UnsupportedError(
            preemptor.key,
            f"it replaces a slice of its workload, {replaced.slice.key}, of which joint plans do "
            "not know: as long as that runs it asks for more pods only, and for all of them once "
            "another step has evicted it",
            hint="plan for it by itself",
        )
    total: dict[int, int] = {}
    for request, pods in zip(preemptor.pod_sets, assignment.pod_sets, strict=False):
        amounts = request.totals_at(pods.count)
        for resource, choice in pods.flavors.items():
            if amounts[resource]:
                fr = snapshot.fr(choice.flavor, resource)
                total[fr] = total.get(fr, 0) + amounts[resource]
    return total


def ways_of(
    snapshot: Snapshot, preemptor: Preemptor, choices: Sequence[Flavored], others: Usage
) -> tuple[Way, ...]:
    """Return the ways to serve a pending workload with some flavors.

    ``others`` is the usage at the start with all others admitted and nobody evicted: what fits
    then is never short.

    Raises `UnsupportedError` if too many flavor-resources may be short, or usage has saturated 64
    bits.
    """
    tree, queue = snapshot.tree, preemptor.queue
    ways = []
    for number, choice in enumerate(choices):
        # With all fr contested: the problem then has every workload that some way may take.
        base = build_problem(snapshot, preemptor, _all_short(snapshot, choice))
        local = {fr: i for i, fr in enumerate(base.frs)}
        wanted = {local[tree.frs[fr]]: amount for fr, amount in choice.asked.items()}
        reserved = {tree.frs[fr]: amount for fr, amount in choice.reserved.items()}
        scarce = [fr for fr, n in choice.asked.items() if n > max(0, others.available(queue, fr))]
        if len(scarce) > MOST_SHORT:
            found = f"{len(scarce)} of its flavor-resources may be short"
            raise UnsupportedError(preemptor.key, found, f"at most {MOST_SHORT}")
        for short in chain.from_iterable(combinations(scarce, n) for n in range(len(scarce) + 1)):
            reclaims = [fr for fr in short if not _may_preempt(snapshot, preemptor, choice, fr)]
            # Reclaiming needs a cohort below the root whose quota holds the amount; here there is
            # no such cohort.
            if reclaims and len(base.path) <= 2:  # noqa: PLR2004 - the queue and its root
                continue
            problem = replace(
                base,
                contested=sorted(local[tree.frs[fr]] for fr in short),
                names_contested=np.array(
                    [not w.names.isdisjoint(short) for w in base.workloads], dtype=np.bool_
                ),
            )
            ways += [
                Way(
                    problem=supposed,
                    flavors=number,
                    asked=wanted,
                    reserved=reserved,
                    advantage_at=advantage_at,
                    by_reclaim=tuple(local[tree.frs[fr]] for fr in reclaims),
                )
                for supposed, advantage_at in _suppositions(snapshot, problem)
            ]
    return tuple(ways)


def _all_short(snapshot: Snapshot, choice: Flavored) -> Assignment:
    """Return the assignment with mode Preempt wherever something is asked for."""
    modes = {snapshot.tree.frs[fr] for fr in choice.asked}
    pod_sets = tuple(
        pods.model_copy(
            update={
                "flavors": {
                    resource: FlavorChoice(flavor=one.flavor, mode="Preempt")
                    if FlavorResource(one.flavor, resource) in modes
                    else one
                    for resource, one in pods.flavors.items()
                }
            }
        )
        for pods in choice.assignment.pod_sets
    )
    return Assignment(mode="Preempt", pod_sets=pod_sets)


def _may_preempt(snapshot: Snapshot, preemptor: Preemptor, choice: Flavored, fr: int) -> bool:
    """Say whether a queue may preempt for a flavor-resource in every state.

    Source: docs/semantics/kueue.md §4.3.
    """
    preemption = snapshot.queues[preemptor.queue].spec.preemption
    return (
        choice.asked[fr] <= snapshot.tree.nominal(preemptor.queue, fr)
        or preemption.borrow_within_cohort.policy != "Never"
        or (snapshot.configuration.fair_sharing_on and preemption.reclaim_within_cohort != "Never")
    )


def _suppositions(snapshot: Snapshot, problem: Problem) -> Iterator[tuple[Problem, int | None]]:
    """Yield a problem under each supposition, and the node in whose quota the request then fits.

    Suppositions that permit no more than a weaker one are left out.
    """
    if problem.fair is not None:
        yield replace(problem, fair=replace(problem.fair, within_nominal=False)), None
        if problem.contested and snapshot.configuration.gate("FairSharingPreemptWithinNominal"):
            yield replace(problem, fair=replace(problem.fair, within_nominal=True)), None
        return
    height = len(problem.path)
    plain = replace(problem, advantage=[False] * height)
    yield plain, None
    if not problem.contested:
        return
    restricted = restricted_while_borrowing(plain)
    for node in range(height - 1):
        above = [position > node for position in range(height)]
        favoured = replace(problem, advantage=above)
        if (restricted_while_borrowing(favoured) != restricted).any():
            yield favoured, node
