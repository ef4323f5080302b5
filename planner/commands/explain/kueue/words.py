"""What Kueue's laws say of a problem and of its workloads, with the numbers: a table of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from planner.errors import InternalError
from planner.laws import Law, Register
from planner.laws import kueue as laws
from planner.models.kueue.laws import attempts, eligible, restricted_while_borrowing
from planner.problem.kueue import Problem
from planner.quantity import format_units

Word = TypeVar("Word", bound=Callable[..., str])
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


def _holds_nothing(problem: Problem, position: int) -> str:
    if not problem.contested:
        return NOBODY
    held = [fr for fr in range(len(problem.frs)) if problem.holding[position, fr]]
    text = f"it holds nothing of what is short, {_listed(problem, problem.contested)}"
    return f"{text}; it holds {_listed(problem, held)}" if held else text


def _not_of_its_own(problem: Problem, position: int) -> str:
    policy, mine = problem.policy.within_cluster_queue, problem.preemptor_priority
    text, its = (
        f"withinClusterQueue of {_own(problem)} is {policy}",
        int(problem.priority[position]),
    )
    if policy == "Never":
        return text
    if its > mine:
        return f"{text}: its priority {its} is above {mine}"
    if policy == "LowerPriority":
        return f"{text}: its priority {its} is not below {mine}"
    return f"{text}: its priority {its} is the same, and it did not queue later"


def _not_of_others(problem: Problem, position: int) -> str:
    policy = problem.policy.reclaim_within_cohort
    text, its = f"reclaimWithinCohort of {_own(problem)} is {policy}", problem.priority[position]
    if policy == "Never":
        return text
    return f"{text}: its priority {its} is not below {problem.preemptor_priority}"


def _not_over_quota(problem: Problem, position: int) -> str:
    found = first_within_quota(problem, position)
    if found is None:
        message = "every node on the way is over its quota"
        raise InternalError(message)
    return _within_quota(problem, *found)


def _not_while_borrowing(problem: Problem, position: int) -> str:
    borrow, its = problem.policy.borrow_within_cohort, int(problem.priority[position])
    start = f"{_own(problem)} would have to borrow, and its borrowWithinCohort"
    if borrow.policy == "Never":
        return f"{start} is Never"
    text = f"its priority {its} is above maxPriorityThreshold {borrow.max_priority_threshold}"
    if its >= problem.preemptor_priority:
        text = f"its priority {its} is not below {problem.preemptor_priority}"
    return f"{start} is LowerPriority: {text}"


def _borrows_nothing(problem: Problem, position: int) -> str:
    queue = int(problem.queue[position])
    return _within_quota(problem, queue, problem.contested) if problem.contested else NOBODY


def _by_law(words: Mapping[tuple[Law, ...], Word]) -> Register[Word]:
    register = Register[Word]()
    for some, said in words.items():
        register.of(*some)(said)
    return register


OF_WORKLOAD: Final = _by_law(
    {
        (laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED): _holds_nothing,
        (laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE): _not_of_its_own,
        (laws.KQ_RECLAIM, laws.FS_RECLAIM): _not_of_others,
        (laws.FS_BORROWS_CONTESTED,): _borrows_nothing,
        (laws.KQ_OVER_QUOTA, laws.FS_BORROWING): _not_over_quota,
        (laws.KQ_BORROW_WITHIN_COHORT,): _not_while_borrowing,
    }
)
"""By the id of a law, what it says of a workload that it forbids: of a problem and a position."""


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


def _are_protected(problem: Problem, *equal: Law) -> tuple[int, str]:
    """Count the workloads that one law alone excludes; ``equal`` is that law in each rule set."""
    count = int((eligible(problem, {law.id for law in equal}) & ~eligible(problem)).sum())
    return count, f"{_workloads(count, 'is', 'are')} in"


def _by_priority(problem: Problem, field: str, value: str, *equal: Law) -> str:
    count, _ = _are_protected(problem, *equal)
    mine = "" if value == "Never" else f" (the preemptor has priority {problem.preemptor_priority})"
    return f"{field} is {value}, which protects {_workloads(count)}{mine}"


def _borrow(problem: Problem) -> str:
    borrow = problem.policy.borrow_within_cohort
    limit = borrow.max_priority_threshold
    most = "" if limit is None else f" up to maxPriorityThreshold {limit}"
    count = int((restricted_while_borrowing(problem) & eligible(problem)).sum())
    return f"borrowWithinCohort is {borrow.policy}{most}, which protects {_workloads(count)}"


def _attempts(problem: Problem) -> str:
    made = attempts(problem, eligible(problem))
    tried = " and ".join("with borrowing" if one else "without borrowing" for one in made)
    return f"Kueue tries {tried} only"


def _over_quota(problem: Problem) -> str:
    count, are = _are_protected(problem, laws.FS_BORROWING, laws.KQ_OVER_QUOTA)
    text = "other queues and cohorts give only what is over their quota"
    return f"{text}; {are} one that is not" if count else text


def _shares(problem: Problem) -> str:
    strategies = ", then ".join(problem.fair.strategies) if problem.fair else ""
    return f"with the request, the side of {_own(problem)} would be the more unfair ({strategies})"


_WITHIN, _RECLAIM = (
    (laws.KQ_WITHIN_CLUSTER_QUEUE, laws.FS_WITHIN_CLUSTER_QUEUE),
    (laws.KQ_RECLAIM, laws.FS_RECLAIM),
)
OF_PROBLEM: Final = _by_law(
    {
        (laws.KQ_FITS, laws.FS_FITS): _fits,
        (laws.KT_ROOM,): lambda problem: (
            "the nodes must have room for "
            + " and ".join(room.name for room in (problem.places.rooms if problem.places else ()))
        ),
        _WITHIN: lambda problem: _by_priority(
            problem, "withinClusterQueue", problem.policy.within_cluster_queue, *_WITHIN
        ),
        _RECLAIM: lambda problem: _by_priority(
            problem, "reclaimWithinCohort", problem.policy.reclaim_within_cohort, *_RECLAIM
        ),
        (laws.KQ_HOLDS_CONTESTED, laws.FS_HOLDS_CONTESTED): lambda problem: (
            f"{_workloads(int((~problem.names_contested).sum()), 'holds', 'hold')} "
            "nothing of what is short"
        ),
        (laws.KQ_BORROW_WITHIN_COHORT,): _borrow,
        (laws.KQ_WITHOUT_BORROWING,): lambda problem: (
            f"{_own(problem)} must stay within its nominal quota"
        ),
        (laws.KQ_ATTEMPT,): _attempts,
        (laws.KQ_OVER_QUOTA, laws.FS_BORROWING): _over_quota,
        (laws.FS_BORROWS_CONTESTED,): lambda problem: (
            _are_protected(problem, laws.FS_BORROWS_CONTESTED)[1]
            + " queues that borrow nothing of what is short"
        ),
        (laws.FS_SHARES,): _shares,
    }
)
"""By the id of a law, what it says of a problem in which it leaves no plan, with others."""
