"""KEP-83's rules: a plan matched with the state and judged law by law, K83-01 to K83-08.

Written from KEP-83, sections as named; what it leaves open is decided in `laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final

from msgspec.structs import asdict, replace

from planner.laws import Register
from planner.plan import Verdict, Verification
from planner.quota.kueue.amount import saturating_add
from planner.quota.kueue.holders import NOBODY, Admitted, Holders
from planner.research.kep83 import laws
from planner.research.kep83.options import (
    CohortPolicy,
    Kep83,
    QueuePolicy,
    parse_rules,
    seconds_waiting,
)
from planner.verifier.kueue.case import Case, Removal, remove_all
from planner.verifier.kueue.classical import (
    judge_fit,
    judge_holdings,
    judge_nominal,
    permission_faults,
)
from planner.verifier.kueue.plan import verify_by
from planner.verifier.kueue.setting import Setting, Variant, say_amount, say_node
from planner.verifier.wording import judge, judge_order, say_count, say_some


class Kep83Setting(Setting, frozen=True, dict=True):
    """A preemptor with its flavors assigned, by KEP-83's rules under given options.

    ``contested`` are the KEP's involved flavors.
    """

    options: Kep83

    @cached_property
    def cohort_policy(self) -> CohortPolicy:
        """The policy for victims of other queues."""
        return self.options.within_cohort(self.policy)

    @cached_property
    def queue_policy(self) -> QueuePolicy:
        """The policy for victims of the own queue."""
        return self.options.within_cluster_queue(self.policy)

    @cached_property
    def waited_s(self) -> int:
        """For how many seconds the preemptor has waited since it was first attempted."""
        return seconds_waiting(self.preemptor.workload, self.snapshot.now)

    @property
    def may_preempt(self) -> bool:
        """Whether the preemptor has waited long enough."""
        return self.waited_s >= self.options.wait

    def permits(self, workload: Admitted) -> bool:
        """Say whether the policy for its queue permits a workload as a victim."""
        policy = self.queue_policy if workload.queue == self.queue else self.cohort_policy
        # All other values of either field ask for a lower priority: equal priorities are refused.
        if policy in {"Never", "ReclaimFromAny"}:
            return policy == "ReclaimFromAny"
        return workload.priority < self.preemptor.priority

    def variant(self, workload: Admitted) -> Variant:
        """Return what Kueue says today of a removal of this kind: the KEP has no reason codes."""
        if workload.queue == self.queue:
            return Variant.WITHIN_CQ
        borrows = self.options.borrows
        return Variant.RECLAIM_WHILE_BORROWING if borrows else Variant.HIERARCHICAL_RECLAIM

    @cached_property
    def attempts(self) -> tuple[bool, ...]:
        """The only attempt: an option says whether it may borrow."""
        return (self.options.borrows,)

    @property
    def kept_nominal(self) -> Mapping[int, int]:
        """What has to end within min: one that fits as it is may have got its flavor by borrowing.

        Source: docs/semantics/kep83.md §3.
        """
        return {fr: asked for fr, asked in self.request.items() if fr in self.contested}

    def enough(self, node: int, fr: int) -> int:
        """Return one unit less than the min: K83-07 lets a queue at its min give a victim."""
        return self.snapshot.tree.nominal(node, fr) - 1

    def is_asked(self, node: int) -> bool:
        """Say whether a node is a queue: the KEP knows no cohorts between."""
        return self.snapshot.tree.nodes[node].is_queue

    @cached_property
    def candidates(self) -> Holders:
        """The candidates that the KEP would collect: they pass K83-03 to K83-06 and K83-08."""
        return self.permitted_where_borrowed() if self.may_preempt else NOBODY


def match(setting: Setting, options: str) -> tuple[Kep83Setting, type[Kep83Case]]:
    """Return the same preemptor and state by KEP-83's rules, and what its plans are matched as."""
    known = replace(setting, request=setting.searched)
    return Kep83Setting(**asdict(known), options=parse_rules(options)), Kep83Case


@remove_all.register(Kep83Setting)
def remove_kep83(setting: Kep83Setting, victims: Sequence[Admitted]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if there is none."""
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    # Victims of the own queue may stand anywhere: K83-07 tests each other queue by itself.
    order = [victim for victim in victims if not setting.side(victim.queue)]
    by_queue: dict[int, list[Admitted]] = {}
    for victim in victims:
        if setting.side(victim.queue):
            by_queue.setdefault(victim.queue, []).append(victim)
    for queue, group in by_queue.items():
        left, last = after.amount[queue], None
        for victim in group:
            # Put back alone: a victim with which the queue is at its min or above can be last.
            back = {
                fr: saturating_add(left[fr], victim.usage.get(fr, 0)) for fr in setting.contested
            }
            if not _is_below(setting, queue, back):
                last = victim
                break
        if last is None:
            obstacle = f"whichever goes last, {_say_below(setting, queue, group)}"
            return Removal((), obstacle, after)
        order += [victim for victim in group if victim is not last]
        order.append(last)
    return replay_kep83(setting, order)


def replay_kep83(setting: Kep83Setting, order: Sequence[Admitted]) -> Removal:
    """Remove one victim after the other; stop judging at the first that the KEP would skip."""
    usage = setting.snapshot.usage.copy()
    obstacle = ""
    for victim in order:
        queue = victim.queue
        if not obstacle and setting.side(queue) and _is_below(setting, queue, usage.amount[queue]):
            obstacle = f"at its turn {_say_below(setting, queue, [victim])}"
        usage.remove(queue, victim.usage)
    return Removal(() if obstacle else tuple(order), obstacle, usage)


def _is_below(setting: Kep83Setting, queue: int, used: Mapping[int, int] | Sequence[int]) -> bool:
    """Say whether a queue with a usage is below its min in all involved flavors."""
    nominal = setting.snapshot.tree.nominal
    # The KEP stops below min, Kueue today at it: no `<=` here (docs/semantics/kep83.md §7).
    return all(used[fr] < nominal(queue, fr) for fr in setting.contested)


def _say_below(setting: Kep83Setting, queue: int, victims: Sequence[Admitted]) -> str:
    snapshot = setting.snapshot
    nominal = snapshot.tree.nominal
    minima = [say_amount(snapshot, fr, nominal(queue, fr)) for fr in sorted(setting.contested)]
    return (
        f"{say_node(snapshot, queue)} is below its min ({say_some(minima)}) in all involved "
        f"flavors, so KEP-83 would skip {say_some([victim.key for victim in victims])}"
    )


class Kep83Case(Case, frozen=True, dict=True):
    """Victims in one setting; ``borrowing`` is what the plan says, as there is one attempt only."""

    rules: ClassVar = "kep83"

    setting: Kep83Setting

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what prevents removing the victims in this order; empty if nothing does."""
        return replay_kep83(self.setting, order).obstacle


CHECKS: Final[Register[Callable[[Kep83Case], Verdict]]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(laws.K83_FITS)
def fits(case: Kep83Case) -> Verdict:
    """K83-01: after all victims are gone, every requested flavor-resource is available.

    For all fr of REQ: ``REQ[fr] <= max(0, available(q, fr))`` with q the preemptor's queue. An
    assignment that leaves out a podset or a request breaks the law too.
    Source: Preemption, step 4.
    """
    return judge_fit(case, laws.K83_FITS)


@CHECKS.of(laws.K83_WITHOUT_BORROWING)
def without_borrowing(case: Kep83Case) -> Verdict:
    """K83-02: what needs preemption ends within the min quota of the queue, unless it may borrow.

    For all involved fr of REQ: ``usage(q, fr) + REQ[fr] <= nominal(q, fr)``. The plan has to agree
    with the options on borrowing. Source: Detecting Workloads that might benefit from
    preemption; Alternatives.
    """
    if case.nothing_evicted:
        return judge(laws.K83_WITHOUT_BORROWING, (), "does not apply: nothing is preempted")
    borrows = case.setting.options.borrows
    if case.borrowing is not borrows:
        wrong = f"the plan must say that it was made {'with' if borrows else 'without'} borrowing"
        return judge(laws.K83_WITHOUT_BORROWING, [wrong], "")
    if borrows:
        return judge(laws.K83_WITHOUT_BORROWING, (), "does not apply: withinCohort LowerPriority")
    return judge_nominal(case, laws.K83_WITHOUT_BORROWING, case.setting.kept_nominal, "min")


@CHECKS.of(laws.K83_HOLDS_CONTESTED)
def holds_contested_quota(case: Kep83Case) -> Verdict:
    """K83-03: every victim holds quota in an active queue of the tree, and names an involved fr.

    Whether the amount is positive is irrelevant. Workloads that hold no quota, are the preemptor
    or are named twice break the law. Source: Preemption, step 2.
    """
    return judge_holdings(case, laws.K83_HOLDS_CONTESTED)


@CHECKS.of(laws.K83_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(case: Kep83Case) -> Verdict:
    """K83-04: a victim of the preemptor's own queue has a lower priority; with Never there is none.

    Source: ClusterQueue API changes; Preemption, step 2.2.
    """
    policy = f"withinClusterQueue: {case.setting.queue_policy}"
    faults = permission_faults(case, case.own, policy, case.setting.reason)
    return judge(laws.K83_WITHIN_CLUSTER_QUEUE, faults, f"{say_count(len(case.own))}, {policy}")


@CHECKS.of(laws.K83_WITHIN_COHORT)
def within_cohort(case: Kep83Case) -> Verdict:
    """K83-05: a victim of another queue is permitted by ``withinCohort``.

    ReclaimFromLowerPriority and LowerPriority: a lower priority than the preemptor's;
    ReclaimFromAny: any; Never: none. Source: ClusterQueue API changes; Preemption, step 2.1.
    """
    policy = f"withinCohort: {case.setting.cohort_policy}"
    faults = permission_faults(case, case.others, policy, case.setting.reason)
    return judge(laws.K83_WITHIN_COHORT, faults, f"{say_count(len(case.others))}, {policy}")


@CHECKS.of(laws.K83_BORROWS)
def borrows_involved_flavors(case: Kep83Case) -> Verdict:
    """K83-06: the queue of a victim, unless it is the preemptor's, borrows before any removal.

    ``usage(c, fr) > nominal(c, fr)`` for some involved fr. Source: Preemption, step 2.1.
    """
    queues = dict.fromkeys(victim.queue for victim, _ in case.others)
    findings = [
        f"{say_node(case.snapshot, queue)} borrows nothing of the involved flavors"
        for queue in queues
        if not case.setting.borrows_contested(queue)
    ]
    return judge(laws.K83_BORROWS, findings, f"{len(queues)} other queues with victims borrow")


@CHECKS.of(laws.K83_AT_MIN)
def at_min_until_last_victim(case: Kep83Case) -> Verdict:
    """K83-07: there is an order in which the KEP could remove the victims one by one.

    At the turn of a victim of another queue, ``usage(c, fr) >= nominal(c, fr)`` for some
    involved fr: that queue is not below its min in all of them. The order is constructed and
    then replayed, see ``removal``. Source: Preemption, step 4.
    """
    return judge_order(laws.K83_AT_MIN, case.removal.obstacle, case.removal.order)


@CHECKS.of(laws.K83_WAITED)
def waited(case: Kep83Case) -> Verdict:
    """K83-08: there are victims only if the preemptor has waited long enough.

    Source: Alternatives, Extra knobs in ClusterQueue preemption policy.
    """
    setting = case.setting
    wait = f"it has waited {setting.waited_s} s of {setting.options.wait} s"
    late_enough = setting.may_preempt or case.nothing_evicted
    return judge(laws.K83_WAITED, [] if late_enough else [wait], wait)


def verify(case: Case) -> Verification:
    """Judge a case by every law of the KEP."""
    return verify_by(case, CHECKS, laws.LAWS)
