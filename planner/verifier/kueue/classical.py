"""The laws of Kueue's classical preemption, one function each: the executable specification.

First come checks that other rules use for laws with ids of their own: fitting, and who
may be a victim. Source: docs/semantics/kueue.md §2, §3, §5 and §6.2; kueue ff69552e
pkg/scheduler/preemption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from planner.laws import Law, Register
from planner.laws import kueue as laws
from planner.plan import Verdict
from planner.quota.kueue.amount import saturating_add
from planner.quota.kueue.holders import Admitted
from planner.verifier.kueue.case import Case, rules_fault
from planner.verifier.kueue.setting import Variant, say_amount, say_node
from planner.verifier.wording import judge, judge_order, say_count, say_some


def judge_fit(case: Case, law: Law) -> Verdict:
    """Judge whether every requested flavor-resource is available after all victims are gone."""
    queue, usage = case.setting.queue, case.removal.usage
    findings, fitting = list(case.faults.get(law.name, ())), list[str]()
    for fr, asked in sorted(case.setting.request.items()):
        # Kueue clamps the outermost value only: a request of 0 fits in what is over-admitted (§3).
        available = max(0, usage.available(queue, fr))
        text = (
            f"asks for {say_amount(case.snapshot, fr, asked)}, "
            f"{say_amount(case.snapshot, fr, available, named=False)} available to "
            f"{say_node(case.snapshot, queue)}"
        )
        (fitting if asked <= available else findings).append(text)
    return judge(law, findings, say_some(fitting) or "nothing is asked for")


def judge_holdings(case: Case, law: Law) -> Verdict:
    """Judge whether all victims hold quota in active queues of the tree and name a contested fr."""
    findings = list(case.faults.get(law.name, ()))
    setting, snapshot = case.setting, case.snapshot
    for victim in case.victims:
        if not setting.in_tree(victim.queue):
            findings.append(
                f"{victim.key} holds its quota in {say_node(snapshot, victim.queue)}, which "
                f"shares no cohort with {say_node(snapshot, setting.queue)}"
            )
        elif not snapshot.is_active(victim.queue):
            findings.append(
                f"{victim.key} holds its quota in {say_node(snapshot, victim.queue)}, which is "
                f"inactive: {snapshot.inactive.get(snapshot.queue_name(victim.queue), '')}"
            )
        # By name, not amount: an assignment that names the flavor for 0 makes a candidate (§5.2).
        if not setting.names_contested(victim):
            findings.append(f"{victim.key} holds nothing of what is contested")
    contested = [str(snapshot.tree.frs[fr]) for fr in sorted(setting.contested)]
    holds = f"{say_count(len(case.victims))}, contested: {say_some(contested) or 'nothing'}"
    return judge(law, findings, holds)


def judge_nominal(case: Case, law: Law, request: Mapping[int, int], quota: str) -> Verdict:
    """Judge whether the own queue ends within nominal quota, called ``quota``, with a request."""
    queue, usage, snapshot = case.setting.queue, case.removal.usage, case.snapshot
    findings = []
    for fr, asked in sorted(request.items()):
        nominal = snapshot.tree.nominal(queue, fr)
        total = saturating_add(usage.amount[queue][fr], asked)
        if total > nominal:
            findings.append(
                f"{say_node(snapshot, queue)} would use {say_amount(snapshot, fr, total)}, its "
                f"{quota} is {say_amount(snapshot, fr, nominal, named=False)}"
            )
    return judge(law, findings, f"{say_node(snapshot, queue)} stays within its {quota}")


def judge_own_queue(case: Case, law: Law) -> Verdict:
    """Judge whether victims of the own queue satisfy ``withinClusterQueue`` and have its reason."""
    policy = f"withinClusterQueue: {case.setting.policy.within_cluster_queue}"
    faults = permission_faults(case, case.own, policy, lambda _: Variant.WITHIN_CQ.reason)
    return judge(law, faults, f"{say_count(len(case.own))} of the own queue, {policy}")


def permission_faults(
    case: Case,
    victims: Iterable[tuple[Admitted, str]],
    policy: str,
    right: Callable[[Admitted], str | None],
) -> list[str]:
    """Say whom a policy refuses, and whose reason is not ``right``; ``None`` is any reason."""
    findings = []
    for victim, reason in victims:
        if not case.setting.permits(victim):
            findings.append(say_refused(case, victim, policy))
            continue
        expected = right(victim)
        if expected is not None and expected != reason:
            findings.append(say_reason(victim, reason, expected))
    return findings


def say_refused(case: Case, victim: Admitted, policy: str, when: str = "") -> str:
    """Say that a policy does not permit a victim, with both priorities."""
    preemptor = case.setting.preemptor
    mine, its = f"priority {preemptor.priority}", f"priority {victim.priority}"
    if preemptor.priority == victim.priority:
        # With equal priorities the timestamps decide (LowerOrNewerEqualPriority).
        mine += f", queued {preemptor.queued_at.isoformat()}"
        its += f", queued {victim.queued_at.isoformat()}"
    return f"{victim.key} ({its}) may not go{when} for {preemptor.key} ({mine}): {policy}"


def say_reason(victim: Admitted, reason: str, right: str) -> str:
    """Say that the plan gives another reason than the rules do."""
    return f"{victim.key} goes for reason {right}, not {reason or 'none'}"


CHECKS: Final[Register[Callable[[Case], Verdict]]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(laws.KQ_FITS)
def fits(case: Case) -> Verdict:
    """KQ-01: after all victims are gone, every requested flavor-resource is available.

    For all fr of REQ: ``REQ[fr] <= max(0, available(q, fr))`` with q the preemptor's queue. An
    assignment that leaves out a podset or a request breaks the law too.
    Source: docs/semantics/kueue.md §5.1 ``workloadFits`` and §3 ``available``.
    """
    return judge_fit(case, laws.KQ_FITS)


@CHECKS.of(laws.KQ_WITHOUT_BORROWING)
def without_borrowing(case: Case) -> Verdict:
    """KQ-02: an attempt without borrowing ends within the nominal quota of the queue.

    With borrowing = false, for all fr of REQ: ``usage(q, fr) + REQ[fr] <= nominal(q, fr)``.
    Source: docs/semantics/kueue.md §5.1 ``workloadFits``.
    """
    if case.borrowing is not False:
        return judge(laws.KQ_WITHOUT_BORROWING, (), "does not apply: the attempt permits borrowing")
    # What the search asks for, without `pods`: Kueue compares nothing else with nominal (§4.1).
    asked = case.setting.searched
    return judge_nominal(case, laws.KQ_WITHOUT_BORROWING, asked, "nominal quota")


@CHECKS.of(laws.KQ_HOLDS_CONTESTED)
def holds_contested_quota(case: Case) -> Verdict:
    """KQ-03: every victim holds quota in an active queue of the tree, and names a contested fr.

    Whether the amount is positive is irrelevant. Workloads that hold no quota, are the preemptor
    or are named twice break the law. Source: docs/semantics/kueue.md §2 and §5.2.
    """
    return judge_holdings(case, laws.KQ_HOLDS_CONTESTED)


@CHECKS.of(laws.KQ_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(case: Case) -> Verdict:
    """KQ-04: a victim of the preemptor's own queue satisfies ``withinClusterQueue``.

    With P and C the effective priorities of preemptor and victim: LowerPriority P > C;
    LowerOrNewerEqualPriority P > C, or P = C and the preemptor queued strictly before the
    victim; Never none. Its reason is ``InClusterQueue``. Source: docs/semantics/kueue.md §5.2 and
    §5.8.
    """
    return judge_own_queue(case, laws.KQ_WITHIN_CLUSTER_QUEUE)


@CHECKS.of(laws.KQ_RECLAIM)
def reclaim_within_cohort(case: Case) -> Verdict:
    """KQ-05: a victim of another queue satisfies ``reclaimWithinCohort`` of the preemptor's queue.

    LowerPriority P > C; Any every one; Never none. The reason of a victim over which the
    preemptor has hierarchical advantage, or that is permitted only without borrowing, is
    ``InCohortReclamation``. Source: docs/semantics/kueue.md §5.2, §5.3 and §5.8.
    """
    policy = f"reclaimWithinCohort: {case.setting.policy.reclaim_within_cohort}"

    def right(victim: Admitted) -> str | None:
        variant = case.setting.variant(victim)
        # KQ-06 judges the reason of victims while borrowing, so that one fault breaks one law.
        return None if variant is Variant.RECLAIM_WHILE_BORROWING else variant.reason

    faults = permission_faults(case, case.others, policy, right)
    return judge(
        laws.KQ_RECLAIM, faults, f"{say_count(len(case.others))} of other queues, {policy}"
    )


@CHECKS.of(laws.KQ_BORROW_WITHIN_COHORT)
def borrow_within_cohort(case: Case) -> Verdict:
    """KQ-06: in an attempt with borrowing, ``borrowWithinCohort`` permits victims of other queues.

    A victim of another queue without hierarchical advantage is permitted by LowerPriority if
    C < P and C <= maxPriorityThreshold, where one is set; its reason is then
    ``InCohortReclaimWhileBorrowing``, in either attempt. Source: docs/semantics/kueue.md §5.3, §5.6
    and §5.8.
    """
    borrow = case.setting.policy.borrow_within_cohort
    policy = f"borrowWithinCohort: {borrow.policy}"
    if borrow.max_priority_threshold is not None and borrow.policy != "Never":
        policy += f" up to priority {borrow.max_priority_threshold}"
    findings = []
    for victim, reason in case.others:
        variant = case.setting.variant(victim)
        if variant is Variant.RECLAIM_WITHOUT_BORROWING and case.borrowing:
            findings.append(say_refused(case, victim, policy, " while borrowing"))
        elif variant is Variant.RECLAIM_WHILE_BORROWING and reason != variant.reason:
            findings.append(say_reason(victim, reason, variant.reason))
    if not case.borrowing:
        policy = "the attempt does not permit borrowing"
    return judge(laws.KQ_BORROW_WITHIN_COHORT, findings, policy)


@CHECKS.of(laws.KQ_OVER_QUOTA)
def over_quota_until_last_victim(case: Case) -> Verdict:
    """KQ-07: there is an order in which Kueue could take the victims one by one.

    When a victim of another queue is removed, its queue and every cohort from there up to, but
    without, the lowest common ancestor use more than their (subtree) quota in some contested fr.
    The order is constructed and then replayed, see ``removal``; victims of the own queue are
    unconditional, those of other trees are judged by KQ-03. Source: docs/semantics/kueue.md §5.6.
    """
    return judge_order(laws.KQ_OVER_QUOTA, case.removal.obstacle, case.removal.order)


@CHECKS.of(laws.KQ_ATTEMPT)
def attempt(case: Case) -> Verdict:
    """KQ-08: the plan belongs to an attempt which Kueue makes for this preemptor.

    forbidden = borrowWithinCohort is Never; under = usage(q) < nominal(q) in every contested fr.
    If no candidate is of another queue, or forbidden and not under: with borrowing only. If
    forbidden and no hierarchical advantage over any: without, then with. Else with, then without.
    Source: docs/semantics/kueue.md §5.5, with the candidates of §5.3.
    """
    fault = rules_fault(case.snapshot.configuration, case.rules)
    if fault:
        return judge(laws.KQ_ATTEMPT, [fault], "")
    if case.borrowing is None:
        taken = [] if case.nothing_evicted else ["a plan with victims must name its attempt"]
        return judge(laws.KQ_ATTEMPT, taken, "nothing is evicted, so no attempt is needed")
    attempts = case.setting.attempts
    made = "Kueue tries " + ", then ".join(
        f"{'with' if borrowing else 'without'} borrowing" for borrowing in attempts
    )
    # Any attempt that Kueue makes will do, whether its turn comes or not.
    return judge(laws.KQ_ATTEMPT, [] if case.borrowing in attempts else [f"{made} only"], made)
