"""The laws of Kueue's fair sharing, one function each: the executable specification.

Every function is named like the law in ``planner.laws``, takes a ``FairCase`` and returns a
verdict in words. None of them knows how the plan was found. Source: docs/semantics/kueue.md
§3, §5.1, §5.2 and §6; kueue ff69552e pkg/scheduler/preemption.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from planner.laws import Register
from planner.laws.kueue import (
    FS_BORROWING,
    FS_BORROWS_CONTESTED,
    FS_FITS,
    FS_HOLDS_CONTESTED,
    FS_RECLAIM,
    FS_SHARES,
    FS_WITHIN_CLUSTER_QUEUE,
)
from planner.plan import Verdict
from planner.verifier.kueue.case import rules_fault
from planner.verifier.kueue.classical import (
    judge_fit,
    judge_holdings,
    judge_own_queue,
    say_reason,
    say_refused,
)
from planner.verifier.kueue.fair_case import FairCase
from planner.verifier.kueue.setting import say_amount, say_node
from planner.verifier.wording import judge, say_count, say_some

Check = Callable[[FairCase], Verdict]

CHECKS: Final[Register[Check]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(FS_FITS)
def fits(case: FairCase) -> Verdict:
    """FS-01: after all victims are gone, every requested flavor-resource is available.

    For all fr of REQ: ``REQ[fr] <= max(0, available(q, fr))`` with q the preemptor's queue, and
    REQ itself not counted as used. The only attempt there is permits borrowing. An assignment
    that leaves out a podset or a request breaks the law too.
    Source: docs/semantics/kueue.md §6.3 ``fitsFS``, §5.1 ``workloadFits`` and §3 ``available``.
    """
    verdict = judge_fit(case, FS_FITS)
    # No law of fair sharing is about attempts, as KQ-08 is: fitting asks for the only one.
    if case.borrowing or (case.borrowing is None and case.nothing_evicted):
        return verdict
    attempt = "the plan must name the attempt with borrowing: fair sharing makes no other"
    return judge(FS_FITS, [attempt, *([] if verdict.holds else [verdict.detail])], "")


@CHECKS.of(FS_HOLDS_CONTESTED)
def holds_contested_quota(case: FairCase) -> Verdict:
    """FS-02: every victim holds quota in an active queue of the tree, and names a contested fr.

    Whether the amount is positive is irrelevant. Workloads that hold no quota, are the preemptor
    or are named twice break the law. Source: docs/semantics/kueue.md §2, §5.2 and §6.2.
    """
    return judge_holdings(case, FS_HOLDS_CONTESTED)


@CHECKS.of(FS_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(case: FairCase) -> Verdict:
    """FS-03: a victim of the preemptor's own queue satisfies ``withinClusterQueue``.

    As KQ-04, and nothing else is asked of it. Its reason is ``InClusterQueue``.
    Source: docs/semantics/kueue.md §5.2, §6.2 and §6.5.
    """
    return judge_own_queue(case, FS_WITHIN_CLUSTER_QUEUE)


@CHECKS.of(FS_RECLAIM)
def reclaim_within_cohort(case: FairCase) -> Verdict:
    """FS-04: a victim of another queue satisfies ``reclaimWithinCohort`` of the preemptor's queue.

    LowerPriority P > C; Any every one; Never none. ``borrowWithinCohort`` is ignored.
    Source: docs/semantics/kueue.md §5.2 and §6.2.
    """
    policy = case.setting.policy.reclaim_within_cohort
    findings = [
        say_refused(case, victim, f"reclaimWithinCohort: {policy}")
        for victim, _ in case.others
        if not case.setting.permits(victim)
    ]
    holds = f"{say_count(len(case.others))} of other queues, reclaimWithinCohort: {policy}"
    return judge(FS_RECLAIM, findings, holds)


@CHECKS.of(FS_BORROWS_CONTESTED)
def borrows_contested_quota(case: FairCase) -> Verdict:
    """FS-05: the queue of a victim borrows contested quota before anything is removed.

    ``usage(c, fr) > nominal(c, fr)`` for some contested fr, with c the victim's queue, unless it
    is the preemptor's own. Source: docs/semantics/kueue.md §6.2.
    """
    snapshot, contested = case.snapshot, sorted(case.setting.contested)
    queues = {victim.queue: victim for victim, _ in case.others}
    findings = []
    for queue, victim in queues.items():
        if not case.setting.borrows_contested(queue):
            amounts = [
                f"uses {say_amount(snapshot, fr, snapshot.usage.amount[queue][fr])} of nominal "
                f"quota {say_amount(snapshot, fr, snapshot.tree.nominal(queue, fr), named=False)}"
                for fr in contested
            ]
            findings.append(
                f"{victim.key} may not go: {say_node(snapshot, queue)} borrows nothing contested"
                + (f" ({say_some(amounts)})" if amounts else "")
            )
    names = say_some([say_node(snapshot, queue) for queue in queues])
    return judge(FS_BORROWS_CONTESTED, findings, names or "no victims of other queues")


@CHECKS.of(FS_BORROWING)
def borrowing_until_last_victim(case: FairCase) -> Verdict:
    """FS-06: there is an order in which each victim's side borrows until the victim goes.

    When a victim of another queue is removed, its queue and every cohort from there up to, but
    without, the lowest common ancestor use more than their subtree quota in some
    flavor-resource of their quotas, contested or not. The order is constructed and replayed, see
    ``fair_removal``. Source: docs/semantics/kueue.md §6.1 and §6.4.
    """
    removal = case.removal
    stuck = [removal.stuck] if removal.stuck else []
    order = say_some([victim.key for victim in removal.order])
    some = "some order" if case.victims else "no victims"
    return judge(FS_BORROWING, stuck, f"in the order {order}" if order else some)


@CHECKS.of(FS_SHARES)
def shares(case: FairCase) -> Verdict:
    """FS-07: in such an order, a configured strategy permits every removal by its shares.

    With a and b the children of the lowest common ancestor on the victim's and the preemptor's
    side, and REQ counted: ``share(b) <= share(a)`` after the removal, or ``share(b) < share(a)``
    before it, in doubles; unless REQ stays within the nominal quota of its queue. The order is
    the same as for FS-06: where each law alone could be kept but not both together, this one is
    broken. The reason is ``InCohortReclamation`` within nominal quota, ``InCohortFairSharing``
    otherwise. Source: docs/semantics/kueue.md §6.1, §6.3, §6.5 and §6.6;
    docs/design/theory.md §2.3.
    """
    setting, removal = case.setting, case.removal
    fault = rules_fault(case.snapshot.configuration, case.rules)
    if fault:
        return judge(FS_SHARES, [fault], "")
    findings = [removal.unfair] if removal.unfair else []
    findings += [
        say_reason(victim, reason, setting.reason(victim))
        for victim, reason in case.others
        if reason != setting.reason(victim)
    ]
    queue = say_node(case.snapshot, setting.queue)
    if not case.others:
        return judge(FS_SHARES, findings, "no victims of other queues")
    if setting.stays_within_nominal:
        entitled = f"does not apply: {queue} stays within nominal quota with {case.preemptor}"
        return judge(FS_SHARES, findings, entitled)
    return judge(FS_SHARES, findings, f"permitted by {' or '.join(setting.strategies)}")
