"""The rules as a registry: one law, one id, the same in models, verifier, report and tests.

A law is described once, here: one record has all that is said of it anywhere. ``models`` states it
as constraints, ``verifier`` as a check of a finished plan, ``reference`` keeps it in the steps of
the scheduler's own algorithm. Each registers its function by the id of the law; none knows another.

law.py       what a law is; functions by the ids of laws
kueue.py     KQ-01 to KQ-08, FS-01 to FS-07, KF-01; ST-01 to ST-05, KT-01 and KT-02 beside them
yunikorn.py  YK-01 to YK-12
kep83.py     K83-01 to K83-08
"""

from typing import Final

from planner.laws.law import Law, Register
from planner.scheduler import Part

LAWS: Final = tuple(law for laws in Part[tuple[Law, ...]]("laws").of_all() for law in laws)

RULE_SETS: Final = {
    name: tuple(law for law in LAWS if name in law.rule_sets)
    for name in dict.fromkeys(name for law in LAWS for name in law.rule_sets)
}
"""The laws of each rule set, in the order in which they are reported.

``flavors``, ``strict`` and ``topology`` are no rule sets of their own. They come on top of Kueue's:
where flavors were chosen, where documented precedence is asked for, where pods are placed.
"""

__all__ = [
    "LAWS",
    "RULE_SETS",
    "Law",
    "Register",
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
    numbered = (law for law in RULE_SETS[rules] if law.drop is not None)
    return tuple(sorted(numbered, key=lambda law: law.drop or 0))
