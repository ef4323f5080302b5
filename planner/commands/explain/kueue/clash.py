"""Why nothing: the laws of Kueue that leave no plan, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from planner.commands.explain.kueue.record import Shortfall
from planner.commands.explain.minimal import in_words, minimal
from planner.commands.explain.record import LawInWords
from planner.laws import (
    FS_BORROWING,
    FS_BORROWS_CONTESTED,
    FS_FITS,
    FS_HOLDS_CONTESTED,
    FS_RECLAIM,
    FS_SHARES,
    FS_WITHIN_CLUSTER_QUEUE,
    KQ_ATTEMPT,
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_HOLDS_CONTESTED,
    KQ_OVER_QUOTA,
    KQ_RECLAIM,
    KQ_WITHIN_CLUSTER_QUEUE,
    KQ_WITHOUT_BORROWING,
    Law,
    Register,
    in_drop_order,
)
from planner.models.kueue.build import assemble
from planner.models.kueue.candidates import attempts, eligible, restricted_while_borrowing
from planner.models.kueue.columns import Columns, build_classes
from planner.problem.kueue import Problem
from planner.quantity import format_units
from planner.solver.deadline import Deadline
from planner.solver.engine import Outcome, run
from planner.solver.kueue.planning import Planning

WORDS: Final[Register[Callable[[Problem], str]]] = Register()
"""What a law says of a problem, with its numbers, by the law's id."""


def laws_of(problem: Problem) -> tuple[Law, ...]:
    """Return the laws that can be dropped, in the order in which that is tried."""
    return in_drop_order(problem.rules)


def feasible(problem: Problem, kept: set[str], deadline: Deadline) -> Outcome:
    """Say whether any victim set keeps to the laws whose ids are given, and to no others.

    Shares are compared in integers, where Kueue rounds: at equal shares this may call a set
    possible that Kueue refuses.
    """
    without = {law.id for law in laws_of(problem)} - kept
    allowed = eligible(problem, without)
    restricted = restricted_while_borrowing(problem)
    columns = Columns(problem, build_classes(problem, allowed, restricted, []), restricted)
    both = KQ_ATTEMPT.id in without and problem.fair is None
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


@WORDS.of(KQ_FITS, FS_FITS)
def _fits(problem: Problem) -> str:
    short = [
        f"{format_units(problem.request[fr] - problem.available[fr], problem.frs[fr].resource)} "
        f"{problem.frs[fr]}"
        for fr in problem.requested
        if problem.request[fr] > max(0, problem.available[fr])
    ]
    return f"{' and '.join(short)} must be freed"


def _protected(problem: Problem, law: str) -> int:
    """Count the workloads that one law alone keeps from being candidates."""
    return int((eligible(problem, {law}) & ~eligible(problem)).sum())


def _policy(field: str, value: str, count: int) -> str:
    return f"{field} is {value}, which protects {_workloads(count)}"


def _workloads(count: int) -> str:
    return f"{count} workload{'' if count == 1 else 's'}"


def _fair_or(problem: Problem, fair: Law, classical: Law) -> str:
    return (classical if problem.fair is None else fair).id


@WORDS.of(KQ_WITHIN_CLUSTER_QUEUE, FS_WITHIN_CLUSTER_QUEUE)
def _within(problem: Problem) -> str:
    law = _fair_or(problem, FS_WITHIN_CLUSTER_QUEUE, KQ_WITHIN_CLUSTER_QUEUE)
    value = problem.policy.within_cluster_queue
    mine = problem.preemptor_priority
    text = _policy("withinClusterQueue", value, _protected(problem, law))
    return text if value == "Never" else f"{text} (the preemptor has priority {mine})"


@WORDS.of(KQ_RECLAIM, FS_RECLAIM)
def _reclaim(problem: Problem) -> str:
    law = _fair_or(problem, FS_RECLAIM, KQ_RECLAIM)
    value = problem.policy.reclaim_within_cohort
    mine = problem.preemptor_priority
    text = _policy("reclaimWithinCohort", value, _protected(problem, law))
    return text if value == "Never" else f"{text} (the preemptor has priority {mine})"


@WORDS.of(KQ_HOLDS_CONTESTED, FS_HOLDS_CONTESTED)
def _holds(problem: Problem) -> str:
    count = int((~problem.names_contested).sum())
    return f"{_workloads(count)} hold nothing of what is short"


@WORDS.of(KQ_BORROW_WITHIN_COHORT)
def _borrow(problem: Problem) -> str:
    count = int((restricted_while_borrowing(problem) & eligible(problem)).sum())
    borrow = problem.policy.borrow_within_cohort
    limit = borrow.max_priority_threshold
    most = "" if limit is None else f" up to maxPriorityThreshold {limit}"
    return _policy("borrowWithinCohort", borrow.policy + most, count)


@WORDS.of(KQ_WITHOUT_BORROWING)
def _without_borrowing(problem: Problem) -> str:
    return f"ClusterQueue {problem.names[problem.own_queue]} must stay within its nominal quota"


@WORDS.of(KQ_ATTEMPT)
def _attempt(problem: Problem) -> str:
    made = attempts(problem, eligible(problem))
    tried = " and ".join("with borrowing" if one else "without borrowing" for one in made)
    return f"Kueue tries {tried} only"


@WORDS.of(KQ_OVER_QUOTA, FS_BORROWING)
def _over_quota(problem: Problem) -> str:
    count = _protected(problem, _fair_or(problem, FS_BORROWING, KQ_OVER_QUOTA))
    text = "other queues and cohorts give only what is over their quota"
    return f"{text}; {_workloads(count)} are in one that is not" if count else text


@WORDS.of(FS_BORROWS_CONTESTED)
def _borrows_contested(problem: Problem) -> str:
    count = _protected(problem, FS_BORROWS_CONTESTED.id)
    return f"{_workloads(count)} are in queues that borrow nothing of what is short"


@WORDS.of(FS_SHARES)
def _shares(problem: Problem) -> str:
    strategies = ", then ".join(problem.fair.strategies) if problem.fair else ""
    own = problem.names[problem.own_queue]
    return (
        f"with the request, the side of ClusterQueue {own} would be the more unfair ({strategies})"
    )
