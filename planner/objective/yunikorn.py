"""The terms of an ask of YuniKorn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from planner.errors import LookupFailed, UnsupportedError, did_you_mean
from planner.objective.annotation import DEFAULT_RESTART_S, Disruption, Disruptions, LookedUp
from planner.objective.applied import KnownGroups
from planner.objective.profiles import Profile
from planner.objective.sums import Losses, as_costs, places, ranks, separable_terms
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quota.yunikorn.resource import fits_in
from planner.state.clock import SECOND
from planner.state.yunikorn import YuniKornState, by_path
from planner.term import unit_weight

WITHOUT_SOURCE: Final = frozenset({"milestone_cost", "past_preemptions"})
"""Terms without a source: a dump has neither annotations nor earlier preemptions."""


def chosen_node(problem: YuniKornProblem, victims: Sequence[int]) -> int | None:
    """Return the node that a victim set makes room on, ``None`` if there can be none.

    It is the node that all victims are on, if they make room there: on no other do they free less
    beyond the need. Else it is the first usable node that has room without any victims. A queue
    that comes down to its maximum needs none.
    """
    if problem.excess is not None:
        return None
    nodes = {int(problem.node[victim]) for victim in victims}
    own = nodes.pop() if len(nodes) == 1 and NOWHERE not in nodes else None
    if not problem.roomy:
        return own
    if own is not None and problem.usable[own]:
        freed, available = problem.holding[list(victims)].sum(axis=0), problem.available[own]
        more = dict(zip(problem.types, freed.tolist(), strict=True))
        then, lacking = {t: available.get(t, 0) + n for t, n in more.items()}, problem.lacking[own]
        if fits_in(then, problem.ask.resource) and all(more[t] >= n for t, n in lacking.items()):
            return own
    # Any roomy node permits the same victims; always the first, for one value of what is freed.
    return problem.roomy[0]


def yunikorn_term_table(
    problem: YuniKornProblem,
    now: int,
    eligible: BoolArray,
    adjusted: Sequence[int],
    costs: Mapping[str, int] | None = None,
) -> TermTable:
    """Compute the terms of a problem; opted-out pods and originators are its last tier.

    - ``problem``: The problem.
    - ``now``: The clock in nanoseconds.
    - ``eligible``, ``adjusted``: (A,) the candidates; (A,) priorities with the queues' offsets.
      Ranks are counted among those of the candidates.
    - ``costs``: Cost per allocation key for the term ``cost``; an allocation not named costs 1.

    Raises ``LookupFailed`` if a cost is given for an allocation that is not there. Raises
    ``UnsupportedError`` if an allocation is too large to add its cost up exactly.
    """
    keys = [one.allocation_key for one in problem.allocations]
    for name in sorted({*(costs or {})}.difference(keys)):
        hint = did_you_mean(name, keys)
        raise LookupFailed("costs", f"there is no allocation {name}", "an allocation key", hint)
    seconds = [max(0, now - one.allocation_time) // SECOND for one in problem.allocations]
    disruptions = Disruptions.one_by_one(
        [
            Disruption(one.originator or one.opted_out, ran_s, ran_s, DEFAULT_RESTART_S)
            for one, ran_s in zip(problem.allocations, seconds, strict=True)
        ]
    )
    priority = np.array(adjusted, dtype=np.int64)
    rank, priorities = ranks(priority, eligible)
    # What is being preempted already is no candidate of YuniKorn at all, unlike in Kueue: no
    # victim is free of cost.
    nobody = np.zeros(len(keys), dtype=np.bool_)
    asked = problem.ask.resource if problem.excess is None else problem.excess
    contested = [i for i, t in enumerate(problem.types) if t in asked]
    held = [
        sum(unit_weight(t) * amount for t, amount in one.resource.items())
        for one in problem.allocations
    ]
    sizes, pods = as_costs(held), [1] * len(keys)
    place = places(problem.order, eligible)
    # Without any node there is one alternative, which lacks all that the ask wants.
    needs = [
        [max(0, asked.get(t, 0) - max(0, room.get(t, 0))) for t in problem.types]
        for room in problem.available or ({},)
    ]
    # What each queue uses above its own guaranteed, of which it may have none.
    borrowed = [
        sum(
            unit_weight(t) * max(0, amount - (queue.guaranteed or {}).get(t, 0))
            for t, amount in queue.allocated.items()
        )
        for queue in problem.queues
    ]
    separable = separable_terms(
        Losses(keys, sizes, pods, disruptions, rank, place, priority, nobody, costs or {})
    )
    return TermTable(
        separable={term: each for term, each in separable.items() if term not in WITHOUT_SOURCE},
        rank=rank,
        priority=priority,
        priorities=priorities,
        queue=problem.queue,
        size=sizes,
        leaving=nobody,
        holding=problem.holding,
        borrowed=borrowed,
        sharers={queue: (queue,) for queue in range(len(problem.queues))},
        contested=contested,
        weight=[unit_weight(t) for t in problem.types],
        needs=needs,
        alternative=lambda victims: chosen_node(problem, victims) or 0,
        disruptions=disruptions,
        groups=LookedUp(len(keys), lambda position: _groups(problem, position)),
    )


def known_yunikorn_groups(state: YuniKornState) -> KnownGroups:
    """Return the groups of a state that wishes may name: YuniKorn has no cohorts."""
    applications = [one for partition in state.partitions for one in partition.applications]
    pods = [one.pod for app in applications for one in (*app.allocations, *app.requests)]
    roots = [partition.root for partition in state.partitions]
    return {
        "queue": {path for root in roots for path, _ in by_path(root)},
        "namespace": {pod.partition("/")[0] for pod in pods if pod and "/" in pod},
    }


def refuse_annotated(profile: Profile) -> None:
    """Raise ``UnsupportedError`` if an objective needs annotations, which a dump does not have."""
    runtime = "it protects the run time that workloads ask for"
    instead = "protect queues or namespaces instead"
    checkpoints, saving = "it goes by published checkpoints", "it counts the time of saving"
    for asked, what, hint in (
        (profile.wishes.annotated, runtime, instead),
        (profile.median_checkpoint, checkpoints, 'leave out unpublished = "median"'),
        (profile.saving_counts, saving, 'leave out saving = "counts"'),
    ):
        if asked:
            found = f"{what}, which YuniKorn's dump does not tell"
            raise UnsupportedError(f"objective {profile.name}", found, hint=hint)


def _groups(problem: YuniKornProblem, position: int) -> tuple[str, ...]:
    """Return the queue of an allocation and those above it, and the namespace of its pod."""
    names = problem.queues[int(problem.queue[position])].path.split(".")
    queues = tuple(f"queue/{'.'.join(names[:depth])}" for depth in range(1, len(names) + 1))
    namespace, slash, _ = (problem.allocations[position].pod or "").partition("/")
    return (*queues, f"namespace/{namespace}") if slash else queues
