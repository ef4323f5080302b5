"""The laws that classical preemption and fair sharing share: fitting, and who may be a victim.

Each rule set states them under its own id; ``law`` says which.
Source: docs/semantics/kueue.md §2, §3, §5.1, §5.2 and §6.2.
"""

from __future__ import annotations

from planner.laws import Law
from planner.plan import Verdict
from planner.quota.kueue.snapshot import Admitted
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.setting import Variant
from planner.verifier.kueue.wording import say_amount, say_node
from planner.verifier.wording import judge, say_count, say_some


def judge_fit(case: Case, law: Law) -> Verdict:
    """After all victims are gone, every requested flavor-resource is available."""
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
    """Every victim holds quota in an active queue of the tree, and names a contested fr."""
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
        # By name, not by amount: an assignment that names the flavor for 0 makes a candidate
        # (§5.2).
        if not setting.names_contested(victim):
            findings.append(f"{victim.key} holds nothing of what is contested")
    contested = [str(snapshot.tree.frs[fr]) for fr in sorted(setting.contested)]
    holds = f"{say_count(len(case.victims))}, contested: {say_some(contested) or 'nothing'}"
    return judge(law, findings, holds)


def judge_own_queue(case: Case, law: Law) -> Verdict:
    """A victim of the own queue satisfies ``withinClusterQueue``, and its reason says so."""
    policy = case.setting.policy.within_cluster_queue
    findings = []
    for victim, reason in case.own:
        if not case.setting.permits(victim):
            findings.append(say_refused(case, victim, f"withinClusterQueue: {policy}"))
        elif reason != Variant.WITHIN_CQ.reason:
            findings.append(say_reason(victim, reason, Variant.WITHIN_CQ.reason))
    holds = f"{say_count(len(case.own))} of the own queue, withinClusterQueue: {policy}"
    return judge(law, findings, holds)


def say_refused(case: Case, victim: Admitted, policy: str, when: str = "") -> str:
    """Say that a policy does not permit a victim, with both priorities."""
    preemptor = case.setting.preemptor
    mine, its = f"priority {preemptor.priority}", f"priority {victim.priority}"
    if preemptor.priority == victim.priority:
        # With equal priorities the timestamps decide (LowerOrNewerEqualPriority), so they are
        # shown.
        mine += f", queued {preemptor.queued_at.isoformat()}"
        its += f", queued {victim.queued_at.isoformat()}"
    return f"{victim.key} ({its}) may not go{when} for {preemptor.key} ({mine}): {policy}"


def say_reason(victim: Admitted, reason: str, right: str) -> str:
    """Say that the plan gives another reason than the rules do."""
    return f"{victim.key} goes for reason {right}, not {reason or 'none'}"
