r"""The laws of Kueue's fair sharing: its setting, its orders of removals, and a function per law.

Written from docs/semantics/kueue.md §6.1 to §6.6, and from kueue ff69552e
pkg/scheduler/preemption/preemption.go and pkg/scheduler/preemption/fairsharing. The order of
removals is constructed, then replayed step by step.

Kueue tests each removal at its moment, with the preemptor's request REQ counted in its queue
(docs/semantics/kueue.md §6.3 to §6.6). A victim of another queue may go only while its queue
and every cohort from there up to, but without, the lowest common ancestor A borrow, in any
flavor-resource; and, unless the preemptor stays within its nominal quota, only if a configured
strategy permits it. With a and b the children of A on the victim's and on the preemptor's side:

    LessThanOrEqualToFinalShare   share(b) <= share(a) once the victim is gone
    LessThanInitialShare          share(b) <  share(a) before

Removals lower usage and shares, never raise them. No victim below b is below a, so all of these
may go before any below a does, which makes share(b) as low as it can be: the own queue's
victims first, then side by side, the nearest common ancestor first. Below a, the last removal
meets the hardest test of both kinds. So, with S all victims and v the last one below a:

    can(n)  = { v below n : m borrows in u(S \ {v}) for every m from the queue of v up to n }
    fair(a) = { v in can(a) : share(b; S) <= share(a; S), or share(b; S) < share(a; S \ {v}) }

An order exists exactly if no can(n) and no fair(a) is empty: choose from the top down, from
fair(a) at a, then the parent's choice where it lies below and any of can(n) where it does not.
FS-06 is broken by an empty can(n); FS-07 by an empty fair(a), chosen from all if can(a) is empty.

Sums must not saturate for this, see case.py; nothing but a legal order passes the replay.
Shares are doubles and compared exactly, as Kueue does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final

from msgspec.structs import astuple

from planner.laws import Register
from planner.laws import kueue as laws
from planner.plan import Verdict
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.tree import Share, Shares, Usage
from planner.state.kueue_configuration import Strategy
from planner.verifier.kueue.case import (
    Case,
    LastVictims,
    Removal,
    arrange,
    lowest_stuck,
    remove_all,
    rules_fault,
    say_stuck,
    say_uses,
    say_within,
)
from planner.verifier.kueue.classical import (
    judge_fit,
    judge_holdings,
    judge_own_queue,
    permission_faults,
    say_reason,
)
from planner.verifier.kueue.setting import Setting, say_node, say_shares
from planner.verifier.wording import judge, judge_order, say_count, say_some

OWN_QUEUE: Final = "InClusterQueue"
WITHIN_NOMINAL: Final = "InCohortReclamation"
BY_SHARE: Final = "InCohortFairSharing"

FINAL_SHARE: Final[Strategy] = "LessThanOrEqualToFinalShare"
INITIAL_SHARE: Final[Strategy] = "LessThanInitialShare"


class FairSetting(Setting, frozen=True, dict=True):
    """A preemptor with its flavors assigned, under fair sharing."""

    @cached_property
    def shares(self) -> Shares:
        """The shares of the tree, as functions of usage."""
        return Shares(self.snapshot.tree, self.snapshot.configuration.rules)

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The configured strategies: a removal is legal if one of them permits it."""
        return self.snapshot.configuration.strategies

    def with_request(self, usage: Usage) -> Usage:
        """Return a copy of a usage in which REQ counts at the preemptor's queue (§6.3)."""
        counted = usage.copy()
        counted.add(self.queue, self.searched)
        return counted

    @cached_property
    def stays_within_nominal(self) -> bool:
        """Whether the preemptor's queue is entitled to the request, whatever the shares (§6.3).

        With REQ added and nothing removed, it uses no more than its nominal quota in every
        contested flavor-resource, and the gate is on.
        """
        used = self.with_request(self.snapshot.usage).amount[self.queue]
        nominal = self.snapshot.tree.nominal
        # Once, before the first removal: victims of the own queue do not change it (§6.3).
        within = all(used[fr] <= nominal(self.queue, fr) for fr in self.contested)
        return within and self.snapshot.configuration.gate("FairSharingPreemptWithinNominal")

    @cached_property
    def attempts(self) -> tuple[bool, ...]:
        """The only attempt, which permits borrowing."""
        return (True,)

    def reason(self, workload: Admitted) -> str:
        """Return the reason code that Kueue writes into the Preempted condition (§6.5)."""
        if workload.queue == self.queue:
            return OWN_QUEUE
        return WITHIN_NOMINAL if self.stays_within_nominal else BY_SHARE

    @cached_property
    def candidates(self) -> Holders:
        """The candidates that Kueue would collect (§6.2): they pass FS-02 to FS-05."""
        return self.permitted_where_borrowed()

    def rival(self, top: int) -> int:
        """Return the sibling on the preemptor's path of a node just below the common ancestor."""
        return self.path[self.path.index(self.snapshot.tree.nodes[top].parent) - 1]

    def is_fair(self, mine: Share, before: Share, after: Share) -> bool:
        """Say whether a strategy permits a removal (§6.5).

        ``mine`` is the share of the preemptor's side, ``before`` and ``after`` are those of the
        victim's side; REQ is counted.
        """
        # Doubles, compared as they are: Kueue rounds nothing, so a tolerance would be another rule.
        final = FINAL_SHARE in self.strategies and mine.order <= after.order
        return final or (INITIAL_SHARE in self.strategies and mine.order < before.order)


class FairRemoval(Removal, frozen=True):
    """The result of removing the victims under fair sharing.

    ``obstacle`` is split: ``stuck`` says which node no longer borrows (FS-06), ``unfair`` which
    shares stand in the way (FS-07). ``usage`` does not count the preemptor's request.
    """

    stuck: str
    unfair: str


def remove_fairly(setting: FairSetting, victims: Sequence[Admitted]) -> FairRemoval:
    """Find a legal order of removals and replay it; say what stands in the way if there is none."""
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    end = setting.with_request(after)
    last, before = look_at_sides(setting, victims, end)
    stuck = unfair = ""
    found = lowest_stuck(setting, victims, last)
    if found is not None:
        node, at_node = found
        below = [victim for victim in victims if node in setting.side(victim.queue)]
        frs = _held_with_quota(setting, node, below)
        stuck = say_stuck(setting, node, at_node, end, frs)
    choice: dict[int, Sequence[int]] = {}
    for top, shares in before.items():
        # If no victim can be last by borrowing, FS-06 is broken; FS-07 is judged among all.
        contenders = choice[top] = last[top] or list(shares)
        if setting.stays_within_nominal:
            continue
        mine, final = (
            setting.shares.share_of(end, setting.rival(top)),
            setting.shares.share_of(end, top),
        )
        # fair(a) of a node just below a common ancestor.
        choice[top] = [p for p in contenders if setting.is_fair(mine, shares[p], final)]
        if not choice[top] and not unfair:
            # The share before the removal depends on which victim is last; the highest is told.
            best = max((shares[p] for p in contenders), key=lambda share: share.order)
            keys = [victims[position].key for position in contenders]
            unfair = _say_unfair(setting, top, keys, (mine, best, final))
    order: list[Admitted] = []
    if not (stuck or unfair):
        # At a from fair(a), not can(a): a victim that passes by borrowing may fail by shares.
        order = arrange(setting, victims, {**last, **choice})
        # Nearest first, and stable: the last of each side stays the last. Nearer victims run on the
        # preemptor's side of a farther one: their removal lowers the share it is compared with.
        order.sort(key=lambda victim: setting.path.index(setting.ancestor(victim.queue)))
        stuck, unfair = replay_fairly(setting, order)
    obstacle = stuck or unfair
    return FairRemoval(() if obstacle else tuple(order), obstacle, after, stuck, unfair)


remove_all.register(FairSetting, remove_fairly)


def replay_fairly(setting: FairSetting, order: Sequence[Admitted]) -> tuple[str, str]:
    """Remove one victim after the other, up to the first that Kueue would not take.

    Returns two texts: what breaks FS-06 and what breaks FS-07, empty where nothing does.
    """
    usage = setting.with_request(setting.snapshot.usage)
    for victim in order:
        side = setting.side(victim.queue)
        # Borrowing of any flavor-resource; FS-05 tests contested quota, once (§6.4).
        idle = next((n for n in side if not setting.shares.share_of(usage, n).borrowing), None)
        if idle is not None:
            used = {fr: usage.amount[idle][fr] for fr in _held_with_quota(setting, idle, [victim])}
            within = say_within(setting, idle, used, (victim.key,))
            return f"{say_node(setting.snapshot, idle)} is {within}", ""
        if not side or setting.stays_within_nominal:
            usage.remove(victim.queue, victim.usage)
            continue
        # The same after the removal: a victim below its own side is not below the rival.
        mine = setting.shares.share_of(usage, setting.rival(side[-1]))
        before = setting.shares.share_of(usage, side[-1])
        usage.remove(victim.queue, victim.usage)
        after = setting.shares.share_of(usage, side[-1])
        if not setting.is_fair(mine, before, after):
            return "", _say_unfair(setting, side[-1], [victim.key], (mine, before, after))
    return "", ""


def look_at_sides(
    setting: FairSetting, victims: Sequence[Admitted], end: Usage
) -> tuple[LastVictims, Mapping[int, Mapping[int, Share]]]:
    """Put every victim back alone; ``end`` is the usage without victims, the request counted.

    Returns can(n); and, per node a just below a common ancestor and per victim below it, the share
    of a with all victims gone but that one.
    """
    last: dict[int, list[int]] = {}
    before: dict[int, dict[int, Share]] = {}
    for position, victim in enumerate(victims):
        path = setting.snapshot.tree.path(victim.queue)
        # Undone by copies of the rows: a removal would not restore a sum that saturated.
        kept = [end.amount[node].copy() for node in path]
        end.add(victim.queue, victim.usage)
        borrows = True
        for node in setting.side(victim.queue):
            share = setting.shares.share_of(end, node)
            borrows = borrows and share.borrowing
            positions = last.setdefault(node, [])
            if borrows:
                positions.append(position)
            if node == setting.side(victim.queue)[-1]:
                before.setdefault(node, {})[position] = share
        for node, row in zip(path, kept, strict=True):
            end.amount[node] = row
    return last, before


def _held_with_quota(setting: FairSetting, node: int, victims: Sequence[Admitted]) -> list[int]:
    """Return the flavor-resources to report of a node: with quota there, and used by victims."""
    held = {fr for victim in victims for fr, amount in victim.usage.items() if amount}
    return sorted(setting.shares.counted(node) & held)


def _say_unfair(
    setting: FairSetting, top: int, keys: Sequence[str], shares: tuple[Share, Share, Share]
) -> str:
    mine, before, after = say_shares(*shares)
    snapshot = setting.snapshot
    which = keys[0] if len(keys) == 1 else f"the last of {say_some(keys)}"
    compared = {
        FINAL_SHARE: f"more than {after} after it ({FINAL_SHARE})",
        INITIAL_SHARE: f"not less than {before} before it ({INITIAL_SHARE})",
    }
    return (
        f"Kueue would not take {which} from {say_node(snapshot, top)}: with "
        f"{setting.preemptor.key}, {say_node(snapshot, setting.rival(top))} has share "
        f"{mine}, {' and '.join(compared[name] for name in setting.strategies)}"
    )


class FairCase(Case, frozen=True, dict=True):
    """Victims in one setting; the only attempt of fair sharing permits borrowing."""

    rules: ClassVar = "kueue-fair"

    setting: FairSetting

    @cached_property
    def removal(self) -> FairRemoval:
        """The result of removing the victims."""
        return remove_fairly(self.setting, self.victims)

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what prevents removing the victims in this order; empty if nothing does."""
        return "; ".join(text for text in replay_fairly(self.setting, order) if text)


def fair_setting_of(setting: Setting) -> FairSetting:
    """Return the same preemptor and state, under fair sharing."""
    return FairSetting(*astuple(setting))


CHECKS: Final[Register[Callable[[FairCase], Verdict]]] = Register()
"""The check of every law, by the law's id."""


@CHECKS.of(laws.FS_FITS)
def fits(case: FairCase) -> Verdict:
    """FS-01: after all victims are gone, every requested flavor-resource is available.

    For all fr of REQ: ``REQ[fr] <= max(0, available(q, fr))`` with q the preemptor's queue, and
    REQ itself not counted as used. The only attempt there is permits borrowing. An assignment
    that leaves out a podset or a request breaks the law too.
    Source: docs/semantics/kueue.md §6.3 ``fitsFS``, §5.1 ``workloadFits`` and §3 ``available``.
    """
    verdict = judge_fit(case, laws.FS_FITS)
    # No law of fair sharing is about attempts, as KQ-08 is: this one asks for the only attempt.
    if case.borrowing or (case.borrowing is None and case.nothing_evicted):
        return verdict
    attempt = "the plan must name the attempt with borrowing: fair sharing makes no other"
    return judge(laws.FS_FITS, [attempt, *([] if verdict.holds else [verdict.detail])], "")


@CHECKS.of(laws.FS_HOLDS_CONTESTED)
def holds_contested_quota(case: FairCase) -> Verdict:
    """FS-02: every victim holds quota in an active queue of the tree, and names a contested fr.

    Whether the amount is positive is irrelevant. Workloads that hold no quota, are the preemptor
    or are named twice break the law. Source: docs/semantics/kueue.md §2, §5.2 and §6.2.
    """
    return judge_holdings(case, laws.FS_HOLDS_CONTESTED)


@CHECKS.of(laws.FS_WITHIN_CLUSTER_QUEUE)
def within_cluster_queue(case: FairCase) -> Verdict:
    """FS-03: a victim of the preemptor's own queue satisfies ``withinClusterQueue``.

    As KQ-04; fair sharing asks nothing else of such a victim. Its reason is ``InClusterQueue``.
    Source: docs/semantics/kueue.md §5.2, §6.2 and §6.5.
    """
    return judge_own_queue(case, laws.FS_WITHIN_CLUSTER_QUEUE)


@CHECKS.of(laws.FS_RECLAIM)
def reclaim_within_cohort(case: FairCase) -> Verdict:
    """FS-04: a victim of another queue satisfies ``reclaimWithinCohort`` of the preemptor's queue.

    LowerPriority P > C; Any every one; Never none. ``borrowWithinCohort`` is ignored.
    Source: docs/semantics/kueue.md §5.2 and §6.2.
    """
    policy = f"reclaimWithinCohort: {case.setting.policy.reclaim_within_cohort}"
    # FS-07 judges their reasons.
    faults = permission_faults(case, case.others, policy, lambda _: None)
    return judge(
        laws.FS_RECLAIM, faults, f"{say_count(len(case.others))} of other queues, {policy}"
    )


@CHECKS.of(laws.FS_BORROWS_CONTESTED)
def borrows_contested_quota(case: FairCase) -> Verdict:
    """FS-05: the queue of a victim borrows contested quota before anything is removed.

    ``usage(c, fr) > nominal(c, fr)`` for some contested fr, with c the victim's queue, unless it
    is the preemptor's own. Source: docs/semantics/kueue.md §6.2.
    """
    snapshot = case.snapshot
    queues = {victim.queue: victim for victim, _ in case.others}
    findings = []
    for queue, victim in queues.items():
        if not case.setting.borrows_contested(queue):
            used = {fr: snapshot.usage.amount[queue][fr] for fr in case.setting.contested}
            quota = {fr: snapshot.tree.nominal(queue, fr) for fr in used}
            amounts = say_uses(snapshot, "nominal", used, quota)
            findings.append(
                f"{victim.key} may not go: {say_node(snapshot, queue)} borrows nothing contested"
                + (f" ({say_some(amounts)})" if amounts else "")
            )
    names = say_some([say_node(snapshot, queue) for queue in queues])
    return judge(laws.FS_BORROWS_CONTESTED, findings, names or "no victims of other queues")


@CHECKS.of(laws.FS_BORROWING)
def borrowing_until_last_victim(case: FairCase) -> Verdict:
    """FS-06: there is an order in which each victim's side borrows until the victim goes.

    When a victim of another queue is removed, its queue and every cohort from there up to, but
    without, the lowest common ancestor use more than their subtree quota in some
    flavor-resource of their quotas, contested or not. The order is constructed and replayed, see
    ``remove_fairly``. Source: docs/semantics/kueue.md §6.1 and §6.4.
    """
    some = "some order" if case.victims else "no victims"
    return judge_order(laws.FS_BORROWING, case.removal.stuck, case.removal.order, some)


@CHECKS.of(laws.FS_SHARES)
def shares(case: FairCase) -> Verdict:
    """FS-07: in an order that keeps FS-06, a configured strategy permits every removal by shares.

    With a and b the children of the lowest common ancestor on the victim's and the preemptor's
    side, and REQ counted: ``share(b) <= share(a)`` after the removal, or ``share(b) < share(a)``
    before it, in doubles; unless REQ stays within the nominal quota of its queue. The order is
    the same as for FS-06: where each law alone could be kept but not both together, FS-07 is
    broken. The reason is ``InCohortReclamation`` within nominal quota, ``InCohortFairSharing``
    otherwise. Source: docs/semantics/kueue.md §6.1, §6.3, §6.5 and §6.6;
    docs/design/theory.md §2.3.
    """
    setting, removal = case.setting, case.removal
    fault = rules_fault(case.snapshot.configuration, case.rules)
    if fault:
        return judge(laws.FS_SHARES, [fault], "")
    findings = [removal.unfair] if removal.unfair else []
    findings += [
        say_reason(victim, reason, setting.reason(victim))
        for victim, reason in case.others
        if reason != setting.reason(victim)
    ]
    queue = say_node(case.snapshot, setting.queue)
    if not case.others:
        return judge(laws.FS_SHARES, findings, "no victims of other queues")
    if setting.stays_within_nominal:
        entitled = f"{queue} stays within nominal quota with {setting.preemptor.key}"
        return judge(laws.FS_SHARES, findings, f"does not apply: {entitled}")
    return judge(laws.FS_SHARES, findings, f"permitted by {' or '.join(setting.strategies)}")
