"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

base.py      what every piece of output is made of; what an answer leaves out of a state, and what
             that makes of its status; the victims of a plan as a pandas DataFrame
record.py    what the plans of every scheduler have in common; what they take more of than the
             scheduler's own
proof.py     proof trees: the steps that show that no plan is better; apart from their plan, too
kueue.py     the plan for a pending workload of Kueue, with the tree and the nodes around it, and
             that for several at once
commands.py
             the calls of kubectl that carry it out
yunikorn.py  the plan for an ask of YuniKorn
front.py     the Pareto front of two measures, of either scheduler
"""

from typing import TYPE_CHECKING, Final

from planner.plan.base import Assume, Covered, Proved, Record, Status, Uncovered, qualified
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
from planner.quota.kueue.assignment import Assignment
from planner.scheduler import Part

if TYPE_CHECKING:
    from planner.plan.front import Front, FrontMeasure, FrontPoint, GreedyPoint
    from planner.plan.yunikorn import (
        NodeRoom,
        QueueUse,
        ResourceAmount,
        YuniKornPlan,
        YuniKornVictim,
    )

    AnyPlan = Plan | YuniKornPlan
    """A plan of any scheduler."""
else:
    _FRONT = ("Front", "FrontMeasure", "FrontPoint", "GreedyPoint")
    _YUNIKORN = ("NodeRoom", "QueueUse", "ResourceAmount", "YuniKornPlan", "YuniKornVictim")

    def __getattr__(name: str) -> object:
        """Load fronts and the plans of YuniKorn when asked for: a plan of Kueue needs neither."""
        if name not in {*_FRONT, *_YUNIKORN, "AnyPlan"}:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from planner.plan import front, yunikorn  # noqa: PLC0415 - see above

        globals().update({one: getattr(front, one) for one in _FRONT})
        globals().update({one: getattr(yunikorn, one) for one in _YUNIKORN})
        globals()["AnyPlan"] = Plan | yunikorn.YuniKornPlan
        return globals()[name]


MODEL: Final = Part["type[AnyPlan]"]("plan")
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
