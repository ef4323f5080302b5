"""Room and placement on nodes, KT-01 and KT-02, beside the laws of Kueue.

around.py  what a plan says of the nodes around it
judge.py   the laws, one check each, and for searches whether pods find a place; Kueue's own
           placement, replayed
leaves.py  which nodes may take a podset, and how many pods the leaves of a tree take once victims
           are gone; whether there is room for one group, in closed form
"""

from planner.verifier.kueue_topology.around import around_faults, not_compared
from planner.verifier.kueue_topology.judge import CHECKS, Floor

__all__ = ["CHECKS", "Floor", "around_faults", "not_compared"]
