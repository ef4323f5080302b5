"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

record.py    what the plans of every scheduler have in common
kueue.py     the plan for a pending workload of Kueue
yunikorn.py  the plan for an ask of YuniKorn
"""

from planner.plan.kueue import Amount, Demand, NodeShare, Plan, Victim
from planner.plan.record import (
    SCHEMA_VERSION,
    Certificate,
    Level,
    Multiplier,
    Record,
    SolverFreeBound,
    Status,
    Verdict,
    Verification,
)
from planner.plan.yunikorn import NodeRoom, QueueUse, ResourceAmount, YuniKornPlan, YuniKornVictim

AnyPlan = Plan | YuniKornPlan
"""A plan of any scheduler."""

__all__ = [
    "SCHEMA_VERSION",
    "Amount",
    "AnyPlan",
    "Certificate",
    "Demand",
    "Level",
    "Multiplier",
    "NodeRoom",
    "NodeShare",
    "Plan",
    "QueueUse",
    "Record",
    "ResourceAmount",
    "SolverFreeBound",
    "Status",
    "Verdict",
    "Verification",
    "Victim",
    "YuniKornPlan",
    "YuniKornVictim",
]
