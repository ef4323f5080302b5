"""The rules as a registry: one law, one id, the same in models, verifier, report and tests.

A law is described once, here: its record has every text about it. ``models`` states the law as
constraints, ``verifier`` checks it in a finished plan, ``reference`` keeps it in the steps of the
scheduler's own algorithm. Each registers its functions by the ids of laws; none knows the others.

law.py       the record of a law; the register of functions by the ids of laws
kueue.py     KQ-01 to KQ-08, FS-01 to FS-07, KF-01; KT-01 and KT-02 beside them
yunikorn.py  YK-01 to YK-14
"""

from collections.abc import Iterable
from typing import Final

from planner.laws.law import Law, Register
from planner.scheduler import schedulers

LAWS: Final = tuple(law for one in schedulers() for law in one.laws)

RULE_SETS: Final = {
    name: tuple(law for law in LAWS if name in law.rule_sets)
    for name in dict.fromkeys(name for law in LAWS for name in law.rule_sets)
}
"""The laws of each rule set, in the order in which they are reported.

``flavors`` and ``topology`` are added to Kueue's rule sets: where flavors were chosen for least
disruption, and where pods are placed on nodes. Wings add rule sets of their own (`planner.rules`).
"""

__all__ = [
    "LAWS",
    "RULE_SETS",
    "Law",
    "Register",
    "in_drop_order",
    "law_behind",
    "unkept",
]


def law_behind(laws: Iterable[Law], reason: str) -> Law | None:
    """Return the law whose victims have a reason code; ``None`` for no such law."""
    return next((law for law in laws if reason in law.reasons), None)


def unkept(rules: str) -> frozenset[str]:
    """Return the ids of the laws that no step of the scheduler's own algorithm keeps."""
    return frozenset(law.id for law in RULE_SETS[rules] if law.no_reference)


def in_drop_order(rules: str) -> tuple[Law, ...]:
    """Return the laws that an explanation of "no plan" can name, in the order of dropping them."""
    numbered = (law for law in RULE_SETS[rules] if law.drop is not None)
    return tuple(sorted(numbered, key=lambda law: law.drop or 0))
