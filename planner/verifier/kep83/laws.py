"""The laws of KEP-83, one function each: the executable specification.

Every function is named like the law in ``planner.laws``, takes a ``Kep83Case`` and returns a
verdict in words. None of them knows how the plan was found. Source: KEP-83, sections as named;
what the text leaves open is decided in `planner.laws.kep83`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from planner.laws import Law, Register
from planner.laws.kep83 import (
    K83_AT_MIN,
    K83_BORROWS,
    K83_FITS,
    K83_HOLDS_CONTESTED,
    K83_WAITED,
    K83_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_COHORT,
    K83_WITHOUT_BORROWING,
)
from planner.plan import Verdict
from planner.quota.kueue.amount import add
from planner.quota.kueue.snapshot import Admitted
from planner.verifier.kep83.case import Kep83Case
from planner.verifier.kueue.candidates import judge_fit, judge_holdings, say_reason, say_refused
from planner.verifier.kueue.wording import say_amount, say_node
from planner.verifier.wording import judge, say_count, say_some

Check = Callable[[Kep83Case], Verdict]

CHECKS: Final[Register[Check]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(K83_FITS)
def fits(case: Kep83Case) -> Verdict:
    """K83-01: after all victims are gone, every requested flavor-resource is available.

    For all fr of REQ: ``REQ[fr] <= max(0, available(q, fr))`` with q the preemptor's queue. An
    assignment that leaves out a podset or a request breaks the law too.
    Source: Preemption, step 4.
    """
    return judge_fit(case, K83_FITS)


@CHECKS.of(K83_WITHOUT_BORROWING)
def without_borrowing(case: Kep83Case) -> Verdict:
    """K83-02: what needs preemption ends within the min quota of the queue, unless it may borrow.

    For all involved fr of REQ: ``usage(q, fr) + REQ[fr] <= nominal(q, fr)``. The plan has to say
    the same of borrowing as the options do. Source: Detecting Workloads that might benefit from
    preemption; Alternatives.
    """
    if case.nothing_evicted:
        return judge(K83_WITHOUT_BORROWING, (), "does not apply: nothing is preempted")
    borrows = case.setting.options.borrows
    if case.borrowing is not borrows:
        wrong = f"the plan must say that it was made {'with' if borrows else 'without'} borrowing"
        return judge(K83_WITHOUT_BORROWING, [wrong], "")
    if borrows:
        return judge(K83_WITHOUT_BORROWING, (), "does not apply: withinCohort LowerPriority")
    queue, usage, snapshot = case.setting.queue, case.removal.usage, case.snapshot
    findings = []
    for fr, asked in sorted(case.setting.request.items()):
        nominal = snapshot.tree.nominal(queue, fr)
        total = add(usage.amount[queue][fr], asked)
        # Only what was assigned by preemption may not borrow: a resource that fits as it is may
        # have got its flavor with borrowed quota (docs/semantics/kep83.md §3).
        if fr in case.setting.contested and total > nominal:
            findings.append(
                f"{say_node(snapshot, queue)} would use {say_amount(snapshot, fr, total)}, its "
                f"min is {say_amount(snapshot, fr, nominal, named=False)}"
            )
    within = f"{say_node(snapshot, queue)} stays within its min"
    return judge(K83_WITHOUT_BORROWING, findings, within)


@CHECKS.of(K83_HOLDS_CONTESTED)
def holds_contested_quota(case: Kep83Case) -> Verdict:
    """K83-03: every victim holds quota in an active queue of the tree, and names an involved fr.

    Whether the amount is positive is irrelevant. Workloads that hold no quota, are the preemptor
    or are named twice break the law. Source: Preemption, step 2.
    """
    return judge_holdings(case, K83_HOLDS_CONTESTED)


@CHECKS.of(K83_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(case: Kep83Case) -> Verdict:
    """K83-04: a victim of the preemptor's own queue has a lower priority; with Never none may go.

    Source: ClusterQueue API changes; Preemption, step 2.2.
    """
    policy = f"withinClusterQueue: {case.setting.queue_policy}"
    return _permitted(case, K83_WITHIN_CLUSTER_QUEUE, case.own, policy)


@CHECKS.of(K83_WITHIN_COHORT)
def within_cohort(case: Kep83Case) -> Verdict:
    """K83-05: a victim of another queue is permitted by ``withinCohort``.

    ReclaimFromLowerPriority and LowerPriority: a lower priority than the preemptor's;
    ReclaimFromAny: any; Never: none. Source: ClusterQueue API changes; Preemption, step 2.1.
    """
    policy = f"withinCohort: {case.setting.cohort_policy}"
    return _permitted(case, K83_WITHIN_COHORT, case.others, policy)


@CHECKS.of(K83_BORROWS)
def borrows_involved_flavors(case: Kep83Case) -> Verdict:
    """K83-06: the queue of a victim, unless it is the own one, borrows before any removal.

    ``usage(c, fr) > nominal(c, fr)`` for some involved fr. Source: Preemption, step 2.1.
    """
    queues = dict.fromkeys(victim.queue for victim, _ in case.others)
    findings = [
        f"{say_node(case.snapshot, queue)} borrows nothing of the involved flavors"
        for queue in queues
        if not case.setting.borrows_contested(queue)
    ]
    return judge(K83_BORROWS, findings, f"{len(queues)} other queues with victims borrow")


@CHECKS.of(K83_AT_MIN)
def at_min_until_last_victim(case: Kep83Case) -> Verdict:
    """K83-07: there is an order in which the KEP could remove the victims one by one.

    At the turn of a victim of another queue, ``usage(c, fr) >= nominal(c, fr)`` for some
    involved fr: that queue is not below its min in all of them. The order is constructed and
    then replayed, see ``removal``. Source: Preemption, step 4.
    """
    obstacle = [case.removal.obstacle] if case.removal.obstacle else []
    order = say_some([victim.key for victim in case.removal.order])
    return judge(K83_AT_MIN, obstacle, f"in the order {order}" if order else "no victims")


@CHECKS.of(K83_WAITED)
def waited(case: Kep83Case) -> Verdict:
    """K83-08: there are victims only if the preemptor has waited long enough.

    Source: Alternatives, Extra knobs in ClusterQueue preemption policy.
    """
    setting = case.setting
    told = f"it has waited {setting.waited_s} s of {setting.options.wait} s"
    late_enough = setting.may_preempt or case.nothing_evicted
    return judge(K83_WAITED, [] if late_enough else [told], told)


def _permitted(
    case: Kep83Case, law: Law, victims: Sequence[tuple[Admitted, str]], policy: str
) -> Verdict:
    """Judge victims by the policy for their queue, and the reasons that the plan gives them."""
    findings = []
    for victim, reason in victims:
        right = case.setting.reason(victim)
        if not case.setting.permits(victim):
            findings.append(say_refused(case, victim, policy))
        elif reason != right:
            findings.append(say_reason(victim, reason, right))
    return judge(law, findings, f"{say_count(len(victims))}, {policy}")
