"""The rules as a registry: one law, one id, the same in models, verifier, report and tests.

A law is described once, here: one record has all that is said of it anywhere. ``models`` states it
as constraints, ``verifier`` as a check of a finished plan, ``reference`` keeps it in the steps of
the scheduler's own algorithm. Each registers its function by the id of the law; none knows another.

law.py       what a law is; functions by the ids of laws
kueue.py     KQ-01 to KQ-08, FS-01 to FS-07, KF-01
yunikorn.py  YK-01 to YK-12
kep83.py     K83-01 to K83-08
kueue_strict.py    ST-01 to ST-05, beside Kueue's
kueue_topology.py  KT-01 and KT-02, where pods are placed on nodes
"""

from typing import Final

from planner.laws import kep83, kueue, kueue_strict, kueue_topology, yunikorn
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
from planner.laws.kueue import (
    FS_BORROWING,
    FS_BORROWS_CONTESTED,
    FS_FITS,
    FS_HOLDS_CONTESTED,
    FS_RECLAIM,
    FS_SHARES,
    FS_WITHIN_CLUSTER_QUEUE,
    KF_PERMITTED,
    KQ_ATTEMPT,
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_HOLDS_CONTESTED,
    KQ_OVER_QUOTA,
    KQ_RECLAIM,
    KQ_WITHIN_CLUSTER_QUEUE,
    KQ_WITHOUT_BORROWING,
)
from planner.laws.kueue_strict import (
    ST_ATTEMPTS,
    ST_HIGHEST_SHARE,
    ST_ONE_PER_QUEUE,
    ST_STOPS,
    ST_STRATEGIES,
)
from planner.laws.kueue_topology import KT_PLACEMENT, KT_ROOM
from planner.laws.law import Law, Register
from planner.laws.yunikorn import (
    YK_FENCE,
    YK_FITS_NODE,
    YK_LAST_TIER,
    YK_LEAVES_GUARANTEED,
    YK_MAY_PREEMPT,
    YK_OTHER_QUEUE,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_PRIORITY,
    YK_UNDER_GUARANTEED,
    YK_WITHIN_GUARANTEED,
    YK_WITHIN_LIMITS,
    Spared,
)

LAWS: Final = (*kueue.LAWS, *yunikorn.LAWS, *kep83.LAWS, *kueue_strict.LAWS, *kueue_topology.LAWS)

RULE_SETS: Final = {
    name: tuple(law for law in LAWS if name in law.rule_sets)
    for name in dict.fromkeys(name for law in LAWS for name in law.rule_sets)
}
"""The laws of each rule set, in the order in which they are reported.

``flavors``, ``strict`` and ``topology`` are no rule sets of their own. They come on top of Kueue's:
where flavors were chosen, where documented precedence is asked for, where pods are placed.
"""

__all__ = [
    "FS_BORROWING",
    "FS_BORROWS_CONTESTED",
    "FS_FITS",
    "FS_HOLDS_CONTESTED",
    "FS_RECLAIM",
    "FS_SHARES",
    "FS_WITHIN_CLUSTER_QUEUE",
    "K83_AT_MIN",
    "K83_BORROWS",
    "K83_FITS",
    "K83_HOLDS_CONTESTED",
    "K83_WAITED",
    "K83_WITHIN_CLUSTER_QUEUE",
    "K83_WITHIN_COHORT",
    "K83_WITHOUT_BORROWING",
    "KF_PERMITTED",
    "KQ_ATTEMPT",
    "KQ_BORROW_WITHIN_COHORT",
    "KQ_FITS",
    "KQ_HOLDS_CONTESTED",
    "KQ_OVER_QUOTA",
    "KQ_RECLAIM",
    "KQ_WITHIN_CLUSTER_QUEUE",
    "KQ_WITHOUT_BORROWING",
    "KT_PLACEMENT",
    "KT_ROOM",
    "LAWS",
    "RULE_SETS",
    "ST_ATTEMPTS",
    "ST_HIGHEST_SHARE",
    "ST_ONE_PER_QUEUE",
    "ST_STOPS",
    "ST_STRATEGIES",
    "YK_FENCE",
    "YK_FITS_NODE",
    "YK_LAST_TIER",
    "YK_LEAVES_GUARANTEED",
    "YK_MAY_PREEMPT",
    "YK_OTHER_QUEUE",
    "YK_OVER_GUARANTEED",
    "YK_PREEMPTABLE",
    "YK_PRIORITY",
    "YK_UNDER_GUARANTEED",
    "YK_WITHIN_GUARANTEED",
    "YK_WITHIN_LIMITS",
    "Law",
    "Register",
    "Spared",
    "in_drop_order",
    "law_behind",
    "of_precedence",
    "unkept",
]


def law_behind(rules: str, reason: str) -> Law | None:
    """Return the law of a rule set that a reason code stands for; ``None`` for an unknown code."""
    return next((law for law in RULE_SETS.get(rules, ()) if reason in law.reasons), None)


def of_precedence(rules: str) -> tuple[Law, ...]:
    """Return the laws of documented precedence that are asked beside a rule set."""
    return tuple(law for law in RULE_SETS["strict"] if rules in law.beside)


def unkept(rules: str) -> frozenset[str]:
    """Return the ids of the laws that no step of the scheduler's own algorithm keeps."""
    return frozenset(law.id for law in RULE_SETS[rules] if law.no_reference)


def in_drop_order(rules: str) -> tuple[Law, ...]:
    """Return the laws that can leave no plan, in the order in which dropping them is tried."""
    told = (law for law in RULE_SETS[rules] if law.drop is not None)
    return tuple(sorted(told, key=lambda law: law.drop or 0))
