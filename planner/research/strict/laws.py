"""The laws of Kueue's documented precedence, ST-01 to ST-05."""

from __future__ import annotations

from functools import partial
from typing import Final

from planner.laws.law import Law, laws_in

_AT: Final = "kueue ff69552e pkg/scheduler/preemption"
_strict: Final = partial(
    Law,
    no_model="a model knows sets of victims, and this asks for the order of their removal: the "
    "verifier judges what the solver finds, and what it refuses is cut off",
)

ST_ATTEMPTS: Final = _strict(
    "ST-01",
    "attempts_in_turn",
    "a later attempt only where the earlier one finds nobody",
    "Classical preemption: victims of the second attempt that Kueue would make are legal only if "
    "no set of victims is legal in the first.",
    f"{_AT}/preemption.go classicalPreemptions; docs/semantics/kueue.md §5.5 and §5.6",
    beside=("kueue-classical",),
)
ST_STRATEGIES: Final = _strict(
    "ST-02",
    "strategies_in_turn",
    "the second strategy only where the first finds nobody",
    "Fair sharing: a victim that only the second configured strategy permits is removed after "
    "the first pass has ended: in it, every ClusterQueue whose turn came gave somebody whom the "
    "first strategy permits, until none was left.",
    f"{_AT}/preemption.go fairPreemptions, runFirstFsStrategy; "
    "docs/semantics/kueue.md §6.5 and §6.6",
    beside=("kueue-fair",),
)
ST_HIGHEST_SHARE: Final = _strict(
    "ST-03",
    "highest_share_first",
    "the ClusterQueue with the highest share gives first",
    "Fair sharing: whose turn it is, is found from the root down, at each cohort the child of the "
    "highest share, a cohort before a ClusterQueue of the same. Children without candidates, and "
    "those that do not borrow and are not on the preemptor's path, are left out. A ClusterQueue "
    "whose turn it is gives a candidate that the strategy permits, if it has one.",
    f"{_AT}/fairsharing/ordering.go nextTarget; docs/semantics/kueue.md §6.4",
    beside=("kueue-fair",),
)
ST_ONE_PER_QUEUE: Final = _strict(
    "ST-04",
    "one_per_queue",
    "one victim per ClusterQueue in the second pass",
    "Fair sharing: once the first pass has ended, a ClusterQueue gives at most one victim more.",
    f"{_AT}/preemption.go runSecondFsStrategy; docs/semantics/kueue.md §6.6",
    beside=("kueue-fair",),
)
ST_STOPS: Final = _strict(
    "ST-05",
    "stops_when_it_fits",
    "nobody goes once the preemptor fits",
    "Before the last of the victims is removed, the preemptor does not fit.",
    f"{_AT}/preemption.go workloadFits, "
    "workloadFitsForFairSharing; docs/semantics/kueue.md §5.6 and §6.5",
    beside=("kueue-classical", "kueue-fair"),
)

LAWS: Final = laws_in(vars())


def beside(rules: str) -> tuple[Law, ...]:
    """Return the laws that are added to a rule set of Kueue's own."""
    return tuple(law for law in LAWS if rules in law.beside)
