"""The laws of YuniKorn: YK-01 to YK-07 and YK-12 are those of its design, the rest is arithmetic.

A queue above its lowered maximum has a rule set of its own: law 2, YK-13 and YK-14.

Where a written law and the core differ, the rule set ``yunikorn-design`` contains the written law
and ``yunikorn-code`` leaves it out (docs/semantics/yunikorn.md §13 and §15). Law 4 has two
readings: these rule sets take the core's, YK-04, and ``yunikorn-written`` the text's, YK-12.
"""

from __future__ import annotations

from typing import Final, Literal

from planner.laws.law import Law, laws_in

Spared = Literal["nobody", "opted-out", "last-tier"]
"""Which allocations YK-01 spares: none, those that opted out, or these and all originators."""

_DESIGNED: Final = ("yunikorn-design", "yunikorn-written")
_GENERIC: Final = (*_DESIGNED, "yunikorn-code")
_ALL: Final = (*_GENERIC, "yunikorn-required-node")

YK_LAST_TIER: Final = Law(
    "YK-01",
    "spares_last_tier",
    "opted-out allocations are a last resort, and originators where they are counted",
    "No victim has opted out of preemption, unless no legal victim set does without. Under "
    "objectives that count last-resort victims none is the originator of its application "
    "either, unless no legal victim set does without both.",
    "docs/semantics/yunikorn.md §13.1 and §15; design document, law 1; yunikorn-core be3bb487 "
    "scheduler/objects/preemption.go",
    rule_sets=_ALL,
)
YK_LEAVES_GUARANTEED: Final = Law(
    "YK-02",
    "leaves_guaranteed",
    "no queue is left below its guaranteed",
    "For every queue with a victim at or below it, and every resource type of its guaranteed: "
    "its usage without the victims, with the ask where it lies on the ask's path, is at least "
    "its guaranteed, or at least what it was before. Usage leaves out what is being preempted "
    "already.",
    "docs/semantics/yunikorn.md §13.2 and §15; design document, law 2; the core does not "
    "enforce it",
    rule_sets=(*_DESIGNED, "yunikorn-lowered-quota"),
    drop=2,
    no_reference="the core does not enforce it",
)
YK_OTHER_QUEUE: Final = Law(
    "YK-03",
    "other_queue",
    "no victim is in the queue of the ask",
    "Victims are in other queues than the ask, hence of other applications.",
    "docs/semantics/yunikorn.md §4 and §13.3; design document, law 3; yunikorn-core be3bb487 "
    "scheduler/objects/queue.go findEligiblePreemptionVictims",
    rule_sets=_GENERIC,
    drop=5,
)
YK_WITHIN_GUARANTEED: Final = Law(
    "YK-04",
    "within_guaranteed",
    "the ask fits into what is left of its queue's guaranteed",
    "The ask fits into the remaining guaranteed of its queue before anything is removed; or, "
    "with the ask counted and the victims gone, no type of the ask has less than nothing left "
    "there. Types without any guaranteed are free; a queue without any guaranteed on its path "
    "may not preempt. Up to 1.7 the second is asked in any case, and of every guaranteed type.",
    "docs/semantics/yunikorn.md §6, §15 and §16; design document, law 4; yunikorn-core be3bb487 "
    "scheduler/objects/preemption.go checkPreemptionQueueGuarantees",
    rule_sets=("yunikorn-design", "yunikorn-code"),
    drop=9,
)
YK_UNDER_GUARANTEED: Final = Law(
    "YK-12",
    "under_guaranteed",
    "the ask's queue is under its guaranteed",
    "Law 4 as it is written: before anything is removed, the queue of the ask has something left "
    "of its guaranteed, in some type of the ask. Whether the whole ask fits into that is not "
    "asked: YK-04, the core's test, asks it. A queue without any guaranteed on its path may not "
    "preempt.",
    "design document, law 4; docs/semantics/yunikorn.md §13.4",
    rule_sets=("yunikorn-written",),
    drop=10,
    no_reference="the core tests YK-04 in its place",
)
YK_OVER_GUARANTEED: Final = Law(
    "YK-05",
    "over_guaranteed",
    "the queue of a victim is over its guaranteed at the victim's turn",
    "There is an order of the victims in which each queue, when its victim's turn comes, has no "
    "guaranteed on its path, or has less than nothing left of it in some type of the ask. Up to "
    "1.7 it has less than nothing left in some type, and something in none.",
    "docs/semantics/yunikorn.md §5, §15 and §16; design document, law 5; yunikorn-core be3bb487 "
    "scheduler/objects/preemption.go calculateVictimsByNode",
    rule_sets=_GENERIC,
    drop=3,
)
YK_PRIORITY: Final = Law(
    "YK-06",
    "priority",
    "no victim has a higher priority than the ask",
    "After the offsets of the queues from the fence down, the priority of a victim is at most "
    "that of the ask. Below a priority fence only the offset of the fence is compared, and no "
    "single priorities. An ask with a required node is compared by plain priorities.",
    "docs/semantics/yunikorn.md §4 and §11.1; design document, law 6; yunikorn-core be3bb487 "
    "scheduler/objects/queue.go findEligiblePreemptionVictims",
    rule_sets=_ALL,
    drop=4,
)
YK_FENCE: Final = Law(
    "YK-07",
    "fence",
    "victims are inside the fence, and not in a queue with preemption disabled",
    "Victims are below the first queue on the ask's way up that is the root, has the policy "
    "fence, or cannot take the ask within its effective maximum (up to 1.8: holds just its own). "
    "A queue with the policy disabled gives none, and neither does a parent itself.",
    "docs/semantics/yunikorn.md §4; design document, law 7; yunikorn-core be3bb487 "
    "scheduler/objects/queue.go findPreemptionFenceRoot",
    rule_sets=_GENERIC,
    drop=8,
)
YK_FITS_NODE: Final = Law(
    "YK-08",
    "fits_node",
    "the ask fits on one usable node",
    "One node is chosen: schedulable, large enough, not reserved for others only. The ask fits "
    "into what is available there and what the victims on it hold. Victims are on that node, "
    "unless it has room for the ask without any. Where the pods and nodes of Kubernetes are known, "
    "the node is not closed to the ask's pod with all pods in place; and with the victims gone it "
    "has the pod's requests, a place for a pod, and its host ports.",
    "docs/semantics/yunikorn.md §7, §10 and §15; docs/semantics/yunikorn-features.md §22; "
    "yunikorn-core be3bb487 scheduler/objects/preemption.go",
    rule_sets=_ALL,
    drop=7,
)
YK_WITHIN_LIMITS: Final = Law(
    "YK-09",
    "within_limits",
    "the ask's queue and all above it stay within their maximum",
    "For the queue of the ask and each one above it, and every type of the ask: allocated, "
    "without the victims below it, and the ask together are within its maximum.",
    "docs/semantics/yunikorn.md §11.1 and §15; the core checks it at placement, not when it "
    "chooses victims",
    rule_sets=(*_DESIGNED, "yunikorn-required-node"),
    drop=6,
    no_reference="the core checks it at placement, not when it chooses victims",
)
YK_PREEMPTABLE: Final = Law(
    "YK-10",
    "preemptable",
    "a victim holds a type of the ask and is free to go",
    "A victim has a resource type in common with the ask (the amount is irrelevant), no required "
    "node, is not released and not being preempted already. There is at least one victim.",
    "docs/semantics/yunikorn.md §4; yunikorn-core be3bb487 scheduler/objects/application.go",
    rule_sets=_ALL,
    drop=1,
)
YK_MAY_PREEMPT: Final = Law(
    "YK-11",
    "may_preempt",
    "the ask may preempt at all",
    "Preemption is enabled in the partition, the ask is permitted to preempt others, and has not "
    "done so before. Nothing passes over it: its queue is a leaf, its application may start, it "
    "waits for no placeholder of its group, and its user and group may have it. The delay of its "
    "queue, the 15 s between attempts and back-off only postpone it.",
    "docs/semantics/yunikorn.md §3; docs/semantics/yunikorn-features.md §17; yunikorn-core "
    "be3bb487 scheduler/objects/preemption.go CheckPreconditions",
    rule_sets=_ALL,
    drop=11,
)
YK_WITHIN_MAX: Final = Law(
    "YK-13",
    "within_max",
    "the queue is within its maximum",
    "For every resource type of the maximum of the queue: its usage without the victims is at most "
    "its maximum. Usage leaves out what is being preempted already.",
    "docs/semantics/yunikorn.md §11.2; docs/semantics/yunikorn-features.md §23",
    rule_sets=("yunikorn-lowered-quota",),
    no_reference="the core frees no more than its shares, in whole allocations, and so often less",
)
YK_SEARCHED: Final = Law(
    "YK-14",
    "searched",
    "a victim is where the core searches, and free to go",
    "The leaf of a victim, at or below the queue, has a share of what the core would free, and the "
    "victim holds a type of that share (the amount is irrelevant). It has no required node, is not "
    "released and not being preempted already. Priorities, fences and policies do not count.",
    "docs/semantics/yunikorn.md §11.2; docs/semantics/yunikorn-features.md §23; yunikorn-core "
    "be3bb487 scheduler/objects/quota_preemptor.go",
    rule_sets=("yunikorn-lowered-quota",),
)

LAWS: Final = laws_in(vars())
