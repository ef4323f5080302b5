"""The laws of the rule set ``strict``, ST-01 to ST-05: Kueue's documented precedence.

They come on top of today's laws: KQ-01 to KQ-08, or FS-01 to FS-07 under fair sharing.
"""

from __future__ import annotations

from typing import Final

from planner.laws.law import Law

_PRECEDENCE: Final = (
    "a model knows sets of victims, and this asks for the order of their removal: the verifier "
    "judges what the solver finds, and what it refuses is cut off"
)

ST_ATTEMPTS: Final = Law(
    "ST-01",
    "attempts_in_turn",
    "a later attempt only where the earlier one finds nobody",
    "Classical preemption: victims of the second attempt that Kueue would make are legal only if "
    "no set of victims is legal in the first.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go classicalPreemptions; "
    "docs/semantics/kueue.md §5.5 and §5.6",
    rule_sets=("strict",),
    beside=("kueue-classical",),
    no_model=_PRECEDENCE,
)
ST_STRATEGIES: Final = Law(
    "ST-02",
    "strategies_in_turn",
    "the second strategy only where the first finds nobody",
    "Fair sharing: a victim that only the second configured strategy permits is removed after "
    "the first pass has ended: in it, every ClusterQueue whose turn came gave somebody whom the "
    "first strategy permits, until none was left.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go fairPreemptions, runFirstFsStrategy; "
    "docs/semantics/kueue.md §6.5 and §6.6",
    rule_sets=("strict",),
    beside=("kueue-fair",),
    no_model=_PRECEDENCE,
)
ST_HIGHEST_SHARE: Final = Law(
    "ST-03",
    "highest_share_first",
    "the ClusterQueue with the highest share gives first",
    "Fair sharing: whose turn it is, is found from the root down, at each cohort the child of the "
    "highest share, a cohort before a ClusterQueue of the same. Children without candidates, and "
    "those that do not borrow and are not on the preemptor's path, are left out. A ClusterQueue "
    "whose turn it is gives a candidate that the strategy permits, if it has one.",
    "kueue ff69552e pkg/scheduler/preemption/fairsharing/ordering.go nextTarget; "
    "docs/semantics/kueue.md §6.4",
    rule_sets=("strict",),
    beside=("kueue-fair",),
    no_model=_PRECEDENCE,
)
ST_ONE_PER_QUEUE: Final = Law(
    "ST-04",
    "one_per_queue",
    "one victim per ClusterQueue in the second pass",
    "Fair sharing: once the first pass has ended, a ClusterQueue gives at most one victim more.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go runSecondFsStrategy; "
    "docs/semantics/kueue.md §6.6",
    rule_sets=("strict",),
    beside=("kueue-fair",),
    no_model=_PRECEDENCE,
)
ST_STOPS: Final = Law(
    "ST-05",
    "stops_when_it_fits",
    "nobody goes once the preemptor fits",
    "Before the last of the victims is removed, the preemptor does not fit.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go workloadFits, "
    "workloadFitsForFairSharing; docs/semantics/kueue.md §5.6 and §6.5",
    rule_sets=("strict",),
    beside=("kueue-classical", "kueue-fair"),
    no_model=_PRECEDENCE,
)

LAWS: Final = (ST_ATTEMPTS, ST_STRATEGIES, ST_HIGHEST_SHARE, ST_ONE_PER_QUEUE, ST_STOPS)
