"""The output schemas: plans with their victims and certificates, and the verifier's verdicts.

base.py      what every piece of output is made of; what an answer leaves out of a state, and what
             that makes of its status; the victims of a plan as a pandas DataFrame
record.py    what the plans of every scheduler have in common; what they take more of than the
             scheduler's own; the calls of kubectl that carry one out
proof.py     proof trees: the steps that show that no plan is better; apart from their plan, too
kueue.py     the plan for a pending workload of Kueue, with the tree and the nodes around it, and
             that for several at once
yunikorn.py  the plan for an ask of YuniKorn
front.py     the Pareto front of two measures, of any scheduler
"""

from planner.plan.base import Assume, Covered, Proved, Record, Status, Uncovered, qualified
from planner.plan.proof import Tree
from planner.plan.record import (
    MODEL,
    SCHEMA_VERSION,
    AnyPlan,
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

__all__ = [
    "MODEL",
    "SCHEMA_VERSION",
    "AnyPlan",
    "Assume",
    "BoundByRows",
    "Cap",
    "Certificate",
    "Covered",
    "Excess",
    "Level",
    "Multiplier",
    "Proof",
    "Proved",
    "Reaching",
    "Record",
    "Shown",
    "SolverFreeBound",
    "Status",
    "Tree",
    "Uncovered",
    "Verdict",
    "Verification",
    "WeighedRow",
    "qualified",
]
