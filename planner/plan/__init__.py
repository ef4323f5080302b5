"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

base.py      what every piece of output is made of
naming.py    many names in a sentence; what people call those of a plan
covered.py   what an answer leaves out of a state, and what that makes of its status
frame.py     the victims of a plan as a pandas DataFrame
record.py    what the plans of every scheduler have in common
proof.py     proof trees: the steps that show that no plan is better
proof_lines.py
             the same apart from their plan, a step a line
excess.py    what a plan takes more of than the scheduler's own
kueue.py     the plan for a pending workload of Kueue
kueue_tree.py
             the tree of cohorts and ClusterQueues around it
kueue_nodes.py
             the nodes around it, where a topology decides
yunikorn.py  the plan for an ask of YuniKorn
front.py     the Pareto front of two measures, of either scheduler
kueue_joint.py
             the plan for several pending workloads of Kueue at once
"""

from planner.plan.base import Record
from planner.plan.covered import Assume, Covered, Proved, Status, Uncovered, qualified
from planner.plan.excess import Excess
from planner.plan.front import Front, FrontMeasure, FrontPoint, GreedyPoint
from planner.plan.kueue import (
    OWN,
    Amount,
    Cascade,
    Demand,
    FlavorChoices,
    Flavors,
    HeldBack,
    KueueFlavors,
    KueueRelease,
    NodeShare,
    Place,
    Placement,
    Plan,
    PodSetPlaces,
    Victim,
)
from planner.plan.kueue_joint import (
    GreedyTurn,
    JointPending,
    JointPlan,
    JointSkipped,
    JointStep,
    OneByOneAnswer,
)
from planner.plan.kueue_nodes import DomainSlots, NodesAround
from planner.plan.kueue_tree import QuotaNode, QuotaUse
from planner.plan.proof import Tree
from planner.plan.record import (
    SCHEMA_VERSION,
    BoundByRows,
    Cap,
    Certificate,
    Level,
    Multiplier,
    Proof,
    Reaching,
    Shown,
    SolverFreeBound,
    Verdict,
    Verification,
    WeighedRow,
)
from planner.plan.yunikorn import NodeRoom, QueueUse, ResourceAmount, YuniKornPlan, YuniKornVictim
from planner.quota.kueue.assignment import Assignment

AnyPlan = Plan | YuniKornPlan
"""A plan of any scheduler."""

__all__ = [
    "OWN",
    "SCHEMA_VERSION",
    "Amount",
    "AnyPlan",
    "Assignment",
    "Assume",
    "BoundByRows",
    "Cap",
    "Cascade",
    "Certificate",
    "Covered",
    "Demand",
    "DomainSlots",
    "Excess",
    "FlavorChoices",
    "Flavors",
    "Front",
    "FrontMeasure",
    "FrontPoint",
    "GreedyPoint",
    "GreedyTurn",
    "HeldBack",
    "JointPending",
    "JointPlan",
    "JointSkipped",
    "JointStep",
    "KueueFlavors",
    "KueueRelease",
    "Level",
    "Multiplier",
    "NodeRoom",
    "NodeShare",
    "NodesAround",
    "OneByOneAnswer",
    "Place",
    "Placement",
    "Plan",
    "PodSetPlaces",
    "Proof",
    "Proved",
    "QueueUse",
    "QuotaNode",
    "QuotaUse",
    "Reaching",
    "Record",
    "ResourceAmount",
    "Shown",
    "SolverFreeBound",
    "Status",
    "Tree",
    "Uncovered",
    "Verdict",
    "Verification",
    "Victim",
    "WeighedRow",
    "YuniKornPlan",
    "YuniKornVictim",
    "qualified",
]
