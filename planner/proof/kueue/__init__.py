"""What the verifier derives from a state of Kueue, for trees to stand on.

frame.py         the decision: its tree, classes of candidates, usage after removals
inequalities.py  what victims must free, and may hold at most: KQ-01, KQ-02, KQ-07 and the same laws
                 of other rule sets; the shares of fair sharing, FS-07
places.py        room on the nodes as inequalities: KT-01
rules.py         all of it as a checker uses it: rows, cases, refusals
"""

from planner.proof.kueue.rules import KueueRules, kueue_rules, lawful

__all__ = ["KueueRules", "kueue_rules", "lawful"]
