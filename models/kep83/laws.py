"""The laws of KEP-83 that tie victims together, one function each, over a formulation.

K83-01 is the same constraint as Kueue's KQ-01 and is taken from there. The laws that exclude
single workloads are in candidates.py; all ids and sources are in planner/laws/kep83.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from planner.laws import Register
from planner.laws.kep83 import K83_AT_MIN, K83_FITS, K83_WITHOUT_BORROWING
from planner.models.kueue.laws import fits
from planner.models.shared.builder import negation
from planner.quantity import UNLIMITED

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation

STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law is stated over a formulation, by the law's id."""

STATED.of(K83_FITS)(fits)


@STATED.of(K83_WITHOUT_BORROWING)
def without_borrowing(formulation: Formulation) -> None:
    """K83-02: where preemption is needed, usage + request <= min of the queue, unless it borrows.

    For every involved fr with a request: ``usage(q, fr) + REQ[fr] <= nominal(q, fr)``. The rest
    may borrow: it was assigned from what is available.

    Source: KEP-83, Detecting Workloads that might benefit from preemption.
    """
    problem, usage = formulation.problem, formulation.usage
    queue = problem.own_queue
    for fr in problem.contested:
        asked, nominal = problem.request[fr], problem.quota[queue][fr]
        if asked and nominal != UNLIMITED:
            formulation.builder.add(
                usage.after(queue, fr) + asked <= nominal, when=[negation(formulation.borrowing)]
            )


@STATED.of(K83_AT_MIN)
def at_min_until_last_victim(formulation: Formulation) -> None:
    """K83-07: the last victim of another queue finds it at its min or above in some involved fr.

    With w(c) the usage of a queue c with its last victim put back:

        touched(c)  =>  w(c, fr) >= nominal(c, fr)   for some involved fr.

    Usage only falls while victims go, so this permits an order of all of them. Cohorts between
    are not asked.

    Source: KEP-83, Preemption, step 4; docs/design/theory.md §2.2 for the last victim.
    """
    problem, builder = formulation.problem, formulation.builder
    last = formulation.last_victims
    for queue in formulation.classes_of:
        if queue == problem.own_queue:
            continue
        quota = problem.quota[queue]
        bounded = [fr for fr in problem.contested if quota[fr] != UNLIMITED]
        least = {fr: builder.bounds(formulation.usage.after(queue, fr))[0] for fr in bounded}
        # At its min or above whatever goes.
        if any(least[fr] >= quota[fr] for fr in bounded):
            continue
        possible = [(last.with_last(queue, fr), quota[fr]) for fr in bounded]
        literals = builder.witnesses(
            (then, bound) for then, bound in possible if builder.bounds(then)[1] >= bound
        )
        builder.any_of([*literals, negation(last.touched(queue))])
