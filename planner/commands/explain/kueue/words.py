"""What Kueue's laws say of a problem and of its workloads, with the numbers: a register of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from planner.errors import InternalError
from planner.laws import Law, Register
from planner.laws import kueue as laws
from planner.models.kueue.laws import attempts, eligible, restricted_while_borrowing
from planner.problem.kueue import Problem
from planner.quantity import format_units

OF_WORKLOAD: Final[Register[Callable[[Problem, int], str]]] = Register()
"""By the id of a law, what it says of a workload that it forbids: of a problem and a position."""
OF_PROBLEM: Final[Register[Callable[[Problem], str]]] = Register()
"""By the id of a law, what it says of a problem in which it leaves no plan, with others."""
NOBODY: Final = "Kueue looks for nobody to evict here"
"""What the laws about what is short say where nothing is: all of it fits, or can never fit."""


def first_within_quota(problem: Problem, position: int) -> tuple[int, Sequence[int]] | None:
    """Return the first node between a workload and the common ancestor that is within quota.

    Beside it are the flavor-resources that are looked at; ``None`` if there is no such node.
    """
    node = int(problem.queue[position])
    lca = problem.lca[node]
    while node != lca and not problem.from_own_queue[position]:
        frs = problem.contested if problem.fair is None else problem.fair.known[node]
        if not any(problem.usage[node][fr] > problem.quota[node][fr] for fr in frs):
            return node, frs
        node = problem.parent[node]
    return None


def uses(problem: Problem, node: int, frs: Iterable[int]) -> str:
    """Say how much of its quota a node uses in some flavor-resources; empty without any."""
    return ", ".join(
        f"{format_units(problem.usage[node][fr], problem.frs[fr].resource)} of "
        f"{format_units(problem.quota[node][fr], problem.frs[fr].resource)} "
        f"{problem.frs[fr].resource} in flavor {problem.frs[fr].flavor}"
        for fr in frs
    )


def _listed(problem: Problem, frs: Iterable[int]) -> str:
    return ", ".join(f"{problem.frs[fr].resource} in flavor {problem.frs[fr].flavor}" for fr in frs)


def _own(problem: Problem) -> str:
    return f"ClusterQueue {problem.names[problem.own_queue]}"


def _within_quota(problem: Problem, node: int, frs: Iterable[int]) -> str:
    kind = "Cohort" if problem.children[node] else "ClusterQueue"
    used = uses(problem, node, frs) or "nothing"
    return f"{kind} {problem.names[node]} is not over its quota: it uses {used}"


@OF_WORKLOAD.of(laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED)
def _holds_nothing(problem: Problem, position: int) -> str:
    if not problem.contested:
        return NOBODY
    held = [fr for fr in range(len(problem.frs)) if problem.holding[position, fr]]
    text = f"it holds nothing of what is short, {_listed(problem, problem.contested)}"
    return f"{text}; it holds {_listed(problem, held)}" if held else text


@OF_WORKLOAD.of(laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE)
def _not_of_its_own(problem: Problem, position: int) -> str:
    policy, mine = problem.policy.within_cluster_queue, problem.preemptor_priority
    text, its = f"withinClusterQueue of {_own(problem)} is {policy}", problem.priority[position]
    if policy == "Never":
        return text
    if its > mine:
        return f"{text}: its priority {its} is above {mine}"
    if policy == "LowerPriority":
        return f"{text}: its priority {its} is not below {mine}"
    return f"{text}: its priority {its} is the same, and it did not queue later"


@OF_WORKLOAD.of(laws.KQ_RECLAIM, laws.FS_RECLAIM)
def _not_of_others(problem: Problem, position: int) -> str:
    policy = problem.policy.reclaim_within_cohort
    text, its = f"reclaimWithinCohort of {_own(problem)} is {policy}", problem.priority[position]
    if policy == "Never":
        return text
    return f"{text}: its priority {its} is not below {problem.preemptor_priority}"


@OF_WORKLOAD.of(laws.KQ_OVER_QUOTA, laws.FS_BORROWING)
def _not_over_quota(problem: Problem, position: int) -> str:
    found = first_within_quota(problem, position)
    if found is None:
        message = "every node on the way is over its quota"
        raise InternalError(message)
    return _within_quota(problem, *found)


@OF_WORKLOAD.of(laws.KQ_BORROW_WITHIN_COHORT)
def _not_while_borrowing(problem: Problem, position: int) -> str:
    borrow, its = problem.policy.borrow_within_cohort, int(problem.priority[position])
    start = f"{_own(problem)} would have to borrow, and its borrowWithinCohort"
    if borrow.policy == "Never":
        return f"{start} is Never"
    text = f"its priority {its} is above maxPriorityThreshold {borrow.max_priority_threshold}"
    if its >= problem.preemptor_priority:
        text = f"its priority {its} is not below {problem.preemptor_priority}"
    return f"{start} is LowerPriority: {text}"


@OF_WORKLOAD.of(laws.FS_BORROWS_CONTESTED)
def _borrows_nothing(problem: Problem, position: int) -> str:
    queue = int(problem.queue[position])
    return _within_quota(problem, queue, problem.contested) if problem.contested else NOBODY


@OF_PROBLEM.of(laws.KQ_FITS, laws.FS_FITS)
def _fits(problem: Problem) -> str:
    short = [
        f"{format_units(problem.request[fr] - problem.available[fr], problem.frs[fr].resource)} "
        f"{problem.frs[fr]}"
        for fr in problem.requested
        if problem.request[fr] > max(0, problem.available[fr])
    ]
    return f"{' and '.join(short)} must be freed"


def _workloads(count: int, singular: str = "", plural: str = "") -> str:
    """Return a number of workloads with the form of a verb that fits it, if any is given."""
    noun, verb = ("workload", singular) if count == 1 else ("workloads", plural)
    return f"{count} {noun} {verb}".rstrip()


def _protected(problem: Problem, *equal: Law) -> int:
    """Count the workloads that one law alone excludes; ``equal`` is that law in each rule set."""
    return int((eligible(problem, {law.id for law in equal}) & ~eligible(problem)).sum())


@OF_PROBLEM.of(laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE)
def _within(problem: Problem) -> str:
    either = laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE
    policy = problem.policy.within_cluster_queue
    return _by_priority(problem, "withinClusterQueue", policy, *either)


@OF_PROBLEM.of(laws.KQ_RECLAIM, laws.FS_RECLAIM)
def _reclaim(problem: Problem) -> str:
    policy = problem.policy.reclaim_within_cohort
    return _by_priority(problem, "reclaimWithinCohort", policy, laws.KQ_RECLAIM, laws.FS_RECLAIM)


def _by_priority(problem: Problem, field: str, value: str, *equal: Law) -> str:
    mine = "" if value == "Never" else f" (the preemptor has priority {problem.preemptor_priority})"
    return f"{field} is {value}, which protects {_workloads(_protected(problem, *equal))}{mine}"


@OF_PROBLEM.of(laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED)
def _holds(problem: Problem) -> str:
    count = int((~problem.names_contested).sum())
    return f"{_workloads(count, 'holds', 'hold')} nothing of what is short"


@OF_PROBLEM.of(laws.KQ_WITHOUT_BORROWING)
def _without_borrowing(problem: Problem) -> str:
    return f"{_own(problem)} must stay within its nominal quota"


@OF_PROBLEM.of(laws.FS_BORROWS_CONTESTED)
def _borrows_contested(problem: Problem) -> str:
    are = _workloads(_protected(problem, laws.FS_BORROWS_CONTESTED), "is", "are")
    return f"{are} in queues that borrow nothing of what is short"


@OF_PROBLEM.of(laws.KT_ROOM)
def _room(problem: Problem) -> str:
    names: dict[str, list[str]] = {}
    for room in () if problem.places is None else problem.places.rooms:
        names.setdefault(room.flavor, []).append(room.name)
    return " and ".join(
        f"the nodes of flavor {flavor} must have room for {' and '.join(some)}"
        for flavor, some in names.items()
    )


@OF_PROBLEM.of(laws.KQ_BORROW_WITHIN_COHORT)
def _borrow(problem: Problem) -> str:
    borrow = problem.policy.borrow_within_cohort
    limit = borrow.max_priority_threshold
    most = "" if limit is None else f" up to maxPriorityThreshold {limit}"
    count = int((restricted_while_borrowing(problem) & eligible(problem)).sum())
    return f"borrowWithinCohort is {borrow.policy}{most}, which protects {_workloads(count)}"


@OF_PROBLEM.of(laws.KQ_ATTEMPT)
def _attempts(problem: Problem) -> str:
    made = attempts(problem, eligible(problem))
    tried = " and ".join("with borrowing" if one else "without borrowing" for one in made)
    return f"Kueue tries {tried} only"


@OF_PROBLEM.of(laws.KQ_OVER_QUOTA, laws.FS_BORROWING)
def _over_quota(problem: Problem) -> str:
    count = _protected(problem, laws.FS_BORROWING, laws.KQ_OVER_QUOTA)
    text = "other queues and cohorts give only what is over their quota"
    return f"{text}; {_workloads(count, 'is', 'are')} in one that is not" if count else text


@OF_PROBLEM.of(laws.FS_SHARES)
def _shares(problem: Problem) -> str:
    strategies = ", then ".join(problem.fair.strategies) if problem.fair else ""
    return f"with the request, the side of {_own(problem)} would be the more unfair ({strategies})"
