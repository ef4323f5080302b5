"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

base.py      what every piece of output is made of; what an answer leaves out of a state, and what
             that makes of its status; the victims of a plan as a pandas DataFrame
record.py    what the plans of every scheduler have in common; what they take more of than the
             scheduler's own; the calls of kubectl that carry one out
proof.py     proof trees: the steps that show that no plan is better; apart from their plan, too
kueue.py     the plan for a pending workload of Kueue, with the tree and the nodes around it, and
             that for several at once
yunikorn.py  the plan for an ask of YuniKorn
front.py     the Pareto front of two measures, of either scheduler
"""

from typing import Final

from planner.plan.base import Assume, Covered, Proved, Record, Status, Uncovered, qualified
from planner.plan.front import Front, FrontMeasure, FrontPoint, GreedyPoint
from planner.plan.kueue import (
    OWN,
    Amount,
    Cascade,
    Demand,
    DomainSlots,
    FlavorChoices,
    Flavors,
    GreedyTurn,
    HeldBack,
    JointPending,
    JointPlan,
    JointSkipped,
    JointStep,
    KueueFlavors,
    KueueRelease,
    NodesAround,
    NodeShare,
    OneByOneAnswer,
    Place,
    Placement,
    Plan,
    PodSetPlaces,
    QuotaNode,
    QuotaUse,
    Victim,
)
from planner.plan.proof import Tree
from planner.plan.record import (
    SCHEMA_VERSION,
    BoundByRows,
    Cap,
    Certificate,
    Excess,
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
from planner.scheduler import Part

AnyPlan = Plan | YuniKornPlan
"""A plan of any scheduler."""
MODEL: Final = Part[type[AnyPlan]]("plan")
"""What the plans of a scheduler are."""

__all__ = [
    "MODEL",
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
