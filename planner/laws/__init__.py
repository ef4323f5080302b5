"""The rules as a registry: one law, one id, the same in models, verifier, report and tests.

A law is described once, here. ``models`` states it as constraints, ``verifier`` as a check of a
finished plan; neither knows the other.

law.py       what a law is
kueue.py     KQ-01 to KQ-08, FS-01 to FS-07, KF-01
yunikorn.py  YK-01 to YK-12
kep83.py     K83-01 to K83-08
strict.py    ST-01 to ST-05, beside Kueue's
"""

from typing import Final

from planner.laws.kep83 import (
    K83_AT_MIN,
    K83_BORROWS,
    K83_FITS,
    K83_HOLDS_CONTESTED,
    K83_WAITED,
    K83_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_COHORT,
    K83_WITHOUT_BORROWING,
    KEP83,
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
    KUEUE_CLASSICAL,
    KUEUE_FAIR,
    KUEUE_FLAVORS,
)
from planner.laws.law import Law
from planner.laws.strict import (
    ST_ATTEMPTS,
    ST_HIGHEST_SHARE,
    ST_ONE_PER_QUEUE,
    ST_STOPS,
    ST_STRATEGIES,
    STRICT,
    STRICT_CLASSICAL,
    STRICT_FAIR,
)
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
    YUNIKORN_CODE,
    YUNIKORN_DESIGN,
    YUNIKORN_REQUIRED_NODE,
    YUNIKORN_WRITTEN,
    Spared,
)

RULE_SETS: Final = {
    "kueue-classical": KUEUE_CLASSICAL,
    "kueue-fair": KUEUE_FAIR,
    "flavors": KUEUE_FLAVORS,
    "yunikorn-design": YUNIKORN_DESIGN,
    "yunikorn-written": YUNIKORN_WRITTEN,
    "yunikorn-code": YUNIKORN_CODE,
    "yunikorn-required-node": YUNIKORN_REQUIRED_NODE,
    "kep83": KEP83,
    "strict": STRICT,
}
"""The laws of each rule set, in the order in which they are reported.

``flavors`` and ``strict`` are no rule sets of their own: where flavors were chosen, the one comes
on top of Kueue's, and where documented precedence is asked for, the other does.
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
    "KEP83",
    "KF_PERMITTED",
    "KQ_ATTEMPT",
    "KQ_BORROW_WITHIN_COHORT",
    "KQ_FITS",
    "KQ_HOLDS_CONTESTED",
    "KQ_OVER_QUOTA",
    "KQ_RECLAIM",
    "KQ_WITHIN_CLUSTER_QUEUE",
    "KQ_WITHOUT_BORROWING",
    "KUEUE_CLASSICAL",
    "KUEUE_FAIR",
    "RULE_SETS",
    "STRICT",
    "STRICT_CLASSICAL",
    "STRICT_FAIR",
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
    "YUNIKORN_CODE",
    "YUNIKORN_DESIGN",
    "YUNIKORN_REQUIRED_NODE",
    "YUNIKORN_WRITTEN",
    "Law",
    "Spared",
]
