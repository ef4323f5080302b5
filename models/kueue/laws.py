"""The classical laws that tie victims together, one function each, over a formulation.

The laws that exclude single workloads are in candidates.py, those of fair sharing in
fair_sharing.py; all ids and sources are in planner/laws/kueue.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from planner.laws import (
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_OVER_QUOTA,
    KQ_WITHOUT_BORROWING,
    Register,
)
from planner.models.shared.builder import Linear, constant, negation
from planner.quantity import UNLIMITED
from planner.quota.kueue.amount import add, subtract

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation, TreeUsage
    from planner.problem.kueue import Problem

STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law of classical preemption is stated over a formulation, by the law's id."""


@STATED.of(KQ_FITS)
def fits(formulation: Formulation) -> None:
    """KQ-01, FS-01, K83-01: every requested flavor-resource is available after the removals.

    With n0 the preemptor's queue and n1, n2, ... the cohorts above it, and need_0 the request:

        need_(i+1) = need_i - local_free(n_i)
        need_(i+1) <= (subtree - kept - stored)(n_i) + borrowingLimit(n_i)   where there is one
        usage(root) + need_root <= subtree(root)

    which unrolls ``request <= available(queue)``. Unlimited quotas bind nothing.

    Source: kueue ff69552e resource_node.go ``available``, preemption.go ``workloadFits``.
    """
    problem, usage = formulation.problem, formulation.usage
    for fr in problem.needed:
        for row, most in fit_rows(problem, usage, fr, problem.request[fr]):
            formulation.builder.add(row <= most)


def fit_rows(
    problem: Problem, usage: TreeUsage, fr: int, amount: int
) -> Iterator[tuple[Linear, int]]:
    """Yield rows, each at most its bound, that together say: an amount is available at the queue.

    There are none where a node of the path keeps without limit what it needs.
    """
    need = constant(amount)
    for node in problem.path[:-1]:
        kept, limit = problem.kept[node][fr], problem.limit[node][fr]
        if kept == UNLIMITED:
            return
        # What the node keeps for itself serves first, as Kueue counts it; the rest goes up.
        need = need - usage.local_free(node, fr)
        lendable = subtract(problem.quota[node][fr], kept)
        cap = UNLIMITED if limit is None else add(lendable, limit)
        if UNLIMITED not in {cap, lendable}:
            yield need + usage.stored(node, fr), cap
    # No limit is asked for at the root: there is nobody to borrow from.
    root = problem.path[-1]
    if problem.quota[root][fr] != UNLIMITED:
        yield need + usage.after(root, fr), problem.quota[root][fr]


@STATED.of(KQ_WITHOUT_BORROWING)
def without_borrowing(formulation: Formulation) -> None:
    """KQ-02: an attempt without borrowing ends with usage + request <= nominal of the queue.

    Source: kueue ff69552e preemption.go ``workloadFits``.
    """
    problem, usage = formulation.problem, formulation.usage
    queue = problem.own_queue
    for fr in problem.within_nominal:
        nominal = problem.quota[queue][fr]
        if nominal != UNLIMITED:
            formulation.builder.add(
                usage.after(queue, fr) + problem.searched[fr] <= nominal,
                when=[negation(formulation.borrowing)],
            )


@STATED.of(KQ_BORROW_WITHIN_COHORT)
def borrow_within_cohort(formulation: Formulation) -> None:
    """KQ-06: an attempt with borrowing takes no victim that needs one without.

    Source: kueue ff69552e candidate_generator.go ``candidateIsValid``.
    """
    restricted = {
        variable: 1
        for k, variable in enumerate(formulation.take)
        if formulation.columns.restricted[k]
    }
    formulation.builder.add(Linear(restricted) <= 0, when=[formulation.borrowing])


@STATED.of(KQ_OVER_QUOTA)
def over_quota_until_last_victim(formulation: Formulation) -> None:
    """KQ-07: every touched node below its LCA has a last victim that finds it over quota.

    With w(n) the usage of a side node n with its last victim put back:

        touched(n)  =>  w(n, fr) >= subtree(n, fr) + 1   for some contested fr.

    Source: kueue ff69552e candidate_generator.go ``candidateIsValid``; docs/design/theory.md §2.2.
    """
    for node in formulation.last_victims.side_nodes():
        formulation.last_victims.require_over_quota(node, formulation.problem.contested)
