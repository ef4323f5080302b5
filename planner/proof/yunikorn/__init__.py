"""What the verifier derives from a state of YuniKorn, for trees to stand on.

frame.py  the ask: candidates by the laws on single allocations, classes, nodes that can hold it;
          the order of removals: leaves without a last victim, YK-05
rules.py  all of it as a checker uses it: rows, cases, refusals
"""

from planner.proof.yunikorn.frame import Setting
from planner.proof.yunikorn.rules import YuniKornRules, yunikorn_rules

__all__ = ["Setting", "YuniKornRules", "yunikorn_rules"]
